//! The one stream of a run. Workers and the controller emit events; store, screen and exporter consume them.
use crate::{ErrorClass, Sample};
use serde::{Deserialize, Serialize};

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Unix time in nanoseconds on the host that emitted it.
    pub at_unix_ns: i64,
    /// Which host; `controller` for the controller's own.
    pub host: String,
    /// Which attempt, where it belongs to one.
    pub attempt: Option<u32>,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventKind {
    /// An attempt was given to a worker.
    AttemptStarted {
        /// Index into the run's steps.
        step: u32,
        /// Repeat, from 0.
        repeat: u32,
    },
    /// Something that must exist before load is being made.
    Preparing {
        /// Units done.
        done: u64,
        /// Units in all.
        total: u64,
        /// What a unit is: `objects`.
        unit: String,
    },
    /// Load began; samples count from here.
    LoadStarted,
    /// One verb's interval.
    Sample(Sample),
    /// An operation older than a second.
    Stuck(StuckOp),
    /// The attempt ended, in whatever way.
    AttemptEnded(AttemptEnd),
    /// State of the cluster, about once a second.
    Cluster(ClusterTick),
    /// An OSD was asked whether it is there.
    Probe(Probe),
    /// Operations of our own outside of load: preparation, removal.
    OwnIo(OwnIo),
    /// A raw text was captured.
    Fact(Fact),
    /// Something a reader should know.
    Note {
        /// One sentence.
        text: String,
    },
}

/// An operation that was in flight for long, with where it goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StuckOp {
    /// What it addresses, as the layer names it: an object name.
    pub target: String,
    /// How long it had been in flight, in nanoseconds.
    pub age_ns: u64,
    /// Acting set of its placement group, primary first, once it was looked up; empty when unknown.
    pub acting: Vec<i32>,
}

/// Why load ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum StopReason {
    /// The time was over.
    Duration,
    /// The number of operations was reached.
    Ops,
    /// The mean rate was known well enough.
    Tight,
    /// The end of the address space was reached.
    Space,
    /// Asked to stop.
    Cancelled,
    /// Nothing but errors came back.
    AllFailed {
        /// The class seen last.
        class: ErrorClass,
    },
    /// Nothing but time-outs: no operation completed for a whole deadline.
    NoProgress,
    /// Preparation failed; there was no load.
    NotStarted {
        /// Why.
        error: String,
    },
    /// The worker process died.
    WorkerLost {
        /// How.
        error: String,
    },
}

/// The account of one attempt. `issued = completed + failed + timed_out`, always; `unsent` comes on top.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptEnd {
    /// Why it ended.
    pub stop: StopReason,
    /// Operations handed to the layer.
    pub issued: u64,
    /// Completed without error.
    pub completed: u64,
    /// Failed, all classes.
    pub failed: u64,
    /// Passed their deadline.
    pub timed_out: u64,
    /// Open loop: due but never sent.
    pub unsent: u64,
    /// CPU time of the worker process in the measured window, user and system, in nanoseconds.
    pub cpu_ns: u64,
    /// Length of the measured window in nanoseconds.
    pub window_ns: u64,
    /// Sum over all operations of the time a free slot waited for the generator to use it, in nanoseconds
    /// (closed loop); time sent after due while a slot was free (open loop). The generator's own delay.
    pub generator_lag_ns: u64,
    /// Busy share of all CPUs of the worker's host in the measured window, 0 to 1; `None` when unknown.
    pub host_cpu_busy: Option<f64>,
}

impl AttemptEnd {
    /// The account of an attempt that made no load.
    #[must_use]
    pub fn not_started(stop: StopReason) -> AttemptEnd {
        AttemptEnd {
            stop,
            issued: 0,
            completed: 0,
            failed: 0,
            timed_out: 0,
            unsent: 0,
            cpu_ns: 0,
            window_ns: 0,
            generator_lag_ns: 0,
            host_cpu_busy: None,
        }
    }
}

/// State of one OSD as the OSD map has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OsdState {
    /// Number.
    pub id: i32,
    /// Up.
    pub up: bool,
    /// In.
    pub is_in: bool,
}

/// State of the cluster at one moment, as far as a disturbance can be read from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClusterTick {
    /// `HEALTH_OK`, `HEALTH_WARN`, `HEALTH_ERR`; empty when the monitors did not answer.
    pub health: String,
    /// Health checks raised: code and message.
    pub checks: Vec<(String, String)>,
    /// PG states and how many PGs are in each.
    pub pg_states: Vec<(String, u64)>,
    /// Map epoch, 0 when unknown.
    pub osd_epoch: u64,
    /// OSDs that are not up and in.
    pub osds_not_up_in: Vec<OsdState>,
    /// Objects being recovered per second, 0 when none.
    pub recovering_objects_per_s: f64,
    /// Why the tick has no state: the error of the command.
    pub error: Option<String>,
}

/// An OSD asked whether it is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// Which.
    pub osd: i32,
    /// How long the answer took, in nanoseconds; `None` when none came in `deadline_ns`.
    pub answer_ns: Option<u64>,
    /// How long was waited.
    pub deadline_ns: u64,
}

/// Operations on a pool that are no load: counted so that client and cluster can be reconciled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnIo {
    /// Pool name.
    pub pool: String,
    /// Objects written while preparing.
    pub writes: u64,
    /// Objects removed.
    pub removes: u64,
    /// Objects found when looking what is there to remove: the cluster counts each as a read.
    #[serde(default)]
    pub reads: u64,
}

/// A raw text, verbatim but for secrets, with where it came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// `before`, `after`, or `attempt-N-before`, `attempt-N-after`.
    pub moment: String,
    /// The command or path: `ceph status`, `/proc/cpuinfo`.
    pub source: String,
    /// The text; empty when `error` is set.
    pub text: String,
    /// Why there is no text.
    pub error: Option<String>,
}
