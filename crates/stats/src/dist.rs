//! Quantiles of the two distributions that intervals are built from: Student's t and the binomial.
//!
//! Both come from the regularised incomplete beta function, computed by its continued fraction (NIST DLMF 8.17.22,
//! <https://dlmf.nist.gov/8.17#E22>) with the modified Lentz method (Press et al., Numerical Recipes, section 6.4).

/// The fraction converges in the order of sqrt(max(a, b)) rounds; this is far beyond what [`TRIALS_MAX`] needs.
const ROUNDS_MAX: u32 = 200_000;
/// More trials than this are taken as this many: an interval computed so is wider than needed, never narrower.
pub(crate) const TRIALS_MAX: u64 = 100_000_000;

/// The `p`-quantile of Student's t distribution with `df` degrees of freedom, which need not be whole. `None` unless
/// 0 < `p` < 1 and `df` is positive and finite.
#[must_use]
pub fn student_t_quantile(p: f64, df: f64) -> Option<f64> {
    let valid = p > 0.0 && p < 1.0 && df > 0.0 && df.is_finite();
    if !valid {
        return None;
    }
    // The smaller tail, so that nothing is lost near 1; the distribution is symmetric.
    let tail = p.min(1.0 - p);
    let tail_above = |t: f64| {
        let square = t * t;
        0.5 * beta_regularised(df / 2.0, 0.5, df / (df + square), square / (df + square))
    };
    let mut high = 1.0;
    while tail_above(high) > tail && high < 1e150 {
        high *= 2.0;
    }
    let mut low = 0.0;
    // Halves until floating point has no value in between.
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if tail_above(middle) > tail { low = middle } else { high = middle }
    }
    let t = 0.5 * (low + high);
    Some(if p < 0.5 { -t } else { t })
}

/// The smallest `k` with P(X <= k) >= `p` for X binomial with `trials` trials of probability `q`.
pub(crate) fn binomial_quantile(p: f64, trials: u64, q: f64) -> u64 {
    let trials = trials.min(TRIALS_MAX);
    let at_most = |k: u64| {
        if k >= trials { 1.0 } else { beta_regularised((trials - k) as f64, k as f64 + 1.0, 1.0 - q, q) }
    };
    let (mut low, mut high) = (0, trials);
    while low < high {
        let middle = low + (high - low) / 2;
        if at_most(middle) >= p { high = middle } else { low = middle + 1 }
    }
    low
}

/// The regularised incomplete beta function I_x(a, b), with `y` = 1 - `x` given apart because the caller often knows
/// it more exactly.
fn beta_regularised(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    // Converges fast on this side of the mean only; the other side is the complement.
    if x > (a + 1.0) / (a + b + 2.0) { 1.0 - beta_lower(b, a, y, x) } else { beta_lower(a, b, x, y) }
}

fn beta_lower(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let log_front = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log(y);
    libm::exp(log_front) * beta_fraction(a, b, x) / a
}

fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let nonzero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for round in 1..ROUNDS_MAX {
        let m = f64::from(round);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / nonzero(1.0 + even * d);
        c = nonzero(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / nonzero(1.0 + odd * d);
        c = nonzero(1.0 + odd / c);
        let change = d * c;
        fraction *= change;
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_t_quantiles() {
        // df = 1 is Cauchy and df = 2 has a closed form.
        for p in [0.6, 0.9, 0.975, 0.9995] {
            let cauchy = (std::f64::consts::PI * (p - 0.5)).tan();
            assert!((student_t_quantile(p, 1.0).unwrap() / cauchy - 1.0).abs() < 1e-12);
            let two = (2.0 * p - 1.0) / (2.0 * p * (1.0 - p)).sqrt();
            assert!((student_t_quantile(p, 2.0).unwrap() / two - 1.0).abs() < 1e-12);
            assert_eq!(
                student_t_quantile(1.0 - p, 7.5).map(|t| (t * 1e9).round()),
                student_t_quantile(p, 7.5).map(|t| (-t * 1e9).round())
            );
        }
        assert!(student_t_quantile(0.5, 3.0).unwrap().abs() < 1e-12);
        for (p, df) in [(0.0, 1.0), (1.0, 1.0), (f64::NAN, 1.0), (0.5, 0.0), (0.5, f64::NAN), (0.5, f64::INFINITY)] {
            assert_eq!(student_t_quantile(p, df), None);
        }
    }

    #[test]
    fn binomial_quantiles_by_summation() {
        for trials in [1u64, 2, 10, 57] {
            for q in [0.01f64, 0.5, 0.9] {
                let mut term = (1.0 - q).powi(trials as i32);
                let mut cumulated = term;
                let mut k = 0;
                for p in [0.025, 0.2, 0.45, 0.975] {
                    while cumulated < p - 1e-12 {
                        term *= (trials - k) as f64 / (k + 1) as f64 * q / (1.0 - q);
                        k += 1;
                        cumulated += term;
                    }
                    assert_eq!(binomial_quantile(p, trials, q), k, "{p} {trials} {q}");
                }
            }
        }
        assert_eq!(binomial_quantile(0.5, 0, 0.5), 0);
        // Far beyond the limit it still ends, near the mean.
        let k = binomial_quantile(0.5, u64::MAX, 0.5);
        assert!(k.abs_diff(TRIALS_MAX / 2) <= 1);
    }
}
