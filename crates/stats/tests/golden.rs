//! Against SciPy and NumPy. `golden/values.rs` was written by `golden/generate.py`; the inputs are made again here.
use fathom_stats::{
    Hist, effective_sample_size, mean_ci, median, median_absolute_deviation, quantile_ci, student_t_quantile,
};

#[path = "golden/values.rs"]
#[rustfmt::skip]
#[allow(clippy::type_complexity)] // rows of numbers, read once
mod values;

fn uniform(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as f64 / 4_294_967_296.0 - 0.5
    };
    (0..n).map(|_| next()).collect()
}

fn ar1(n: usize, rho: f64, seed: u64) -> Vec<f64> {
    let mut x = 0.0;
    let step = |u: f64| {
        x = rho * x + u;
        100.0 + x
    };
    uniform(n, seed).into_iter().map(step).collect()
}

#[track_caller]
fn assert_near(found: f64, golden: f64, tolerance_rel: f64) {
    assert!((found - golden).abs() <= tolerance_rel * golden.abs().max(1e-12), "{found} for {golden}");
}

#[test]
fn student_t_quantiles() {
    for &(p, df, golden) in values::STUDENT_T {
        assert_near(student_t_quantile(p, df).unwrap(), golden, 1e-9);
    }
}

#[test]
fn means_and_effective_sample_sizes_of_correlated_series() {
    for &(n, rho, seed, ess, mean, half_width) in values::SERIES {
        let series = ar1(n, rho, seed);
        assert_near(effective_sample_size(&series).unwrap(), ess, 1e-9);
        let found = mean_ci(&series);
        assert_eq!(found.is_some(), half_width.is_some(), "{n} {rho}");
        if let (Some(found), Some(half_width)) = (found, half_width) {
            assert_near(found.mean, mean, 1e-12);
            assert_near(found.half_width, half_width, 1e-9);
        }
    }
}

#[test]
fn without_correlation_the_interval_is_the_plain_one() {
    let &(n, rho, seed, ..) = values::SERIES.last().unwrap();
    assert_near(mean_ci(&ar1(n, rho, seed)).unwrap().half_width, values::PLAIN_HALF_WIDTH, 1e-9);
}

#[test]
fn medians_and_deviations() {
    for &(n, seed, golden_median, golden_deviation) in values::MIDDLES {
        let values = uniform(n, seed);
        assert_near(median(&values).unwrap(), golden_median, 1e-14);
        assert_near(median_absolute_deviation(&values).unwrap(), golden_deviation, 1e-14);
    }
}

#[test]
fn quantiles_and_their_bounds() {
    for &(n, seed, q, value_ns, low_ns, high_ns) in values::QUANTILES {
        let mut hist = Hist::new();
        // Below 2048 every value has a bucket of its own, so the histogram is exact.
        uniform(n, seed).into_iter().for_each(|u| hist.record(((u + 0.5) * 2000.0) as u64));
        let found = quantile_ci(&hist, q, n as f64).unwrap();
        assert_eq!((found.value_ns, found.low_ns, found.high_ns), (value_ns, low_ns, high_ns), "{n} {q}");
    }
}
