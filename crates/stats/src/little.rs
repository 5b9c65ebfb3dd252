//! Little's law: a closed loop with T operations in flight has mean latency × rate = T. A benchmark that breaks it
//! has measured something else than it says.
//!
//! Source: Little, A Proof for the Queuing Formula L = λW, Operations Research 9, 1961.

/// How far from 1 the ratio may be. Rounding of published figures alone makes 1 %; operations that straddle the
/// edges of the window add about latency ÷ window.
pub const LITTLE_TOLERANCE: f64 = 0.05;

/// What the check says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Little {
    /// Latency × rate is the depth.
    Holds,
    /// It is less, and the time the generator itself left slots unused makes up the difference: the depth was not
    /// kept, the client is a part of what was measured.
    GeneratorLag {
        /// That time as a share of depth × window.
        share: f64,
    },
    /// It is not, and nothing known explains it: do not use the numbers.
    Broken,
}

/// Little's law applied to one measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LittleCheck {
    /// Mean latency × rate ÷ depth: 1 where the law holds, less where slots were idle.
    pub ratio: f64,
    /// What that means, within [`LITTLE_TOLERANCE`].
    pub verdict: Little,
}

/// Checks a closed loop of `depth` operations in flight in all. Latency is from sent to completed, in nanoseconds; the
/// rate is operations per second; both over every operation that ended in the window, in whatever way.
/// `generator_lag_share` is the time free slots waited for the generator, as a share of depth × window (0 when not
/// known). `None` when the depth is 0, or a number is negative or not finite.
#[must_use]
pub fn little(depth: u32, mean_latency_ns: f64, ops_per_s: f64, generator_lag_share: f64) -> Option<LittleCheck> {
    let sane = |v: f64| v.is_finite() && v >= 0.0;
    if depth == 0 || ![mean_latency_ns, ops_per_s, generator_lag_share].into_iter().all(sane) {
        return None;
    }
    let ratio = mean_latency_ns / 1e9 * ops_per_s / f64::from(depth);
    let is_one = |v: f64| (v - 1.0).abs() <= LITTLE_TOLERANCE;
    let verdict = if is_one(ratio) {
        Little::Holds
    } else if ratio < 1.0 && is_one(ratio + generator_lag_share) {
        Little::GeneratorLag { share: generator_lag_share }
    } else {
        Little::Broken
    };
    Some(LittleCheck { ratio, verdict })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_sweep_obeys_it() {
        for (depth, ops_per_s, ms) in [(1, 1595.0, 0.62), (4, 4571.0, 0.87), (16, 9516.0, 1.68), (64, 15726.0, 4.07)] {
            let check = little(depth, ms * 1e6, ops_per_s, 0.0).unwrap();
            assert_eq!(check.verdict, Little::Holds, "{depth}: {check:?}");
        }
    }

    #[test]
    fn a_deviation_is_put_down_to_the_generator_only_where_it_fits() {
        let verdict = |ratio: f64, lag| little(10, ratio * 1e7, 1000.0, lag).unwrap().verdict;
        assert_eq!(verdict(0.7, 0.31), Little::GeneratorLag { share: 0.31 });
        assert_eq!(verdict(0.7, 0.1), Little::Broken);
        assert_eq!(verdict(0.7, 0.9), Little::Broken);
        assert_eq!(verdict(0.97, 0.03), Little::Holds);
        assert_eq!(verdict(1.3, 0.3), Little::Broken);
        assert_eq!(verdict(0.0, 0.0), Little::Broken);
        assert_eq!(little(0, 1.0, 1.0, 0.0), None);
        assert_eq!(little(1, f64::NAN, 1.0, 0.0), None);
        assert_eq!(little(1, 1.0, f64::INFINITY, 0.0), None);
        assert_eq!(little(1, 1.0, 1.0, -0.1), None);
    }
}
