//! Races: Fathom against something else, or against its own budget. The machine decides a lot, so runs are
//! interleaved, results are ratios of pairs, and every figure comes with its spread.
mod child;
mod cluster;
mod compare;
mod null;
mod options;
mod ours;
mod quiet;
mod rados;
mod theirs;

use anyhow::Result;
use options::Options;
use std::path::Path;

/// `cargo xtask race rados`. True when no goal was missed.
pub fn rados(root: &Path, args: &[&str]) -> Result<bool> {
    let options = Options::parse(args, &["--conf", "--pairs", "--seconds", "--only", "--patience", "--fathom"])?;
    rados::run(&options.fathom(root)?, &options)
}

/// `cargo xtask race null`. True when the goal was met.
pub fn null(root: &Path, args: &[&str]) -> Result<bool> {
    let options = Options::parse(args, &["--repeat", "--seconds", "--patience", "--fathom"])?;
    null::run(&options.fathom(root)?, &options)
}
