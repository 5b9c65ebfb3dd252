//! The knee of a closed-loop concurrency sweep: the depth beyond which more operations in flight buy latency instead
//! of rate.

/// One measured point of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadPoint {
    /// Operations in flight.
    pub depth: u32,
    /// Operations completed per second.
    pub ops_per_s: f64,
    /// Mean latency in nanoseconds.
    pub mean_latency_ns: f64,
}

/// What going from one depth to a larger one gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadStep {
    /// Smaller depth.
    pub from_depth: u32,
    /// Larger depth.
    pub to_depth: u32,
    /// Larger ÷ smaller depth: how many times the load.
    pub load_factor: f64,
    /// How many times the rate; below 1 when the rate fell.
    pub rate_factor: f64,
    /// How many times the mean latency.
    pub latency_factor: f64,
    /// log(rate factor) ÷ log(load factor): 1 when rate follows load, 0 when it stands still, negative when it falls.
    pub elasticity: f64,
}

impl LoadStep {
    /// True when a step of any size gave less than the square root of its load factor (elasticity below 0.5): four
    /// times the load, less than twice the rate.
    #[must_use]
    pub fn saturated(&self) -> bool {
        self.elasticity < 0.5
    }
}

/// What a sweep says.
#[derive(Clone, Debug, PartialEq)]
pub struct Knee {
    /// The knee: the measured depth with the highest ratio of rate to latency. `None` when that is the deepest one:
    /// the knee was not reached, a deeper sweep is needed.
    pub knee_depth: Option<u32>,
    /// The whole way beyond the knee, from it to the deepest point: the saturation statement. `None` without a knee.
    pub beyond: Option<LoadStep>,
    /// Each step between neighbouring depths, ascending.
    pub steps: Vec<LoadStep>,
    /// The highest measured rate, in operations per second.
    pub peak_ops_per_s: f64,
    /// The depth it was measured at.
    pub peak_depth: u32,
    /// Peak rate × lowest mean latency: the depth at which a system that never queues before would reach the peak.
    /// With fewer in flight it cannot be saturated; a lower bound of the depth to run at.
    pub balance_depth: f64,
}

/// Finds the knee of a closed-loop sweep; the points may come in any order. `None` with fewer than two depths, a depth
/// measured twice (take the medians first), or a depth, rate or latency that is not positive and finite.
///
/// The knee maximises rate ÷ latency, Kleinrock's power (Power and deterministic rules of thumb for probabilistic
/// problems in computer communications, ICC 1979). In a closed loop, where latency is depth ÷ rate, power is
/// rate² ÷ depth, and its maximum is where elasticity falls below one half: [`LoadStep::saturated`] and the knee
/// are one criterion. The balance depth is the crossing of the asymptotic bounds (Lazowska et al., Quantitative System
/// Performance, 1984, section 5.2).
#[must_use]
pub fn knee(points: &[LoadPoint]) -> Option<Knee> {
    let positive = |v: f64| v.is_finite() && v > 0.0;
    let mut points = points.to_vec();
    points.sort_by_key(|p| p.depth);
    let valid = points.iter().all(|p| p.depth > 0 && positive(p.ops_per_s) && positive(p.mean_latency_ns));
    let distinct = points.windows(2).all(|pair| pair[0].depth < pair[1].depth);
    if points.len() < 2 || !valid || !distinct {
        return None;
    }
    let power = |p: &&LoadPoint| p.ops_per_s / p.mean_latency_ns;
    // Of equals the first, so the smaller depth: `max_by` would take the last.
    let best = points.iter().rev().max_by(|a, b| power(a).total_cmp(&power(b)))?;
    let peak = points.iter().rev().max_by(|a, b| a.ops_per_s.total_cmp(&b.ops_per_s))?;
    let least_latency_ns = points.iter().map(|p| p.mean_latency_ns).fold(f64::INFINITY, f64::min);
    let deepest = points.last()?;
    let found = best.depth < deepest.depth;
    Some(Knee {
        knee_depth: found.then_some(best.depth),
        beyond: found.then(|| step(best, deepest)),
        steps: points.windows(2).map(|pair| step(&pair[0], &pair[1])).collect(),
        peak_ops_per_s: peak.ops_per_s,
        peak_depth: peak.depth,
        balance_depth: peak.ops_per_s * least_latency_ns / 1e9,
    })
}

fn step(from: &LoadPoint, to: &LoadPoint) -> LoadStep {
    let load_factor = f64::from(to.depth) / f64::from(from.depth);
    let rate_factor = to.ops_per_s / from.ops_per_s;
    LoadStep {
        from_depth: from.depth,
        to_depth: to.depth,
        load_factor,
        rate_factor,
        latency_factor: to.mean_latency_ns / from.mean_latency_ns,
        elasticity: libm::log(rate_factor) / libm::log(load_factor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(table: &[(u32, f64, f64)]) -> Vec<LoadPoint> {
        table.iter().map(|&(depth, ops_per_s, ms)| LoadPoint { depth, ops_per_s, mean_latency_ns: ms * 1e6 }).collect()
    }

    const PUBLISHED: [(u32, f64, f64); 4] =
        [(16, 9516.0, 1.68), (1, 1595.0, 0.62), (64, 15726.0, 4.07), (4, 4571.0, 0.87)];

    #[test]
    fn the_published_sweep_saturates_beyond_16() {
        let knee = knee(&points(&PUBLISHED)).unwrap();
        assert_eq!(knee.knee_depth, Some(16));
        let beyond = knee.beyond.unwrap();
        assert_eq!((beyond.from_depth, beyond.to_depth, beyond.load_factor), (16, 64, 4.0));
        assert_eq!(format!("{:.2}", beyond.rate_factor), "1.65");
        assert_eq!(knee.steps.iter().map(LoadStep::saturated).collect::<Vec<_>>(), [false, false, true]);
        assert_eq!((knee.peak_ops_per_s, knee.peak_depth), (15726.0, 64));
        assert_eq!(format!("{:.2}", knee.balance_depth), "9.75");
    }

    #[test]
    fn a_sweep_that_still_scales_has_no_knee() {
        let knee =
            knee(&points(&PUBLISHED[1..2]).into_iter().chain(points(&PUBLISHED[3..])).collect::<Vec<_>>()).unwrap();
        assert_eq!((knee.knee_depth, knee.beyond), (None, None));
    }

    #[test]
    fn a_collapsing_system_has_its_peak_before_the_end() {
        let knee = knee(&points(&[(1, 100.0, 10.0), (2, 190.0, 10.5), (4, 200.0, 20.0), (8, 150.0, 53.3)])).unwrap();
        assert_eq!((knee.knee_depth, knee.peak_depth), (Some(2), 4));
        assert!(knee.steps[2].rate_factor < 1.0 && knee.steps[2].elasticity < 0.0);
    }

    #[test]
    fn edges() {
        assert_eq!(knee(&points(&PUBLISHED[..1])), None);
        assert_eq!(knee(&points(&[(1, 1.0, 1.0), (1, 2.0, 1.0)])), None);
        assert_eq!(knee(&points(&[(0, 1.0, 1.0), (1, 2.0, 1.0)])), None);
        assert_eq!(knee(&points(&[(1, 0.0, 1.0), (2, 2.0, 1.0)])), None);
        assert_eq!(knee(&points(&[(1, 1.0, f64::NAN), (2, 2.0, 1.0)])), None);
        // Flat from the start: one at a time is as good as it gets.
        assert_eq!(knee(&points(&[(1, 100.0, 10.0), (2, 100.0, 20.0)])).unwrap().knee_depth, Some(1));
    }
}
