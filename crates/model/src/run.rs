//! A whole run as the store holds it. A report is a function of this and of nothing else.
use crate::{AttemptEnd, ClusterTick, Fact, Finding, LedgerEntry, OwnIo, Probe, Sample, Step, StuckOp};
use serde::{Deserialize, Serialize};

/// How to reach the cluster. Only paths and names: a key never passes through here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connect {
    /// `ceph.conf`; `None` means the library's own search (`CEPH_CONF`, `/etc/ceph/ceph.conf`, …).
    pub conf: Option<String>,
    /// `client.admin` and the like.
    pub user: String,
    /// Keyring file, when the conf does not name it.
    pub keyring: Option<String>,
    /// Longest wait for connecting or for one command, in nanoseconds.
    pub timeout_ns: u64,
}

/// Who ran what, when, with which build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Random, 12 hexadecimal digits; part of every name the run makes.
    pub id: String,
    /// `survey`, `bench-rados-write`, …
    pub name: String,
    /// The command line, as given.
    pub command: String,
    /// Version and commit of this program.
    pub build: String,
    /// Seed of every random choice.
    pub seed: u64,
    /// Start, Unix nanoseconds.
    pub started_unix_ns: i64,
    /// End; `None` when the run was killed or is still going.
    pub ended_unix_ns: Option<i64>,
    /// How to reach the cluster again.
    pub connect: Connect,
    /// Cluster, empty when none was used.
    pub fsid: String,
}

/// One execution of one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Number in the run, in order of execution.
    pub id: u32,
    /// Index into [`RunData::steps`].
    pub step: u32,
    /// Repeat of that step, from 0.
    pub repeat: u32,
    /// Host that made the load.
    pub host: String,
    /// When load began, Unix nanoseconds; `None` when it never did.
    pub load_started_unix_ns: Option<i64>,
    /// Its account; `None` when it was cut off (kill -9): the samples up to then are there.
    pub end: Option<AttemptEnd>,
    /// Its samples, in order.
    pub samples: Vec<Sample>,
    /// Operations that were in flight for more than a second, with the Unix time they were seen.
    pub stuck: Vec<(i64, StuckOp)>,
}

/// Everything stored of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunData {
    /// Who, when, with what.
    pub info: RunInfo,
    /// The resolved steps.
    pub steps: Vec<Step>,
    /// Their executions, in order of execution.
    pub attempts: Vec<Attempt>,
    /// Raw texts, in order of capture.
    pub facts: Vec<Fact>,
    /// Cluster state with the Unix time it was read, in order.
    pub ticks: Vec<(i64, ClusterTick)>,
    /// OSD probes with their Unix time.
    pub probes: Vec<(i64, Probe)>,
    /// Operations of our own outside of load.
    #[serde(default)]
    pub own_io: Vec<OwnIo>,
    /// Notes with their Unix time.
    pub notes: Vec<(i64, String)>,
    /// Findings the rules made when the run was read; not stored.
    pub findings: Vec<Finding>,
    /// What the run made.
    pub ledger: Vec<LedgerEntry>,
}
