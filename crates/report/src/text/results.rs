//! The result table and the concurrency tables.
use super::page::{FIRST_MIN, Grid, Ink, Page};
use crate::analysis::{
    Analysis, LatencySummary, Measured, P50_NEEDS, P95_NEEDS, P99_NEEDS, P999_NEEDS, Stability, StepResult,
};
use crate::words;
use fathom_model::Pace;

/// A percentile in milliseconds, or why there is none.
fn percentile(latency: &LatencySummary, value: Option<u64>, needs: u64) -> String {
    match value {
        Some(ns) => words::ms(ns as f64),
        None if latency.count == 0 => "–".to_owned(),
        None => format!("n<{needs}"),
    }
}

fn latency_cells(latency: &LatencySummary) -> Vec<String> {
    vec![
        latency.mean_ns.map_or_else(|| "–".to_owned(), words::ms),
        percentile(latency, latency.p50_ns, P50_NEEDS),
        percentile(latency, latency.p95_ns, P95_NEEDS),
        percentile(latency, latency.p99_ns, P99_NEEDS),
        percentile(latency, latency.p999_ns, P999_NEEDS),
        latency.max_ns.map_or_else(|| "–".to_owned(), |ns| words::ms(ns as f64)),
    ]
}

fn rate_cells(measured: &Measured, spread: String) -> Vec<String> {
    let cell = |value: Option<f64>, text: fn(f64) -> String| value.map_or_else(|| "–".to_owned(), text);
    vec![cell(measured.ops_per_s, words::figure), cell(measured.bytes_per_s, words::mib), spread]
}

fn spread(step: &StepResult) -> String {
    match (step.ops_per_s, step.repeats_counted) {
        (Some(over), 2..) => {
            let mark = if step.stability == Stability::Unstable { "!" } else { "" };
            format!("{}{mark}", words::percent(over.spread))
        }
        _ => "–".to_owned(),
    }
}

/// Conditions that make a row readable on its own.
fn short_conditions(step: &StepResult) -> String {
    let load = &step.plan.load;
    let pace = match load.pace {
        Pace::Closed => format!("T={}", load.depth),
        Pace::Fixed { per_s } | Pace::Poisson { per_s } => {
            format!("{}/s offered, T≤{}", words::figure(per_s), load.depth)
        }
    };
    let block = words::bytes(f64::from(load.block_bytes));
    let seconds = step.repeats.iter().filter(|r| r.counted).map(|r| r.measured_s).fold(0.0, f64::max);
    format!("{block}, {pace}, {}{}×{}{}", step.repeats_counted, words::GAP, words::GAP, words::seconds(seconds))
}

struct ResultRow {
    name: String,
    rates: Vec<String>,
    latencies: Vec<String>,
    errors: String,
}

fn rows(steps: &[StepResult]) -> Vec<ResultRow> {
    let mut rows = Vec::new();
    for step in steps {
        rows.push(ResultRow {
            name: format!("{}\n  {}", words::plain(&step.name), short_conditions(step)),
            rates: rate_cells(&step.merged, spread(step)),
            latencies: latency_cells(&step.merged.response),
            errors: words::count(step.account.bad() as f64),
        });
        for part in &step.by_verb {
            rows.push(ResultRow {
                name: format!("  of it {}", part.verb.word()),
                rates: rate_cells(&part.measured, String::new()),
                latencies: latency_cells(&part.measured.response),
                errors: String::new(),
            });
        }
    }
    rows
}

const RATES: [&str; 3] = ["IOPS", "MiB/s", "spread"];
const LATENCIES: [&str; 6] = ["mean ms", "p50 ms", "p95 ms", "p99 ms", "p99.9 ms", "max ms"];

pub(super) fn write(page: &mut Page, analysis: &Analysis) {
    page.heading("RESULTS");
    if analysis.steps.is_empty() {
        page.line("  the plan has no step");
        return;
    }
    page.paragraph(
        "",
        "Rates: median of the repeats in the measured window; spread: (max − min) ÷ median. Latencies: response \
         times (from when an operation was due) of all repeats merged, operations that ended after the window and \
         time-outs included; n<1000: too few operations for that percentile. Errors: failed and timed out.",
        Some(Ink::Dim),
    );
    let rows = rows(&analysis.steps);
    let pick = |parts: &dyn Fn(&ResultRow) -> Vec<String>, head: Vec<&str>| Grid {
        head: std::iter::once("step").chain(head).map(|h| h.replace(' ', "\n")).collect(),
        rows: rows.iter().map(|r| std::iter::once(r.name.clone()).chain(parts(r)).collect()).collect(),
        left: 1,
    };
    let wide = pick(
        &|r| [r.rates.clone(), r.latencies.clone(), vec![r.errors.clone()]].concat(),
        [&RATES[..], &LATENCIES[..], &["errors"]].concat(),
    );
    let tables = if wide.width_without_first() + FIRST_MIN <= page.width {
        vec![wide]
    } else {
        vec![
            pick(&|r| [r.rates.clone(), vec![r.errors.clone()]].concat(), [&RATES[..], &["errors"]].concat()),
            pick(&|r| r.latencies.clone(), LATENCIES.to_vec()),
        ]
    };
    for table in tables {
        page.gap();
        page.table(table);
    }
    remarks(page, analysis);
}

/// What a row does not show: disturbed and incomplete repeats, open-loop service times, stalls.
fn remarks(page: &mut Page, analysis: &Analysis) {
    for step in &analysis.steps {
        let mut list = step.remarks.clone();
        if let Some(quiet) = step.undisturbed_ops_per_s {
            list.push(format!("median of the undisturbed repeats alone: {} IOPS", words::figure(quiet)));
        }
        if step.stability == Stability::Unstable {
            list.push("unstable: the repeats differ too much for the median to be quoted".to_owned());
        }
        if step.repeats_counted > 0 && step.repeats_counted < 3 {
            list.push(format!("{}: too few to know the spread", words::plural(step.repeats_counted, "repeat")));
        }
        list.extend(open_loop(step));
        for repeat in step.repeats.iter().filter(|r| !r.stalls.is_empty()) {
            let longest = repeat.stalls.iter().map(|s| s.to_s - s.from_s).fold(0.0, f64::max);
            list.push(format!(
                "repeat {}: {} with next to no completions, the longest {}",
                repeat.repeat + 1,
                words::plural(repeat.stalls.len() as u64, "stall"),
                words::seconds(longest)
            ));
        }
        if !list.is_empty() {
            page.gap();
            page.paragraph("  ", &format!("{}:", step.name), Some(Ink::Bold));
        }
        for text in list {
            page.paragraph("    - ", &text, None);
        }
    }
}

fn open_loop(step: &StepResult) -> Option<String> {
    let offered = step.plan.load.pace.per_s()?;
    let service = &step.merged.service;
    let text = |ns: Option<u64>| ns.map_or_else(|| "–".to_owned(), |ns| words::duration(ns as f64));
    Some(format!(
        "open loop: {} ops/s offered, {} never sent; service times (from when an operation was sent) p50 {}, p99 {}, \
         max {}: the difference to the response times is waiting in front of the {} slots",
        words::figure(offered),
        words::count(step.account.unsent as f64),
        text(service.p50_ns),
        text(service.p99_ns),
        text(service.max_ns),
        step.plan.load.depth
    ))
}

pub(super) fn concurrency(page: &mut Page, analysis: &Analysis) {
    for table in &analysis.concurrency {
        page.heading(&format!("CONCURRENCY: {}", table.load));
        let dash = || "–".to_owned();
        let mut rows = Vec::new();
        for row in &table.rows {
            let steps = analysis.steps.iter().find(|s| s.name == row.step);
            rows.push(vec![
                row.depth.to_string(),
                row.ops_per_s.map_or_else(dash, words::figure),
                row.bytes_per_s.map_or_else(dash, words::mib),
                row.mean_ns.map_or_else(dash, words::ms),
                steps.map_or_else(dash, |s| percentile(&s.merged.response, s.merged.response.p99_ns, P99_NEEDS)),
                row.gain.map_or_else(dash, |g| format!("×{}", words::figure(g))),
                row.little_ratio.map_or_else(dash, |r| format!("{r:.2}")),
            ]);
        }
        let head = ["T", "IOPS", "MiB/s", "mean ms", "p99 ms", "gain", "mean×IOPS÷T"];
        let head = head.iter().map(|h| h.replace(' ', "\n")).collect();
        page.table(Grid { head, rows, left: 0 });
        for statement in &table.statements {
            page.paragraph("  ", statement, None);
        }
    }
}
