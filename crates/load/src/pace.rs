//! When operations are due.
use fathom_model::Pace;
use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

/// The due times of one lane's open-loop schedule, as offsets from the start of load. Closed loop has no schedule:
/// there an operation is due when a slot is free.
pub(crate) struct Schedule {
    kind: Kind,
    next_ns: f64,
}

enum Kind {
    Closed,
    Fixed { gap_ns: f64 },
    Poisson { mean_gap_ns: f64 },
}

impl Schedule {
    /// The lane's part of a pace that all lanes share: each of `lanes` gets every `lanes`-th arrival of a fixed
    /// schedule, or its own Poisson stream of `rate / lanes` (the sum of Poisson streams is Poisson).
    pub(crate) fn new(pace: Pace, index: u32, lanes: u32, rng: &mut Xoshiro256PlusPlus) -> Schedule {
        let lanes_f = f64::from(lanes);
        match pace {
            Pace::Closed => Schedule { kind: Kind::Closed, next_ns: 0.0 },
            Pace::Fixed { per_s } => Schedule {
                kind: Kind::Fixed { gap_ns: lanes_f * 1e9 / per_s },
                next_ns: f64::from(index) * 1e9 / per_s,
            },
            Pace::Poisson { per_s } => {
                let mean_gap_ns = lanes_f * 1e9 / per_s;
                let mut schedule = Schedule { kind: Kind::Poisson { mean_gap_ns }, next_ns: 0.0 };
                schedule.advance(rng);
                schedule
            }
        }
    }

    /// When the next operation is due; `None` in closed loop.
    #[inline]
    pub(crate) fn due(&self) -> Option<Duration> {
        match self.kind {
            Kind::Closed => None,
            _ => Some(Duration::from_nanos(self.next_ns as u64)),
        }
    }

    /// Moves on to the one after.
    #[inline]
    pub(crate) fn advance(&mut self, rng: &mut Xoshiro256PlusPlus) {
        match self.kind {
            Kind::Closed => {}
            Kind::Fixed { gap_ns } => self.next_ns += gap_ns,
            Kind::Poisson { mean_gap_ns } => {
                let gap: f64 = Exp1.sample(rng);
                self.next_ns += gap * mean_gap_ns;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    fn times(pace: Pace, index: u32, lanes: u32, n: usize) -> Vec<f64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(u64::from(index) + 1);
        let mut schedule = Schedule::new(pace, index, lanes, &mut rng);
        (0..n)
            .map(|_| {
                let due = schedule.due().expect("open loop").as_secs_f64();
                schedule.advance(&mut rng);
                due
            })
            .collect()
    }

    #[test]
    fn fixed_lanes_interleave_into_one_even_schedule() {
        let pace = Pace::Fixed { per_s: 1000.0 };
        let mut all: Vec<f64> = (0..4).flat_map(|i| times(pace, i, 4, 250)).collect();
        all.sort_by(f64::total_cmp);
        for (n, at) in all.iter().enumerate() {
            assert!((at - n as f64 / 1000.0).abs() < 1e-8, "{n} at {at}");
        }
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_spread_of_an_exponential() {
        let at = times(Pace::Poisson { per_s: 1000.0 }, 0, 1, 20_000);
        let gaps: Vec<f64> = at.windows(2).map(|w| w[1] - w[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean * 1000.0 - 1.0).abs() < 0.03, "mean gap {mean}");
        // The standard deviation of an exponential equals its mean.
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.05, "sd/mean {}", variance.sqrt() / mean);
    }
}
