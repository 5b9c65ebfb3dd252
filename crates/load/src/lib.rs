//! Load: the driver, its clock, and the layers it drives.
//!
//! The only crate with `unsafe` (in [`sys`]) and the only place where time becomes latency (the `driver` module).
//! It knows nothing of hosts, stores, reports or screens.
#![deny(unsafe_code)]

mod address;
mod attempt;
pub mod control;
mod driver;
pub mod layer;
pub mod layers;
mod pace;
pub mod payload;
pub mod remove;
pub mod sys;
mod tally;

pub use attempt::{Account, Signals, run};
pub use driver::seed_of_lane;
