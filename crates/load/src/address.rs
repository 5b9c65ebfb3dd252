//! Which block the next operation addresses.
use crate::layer::{LaneSpec, Space};
use fathom_model::Pattern;
use rand::RngExt as _;
use rand_distr::{Distribution as _, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;

/// One lane's stream of addresses.
pub(crate) struct Addresses {
    blocks: u64,
    kind: Kind,
}

enum Kind {
    /// Lane `i` of `n` takes i, i+n, i+2n, …: together they walk the space once, in order but for scheduling.
    Sequential {
        next: u64,
        stride: u64,
        wrap: bool,
    },
    Uniform,
    Zipf {
        ranks: Zipf<f64>,
        scatter: u64,
    },
}

impl Addresses {
    pub(crate) fn new(pattern: Pattern, space: Space, lane: LaneSpec) -> Addresses {
        let blocks = space.blocks.max(1);
        let kind = match pattern {
            Pattern::Sequential { wrap } => {
                Kind::Sequential { next: u64::from(lane.index), stride: u64::from(lane.lanes), wrap }
            }
            Pattern::Uniform => Kind::Uniform,
            // `check` in the run crate refuses theta <= 0, the only thing `Zipf::new` can reject here.
            Pattern::Zipf { theta } => match Zipf::new(blocks as f64, theta) {
                Ok(ranks) => Kind::Zipf { ranks, scatter: scatter_of(blocks) },
                Err(_) => Kind::Uniform,
            },
        };
        Addresses { blocks, kind }
    }

    /// The next address; `None` when a sequential stream that doesn't wrap is at its end.
    #[inline]
    pub(crate) fn next(&mut self, rng: &mut Xoshiro256PlusPlus) -> Option<u64> {
        match &mut self.kind {
            Kind::Sequential { next, stride, wrap } => {
                if *next >= self.blocks {
                    if !*wrap {
                        return None;
                    }
                    // Keeps each lane on its own residue even when the space is no multiple of the lanes.
                    *next %= *stride;
                    if *next >= self.blocks {
                        *next = 0;
                    }
                }
                let at = *next;
                *next += *stride;
                Some(at)
            }
            Kind::Uniform => Some(rng.random_range(0..self.blocks)),
            Kind::Zipf { ranks, scatter } => {
                let rank = (ranks.sample(rng) as u64 - 1).min(self.blocks - 1);
                Some(((u128::from(rank) * u128::from(*scatter)) % u128::from(self.blocks)) as u64)
            }
        }
    }
}

/// A multiplier coprime to `blocks` near its golden section: multiplying ranks by it modulo `blocks` is a bijection
/// that puts neighbouring ranks far apart.
fn scatter_of(blocks: u64) -> u64 {
    let mut candidate = ((blocks as f64 * 0.618_033_988_749_895) as u64).max(1) | 1;
    while gcd(candidate, blocks) != 1 {
        candidate += 2;
    }
    candidate
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use std::collections::HashMap;

    fn stream(pattern: Pattern, blocks: u64, index: u32, lanes: u32, n: usize) -> Vec<u64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut addresses = Addresses::new(pattern, Space { blocks }, LaneSpec { index, lanes, depth: 1 });
        std::iter::from_fn(|| addresses.next(&mut rng)).take(n).collect()
    }

    #[test]
    fn sequential_lanes_cover_every_block_once() {
        let mut all: Vec<u64> =
            (0..3).flat_map(|i| stream(Pattern::Sequential { wrap: false }, 100, i, 3, 1000)).collect();
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn sequential_wraps_inside_the_space() {
        let at = stream(Pattern::Sequential { wrap: true }, 10, 1, 4, 9);
        assert_eq!(at, [1, 5, 9, 1, 5, 9, 1, 5, 9]);
        assert!(stream(Pattern::Sequential { wrap: true }, 2, 3, 4, 5).iter().all(|a| *a < 2));
    }

    #[test]
    fn uniform_reaches_every_block_about_equally() {
        let mut counts = [0u32; 16];
        stream(Pattern::Uniform, 16, 0, 1, 16_000).iter().for_each(|a| counts[*a as usize] += 1);
        assert!(counts.iter().all(|c| (800..1200).contains(c)), "{counts:?}");
    }

    #[test]
    fn zipf_stays_inside_and_is_skewed_as_the_exponent_says() {
        let at = stream(Pattern::Zipf { theta: 1.2 }, 1000, 0, 1, 50_000);
        let mut counts: HashMap<u64, u32> = HashMap::new();
        at.iter().for_each(|a| *counts.entry(*a).or_default() += 1);
        assert!(at.iter().all(|a| *a < 1000));
        let mut sorted: Vec<u32> = counts.values().copied().collect();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        // P(rank 1) / P(rank 2) = 2^theta
        let ratio = f64::from(sorted[0]) / f64::from(sorted[1]);
        assert!((ratio / 2f64.powf(1.2) - 1.0).abs() < 0.1, "{ratio}");
    }

    #[test]
    fn scatter_is_a_bijection() {
        for blocks in [1, 2, 3, 10, 97, 1000, 4096] {
            let scatter = scatter_of(blocks);
            let mut seen: Vec<u64> = (0..blocks).map(|r| r * scatter % blocks).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..blocks).collect::<Vec<_>>(), "{blocks}");
        }
    }
}
