//! Where the ramp of a run ends and whether the rest is steady.
use crate::repeats::mean;

/// Drift over the rest of the run, as a fraction of its mean, that is still steady. Source: SNIA Solid State Storage
/// Performance Test Specification, definition of steady state: the linear fit varies within 10 % of the average.
pub const STEADY_DRIFT_REL: f64 = 0.10;
/// Range of the five rounds' means, as a fraction of the mean, that is still steady. Source: the same; 20 %.
pub const STEADY_RANGE_REL: f64 = 0.20;
/// Shorter series are not judged.
pub const STEADY_INTERVALS_MIN: usize = 10;

/// Rounds that the rest is cut into, as many as the SNIA measurement window has.
const ROUNDS: usize = 5;
/// Standard errors closer than this are alike. In simulation (120 intervals, noise of 3 %, ramp of 20) the plain rule
/// puts the end of the ramp at 50 or later in one run of twenty; with this it is found within a batch.
const NEAR: f64 = 0.20;
/// Batch size of MSER-5.
const BATCH: usize = 5;

/// What can be said about the rest of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steadiness {
    /// Neither drift nor swings.
    Steady,
    /// It rises or falls throughout: a longer run would give another mean.
    Drifting,
    /// No drift, but long swings: parts of the run differ.
    Swinging,
}

/// Ramp and rest of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Intervals at the start that belong to the ramp; at most half of the series.
    pub ramp_len: usize,
    /// Change of the linear fit from the first to the last interval of the rest ÷ mean of the rest; negative when it
    /// falls.
    pub drift_rel: f64,
    /// (largest - smallest) ÷ mean, of the means of five equal parts of the rest.
    pub range_rel: f64,
    /// The verdict by [`STEADY_DRIFT_REL`] and [`STEADY_RANGE_REL`].
    pub verdict: Steadiness,
}

/// Finds the ramp at the start of a series of intervals of equal length (rates, or mean latencies), and judges the
/// rest. `None` for fewer than [`STEADY_INTERVALS_MIN`] intervals, a value that is not finite (or too large to compute with), or a rest whose mean
/// is not positive.
///
/// The ramp ends where the standard error of the mean of what follows is smallest: the MSER-5 rule (White, Cobb and
/// Spratt, A comparison of five steady-state truncation heuristics for simulation, Winter Simulation Conference
/// 2000), which works on means of five intervals; series shorter than 50 are taken interval by interval (MSER). A
/// minimum in the second half is not looked for, as is usual with it: such a run has no steady part, and the rest
/// shows it by its drift. One thing is added: the earliest end whose standard error is within a fifth of the smallest
/// is taken, because on a run without a ramp the plain rule throws away a random part for a minimum of chance.
#[must_use]
pub fn steady(series: &[f64]) -> Option<Steady> {
    if series.len() < STEADY_INTERVALS_MIN || series.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let batch = if series.len() < 10 * BATCH { 1 } else { BATCH };
    let batches: Vec<f64> = series.chunks_exact(batch).map(mean).collect();
    let ramp_len = truncation(&batches) * batch;
    let rest = &series[ramp_len..];
    let mean_of_rest = mean(rest);
    let valid = mean_of_rest.is_finite() && mean_of_rest > 0.0;
    if !valid {
        return None;
    }
    let drift_rel = slope(rest) * (rest.len() - 1) as f64 / mean_of_rest;
    let rounds = (0..ROUNDS).map(|nth| mean(&rest[nth * rest.len() / ROUNDS..(nth + 1) * rest.len() / ROUNDS]));
    let (low, high) = rounds.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (v.min(low), v.max(high)));
    let range_rel = (high - low) / mean_of_rest;
    if !(drift_rel.is_finite() && range_rel.is_finite()) {
        return None;
    }
    let verdict = if drift_rel.abs() > STEADY_DRIFT_REL {
        Steadiness::Drifting
    } else if range_rel > STEADY_RANGE_REL {
        Steadiness::Swinging
    } else {
        Steadiness::Steady
    };
    Some(Steady { ramp_len, drift_rel, range_rel, verdict })
}

/// How many values to drop at the start: the earliest of the first half with a standard error near the smallest.
fn truncation(values: &[f64]) -> usize {
    let n = values.len();
    // Relative to the last value: keeps squares small, so that a constant series has an exact zero.
    let origin = values[n - 1];
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut squared_errors = vec![0.0; n];
    for drop in (0..n).rev() {
        let value = values[drop] - origin;
        sum += value;
        squares += value * value;
        let kept = (n - drop) as f64;
        squared_errors[drop] = (squares - sum * sum / kept).max(0.0) / (kept * kept);
    }
    let eligible = &squared_errors[..=n / 2];
    let least = eligible.iter().copied().fold(f64::INFINITY, f64::min);
    eligible.iter().position(|&squared| squared <= least * (1.0 + NEAR) * (1.0 + NEAR)).unwrap_or(0)
}

/// Least-squares slope per interval.
fn slope(values: &[f64]) -> f64 {
    let centre = (values.len() - 1) as f64 / 2.0;
    let mean = mean(values);
    let at = |i: usize| i as f64 - centre;
    let products: f64 = values.iter().enumerate().map(|(i, v)| at(i) * (v - mean)).sum();
    let squares: f64 = (0..values.len()).map(|i| at(i) * at(i)).sum();
    products / squares
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_xoshiro::{
        Xoshiro256PlusPlus,
        rand_core::{Rng, SeedableRng},
    };

    /// The shape with noise of ±30.
    fn series(n: usize, shape: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(n as u64);
        let mut noise = || (rng.next_u64() as f64 / u64::MAX as f64 - 0.5) * 60.0;
        (0..n).map(|i| shape(i as f64) + noise()).collect()
    }

    #[test]
    fn the_end_of_a_ramp_is_found() {
        for (n, ramp) in [(40usize, 8.0), (120, 20.0), (600, 60.0)] {
            let up = series(n, |i| 1000.0 * (0.2 + 0.8 * (i / ramp).min(1.0)));
            let found = steady(&up).unwrap();
            assert_eq!(found.verdict, Steadiness::Steady, "{found:?}");
            assert!((found.ramp_len as f64 - ramp).abs() <= 5.0 + ramp * 0.2, "{n}: {found:?}");
            // A fast start, as of a cache that fills, is a ramp too.
            let down = series(n, |i| if i < ramp { 5000.0 } else { 1000.0 });
            let found = steady(&down).unwrap();
            assert!((found.ramp_len as f64 - ramp).abs() <= 5.0, "{n}: {found:?}");
        }
    }

    #[test]
    fn drift_and_swings_are_told_apart() {
        let found = steady(&series(300, |i| 1000.0 - i)).unwrap();
        assert_eq!(found.verdict, Steadiness::Drifting);
        assert!(found.drift_rel < -0.1);
        let found = steady(&series(300, |i| 1000.0 + 300.0 * (i / 300.0 * 4.0 * std::f64::consts::PI).cos())).unwrap();
        assert_eq!(found.verdict, Steadiness::Swinging, "{found:?}");
        assert_eq!(steady(&series(300, |_| 1000.0)).unwrap().verdict, Steadiness::Steady);
    }

    #[test]
    fn edges() {
        assert_eq!(steady(&[1.0; 9]), None);
        assert_eq!(steady(&[0.0; 20]), None);
        assert_eq!(steady(&[f64::NAN; 20]), None);
        let flat = Steady { ramp_len: 0, drift_rel: 0.0, range_rel: 0.0, verdict: Steadiness::Steady };
        assert_eq!(steady(&[7.1; 10]), Some(flat));
        assert_eq!(steady(&[7.1; 64]), Some(flat));
    }

    proptest! {
        #[test]
        fn no_series_panics(series in prop::collection::vec(prop::num::f64::ANY, 0..120)) {
            if let Some(found) = steady(&series) {
                prop_assert!(found.ramp_len <= series.len() / 2 && found.drift_rel.is_finite() && found.range_rel >= 0.0);
            }
        }
    }
}
