//! The load part of a step, from flags.
use crate::fail::Fail;
use fathom_model::{Load, Pace, Pattern, Share, Size, Stop, Tight, Verb};
use std::time::Duration;

/// What the mode decides.
pub struct LoadArgs {
    /// Percent of reads.
    pub read_pct: u32,
    /// Used when no pattern is asked for.
    pub pattern: Pattern,
    /// Bytes of one operation.
    pub block: Size,
    /// Operations in flight.
    pub depth: u32,
    /// Seed of the run.
    pub seed: u64,
}

/// Smallest floor of an adaptive end: fewer seconds say little about a storage system.
const TIGHT_FLOOR_NS: u64 = 3_000_000_000;
/// Adaptive ends are decided on intervals this long.
const TIGHT_TICK_NS: u64 = 250_000_000;
const TICK_NS: u64 = 1_000_000_000;
/// Operations in flight on one host, at most: more are a sign of a typing error, and buffers take memory.
const DEPTH_MAX: u32 = 65_536;
/// Memory for the buffers of operations in flight, at most.
const BUFFERS_MAX: u64 = 4 << 30;

/// Every pair of a block size and a depth asked for, or the defaults.
pub fn matrix(m: &clap::ArgMatches, block: Size, depth: u32) -> Vec<(Size, u32)> {
    let blocks: Vec<Size> = m.get_many::<Size>("block-size").map_or_else(|| vec![block], |v| v.copied().collect());
    let depths: Vec<u32> = m.get_many::<u32>("depth").map_or_else(|| vec![depth], |v| v.copied().collect());
    blocks.iter().flat_map(|b| depths.iter().map(|d| (*b, *d))).collect()
}

/// Reads the load flags.
pub fn load(m: &clap::ArgMatches, args: &LoadArgs) -> Result<Load, Fail> {
    let ns = |name: &str| m.get_one::<Duration>(name).map_or(0, |d| d.as_nanos() as u64);
    let (block, depth) = (args.block, args.depth);
    if block.0 == 0 || block.0 > 1 << 30 {
        return Err(Fail::usage(format!("--block-size {block}: an operation has 1 byte to 1 GiB")));
    }
    if !(1..=DEPTH_MAX).contains(&depth) {
        return Err(Fail::usage(format!("--depth {depth}: 1 to {DEPTH_MAX} operations can be in flight")));
    }
    if u64::from(depth) * block.0 > BUFFERS_MAX {
        return Err(Fail::usage(format!(
            "--depth {depth} with --block-size {block} needs {} of buffers, more than {}: lower one of them",
            Size(u64::from(depth) * block.0),
            Size(BUFFERS_MAX)
        )));
    }
    let lanes = m.get_one::<u32>("lanes").copied().unwrap_or(1);
    if !(1..=depth.min(256)).contains(&lanes) {
        return Err(Fail::usage(format!("--lanes {lanes}: 1 to the depth ({depth}), 256 at most")));
    }
    let duration_ns = ns("duration");
    if duration_ns < 100_000_000 {
        return Err(Fail::usage("--duration: measure for 100 ms at least"));
    }
    let op_timeout_ns = ns("op-timeout");
    if op_timeout_ns < 100_000_000 {
        return Err(Fail::usage("--op-timeout: 100 ms at least"));
    }
    let tight = tight(m)?;
    Ok(Load {
        mix: vec![
            Share { verb: Verb::Read, weight: args.read_pct },
            Share { verb: Verb::Write, weight: 100 - args.read_pct },
        ]
        .into_iter()
        .filter(|s| s.weight > 0)
        .collect(),
        pattern: pattern(m, args.pattern)?,
        block_bytes: block.0 as u32,
        depth,
        lanes,
        pace: pace(m)?,
        ramp_ns: ns("ramp"),
        stop: Stop { duration_ns, ops: m.get_one::<u64>("ops").copied(), tight },
        op_timeout_ns,
        seed: args.seed,
        compressible_pct: m.get_one::<u8>("compressible").copied().unwrap_or(0),
        verify: m.get_flag("verify"),
        tick_ns: if tight.is_some() { TIGHT_TICK_NS } else { TICK_NS },
    })
}

fn tight(m: &clap::ArgMatches) -> Result<Option<Tight>, Fail> {
    let Some(text) = m.get_one::<String>("tight") else { return Ok(None) };
    let percent: f64 = text.trim_end_matches('%').trim().parse().unwrap_or(f64::NAN);
    if !(0.1..=50.0).contains(&percent) {
        return Err(Fail::usage(format!("--tight {text}: a percentage from 0.1 to 50")));
    }
    Ok(Some(Tight { rel_half_width: percent / 100.0, floor_ns: TIGHT_FLOOR_NS }))
}

fn pace(m: &clap::ArgMatches) -> Result<Pace, Fail> {
    let poisson = m.get_flag("poisson");
    let Some(text) = m.get_one::<String>("rate") else {
        return if poisson { Err(Fail::usage("--poisson goes with --rate OPS/S")) } else { Ok(Pace::Closed) };
    };
    let per_s: f64 = text.trim_end_matches("/s").parse().unwrap_or(f64::NAN);
    if !(0.01..=1e8).contains(&per_s) {
        return Err(Fail::usage(format!("--rate {text}: operations per second, 0.01 to 100000000")));
    }
    Ok(if poisson { Pace::Poisson { per_s } } else { Pace::Fixed { per_s } })
}

fn pattern(m: &clap::ArgMatches, default: Pattern) -> Result<Pattern, Fail> {
    let Some(text) = m.get_one::<String>("pattern") else { return Ok(default) };
    match text.split_once(':') {
        None if text == "seq" => Ok(Pattern::Sequential { wrap: true }),
        None if text == "uniform" => Ok(Pattern::Uniform),
        Some(("zipf", theta)) => match theta.parse::<f64>() {
            Ok(theta) if (0.01..=10.0).contains(&theta) => Ok(Pattern::Zipf { theta }),
            _ => Err(Fail::usage(format!("--pattern {text}: zipf takes an exponent from 0.01 to 10, as zipf:1.2"))),
        },
        _ => Err(Fail::usage(format!("--pattern {text}: seq, uniform or zipf:THETA"))),
    }
}
