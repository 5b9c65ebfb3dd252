//! The series of one repeat: rates and percentiles interval by interval, ramp and drain included.
use super::latency::Merged;
use fathom_model::{Attempt, Phase, Sample};
use serde::Serialize;
use std::collections::BTreeMap;

/// One interval of the series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeriesPoint {
    /// Which part of the attempt.
    pub phase: Phase,
    /// Start, in seconds since load began.
    pub from_s: f64,
    /// End, likewise.
    pub to_s: f64,
    /// Operations completed without error.
    pub ops: u64,
    /// Completed operations per second of this interval.
    pub ops_per_s: f64,
    /// Bytes per second of this interval.
    pub bytes_per_s: f64,
    /// Median response time in nanoseconds; `None` when fewer than 2 operations were recorded.
    pub p50_ns: Option<u64>,
    /// 99th percentile in nanoseconds; `None` when fewer than 100 operations were recorded.
    pub p99_ns: Option<u64>,
    /// Longest in nanoseconds.
    pub max_ns: Option<u64>,
    /// Failed and timed-out operations.
    pub errors: u64,
}

/// The series of attempts that ran together (one per host). Intervals are matched by the time since load began.
pub(crate) fn series(attempts: &[&Attempt], tick_ns: u64) -> Vec<SeriesPoint> {
    let tick_ns = tick_ns.max(1);
    let mut cells: BTreeMap<(Phase, u64), Vec<&Sample>> = BTreeMap::new();
    for sample in attempts.iter().flat_map(|a| &a.samples) {
        cells.entry((sample.phase, sample.start_ns / tick_ns)).or_default().push(sample);
    }
    cells.into_iter().map(|((phase, _), samples)| point(phase, &samples)).collect()
}

fn point(phase: Phase, samples: &[&Sample]) -> SeriesPoint {
    let from_ns = samples.iter().map(|s| s.start_ns).min().unwrap_or(0);
    let to_ns = samples.iter().map(|s| s.end_ns).max().unwrap_or(0);
    let seconds = to_ns.saturating_sub(from_ns) as f64 / 1e9;
    let per_s = |n: u64| if seconds > 0.0 { n as f64 / seconds } else { 0.0 };
    let mut latency = Merged::default();
    for sample in samples {
        latency.add(&sample.response);
    }
    let ops = sum(samples, |s| s.ops);
    let summary = latency.summary();
    SeriesPoint {
        phase,
        from_s: from_ns as f64 / 1e9,
        to_s: to_ns as f64 / 1e9,
        ops,
        ops_per_s: per_s(ops),
        bytes_per_s: per_s(sum(samples, |s| s.bytes)),
        p50_ns: summary.p50_ns,
        p99_ns: summary.p99_ns,
        max_ns: summary.max_ns,
        errors: sum(samples, |s| s.failed().saturating_add(s.timeouts)),
    }
}

fn sum(samples: &[&Sample], of: impl Fn(&Sample) -> u64) -> u64 {
    samples.iter().fold(0, |total, s| total.saturating_add(of(s)))
}
