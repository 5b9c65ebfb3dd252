//! Knowledge of Ceph: dump texts to types, types to findings. Texts in, sentences out.
//!
//! This crate does no I/O and reads no clock; it does not know how a text was captured, only what it means in which
//! release (16 to 20). Everything it says is a function of its arguments, so a stored run gives the same findings again.
//!
//! | to | use |
//! | --- | --- |
//! | read and write the objects of `rados bench`, read its output | [`radosbench`], [`radosbench_output`] |
//! | read a dump | [`dump`]: one type per command, `Type::parse(text)` |
//! | watch a cluster once a second | [`cluster_tick`] |
//! | take secrets out of a text before it is stored | [`strip_secrets`] |
//! | hold the client's counts against the cluster's | [`rules::reconcile_pool`], [`rules::reconcile_attempt`], [`reconcile`] |
//! | say where reads came from | [`rules::attempt_origin`], [`read_origin`] |
//! | read a client host | [`host::HostFacts`] |
//! | get findings | [`rules::of_run`], [`rules::preflight`] |
//! | make a throw-away pool, or print caps | [`pool`], [`caps`] |
//!
//! # Sources of facts
//!
//! [`Facts`] finds a text by the source it was stored under: the command as typed, with or without `ceph` in front and
//! `-f json` behind, of the moments `before`, `after`, `attempt-N-before` and `attempt-N-after`:
//! `versions`, `status`, `health detail`, `osd tree`, `osd df`, `osd dump`, `osd metadata`, `mon metadata`,
//! `mgr metadata`, `df detail`, `osd pool ls detail`, `osd pool stats`, `osd pool autoscale-status`, `osd crush dump`,
//! `config dump`, `pg dump pgs_brief`, `pg dump pools`, `tell osd.N perf dump`, `tell osd.N config show`,
//! `config show osd.N`. Texts of the client host are found by their path (`/proc/cpuinfo`), of the moment `before`, and
//! `/proc/net/dev` also of `after`. What is not there is not known, and rules are silent about it.
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
