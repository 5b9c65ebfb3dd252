//! Stalls: times when a run made no, or next to no, progress.
use crate::median;
use std::ops::Range;

/// An interval with less than this fraction of the usual progress belongs to a stall.
pub const STALL_FRACTION: f64 = 0.05;
/// A run of slow intervals is a stall when at least this many operations would usually have completed in it. With
/// fewer, silence is chance: at 10 expected, independent completions are silent once in 22000 times.
pub const STALL_EXPECTED_OPS: f64 = 10.0;

/// Finds the stalls in a series: `ops` holds the operations completed in each interval, all of one length. The spans
/// are indices into it, in order, end exclusive.
///
/// Usual is the median of the intervals with any progress, so that a run that hangs for most of its time still has
/// its usual rate. Values that are negative or not finite count as no progress.
#[must_use]
pub fn stalls(ops: &[f64]) -> Vec<Range<usize>> {
    let progress: Vec<f64> = ops.iter().copied().filter(|v| v.is_finite() && *v > 0.0).collect();
    let Some(usual) = median(&progress) else { return Vec::new() };
    let slow = |v: f64| !v.is_finite() || v < usual * STALL_FRACTION;
    let mut spans = Vec::new();
    let mut at = 0;
    while at < ops.len() {
        let len = ops[at..].iter().take_while(|v| slow(**v)).count();
        if len > 0 && len as f64 * usual >= STALL_EXPECTED_OPS {
            spans.push(at..at + len);
        }
        at += len.max(1);
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(ops: &[f64]) -> Vec<(usize, usize)> {
        stalls(ops).into_iter().map(|span| (span.start, span.end)).collect()
    }

    #[test]
    fn stalls_are_found_with_their_ends() {
        let ops = [900.0, 1000.0, 0.0, 0.0, 40.0, 1100.0, 60.0, 1000.0, 0.0];
        assert_eq!(spans(&ops), [(2, 5), (8, 9)]);
    }

    #[test]
    fn a_run_that_hangs_for_most_of_its_time_is_one_stall() {
        let mut ops = vec![1000.0; 10];
        ops.extend([0.0; 50]);
        assert_eq!(spans(&ops), [(10, 60)]);
    }

    #[test]
    fn chance_is_no_stall() {
        // Two operations per interval: an empty one is common, six in a row are not.
        assert_eq!(spans(&[2.0, 0.0, 3.0, 2.0, 0.0, 0.0, 2.0, 1.0]), []);
        assert_eq!(spans(&[2.0, 2.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0]), [(3, 9)]);
    }

    #[test]
    fn edges() {
        assert_eq!(spans(&[]), []);
        assert_eq!(spans(&[0.0; 20]), []);
        assert_eq!(spans(&[100.0, f64::NAN, 100.0, -1.0]), [(1, 2), (3, 4)]);
        assert_eq!(spans(&[100.0; 20]), []);
    }
}
