//! A step: one fully resolved piece of load. No default is left open in it, so the stored step repeats the run.
use serde::{Deserialize, Serialize};

/// What one operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// Read `len` bytes.
    Read,
    /// Write `len` bytes.
    Write,
}

impl Verb {
    /// The word used on the command line and in reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Verb::Read => "read",
            Verb::Write => "write",
        }
    }
}

/// One verb's part of a mix.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The operation.
    pub verb: Verb,
    /// Its weight; shares are weight ÷ sum of weights.
    pub weight: u32,
}

/// How addresses are chosen from the layer's space.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// 0, 1, 2, …; at the end of the space it starts again if `wrap`, else the load ends there.
    Sequential {
        /// Start again at 0.
        wrap: bool,
    },
    /// Every address equally likely.
    Uniform,
    /// Zipf with exponent `theta` over ranks that are scattered over the space, so hot addresses are no neighbours.
    Zipf {
        /// Exponent, greater than 0; 1.2 sends about half of the operations to a hundredth of a large space.
        theta: f64,
    },
}

/// When operations are due.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// A new operation is due when one ends: exactly `depth` in flight.
    Closed,
    /// Due at equal distances, whether or not earlier ones ended.
    Fixed {
        /// Operations per second, all lanes together.
        per_s: f64,
    },
    /// Due at exponentially distributed distances (Poisson arrivals), as from many independent clients.
    Poisson {
        /// Mean operations per second, all lanes together.
        per_s: f64,
    },
}

impl Pace {
    /// The offered rate in operations per second; `None` in closed loop.
    #[must_use]
    pub fn per_s(self) -> Option<f64> {
        match self {
            Pace::Closed => None,
            Pace::Fixed { per_s } | Pace::Poisson { per_s } => Some(per_s),
        }
    }
}

/// Ends a load early when its mean rate is known well enough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tight {
    /// Half width of the 95 % interval of the mean rate, as a fraction of it.
    pub rel_half_width: f64,
    /// Not before this much measured time, in nanoseconds.
    pub floor_ns: u64,
}

/// When the load ends. Whatever comes first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    /// Measured time at most (after the ramp), in nanoseconds.
    pub duration_ns: u64,
    /// Operations issued at most, all lanes together, ramp included.
    pub ops: Option<u64>,
    /// Adaptive end.
    pub tight: Option<Tight>,
}

/// How load is offered: the values the one driver loop reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Which verbs, in which shares. Never empty.
    pub mix: Vec<Share>,
    /// How addresses are chosen.
    pub pattern: Pattern,
    /// Bytes of one operation.
    pub block_bytes: u32,
    /// Operations in flight on this host (closed loop: exactly; open loop: at most).
    pub depth: u32,
    /// Load threads; each drives `depth / lanes` of the depth.
    pub lanes: u32,
    /// When operations are due.
    pub pace: Pace,
    /// Time before measuring starts, in nanoseconds; shown in the series, not in the summary.
    pub ramp_ns: u64,
    /// When it ends.
    pub stop: Stop,
    /// An operation older than this is cancelled and counted as timed out, in nanoseconds.
    pub op_timeout_ns: u64,
    /// Seed of every random choice; each lane derives its own stream from it.
    pub seed: u64,
    /// How much of each 4 KiB written a compressor could remove, in percent; 0 is incompressible.
    pub compressible_pct: u8,
    /// Compare what is read with what was written.
    pub verify: bool,
    /// Length of one sample in the series, in nanoseconds.
    pub tick_ns: u64,
}

impl Load {
    /// True when the mix has this verb.
    #[must_use]
    pub fn has(&self, verb: Verb) -> bool {
        self.mix.iter().any(|s| s.verb == verb && s.weight > 0)
    }
}

/// One fully resolved piece of work on one host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Short and unique in its run, as shown in tables: `rados write 4 KiB T=16`.
    pub name: String,
    /// Which layer, by its name in the layer table.
    pub layer: String,
    /// The layer's own parameters, resolved.
    pub params: serde_json::Map<String, serde_json::Value>,
    /// The load offered.
    pub load: Load,
}
