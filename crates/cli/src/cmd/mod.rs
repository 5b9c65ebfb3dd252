//! One file per command.
pub mod bench;
pub mod bench_rados;
pub mod clean;
pub mod execute;
pub mod lab;
pub mod layers;
pub mod report;
pub mod survey;
pub mod worker;
