//! How well a percentile of a step is known.
use super::latency::{Merged, P50_NEEDS, P95_NEEDS, P99_NEEDS, P999_NEEDS};
use fathom_model::{Attempt, Phase};
use fathom_stats::Hist;
use serde::Serialize;
use std::collections::BTreeMap;

/// A percentile of the response times with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PercentileView {
    /// 50, 95, 99 or 99.9.
    pub percentile: f64,
    /// Its value in nanoseconds; `None` for too few operations.
    pub value_ns: Option<u64>,
    /// Lower bound in nanoseconds; `None` when the sample can't give one.
    pub low_ns: Option<u64>,
    /// Upper bound in nanoseconds; `None` when the sample can't give one: the true value may be above all measured.
    pub high_ns: Option<u64>,
    /// What the operations are worth in independent ones: slow operations come in clumps.
    pub effective_n: f64,
}

/// Intervals looked at: more would say the same and need a quarter of a MiB each.
const INTERVALS_MAX: usize = 120;

/// Percentiles of `merged`. `repeats` are the attempts it was merged from, a repeat's hosts together.
pub(crate) fn percentiles(merged: &Merged, repeats: &[&[&Attempt]]) -> Vec<PercentileView> {
    let Some(all) = merged.hist() else { return Vec::new() };
    let intervals = intervals(repeats);
    let hists: Vec<&Hist> = intervals.iter().filter_map(Merged::hist).collect();
    [(50.0, P50_NEEDS), (95.0, P95_NEEDS), (99.0, P99_NEEDS), (99.9, P999_NEEDS)]
        .into_iter()
        .map(|(percentile, needs)| {
            let q = percentile / 100.0;
            // Without intervals nothing is known of clumps; then the bounds would promise too much.
            let effective_n = if hists.len() < 2 { 0.0 } else { fathom_stats::quantile_effective_n(&hists, q) };
            let ci = fathom_stats::quantile_ci(all, q, effective_n).filter(|_| all.count() >= needs);
            PercentileView {
                percentile,
                value_ns: if all.count() >= needs { all.quantile_ns(q) } else { None },
                low_ns: ci.and_then(|c| c.low_ns),
                high_ns: ci.and_then(|c| c.high_ns),
                effective_n,
            }
        })
        .collect()
}

/// The measured windows one after the other, cut into intervals of equal length.
fn intervals(repeats: &[&[&Attempt]]) -> Vec<Merged> {
    let mut ticks: BTreeMap<(usize, u64), Vec<&fathom_model::Latency>> = BTreeMap::new();
    for (repeat, attempts) in repeats.iter().enumerate() {
        for sample in attempts.iter().flat_map(|a| &a.samples).filter(|s| s.phase == Phase::Measure) {
            ticks.entry((repeat, sample.start_ns)).or_default().push(&sample.response);
        }
    }
    let latencies: Vec<_> = ticks.into_values().collect();
    let together = latencies.len().div_ceil(INTERVALS_MAX).max(1);
    latencies
        .chunks(together)
        .map(|chunk| {
            let mut merged = Merged::default();
            chunk.iter().flatten().for_each(|latency| merged.add(latency));
            merged
        })
        .collect()
}
