//! Knowledge of Ceph: dump texts to types, types to findings. Texts in, sentences out.
//!
//! This crate does no I/O and reads no clock; it does not know how a text was captured, only what it means in which
//! release.
#![forbid(unsafe_code)]

pub mod caps;
mod counters;
pub mod dump;
mod error;
mod facts;
pub mod host;
mod json;
mod osd_counters;
pub mod pool;
pub mod radosbench;
pub mod radosbench_output;
mod release;
pub mod rules;
mod secrets;
#[cfg(test)]
mod testdata;
mod tick;

pub use counters::{AGREEMENT_PCT, ClientCount, PoolCounters, Reconciliation, reconcile};
pub use error::ParseError;
pub use facts::{ClusterFacts, Facts};
pub use osd_counters::{OsdCounters, ReadOrigin, TimeSum, read_origin};
pub use release::{Release, Version};
pub use secrets::{REMOVED, has_secrets, strip_secrets};
pub use tick::cluster_tick;
