//! Whether a repeat's rate was steady, and how well its mean is known.
use super::series::SeriesPoint;
use crate::words;
use fathom_model::Phase;
use fathom_stats::Steadiness;
use serde::Serialize;

/// Steadiness of one repeat.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RateView {
    /// Half width of the 95 % interval of the mean rate as a fraction of it, corrected for intervals that resemble
    /// their neighbours; `None` when nothing can be said.
    pub rel_half_width: Option<f64>,
    /// Change over the window as a fraction of the mean.
    pub drift_rel: Option<f64>,
    /// What a reader must know; `None` when the rate was steady or the window too short to tell.
    pub warning: Option<String>,
}

pub(crate) fn rate_view(points: &[SeriesPoint]) -> Option<RateView> {
    let measured = || points.iter().filter(|p| p.phase == Phase::Measure);
    let longest = measured().map(|p| p.to_s - p.from_s).fold(0.0, f64::max);
    // A short interval at the end of the window is no interval like the others.
    let rates: Vec<f64> = measured().filter(|p| p.to_s - p.from_s > 0.5 * longest).map(|p| p.ops_per_s).collect();
    if rates.len() < 2 {
        return None;
    }
    let steady = fathom_stats::steady(&rates);
    let warning = steady.and_then(|s| match s.verdict {
        Steadiness::Steady => None,
        Steadiness::Drifting => Some(format!(
            "the rate drifts by {} over the window: a longer run would give another number",
            words::percent(s.drift_rel)
        )),
        Steadiness::Swinging => {
            Some(format!("the rate swings: parts of the window differ by {} of the mean", words::percent(s.range_rel)))
        }
    });
    Some(RateView { rel_half_width: fathom_stats::tight(&rates), drift_rel: steady.map(|s| s.drift_rel), warning })
}

#[cfg(test)]
mod tests {
    /// The finding and the tables must not contradict each other.
    #[test]
    fn one_line_for_unstable_everywhere() {
        assert!((fathom_stats::UNSTABLE_REL_SPREAD - fathom_ceph::rules::spread::WIDE).abs() < 1e-12);
    }
}
