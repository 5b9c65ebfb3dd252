//! How well a percentile is known.
//!
//! Order statistics rather than a bootstrap: the interval is exact for any distribution, needs no seed, costs next to
//! nothing, and says "not known" when the sample cannot bound a percentile. A bootstrap never leaves the sample, so
//! it gives p99.9 of 500 operations a confident and wrong upper bound.
use crate::{
    CONFIDENCE, Hist,
    dist::{TRIALS_MAX, binomial_quantile},
    effective_sample_size,
};

/// A percentile of latency with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuantileCi {
    /// The percentile, in nanoseconds.
    pub value_ns: u64,
    /// Lower bound, in nanoseconds; `None` when the sample is too small to give one.
    pub low_ns: Option<u64>,
    /// Upper bound, in nanoseconds; `None` when the sample is too small to give one: the true value may lie above
    /// everything that was measured.
    pub high_ns: Option<u64>,
}

/// The `q`-quantile with its 95 % confidence interval, when what was recorded is worth `effective_n` independent
/// values ([`quantile_effective_n`]; pass the count when they are independent). `None` when the histogram is empty,
/// `q` is not within 0..1 (both excluded) or `effective_n` is not at least 1.
///
/// The bounds are the order statistics of ranks `l` and `u`, where `l` is the 2.5 % quantile of the binomial
/// distribution with `effective_n` trials of probability `q`, and `u` its 97.5 % quantile plus 1 (Conover, Practical
/// Nonparametric Statistics, section 3.2; the same as SciPy's `quantile_test().confidence_interval()`), both moved to
/// the corresponding rank of all values, outwards.
#[must_use]
pub fn quantile_ci(hist: &Hist, q: f64, effective_n: f64) -> Option<QuantileCi> {
    let valid = q > 0.0 && q < 1.0 && effective_n >= 1.0;
    if !valid {
        return None;
    }
    let value_ns = hist.quantile_ns(q)?;
    let n = hist.count();
    let trials = (effective_n as u64).min(n).min(TRIALS_MAX);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let low = binomial_quantile(tail, trials, q);
    let high = binomial_quantile(1.0 - tail, trials, q) + 1;
    // u128: both factors may be large.
    let scaled = |rank: u64| u128::from(rank) * u128::from(n);
    let low_rank = low.checked_sub(1).map(|below| (scaled(below) / u128::from(trials)) as u64 + 1);
    let high_rank = (high <= trials).then(|| scaled(high).div_ceil(u128::from(trials)) as u64);
    // The outer edges of the buckets: the interval holds the histogram's own error too.
    let low_ns = low_rank.and_then(|rank| hist.bucket_at_rank(rank)).map(|bucket| bucket.low_ns);
    let high_ns = high_rank.and_then(|rank| hist.bucket_at_rank(rank)).map(|bucket| bucket.high_ns);
    Some(QuantileCi { value_ns, low_ns, high_ns })
}

/// What the latencies of all these intervals together are worth in independent values, when asking for the
/// `q`-quantile: at least 1, at most their number (0 when there is none).
///
/// Slow operations come in clumps, a flush makes hundreds of them, so a hundred slow operations may be one event.
/// The share of operations above the quantile is compared between intervals: it varies more than chance would let
/// it by the factor `phi` (Pearson's chi-square over its degrees of freedom, as for overdispersed proportions:
/// McCullagh and Nelder, Generalized Linear Models, section 4.5), and neighbouring intervals resemble each other by
/// `tau` ([`effective_sample_size`]). The worth is `n / (phi tau)`. Intervals are histograms of equal lengths of
/// time, in order; with fewer than two that hold values the answer is their number.
#[must_use]
pub fn quantile_effective_n(intervals: &[&Hist], q: f64) -> f64 {
    let mut all = Hist::new();
    intervals.iter().for_each(|hist| all.merge(hist));
    let n = all.count() as f64;
    let Some(limit_ns) = all.quantile_ns(q) else { return n };
    let share = all.count_at_most(limit_ns) as f64 / n;
    let filled = || intervals.iter().filter(|hist| hist.count() > 0);
    let shares: Vec<f64> = filled().map(|hist| hist.count_at_most(limit_ns) as f64 / hist.count() as f64).collect();
    let Some(effective_intervals) = effective_sample_size(&shares) else { return n };
    let binomial_variance = share * (1.0 - share);
    if binomial_variance <= 0.0 {
        return n;
    }
    let chi_square: f64 = filled()
        .zip(&shares)
        .map(|(hist, p)| hist.count() as f64 * (p - share) * (p - share) / binomial_variance)
        .sum();
    let phi = chi_square / (shares.len() - 1) as f64;
    let tau = shares.len() as f64 / effective_intervals;
    (n / (phi * tau).max(1.0)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::{
        Xoshiro256PlusPlus,
        rand_core::{Rng, SeedableRng},
    };

    fn uniform(rng: &mut Xoshiro256PlusPlus) -> u64 {
        rng.next_u64() % 1_000_000
    }

    #[test]
    fn a_small_sample_does_not_bound_a_high_percentile() {
        let mut hist = Hist::new();
        (1..=500).for_each(|ns| hist.record(ns));
        let ci = quantile_ci(&hist, 0.999, 500.0).unwrap();
        assert_eq!((ci.value_ns, ci.high_ns), (500, None));
        assert!(ci.low_ns.is_some());
        let ci = quantile_ci(&hist, 0.5, 500.0).unwrap();
        assert_eq!((ci.low_ns, ci.value_ns, ci.high_ns), (Some(228), 250, Some(273)));
        let wider = quantile_ci(&hist, 0.5, 50.0).unwrap();
        assert!(wider.low_ns < ci.low_ns && wider.high_ns > ci.high_ns);
        for (q, n) in [(0.0, 9.0), (1.0, 9.0), (f64::NAN, 9.0), (0.5, 0.0), (0.5, f64::NAN)] {
            assert_eq!(quantile_ci(&hist, q, n), None);
        }
        assert_eq!(quantile_ci(&Hist::new(), 0.5, 9.0), None);
    }

    #[test]
    fn nineteen_of_twenty_intervals_hold_the_true_percentile() {
        let mut held = 0;
        for seed in 0..300 {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut hist = Hist::new();
            (0..2000).for_each(|_| hist.record(uniform(&mut rng)));
            let ci = quantile_ci(&hist, 0.99, 2000.0).unwrap();
            held += u32::from(ci.low_ns.unwrap() <= 990_000 && ci.high_ns.unwrap() >= 990_000);
        }
        assert!((276..=300).contains(&held), "{held}");
    }

    #[test]
    fn independent_operations_are_worth_their_number_and_clumps_are_not() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let (mut even, mut clumped) = (Vec::new(), Vec::new());
        for interval in 0..100 {
            let (mut a, mut b) = (Hist::new(), Hist::new());
            for _ in 0..1000 {
                let ns = uniform(&mut rng);
                a.record(ns);
                // One interval in twenty is ten times slower as a whole.
                b.record(if interval % 20 == 7 { 10 * ns + 1_000_000 } else { ns });
            }
            even.push(a);
            clumped.push(b);
        }
        let worth = |hists: &[Hist], q| quantile_effective_n(&hists.iter().collect::<Vec<_>>(), q);
        assert!(worth(&even, 0.5) > 50_000.0);
        assert!(worth(&even, 0.99) > 50_000.0);
        assert!(worth(&clumped, 0.99) < 2_000.0, "{}", worth(&clumped, 0.99));
        assert_eq!(quantile_effective_n(&[], 0.5), 0.0);
        assert_eq!(worth(&even[..1], 0.5), 1000.0);
    }
}
