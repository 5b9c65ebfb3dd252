//! What controller and worker say to each other: one JSON document per line, so that a person can start a worker by
//! hand and read along. Anything that carries bytes both ways is a transport.
use fathom_model::{Connect, EventKind, Made, Step};
use serde::{Deserialize, Serialize};

/// Raised when either side changes incompatibly; checked at hello.
pub const PROTOCOL: u32 = 1;

/// Longest line either side accepts. A sample is some 10 KiB; a fact of a large cluster may be many MiB.
pub const LINE_BYTES_MAX: u64 = 256 << 20;

/// From the controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// Prepare and run one step; answered by events and one [`Reply::Finished`].
    Run {
        /// Number of the attempt.
        attempt: u32,
        /// The resolved step.
        step: Box<Step>,
        /// How to reach the cluster.
        connect: Connect,
    },
    /// The ledger entry asked for with this id is stored (`error`: it isn't, make nothing).
    Stored {
        /// Of the [`Reply::Ledger`].
        id: u64,
        /// Why not.
        error: Option<String>,
    },
    /// End the running step: drain for a moment, cancel the rest.
    Cancel,
    /// Connect to the cluster; must come before the requests below. Answered.
    Connect {
        /// Of the answer.
        id: u64,
        /// How.
        connect: Connect,
    },
    /// A cluster command; answered with its output.
    Command {
        /// Of the answer.
        id: u64,
        /// Who executes it.
        target: CommandTarget,
        /// JSON, as `ceph` sends it.
        json: String,
    },
    /// The first bytes of an object, in hexadecimal; `null` when it doesn't exist. Answered.
    ReadObject {
        /// Of the answer.
        id: u64,
        /// Pool name.
        pool: String,
        /// Namespace.
        namespace: String,
        /// Object name.
        name: String,
    },
    /// Raw texts that describe the worker's host; answered with a JSON list of [`fathom_model::Fact`].
    HostFacts {
        /// Of the answer.
        id: u64,
    },
    /// Remove what a ledger entry names; answered with `{"removed":n,"absent":n}`.
    Remove {
        /// Of the answer.
        id: u64,
        /// What.
        made: Made,
        /// How to reach the cluster.
        connect: Connect,
    },
}

/// Who executes a cluster command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandTarget {
    /// Any monitor.
    Mon,
    /// One monitor's own (`tell mon.a`).
    MonNamed(String),
    /// The active manager.
    Mgr,
    /// One OSD.
    Osd(i32),
}

/// From the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// First line.
    Hello {
        /// Must equal [`PROTOCOL`].
        protocol: u32,
        /// Version and commit.
        build: String,
        /// Host name.
        host: String,
        /// Process.
        pid: u32,
    },
    /// Something happened in the running step.
    Event {
        /// Unix time in nanoseconds.
        at_unix_ns: i64,
        /// What.
        kind: Box<EventKind>,
    },
    /// Store this before it is made; answered by [`Request::Stored`].
    Ledger {
        /// Of the answer.
        id: u64,
        /// What is about to be made.
        made: Made,
    },
    /// The step is over; its `AttemptEnded` event came before.
    Finished {
        /// Why there was no load, or what failed after it.
        error: Option<Failure>,
    },
    /// To a request with this id.
    Answer {
        /// Of the request.
        id: u64,
        /// Its result.
        result: Result<String, Failure>,
    },
    /// How far a [`Request::Remove`] is.
    Progress {
        /// Of the request.
        id: u64,
        /// Objects done.
        done: u64,
        /// Objects in all.
        total: u64,
    },
}

/// A failure that crosses the pipe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{text}")]
pub struct Failure {
    /// Which kind.
    pub class: FailureClass,
    /// What, on what, what to do next.
    pub text: String,
    /// Errno of a cluster command (positive), 0 when there is none.
    pub errno: i32,
}

/// Which kind of failure; each has its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The step or request is wrong.
    Usage,
    /// Library, cluster, pool or file can't be reached.
    Unreachable,
    /// It would touch what is not ours.
    Refused,
    /// It began and failed.
    Failed,
}

impl Failure {
    /// A failure without an errno.
    pub fn new(class: FailureClass, text: impl Into<String>) -> Failure {
        Failure { class, text: text.into(), errno: 0 }
    }

    /// The exit code that stands for it.
    #[must_use]
    pub fn exit(&self) -> fathom_model::ExitCode {
        use fathom_model::ExitCode;
        match self.class {
            FailureClass::Usage => ExitCode::Usage,
            FailureClass::Unreachable => ExitCode::Unreachable,
            FailureClass::Refused => ExitCode::Refused,
            FailureClass::Failed => ExitCode::Failed,
        }
    }
}

impl From<fathom_load::layer::LoadError> for Failure {
    fn from(error: fathom_load::layer::LoadError) -> Failure {
        use fathom_load::layer::LoadError;
        let class = match &error {
            LoadError::Usage(_) => FailureClass::Usage,
            LoadError::Unreachable(_) => FailureClass::Unreachable,
            LoadError::Refused(_) => FailureClass::Refused,
            LoadError::Failed(_) | LoadError::Orphaned => FailureClass::Failed,
        };
        Failure::new(class, error.to_string())
    }
}
