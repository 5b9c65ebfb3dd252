//! Little's law as a check of the measurement: in a closed loop mean latency × rate equals the operations in flight.
//! A break means that latencies, counts or the depth are not what the report says they are.
use fathom_model::{AttemptEnd, Phase, Sample};
use fathom_stats::Little;
use serde::Serialize;

/// Result of the check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LittleCheck {
    /// Operations that should be in flight: the depth, all hosts together.
    pub depth: f64,
    /// Mean latency × rate over the measured window.
    pub in_flight: f64,
    /// `in_flight ÷ depth`.
    pub ratio: f64,
    /// True when the ratio is within tolerance.
    pub holds: bool,
    /// The verdict in words.
    pub verdict: String,
}

/// What the check needs, added up over attempts.
#[derive(Clone, Debug, Default)]
pub(crate) struct LittleSums {
    depth: u32,
    /// Slot seconds: depth × window.
    slots_s: f64,
    lag_ns: f64,
    /// Of the attempt that was opened last, per operation: the account's lag is that of all phases.
    lag_per_op_ns: f64,
    count: u64,
    sum_ns: u64,
    drain_ns: u64,
    failed: u64,
}

/// Part of the operations that may fail before the law can't be checked: their latencies are not recorded.
const FAILED_SHARE: f64 = 0.01;
/// Part of the latency that may lie beyond the window: those operations were in flight in it, but ended outside.
const DRAIN_SHARE: f64 = 0.1;
/// Operations per slot below which those that straddle the edges of the window weigh too much.
const OPS_PER_SLOT: u64 = 10;

impl LittleSums {
    /// Begins an attempt of `depth` operations in flight over a window of `window_s` seconds.
    pub(crate) fn open(&mut self, depth: u32, end: Option<&AttemptEnd>, window_s: f64) {
        self.depth = self.depth.saturating_add(depth);
        self.slots_s += f64::from(depth) * window_s;
        self.lag_per_op_ns = end.map_or(0.0, |e| e.generator_lag_ns as f64 / e.issued.max(1) as f64);
    }

    /// Adds one interval.
    pub(crate) fn add(&mut self, sample: &Sample) {
        match sample.phase {
            Phase::Ramp => {}
            Phase::Measure => {
                self.count = self.count.saturating_add(sample.service.count);
                self.sum_ns = self.sum_ns.saturating_add(sample.service.sum_ns);
                self.lag_ns += self.lag_per_op_ns * sample.service.count as f64;
                self.failed = self.failed.saturating_add(sample.failed());
            }
            Phase::Drain => self.drain_ns = self.drain_ns.saturating_add(sample.service.sum_ns),
        }
    }

    /// Adds another repeat of the same step; the check is then over both.
    pub(crate) fn merge(&mut self, other: &LittleSums) {
        self.depth = self.depth.max(other.depth);
        self.slots_s += other.slots_s;
        self.lag_ns += other.lag_ns;
        self.count = self.count.saturating_add(other.count);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.drain_ns = self.drain_ns.saturating_add(other.drain_ns);
        self.failed = self.failed.saturating_add(other.failed);
    }

    /// `None` when nothing was recorded.
    pub(crate) fn check(&self) -> Option<LittleCheck> {
        if self.count == 0 || self.slots_s <= 0.0 {
            return None;
        }
        // Rate × mean latency of all attempts over their common slots; per slot, so hosts and repeats need no care.
        let mean_ns = self.sum_ns as f64 / self.count as f64;
        let per_slot_s = self.count as f64 / self.slots_s;
        let lag_share = self.lag_ns / 1e9 / self.slots_s;
        let check = fathom_stats::little(1, mean_ns, per_slot_s, lag_share)?;
        let depth = f64::from(self.depth);
        let verdict = match check.verdict {
            Little::Holds => "holds".to_owned(),
            Little::GeneratorLag { share } => format!(
                "broken by the load generator: slots stood empty for {} of the time; the client is part of the result",
                crate::words::percent(share)
            ),
            Little::Broken => self
                .excuse()
                .unwrap_or(if check.ratio < 1.0 {
                    "broken: fewer operations in flight than the depth says"
                } else {
                    "broken: more time in operations than slots had; latencies or window are wrong"
                })
                .to_owned(),
        };
        Some(LittleCheck {
            depth,
            in_flight: check.ratio * depth,
            ratio: check.ratio,
            holds: check.verdict == Little::Holds,
            verdict,
        })
    }

    /// Why the law need not hold for these operations.
    fn excuse(&self) -> Option<&'static str> {
        let failed_share = self.failed as f64 / self.count.saturating_add(self.failed) as f64;
        if failed_share > FAILED_SHARE {
            Some("can't be checked: failed operations have no latency")
        } else if self.drain_ns as f64 > DRAIN_SHARE * self.sum_ns as f64 {
            Some("can't be checked: operations hung beyond the end of the window")
        } else if self.count < OPS_PER_SLOT * u64::from(self.depth) {
            Some("can't be checked: fewer than ten operations per slot")
        } else {
            None
        }
    }
}
