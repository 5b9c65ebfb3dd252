//! What every layer must do, whatever it measures: a table of layers, and one list of checks for all of them.
//!
//! `null` and `delay` (defined here: it takes as long, fails and hangs as told) need nothing. `rados` needs a cluster:
//! `FATHOM_TEST_CONF` names its `ceph.conf`; `./test` starts a lab and sets it.
//!
//! Times are only ever compared with what was injected, or with generous deadlines: these tests share CPUs.
#![allow(clippy::unwrap_used, reason = "shared functions of tests count as tests")]
mod arrivals;
mod cancel;
mod checks;
mod deadline;
mod delay;
mod drive;
mod end;
mod latency;
mod ledger;
mod record;
mod subject;
mod table;
