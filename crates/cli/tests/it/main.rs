//! The program itself against a real cluster: what a person sees, and what is left behind.
//!
//! `FATHOM_TEST_CONF` names the `ceph.conf` of a lab and `FATHOM_TEST_LAB` its directory; `./test` starts one and sets
//! both. No test asserts a time or a rate: only counts, ratios of counts, and deadlines with room to spare.
#![allow(clippy::unwrap_used, reason = "shared functions of tests count as tests")]
mod bad_input;
mod crash;
mod full_disk;
mod interop;
mod pipe;
mod privilege;
mod program;
mod report;
mod shared_lab;
mod stall;
mod survey;
