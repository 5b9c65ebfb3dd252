//! Numbers in, numbers out: what is computed from measured samples, and how sure of it one can be.
//!
//! This crate knows nothing of layers, clusters, files or screens. It does no I/O, reads no clock and depends on no
//! other crate of the project. Randomness (bootstrap) comes from a seed that the caller gives.
#![forbid(unsafe_code)]

mod error;
mod hdr;
mod hist;

pub use error::StatsError;
pub use hist::{Bucket, HIGHEST_NS, Hist};
