//! Table cells: what text and HTML print in a column of results, so that both say the same.
use crate::analysis::{LatencySummary, Measured, P50_NEEDS, P95_NEEDS, P99_NEEDS, P999_NEEDS, Stability, StepResult};
use crate::words;
use fathom_model::Pace;

/// Heads of [`rate_cells`].
pub(crate) const RATES: [&str; 3] = ["IOPS", "MiB/s", "spread"];
/// Heads of [`latency_cells`].
pub(crate) const LATENCIES: [&str; 6] = ["mean ms", "p50 ms", "p95 ms", "p99 ms", "p99.9 ms", "max ms"];

/// A percentile in milliseconds, or why there is none.
pub(crate) fn percentile(latency: &LatencySummary, value: Option<u64>, needs: u64) -> String {
    match value {
        Some(ns) => words::ms(ns as f64),
        None if latency.count == 0 => "–".to_owned(),
        None => format!("n<{needs}"),
    }
}

pub(crate) fn latency_cells(latency: &LatencySummary) -> Vec<String> {
    vec![
        latency.mean_ns.map_or_else(|| "–".to_owned(), words::ms),
        percentile(latency, latency.p50_ns, P50_NEEDS),
        percentile(latency, latency.p95_ns, P95_NEEDS),
        percentile(latency, latency.p99_ns, P99_NEEDS),
        percentile(latency, latency.p999_ns, P999_NEEDS),
        latency.max_ns.map_or_else(|| "–".to_owned(), |ns| words::ms(ns as f64)),
    ]
}

pub(crate) fn rate_cells(measured: &Measured, spread: String) -> Vec<String> {
    let cell = |value: Option<f64>, text: fn(f64) -> String| value.map_or_else(|| "–".to_owned(), text);
    vec![cell(measured.ops_per_s, words::figure), cell(measured.bytes_per_s, words::mib), spread]
}

pub(crate) fn spread(step: &StepResult) -> String {
    match (step.ops_per_s, step.repeats_counted) {
        (Some(over), 2..) => {
            let mark = if step.stability == Stability::Unstable { "!" } else { "" };
            format!("{}{mark}", words::percent(over.spread))
        }
        _ => "–".to_owned(),
    }
}

/// Conditions that make a row readable on its own.
pub(crate) fn short_conditions(step: &StepResult) -> String {
    let load = &step.plan.load;
    let pace = match load.pace {
        Pace::Closed => format!("T={}", load.depth),
        Pace::Fixed { per_s } | Pace::Poisson { per_s } => {
            format!("{}/s offered, T≤{}", words::figure(per_s), load.depth)
        }
    };
    let block = words::bytes(f64::from(load.block_bytes));
    format!("{block}, {pace}, {}", measured(step))
}

/// How often and how long: `3 × 10 s`.
pub(crate) fn measured(step: &StepResult) -> String {
    if step.repeats_found == 0 {
        return "not run".to_owned();
    }
    let seconds = step.repeats.iter().filter(|r| r.counted).map(|r| r.measured_s).fold(0.0, f64::max);
    format!("{}{}×{}{}", step.repeats_counted, words::GAP, words::GAP, words::seconds(seconds))
}
