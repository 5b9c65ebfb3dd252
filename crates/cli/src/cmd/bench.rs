//! `fathom bench LAYER`: one layer, one load, some repeats, one report.
use crate::{
    cmd::{bench_rados, execute::execute},
    fail::Fail,
    plan::{self, LoadArgs},
};
use fathom_model::{Connect, ExitCode, Pattern, Size, Step};
use fathom_run::{Campaign, Transport};
use serde_json::Map;

pub fn run(m: &clap::ArgMatches) -> Result<ExitCode, Fail> {
    match m.subcommand() {
        Some(("null", m)) => null(m),
        Some(("rados", m)) => bench_rados::run(m),
        _ => Err(Fail::usage("name a layer: `fathom layers` lists them")),
    }
}

fn null(m: &clap::ArgMatches) -> Result<ExitCode, Fail> {
    let connect = Connect::default();
    let info = plan::info(m, "bench-null", &connect);
    let mut steps = Vec::new();
    for (block, depth) in plan::matrix(m, Size(4096), 32) {
        let load =
            plan::load(m, &LoadArgs { read_pct: 100, pattern: Pattern::Uniform, block, depth, seed: info.seed })?;
        let name = format!("null {block} T={depth}");
        let step = Step { name, layer: "null".into(), params: Map::new(), load };
        plan::check(&step, &connect)?;
        steps.push(step);
    }
    let campaign = Campaign {
        shuffle: steps.len() > 1,
        steps,
        repeats: repeats(m, 3),
        own_pool: None,
        keep: false,
        dir: plan::results_dir(m, "bench-null"),
        transport: Transport::local()?,
        info,
    };
    execute(m, campaign, None)
}

/// Repeats asked for, or the default.
pub fn repeats(m: &clap::ArgMatches, default: u32) -> u32 {
    m.get_one::<u32>("repeat").copied().unwrap_or(default)
}
