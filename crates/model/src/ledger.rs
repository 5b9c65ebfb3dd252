//! The ledger: everything a run made, written down before it is made, so that it can be removed, exactly, later and
//! from elsewhere.
use serde::{Deserialize, Serialize};

/// Something that was, or was about to be, made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "made", rename_all = "snake_case")]
pub enum Made {
    /// A pool of our own, with everything in it.
    Pool {
        /// Cluster.
        fsid: String,
        /// Pool name.
        pool: String,
    },
    /// Objects `prefix` + decimal index, `0 <= index < until`.
    Objects {
        /// Cluster.
        fsid: String,
        /// Pool name.
        pool: String,
        /// Namespace, empty for the default one.
        namespace: String,
        /// Name up to the index.
        prefix: String,
        /// One past the last index that may exist. Grows as the run goes on, always before the object is written.
        until: u64,
    },
    /// One object by its whole name.
    Object {
        /// Cluster.
        fsid: String,
        /// Pool name.
        pool: String,
        /// Namespace, empty for the default one.
        namespace: String,
        /// Object name.
        name: String,
    },
}

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// Number in this run, unique.
    pub id: u64,
    /// When it was written down, Unix time in nanoseconds.
    pub at_unix_ns: i64,
    /// Kept on request (`--no-cleanup`): `fathom clean` removes it only when asked for by name of the run.
    pub keep: bool,
    /// When it was removed and its absence verified.
    pub removed_unix_ns: Option<i64>,
    /// What.
    pub made: Made,
}
