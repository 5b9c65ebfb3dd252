//! Tasks of the project that are no part of the product: `cargo xtask tidy` checks invariants that no lint knows,
//! `cargo xtask race` measures Fathom against `rados bench` and against its own budget.
#![forbid(unsafe_code)]

mod race;
mod tidy;

use anyhow::{Context as _, Result};
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask tidy                 check invariants of the source tree; no network, no build
cargo xtask race rados [OPTIONS] interleaved pairs against `rados bench` on one pool
    --conf FILE      ceph.conf of a lab; without it a lab is started and taken down again
    --pairs N        pairs per workload [8]
    --seconds S      length of each run [6]
    --only TEXT      only workloads whose name contains this (`4 KiB read`)
cargo xtask race null [OPTIONS]  cost of the driver itself per operation, at depth 32
    --repeat N       repeats [7]
    --seconds S      length of each [2]
both:
    --patience S     longest wait for a quiet machine before each run [60]
    --fathom FILE    the program to measure; without it `cargo build --profile quick` makes one
    --json           one JSON document on stdout

Exit codes: 0 goals met (or nothing to complain about), 1 not, 2 wrong usage or something failed.
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let good = match words.as_slice() {
        ["tidy"] => root().and_then(|root| tidy::run(&root)),
        ["race", "rados", rest @ ..] => root().and_then(|root| race::rados(&root, rest)),
        ["race", "null", rest @ ..] => root().and_then(|root| race::null(&root, rest)),
        ["--help" | "-h" | "help"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match good {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// The workspace: where cargo says this crate is, one up.
fn root() -> Result<PathBuf> {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").context("run it as `cargo xtask`")?;
    Ok(PathBuf::from(here).parent().context("xtask has no parent directory")?.to_owned())
}
