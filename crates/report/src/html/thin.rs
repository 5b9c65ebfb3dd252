//! Long series made shorter, so that a report of hours still opens on a telephone.
use crate::analysis::SeriesPoint;

/// A series with how many intervals each point stands for.
pub(super) struct Thinned {
    pub(super) points: Vec<SeriesPoint>,
    pub(super) per_point: usize,
}

/// At most about `limit` points. Several intervals become one: counters are added, rates follow from them, and of
/// percentiles and maxima the worst is kept, because an average of percentiles is no percentile.
pub(super) fn thin(series: &[SeriesPoint], limit: usize) -> Thinned {
    let per_point = series.len().div_ceil(limit.max(1)).max(1);
    if per_point == 1 {
        return Thinned { points: series.to_vec(), per_point };
    }
    let mut points: Vec<SeriesPoint> = Vec::new();
    let mut taken = 0;
    for point in series {
        match points.last_mut() {
            Some(last) if taken < per_point && last.phase == point.phase => {
                add(last, point);
                taken += 1;
            }
            _ => {
                points.push(point.clone());
                taken = 1;
            }
        }
    }
    Thinned { points, per_point }
}

fn add(sum: &mut SeriesPoint, next: &SeriesPoint) {
    let bytes = sum.bytes_per_s * (sum.to_s - sum.from_s) + next.bytes_per_s * (next.to_s - next.from_s);
    sum.to_s = next.to_s;
    sum.ops = sum.ops.saturating_add(next.ops);
    sum.errors = sum.errors.saturating_add(next.errors);
    let seconds = sum.to_s - sum.from_s;
    (sum.ops_per_s, sum.bytes_per_s) =
        if seconds > 0.0 { (sum.ops as f64 / seconds, bytes / seconds) } else { (0.0, 0.0) };
    sum.p50_ns = sum.p50_ns.max(next.p50_ns);
    sum.p99_ns = sum.p99_ns.max(next.p99_ns);
    sum.max_ns = sum.max_ns.max(next.max_ns);
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::Phase;

    #[test]
    fn counters_add_up_and_the_worst_percentile_stays() {
        let point = |s: u64| SeriesPoint {
            phase: Phase::Measure,
            from_s: s as f64,
            to_s: s as f64 + 1.0,
            ops: 10 * s,
            ops_per_s: 10.0 * s as f64,
            bytes_per_s: 40.0 * s as f64,
            p50_ns: Some(s),
            p99_ns: (s == 3).then_some(99),
            max_ns: Some(100 + s),
            errors: 1,
        };
        let series: Vec<SeriesPoint> = (0..10).map(point).collect();
        let thinned = thin(&series, 4);
        assert_eq!((thinned.per_point, thinned.points.len()), (3, 4));
        assert_eq!(thinned.points.iter().map(|p| p.ops).sum::<u64>(), 450);
        assert_eq!(thinned.points[1].p99_ns, Some(99));
        assert_eq!(thinned.points[1].ops_per_s, 40.0);
        assert_eq!(thinned.points[1].bytes_per_s, 160.0);
        assert_eq!(thin(&series, 10).points, series);
    }
}
