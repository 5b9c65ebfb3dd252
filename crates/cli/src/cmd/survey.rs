//! `fathom survey`: the main job. Every layer this machine can reach, short and adaptive, in shuffled rounds.
use crate::{
    cmd::{bench_rados::require_pool, execute::execute},
    fail::Fail,
    plan::{
        self,
        rados::{self, Mode, Place},
    },
};
use fathom_model::{Connect, ExitCode, Load, Pace, Pattern, Share, Size, Step, Stop, Tight, Verb};
use fathom_run::{Campaign, Control, OwnPool, Transport};
use serde_json::Map;
use std::sync::Arc;

/// A test ends when the 95 % interval of its rate is within this.
const TIGHT: f64 = 0.05;
const FLOOR_NS: u64 = 3_000_000_000;
const CAP_NS: u64 = 6_000_000_000;
const RAMP_NS: u64 = 1_000_000_000;
const TICK_NS: u64 = 250_000_000;
const DEPTHS: [u32; 3] = [1, 16, 64];
const BLOCKS: [u64; 2] = [4 << 10, 4 << 20];

pub fn run(m: &clap::ArgMatches) -> Result<ExitCode, Fail> {
    let connect = plan::connect(m);
    let info = plan::info(m, "survey", &connect);
    let smoke = m.get_flag("smoke");
    let control = Arc::new(Control::open(Transport::local()?, connect.clone())?);
    let named = m.get_one::<String>("pool");
    if let Some(pool) = named {
        require_pool(&control, pool)?;
    }
    let copies = m.get_one::<u64>("size").copied();
    let own = format!("fathom-{}", info.id);
    let namespace = if named.is_some() { own.clone() } else { String::new() };
    let room_bytes = rados::room_bytes(&control, named.map(String::as_str), copies.unwrap_or(3));
    let mut steps = vec![Step {
        name: "null 4 KiB T=32".into(),
        layer: "null".into(),
        params: Map::new(),
        load: load(Verb::Read, Pattern::Uniform, 4096, 32, info.seed, smoke),
    }];
    for block in BLOCKS {
        for depth in DEPTHS {
            for (mode, verb, pattern) in [
                (Mode::Write, Verb::Write, Pattern::Sequential { wrap: false }),
                (Mode::Rand, Verb::Read, Pattern::Uniform),
            ] {
                let place = Place {
                    id: &info.id,
                    pool: named.unwrap_or(&own),
                    namespace: &namespace,
                    object_bytes: block,
                    max_objects: (smoke && mode == Mode::Rand).then_some(64),
                    room_bytes,
                };
                steps.push(rados::step(
                    mode,
                    &place,
                    load(verb, pattern, block, depth, info.seed, smoke),
                    &Map::new(),
                )?);
            }
        }
    }
    for step in &steps {
        plan::check(step, if step.layer == "null" { NO_CLUSTER } else { &connect })?;
    }
    let own_pool = named.is_none().then(|| OwnPool { name: own.clone(), size: copies, pg_num: None });
    let campaign = Campaign {
        steps,
        repeats: m.get_one::<u32>("repeat").copied().unwrap_or(3),
        shuffle: true,
        own_pool,
        keep: false,
        dir: plan::results_dir(m, "survey"),
        transport: Transport::local()?,
        info,
    };
    execute(m, campaign, Some(control))
}

const NO_CLUSTER: &Connect = &Connect { conf: None, user: String::new(), keyring: None, timeout_ns: 0 };

fn load(verb: Verb, pattern: Pattern, block: u64, depth: u32, seed: u64, smoke: bool) -> Load {
    let stop = if smoke {
        Stop { duration_ns: 1_000_000_000, ops: None, tight: None }
    } else {
        Stop { duration_ns: CAP_NS, ops: None, tight: Some(Tight { rel_half_width: TIGHT, floor_ns: FLOOR_NS }) }
    };
    Load {
        mix: vec![Share { verb, weight: 100 }],
        pattern,
        block_bytes: Size(block).0 as u32,
        depth,
        lanes: 1,
        pace: Pace::Closed,
        ramp_ns: if smoke { 200_000_000 } else { RAMP_NS },
        stop,
        op_timeout_ns: 10_000_000_000,
        seed,
        compressible_pct: 0,
        verify: false,
        tick_ns: TICK_NS,
    }
}
