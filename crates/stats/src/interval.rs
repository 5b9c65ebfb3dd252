//! The mean of a series of intervals and how well it is known.
//!
//! Neighbouring intervals of a benchmark resemble each other (flushes, compaction, caches), so `n` of them say less
//! than `n` independent ones would. The effective sample size is what they are worth.
use crate::{repeats::mean, student_t_quantile};

/// Confidence of every interval of this crate.
pub const CONFIDENCE: f64 = 0.95;
/// Fewer intervals than this say nothing about their own correlation.
pub const TIGHT_INTERVALS_MIN: usize = 6;
/// Longer series are averaged in batches down to this before correlating: bounds the time for runs of days.
const POINTS_MAX: usize = 4096;

/// A mean with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanCi {
    /// The mean, in the unit of the series.
    pub mean: f64,
    /// Half the width of the 95 % interval, in the same unit.
    pub half_width: f64,
    /// What the values are worth in independent ones: between 2 and their number.
    pub effective_n: f64,
}

impl MeanCi {
    /// Half width as a fraction of the mean; `None` when the mean is 0.
    #[must_use]
    pub fn rel_half_width(&self) -> Option<f64> {
        (self.mean != 0.0).then(|| self.half_width / self.mean.abs())
    }
}

/// The number of independent values that would know the mean as well as this series: `n / tau`, between 1 and `n`.
/// `None` when the series is shorter than 2 or has a value that is not finite (or
/// whose square is not).
///
/// `tau = 1 + 2 * sum(rho_k)` is estimated with Geyer's initial monotone sequence (Geyer, Practical Markov Chain
/// Monte Carlo, Statistical Science 7, 1992, section 3.3): sums of autocorrelations at lags `2m` and `2m + 1` are
/// added up until the first that is not positive, each bounded by the one before. Autocovariances are divided by `n`.
/// Negative correlation, which would make a series worth more than `n`, is not credited.
#[must_use]
pub fn effective_sample_size(series: &[f64]) -> Option<f64> {
    let n = series.len();
    if n < 2 || series.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let variance = autocovariance(&centred(series), 0);
    if !variance.is_finite() {
        return None;
    }
    if variance == 0.0 {
        return Some(n as f64);
    }
    let batch = n.div_ceil(POINTS_MAX);
    let points: Vec<f64> = series.rchunks_exact(batch).rev().map(mean).collect();
    let points = centred(&points);
    let batch_variance = autocovariance(&points, 0);
    // Variance of the mean = batch_variance * tau / points; the worth in single values follows from theirs.
    let mean_variance = batch_variance * integrated_time(&points, batch_variance) / points.len() as f64;
    let worth = if mean_variance > 0.0 { variance / mean_variance } else { n as f64 };
    Some(worth.clamp(1.0, n as f64))
}

fn centred(series: &[f64]) -> Vec<f64> {
    let mean = mean(series);
    series.iter().map(|v| v - mean).collect()
}

fn autocovariance(centred: &[f64], lag: usize) -> f64 {
    let sum: f64 = centred.iter().zip(&centred[lag..]).map(|(a, b)| a * b).sum();
    sum / centred.len() as f64
}

/// `tau` of [`effective_sample_size`]; positive.
fn integrated_time(centred: &[f64], variance: f64) -> f64 {
    if variance <= 0.0 {
        return 1.0;
    }
    let (mut sum, mut bound) = (0.0, f64::INFINITY);
    for lag in (0..centred.len() - 1).step_by(2) {
        let pair = (autocovariance(centred, lag) + autocovariance(centred, lag + 1)) / variance;
        if pair <= 0.0 {
            break;
        }
        bound = pair.min(bound);
        sum += bound;
    }
    (2.0 * sum - 1.0).max(f64::MIN_POSITIVE)
}

/// The mean of a series with its 95 % confidence interval. `None` when the series is shorter than 2, has a value
/// that is not finite, or is worth fewer than 2 independent values (a ramp, for one): then nothing can be said.
///
/// Half width = t(0.975, ess - 1) * sqrt(c0 / (ess - 1)), where c0 is the mean squared deviation. With ess = n this is
/// the textbook interval, for c0 / (n - 1) = s² / n; with fewer the effective number also corrects the variance,
/// which correlation makes look too small.
#[must_use]
pub fn mean_ci(series: &[f64]) -> Option<MeanCi> {
    let effective_n = effective_sample_size(series)?;
    if effective_n < 2.0 {
        return None;
    }
    let t = student_t_quantile(0.5 + CONFIDENCE / 2.0, effective_n - 1.0)?;
    let variance = autocovariance(&centred(series), 0);
    Some(MeanCi { mean: mean(series), half_width: t * libm::sqrt(variance / (effective_n - 1.0)), effective_n })
}

/// How well the mean rate is known: half width of its 95 % interval as a fraction of it, for intervals of equal
/// length. `None` with fewer than [`TIGHT_INTERVALS_MIN`] intervals, when the mean is 0, or when [`mean_ci`] can say
/// nothing.
#[must_use]
pub fn tight(rates: &[f64]) -> Option<f64> {
    if rates.len() < TIGHT_INTERVALS_MIN { None } else { mean_ci(rates)?.rel_half_width() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_xoshiro::{
        Xoshiro256PlusPlus,
        rand_core::{Rng, SeedableRng},
    };

    fn noise(rng: &mut Xoshiro256PlusPlus) -> f64 {
        // Sum of four uniforms: near enough to normal.
        (0..4).map(|_| rng.next_u64() as f64 / u64::MAX as f64 - 0.5).sum()
    }

    fn ar1(rho: f64, n: usize, seed: u64) -> Vec<f64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut x = 0.0;
        let mut next = || {
            x = rho * x + noise(&mut rng);
            100.0 + x
        };
        (0..n + 100).map(|_| next()).skip(100).collect()
    }

    #[test]
    fn an_autoregressive_series_is_worth_what_theory_says() {
        for rho in [0.0, 0.3, 0.6, 0.9] {
            // The second is long enough to be batched.
            for n in [4000usize, 60_000] {
                let theory = (1.0 - rho) / (1.0 + rho) * n as f64;
                let found = effective_sample_size(&ar1(rho, n, 7)).unwrap();
                assert!((found / theory - 1.0).abs() < 0.2, "rho {rho}, n {n}: {found} for {theory}");
            }
        }
    }

    #[test]
    fn negative_correlation_is_not_credited() {
        assert_eq!(effective_sample_size(&ar1(-0.5, 1000, 3)), Some(1000.0));
    }

    #[test]
    fn nineteen_of_twenty_intervals_hold_the_true_mean() {
        for (rho, least) in [(0.0, 0.92), (0.5, 0.90)] {
            let runs = 1000;
            let holds = |seed| mean_ci(&ar1(rho, 60, seed)).is_some_and(|ci| (ci.mean - 100.0).abs() <= ci.half_width);
            let share = (0..runs).filter(|&seed| holds(seed)).count() as f64 / runs as f64;
            assert!((least..0.99).contains(&share), "rho {rho}: {share}");
        }
    }

    #[test]
    fn edges() {
        assert_eq!(effective_sample_size(&[1.0]), None);
        assert_eq!(effective_sample_size(&[1.0, f64::NAN]), None);
        assert_eq!(tight(&[5.0; 5]), None);
        assert_eq!(tight(&[5.0; 6]), Some(0.0));
        assert_eq!(tight(&[0.0; 60]), None);
        // A ramp has no mean to speak of.
        let ramp: Vec<f64> = (0..60).map(f64::from).collect();
        assert!(effective_sample_size(&ramp).unwrap() < 5.0);
        assert!(tight(&ramp).is_none_or(|rel| rel > 0.3));
    }

    proptest! {
        #[test]
        fn no_series_panics(series in prop::collection::vec(prop::num::f64::ANY, 0..50)) {
            if let Some(ess) = effective_sample_size(&series) {
                prop_assert!((1.0..=series.len() as f64).contains(&ess), "{}", ess);
            }
            let _ = tight(&series);
        }

        #[test]
        fn the_unit_does_not_matter(series in prop::collection::vec(1.0..1e6f64, 6..80)) {
            let scaled: Vec<f64> = series.iter().map(|v| v * 1024.0).collect();
            prop_assert_eq!(effective_sample_size(&series), effective_sample_size(&scaled));
            prop_assert_eq!(tight(&series), tight(&scaled));
        }
    }
}
