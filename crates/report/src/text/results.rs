//! The result table and the concurrency tables.
use super::page::{FIRST_MIN, Grid, Ink, Page};
use crate::analysis::{Analysis, P99_NEEDS, StepResult};
use crate::cells::{LATENCIES, RATES, latency_cells, measured, percentile, rate_cells, spread};
use crate::words;

struct ResultRow {
    name: String,
    measured: String,
    rates: Vec<String>,
    latencies: Vec<String>,
    errors: String,
}

fn rows(steps: &[StepResult]) -> Vec<ResultRow> {
    let mut rows = Vec::new();
    for step in steps {
        rows.push(ResultRow {
            name: words::plain(&step.name),
            measured: measured(step),
            rates: rate_cells(&step.merged, spread(step)),
            latencies: latency_cells(&step.merged.response),
            errors: if step.repeats_found == 0 { "–".to_owned() } else { words::count(step.account.bad() as f64) },
        });
        for part in &step.by_verb {
            rows.push(ResultRow {
                name: format!("  of it {}", part.verb.word()),
                measured: String::new(),
                rates: rate_cells(&part.measured, String::new()),
                latencies: latency_cells(&part.measured.response),
                errors: String::new(),
            });
        }
    }
    rows
}

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
        head: ["step", "measured"].into_iter().chain(head).map(|h| h.replace(' ', "\n")).collect(),
        rows: rows.iter().map(|r| [r.name.clone(), r.measured.clone()].into_iter().chain(parts(r)).collect()).collect(),
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

/// What a row does not show.
fn remarks(page: &mut Page, analysis: &Analysis) {
    for step in analysis.steps.iter().filter(|s| !s.remarks.is_empty()) {
        page.gap();
        page.paragraph("  ", &format!("{}:", step.name), Some(Ink::Bold));
        for text in &step.remarks {
            page.paragraph("    - ", text, None);
        }
    }
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
