//! Stalls: times in which next to nothing completed, and the operations that hung meanwhile.
use super::series::SeriesPoint;
use fathom_model::{Attempt, Phase};
use serde::Serialize;

/// A run of intervals with next to no completions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stall {
    /// Start in seconds since load began.
    pub from_s: f64,
    /// End, likewise.
    pub to_s: f64,
    /// Operations completed in it.
    pub ops: u64,
}

/// An operation that was in flight for more than a second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StuckView {
    /// When it was seen, in seconds after the run's start.
    pub at_s: f64,
    /// How long it had been in flight, in nanoseconds.
    pub age_ns: u64,
    /// What it addresses.
    pub target: String,
    /// Acting set of its placement group, primary first.
    pub acting: Vec<i32>,
}

/// Hung operations listed per repeat: the first ones tell where the trouble is.
pub(crate) const STUCK_LIMIT: usize = 20;

pub(crate) fn stalls(points: &[SeriesPoint]) -> Vec<Stall> {
    let measured: Vec<&SeriesPoint> = points.iter().filter(|p| p.phase == Phase::Measure).collect();
    // Rates, not counts: the last interval of a window is often shorter than the others.
    let rates: Vec<f64> = measured.iter().map(|p| p.ops_per_s).collect();
    let spans = fathom_stats::stalls(&rates).into_iter();
    spans
        .filter_map(|span| {
            let points = measured.get(span)?;
            let (first, last) = (points.first()?, points.last()?);
            let ops = points.iter().fold(0u64, |sum, p| sum.saturating_add(p.ops));
            Some(Stall { from_s: first.from_s, to_s: last.to_s, ops })
        })
        .collect()
}

pub(crate) fn stuck(attempts: &[&Attempt], run_started_unix_ns: i64) -> Vec<StuckView> {
    let mut list: Vec<StuckView> = attempts
        .iter()
        .flat_map(|a| &a.stuck)
        .map(|(at, op)| StuckView {
            at_s: at.saturating_sub(run_started_unix_ns) as f64 / 1e9,
            age_ns: op.age_ns,
            target: op.target.clone(),
            acting: op.acting.clone(),
        })
        .collect();
    list.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    list.truncate(STUCK_LIMIT);
    list
}
