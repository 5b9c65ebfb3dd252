//! What one interval of load gave. Samples are the only source of every result: summaries, series and percentiles
//! are all computed from them, by adding counters and merging histograms.
use crate::{ErrorClass, Verb};
use serde::{Deserialize, Serialize};

/// Which part of an attempt a sample belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Before measuring starts.
    Ramp,
    /// The measured window.
    Measure,
    /// After the window: operations that were still in flight. They count for latency and errors, not for rates.
    Drain,
}

/// Latencies of one kind in one interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Operations recorded.
    pub count: u64,
    /// Exact sum in nanoseconds (a histogram's mean carries its bucket error, this does not).
    pub sum_ns: u64,
    /// Smallest, in nanoseconds; 0 when `count` is 0.
    pub min_ns: u64,
    /// Largest, in nanoseconds.
    pub max_ns: u64,
    /// HdrHistogram V2 + DEFLATE in base64; empty when `count` is 0. Values in nanoseconds, three digits.
    pub hdr: String,
}

/// One verb's counters over one interval of one attempt, all lanes of one host together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Which part of the attempt.
    pub phase: Phase,
    /// Start, in nanoseconds since the attempt's load began.
    pub start_ns: u64,
    /// End, likewise.
    pub end_ns: u64,
    /// The operation.
    pub verb: Verb,
    /// Operations completed without error.
    pub ops: u64,
    /// Bytes they carried.
    pub bytes: u64,
    /// Failed operations by class.
    pub errors: Vec<(ErrorClass, u64)>,
    /// Operations that passed their deadline and were cancelled. Both histograms hold them at the age they had
    /// reached, a lower bound of their latency: leaving them out would flatter the percentiles.
    pub timeouts: u64,
    /// Open loop only: operations that were due but never started before the end. `response` holds them at the
    /// time they had waited, `service` does not.
    pub unsent: u64,
    /// From when the operation was due to its completion. In closed loop an operation is due when it is sent.
    pub response: Latency,
    /// From when the operation was sent to its completion.
    pub service: Latency,
}

impl Sample {
    /// Length of the interval in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.end_ns.saturating_sub(self.start_ns) as f64 / 1e9
    }

    /// All failed operations, time-outs not among them.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.errors.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n))
    }
}
