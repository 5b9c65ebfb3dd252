//! Ratios of pairs: median, range, an interval for the median, and what they say about a goal.

/// The median; of an even number the mean of the middle two. NaN when there are none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// Ratios ours ÷ theirs, one per pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratios {
    pub median: f64,
    pub min: f64,
    pub max: f64,
    /// Holds the true median with the probability `level`.
    pub low: f64,
    pub high: f64,
    pub level: f64,
}

impl Ratios {
    /// The interval is that of the sign test: two order statistics, chosen so that the level is at least 95 % where
    /// the number of pairs allows it (from 6 on); no distribution is assumed. Source: Hahn, Meeker, Statistical
    /// Intervals, section 5.2. `None` without pairs.
    pub fn of(ratios: &[f64]) -> Option<Ratios> {
        let mut sorted = ratios.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        // Leaving out k at each end leaves 1 - 2 P(X <= k), X binomial with n and 1/2.
        let level = |k: usize| 1.0 - 2.0 * (0..=k).map(|i| binomial(n, i)).sum::<f64>() / 2f64.powi(n as i32);
        let k = (0..n / 2).take_while(|k| *k == 0 || level(*k) >= 0.95).last().unwrap_or(0);
        let (low, high) = (sorted[k], sorted[n - 1 - k]);
        Some(Ratios { median: median(&sorted), min, max, low, high, level: level(k).max(0.0) })
    }
}

fn binomial(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

/// What a ratio should be.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Met,
    /// The median misses it, the interval does not.
    WithinSpread,
    Missed,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Met => "met",
            Verdict::WithinSpread => "met within its spread",
            Verdict::Missed => "MISSED",
        }
    }
}

impl Goal {
    pub fn verdict(self, r: &Ratios) -> Verdict {
        let (met, near) = match self {
            Goal::AtLeast(goal) => (r.median >= goal, r.high >= goal),
            Goal::AtMost(goal) => (r.median <= goal, r.low <= goal),
        };
        match (met, near) {
            (true, _) => Verdict::Met,
            (false, true) => Verdict::WithinSpread,
            (false, false) => Verdict::Missed,
        }
    }

    pub fn text(self) -> String {
        match self {
            Goal::AtLeast(goal) => format!("at least {goal:.2}"),
            Goal::AtMost(goal) => format!("at most {goal:.2}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn the_interval_has_the_levels_of_the_sign_test() {
        let of = |n: u32| Ratios::of(&(1..=n).map(f64::from).collect::<Vec<_>>()).unwrap();
        // Levels from the binomial table: 1 - 2/2^6, 1 - 2/2^8, 1 - 2 (1 + 9)/2^9, 1 - 2 (1 + 20 + 190 + 1140 + 4845)/2^20.
        for (n, low, high, level) in
            [(6, 1.0, 6.0, 0.968_75), (8, 1.0, 8.0, 0.992_19), (9, 2.0, 8.0, 0.960_94), (20, 6.0, 15.0, 0.958_61)]
        {
            let r = of(n);
            assert_eq!((r.low, r.high), (low, high), "{n}");
            assert!((r.level - level).abs() < 1e-5, "{n}: {}", r.level);
        }
        // Too few for 95 %: the range, and the level it has.
        assert_eq!((of(3).low, of(3).high, of(3).level), (1.0, 3.0, 0.75));
        assert_eq!(of(1).level, 0.0);
        assert_eq!(Ratios::of(&[]), None);
    }

    #[test]
    fn verdicts_look_at_the_interval_only_when_the_median_misses() {
        let r = Ratios { median: 0.98, min: 0.9, max: 1.1, low: 0.92, high: 1.05, level: 0.95 };
        assert_eq!(Goal::AtLeast(0.95).verdict(&r), Verdict::Met);
        assert_eq!(Goal::AtLeast(1.0).verdict(&r), Verdict::WithinSpread);
        assert_eq!(Goal::AtLeast(1.06).verdict(&r), Verdict::Missed);
        assert_eq!(Goal::AtMost(1.0).verdict(&r), Verdict::Met);
        assert_eq!(Goal::AtMost(0.93).verdict(&r), Verdict::WithinSpread);
        assert_eq!(Goal::AtMost(0.85).verdict(&r), Verdict::Missed);
    }
}
