//! Drives the rados layer without the driver: closed loop, one lane, CPU and rate. For work on the layer itself.
//!
//! `rados_smoke CONF SECONDS VERB DEPTH BLOCK key=value…`: keys are the layer's parameters.
use fathom_load::layer::{Cx, LaneSpec, LoadError, Op};
use fathom_model::{Connect, Load, Made, Pace, Pattern, Share, Step, Stop, Verb};
use std::time::{Duration, Instant};

struct Console;
impl Cx for Console {
    fn ledger(&self, made: &Made) -> Result<(), LoadError> {
        eprintln!("ledger {made:?}");
        Ok(())
    }
    fn progress(&self, done: u64, total: u64, unit: &str) {
        eprintln!("{done}/{total} {unit}");
    }
    fn note(&self, text: &str) {
        eprintln!("{text}");
    }
    fn cancelled(&self) -> bool {
        false
    }
}

fn cpu_ns() -> u64 {
    let usage = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    usage.tv_sec as u64 * 1_000_000_000 + usage.tv_nsec as u64
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, conf, seconds, verb, depth, block, params @ ..] = &args[..] else { return Err("see the source".into()) };
    let verb = if verb == "read" { Verb::Read } else { Verb::Write };
    let (seconds, depth, block_bytes) = (seconds.parse::<u64>()?, depth.parse::<u32>()?, block.parse::<u32>()?);
    let params = params.iter().filter_map(|p| p.split_once('=')).map(|(k, v)| (k.to_owned(), v.into())).collect();
    let load = Load {
        mix: vec![Share { verb, weight: 1 }],
        pattern: Pattern::Sequential { wrap: true },
        block_bytes,
        depth,
        lanes: 1,
        pace: Pace::Closed,
        ramp_ns: 0,
        stop: Stop { duration_ns: seconds * 1_000_000_000, ops: None, tight: None },
        op_timeout_ns: 30_000_000_000,
        seed: 1,
        compressible_pct: 0,
        verify: verb == Verb::Read,
        tick_ns: 1_000_000_000,
    };
    let step = Step { name: "smoke".into(), layer: "rados".into(), params, load };
    let connect =
        Connect { conf: Some(conf.clone()), user: "client.admin".into(), keyring: None, timeout_ns: 10_000_000_000 };
    let job = fathom_load::layers::find("rados").ok_or("no rados layer")?.job(&step, &connect)?;
    job.prepare(&Console)?;
    for (key, value) in job.settings() {
        eprintln!("{key} = {value}");
    }
    let mut lane = job.lane(LaneSpec { index: 0, lanes: 1, depth }, &Console)?;
    let (begun, cpu) = (Instant::now(), cpu_ns());
    let end = Duration::from_secs(seconds);
    let mut done = Vec::new();
    let mut free: Vec<u32> = (0..depth).collect();
    let mut sent = vec![begun; depth as usize];
    let (mut next, mut completed, mut failed, mut latency) = (0u64, 0u64, 0u64, Duration::ZERO);
    let blocks = job.space().blocks;
    while begun.elapsed() < end || free.len() < depth as usize {
        if begun.elapsed() < end {
            while let Some(slot) = free.pop() {
                // Reads jump about, so that neighbours don't help.
                let at =
                    if verb == Verb::Read { next.wrapping_mul(0x9e37_79b9_7f4a_7c15) % blocks } else { next % blocks };
                sent[slot as usize] = Instant::now();
                lane.submit(Op { verb, at, len: block_bytes, slot })?;
                next += 1;
            }
        }
        lane.reap(Duration::from_millis(100), &mut done)?;
        for d in done.drain(..) {
            free.push(d.slot);
            match d.result {
                Ok(_) => {
                    completed += 1;
                    latency += d.at - sent[d.slot as usize];
                }
                Err(class) => {
                    failed += 1;
                    if failed < 5 {
                        eprintln!("{class}");
                    }
                }
            }
        }
    }
    let (wall, cpu) = (begun.elapsed().as_secs_f64(), cpu_ns() - cpu);
    let ops = (completed + failed).max(1) as f64;
    println!(
        "{completed} completed, {failed} failed, {:.0} IOPS, mean {:.3} ms, {:.1} us CPU per op",
        completed as f64 / wall,
        latency.as_secs_f64() * 1e3 / ops,
        cpu as f64 / 1e3 / ops
    );
    drop(lane);
    job.finish(completed, &Console)?;
    Ok(())
}
