//! The nouns every other crate shares: step, load, operation, sample, event, fact, finding, run.
//!
//! This crate knows no I/O and reads no clock. Whatever is stored or sent between processes is defined here and
//! nowhere else, so a stored run can be opened by anything that depends on `fathom-model` alone.
#![forbid(unsafe_code)]

mod error;
mod event;
mod exit;
mod finding;
mod ledger;
mod run;
mod sample;
mod step;
mod unit;

pub use error::{ErrorClass, errno_name};
pub use event::{AttemptEnd, ClusterTick, Event, EventKind, Fact, OsdState, OwnIo, Probe, StopReason, StuckOp};
pub use exit::ExitCode;
pub use finding::{Finding, Severity, Span};
pub use ledger::{LedgerEntry, Made};
pub use run::{Attempt, Connect, RunData, RunInfo};
pub use sample::{Latency, Phase, Sample};
pub use step::{Load, Pace, Pattern, Share, Step, Stop, Tight, Verb};
pub use unit::{Size, UnitError, bytes_text, count_text, duration_text, parse_duration, rate_text};
