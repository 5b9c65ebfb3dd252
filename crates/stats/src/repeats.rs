//! Several values of the same thing: the middle one and how far apart they lie.

/// A spread of repeated rates above this fraction of their median makes the result unstable. A convention of this
/// program: with three repeats that lie further apart, a change of a tenth cannot be told from chance.
pub const UNSTABLE_REL_SPREAD: f64 = 0.10;

/// The median absolute deviation times this estimates the standard deviation of normally distributed values
/// (1 / Φ⁻¹(3/4)).
pub const MAD_TO_SIGMA: f64 = 1.482_602_218_505_602;

/// The repeats of one measurement, all in one unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeats {
    /// The middle value; of an even number, the mean of the two middle ones.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// (max - min) / median; 0 when all are equal, infinite when only the median is 0.
    pub rel_spread: f64,
    /// How many.
    pub n: usize,
}

impl Repeats {
    /// Of these values, in any order. `None` when there is none or one is not finite.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Repeats> {
        let sorted = sorted(values)?;
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let median = middle(&sorted);
        let rel_spread = if max == min { 0.0 } else { (max - min) / median.abs() };
        Some(Repeats { median, min, max, rel_spread, n: sorted.len() })
    }

    /// True when the repeats lie further apart than [`UNSTABLE_REL_SPREAD`]. Meant for rates: tail latencies spread
    /// wider by nature. A single value is never unstable, nor is it known to be stable: look at `n`.
    #[must_use]
    pub fn unstable(&self) -> bool {
        self.rel_spread > UNSTABLE_REL_SPREAD
    }
}

/// The median, in the unit of the values; of an even number the mean of the two middle ones. `None` when there is
/// none or one is not finite.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    sorted(values).filter(|v| !v.is_empty()).map(|v| middle(&v))
}

/// The median absolute deviation from the median, in the unit of the values, unscaled ([`MAD_TO_SIGMA`] scales it). Half
/// of the values may be arbitrarily wrong before it is. `None` when there is none or one is not finite.
#[must_use]
pub fn median_absolute_deviation(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    median(&deviations)
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(sorted)
}

/// Of sorted values, of which there is at least one.
fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { 0.5 * sorted[half - 1] + 0.5 * sorted[half] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_runs() {
        let repeats = Repeats::of(&[9516.0, 9400.0, 9620.0]).unwrap();
        assert_eq!((repeats.median, repeats.min, repeats.max, repeats.n), (9516.0, 9400.0, 9620.0, 3));
        assert!((repeats.rel_spread - 220.0 / 9516.0).abs() < 1e-12);
        assert!(!repeats.unstable());
        assert!(Repeats::of(&[9000.0, 10_000.0, 10_100.0]).unwrap().unstable());
    }

    #[test]
    fn edges() {
        assert_eq!(Repeats::of(&[]), None);
        assert_eq!(Repeats::of(&[1.0, f64::NAN]), None);
        assert_eq!(Repeats::of(&[0.0, 0.0]).unwrap().rel_spread, 0.0);
        assert!(Repeats::of(&[0.0, 0.0, 1.0]).unwrap().unstable());
        assert!(!Repeats::of(&[4.0]).unwrap().unstable());
        assert_eq!((median(&[]), median(&[4.0, 1.0, 2.0, 3.0])), (None, Some(2.5)));
        assert_eq!(median_absolute_deviation(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), Some(1.0));
    }
}
