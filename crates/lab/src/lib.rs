//! Throw-away real Ceph clusters on one machine, for learning, for CI and for trying the tool.
//!
//! A lab is a directory: monitors, a manager and BlueStore OSDs on sparse files, run from the distribution's packages
//! by whoever asks, with no service manager and no root. It listens on loopback only and keeps cephx on. Several labs
//! live side by side. `down` leaves no process and no file, whatever happened before: every process carries the lab's
//! id in its environment, and the directory's marker file is the first thing written and the last removed.
//!
//! ```no_run
//! use fathom_lab::{LabSpec, down, up};
//!
//! let lab = up(&LabSpec::new("lab"), &mut |line| eprintln!("{line}"))?;
//! print!("{}", lab.shell());
//! down(&lab.dir, &mut |_| {})?;
//! # Ok::<(), fathom_lab::LabError>(())
//! ```
//!
//! This crate knows how a cluster is started and ended. It must not know what is measured on it.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod ask;
mod conf;
mod daemon;
mod down;
mod error;
mod fault;
mod haste;
mod health;
mod lock;
mod marker;
mod port;
mod process;
mod program;
mod secret;
mod settle;
mod spec;
mod status;
mod up;

pub use down::{DownReport, down};
pub use error::{LabError, Result};
pub use fault::{kill, pause, resume, start};
pub use health::Health;
pub use marker::{Daemon, MARKER, Stage};
pub use process::LAB_VARIABLE;
pub use spec::LabSpec;
pub use status::{DaemonState, DaemonStatus, LabStatus, status};
pub use up::{LabInfo, up};
