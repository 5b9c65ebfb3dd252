//! Numbers in, numbers out: what is computed from measured samples, and how sure of it one can be.
//!
//! This crate knows nothing of layers, clusters, files or screens. It does no I/O, reads no clock, uses no randomness
//! and depends on no other crate of the project. Nothing in it panics on any input; what cannot be said is `None`.
#![forbid(unsafe_code)]

mod dist;
mod error;
mod hdr;
mod hist;
mod interval;
mod knee;
mod little;
mod quantile;
mod repeats;
mod stall;
mod steady;

pub use dist::student_t_quantile;
pub use error::StatsError;
pub use hist::{Bucket, HIGHEST_NS, Hist};
pub use interval::{CONFIDENCE, MeanCi, TIGHT_INTERVALS_MIN, effective_sample_size, mean_ci, tight};
pub use knee::{Knee, LoadPoint, LoadStep, knee};
pub use little::{LITTLE_TOLERANCE, Little, LittleCheck, little};
pub use quantile::{QuantileCi, quantile_ci, quantile_effective_n};
pub use repeats::{MAD_TO_SIGMA, Repeats, UNSTABLE_REL_SPREAD, median, median_absolute_deviation};
pub use stall::{STALL_EXPECTED_OPS, STALL_FRACTION, stalls};
pub use steady::{STEADY_DRIFT_REL, STEADY_INTERVALS_MIN, STEADY_RANGE_REL, Steadiness, Steady, steady};
