//! `fathom bench LAYER`: one layer, one load, some repeats, one report.
use crate::{
    cmd::report,
    fail::Fail,
    live, out,
    plan::{
        self, LoadArgs,
        rados::{self, Mode, Place},
    },
};
use fathom_model::{Connect, ExitCode, Pattern, Size, Step};
use fathom_report::analyse;
use fathom_run::{Campaign, Control, OwnPool, Transport};
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub fn run(m: &clap::ArgMatches) -> Result<ExitCode, Fail> {
    match m.subcommand() {
        Some(("null", m)) => null(m),
        Some(("rados", m)) => bench_rados(m),
        _ => Err(Fail::usage("name a layer: `fathom layers` lists them")),
    }
}

fn null(m: &clap::ArgMatches) -> Result<ExitCode, Fail> {
    let connect = Connect::default();
    let info = plan::info(m, "bench-null", &connect);
    let load = plan::load(
        m,
        &LoadArgs { read_pct: 100, pattern: Pattern::Uniform, block: Size(4096), depth: 32, seed: info.seed },
    )?;
    let name = format!("null {} T={}", Size(load.block_bytes.into()), load.depth);
    let step = Step { name, layer: "null".into(), params: Map::new(), load };
    plan::check(&step, &connect)?;
    let campaign = Campaign {
        steps: vec![step],
        repeats: repeats(m, 3),
        shuffle: false,
        own_pool: None,
        keep: false,
        dir: plan::results_dir(m, "bench-null"),
        transport: Transport::local()?,
        info,
    };
    execute(m, campaign, None)
}

fn repeats(m: &clap::ArgMatches, default: u32) -> u32 {
    m.get_one::<u32>("repeat").copied().unwrap_or(default).clamp(1, 1000)
}

fn bench_rados(m: &clap::ArgMatches) -> Result<ExitCode, Fail> {
    let mode_word = m.get_one::<String>("mode").map_or("write", String::as_str);
    let mode = match mode_word {
        "seq" => Mode::Seq,
        "rand" => Mode::Rand,
        "mixed" => Mode::Mixed,
        _ => Mode::Write,
    };
    let theirs = m.get_flag("rados-bench-objects");
    if theirs && mode == Mode::Mixed {
        return Err(Fail::usage("--rados-bench-objects goes with write, seq and rand: rados bench has no mix"));
    }
    if theirs && mode != Mode::Write && m.get_one::<String>("pool").is_none() {
        return Err(Fail::usage("name the pool that rados bench wrote to with -p"));
    }
    let connect = plan::connect(m);
    let name = format!("bench-rados-{mode_word}");
    let info = plan::info(m, &name, &connect);
    let (read_pct, pattern) = match mode {
        Mode::Write => (0, Pattern::Sequential { wrap: false }),
        Mode::Seq => (100, Pattern::Sequential { wrap: true }),
        Mode::Rand => (100, Pattern::Uniform),
        Mode::Mixed => (m.get_one::<u32>("read-share").copied().unwrap_or(70), Pattern::Uniform),
    };
    if mode == Mode::Write && m.get_one::<String>("pattern").is_some() {
        return Err(Fail::usage(
            "--pattern: `write` makes new objects in order; use `mixed --read-share 0` to overwrite a data set",
        ));
    }
    let mut load = plan::load(m, &LoadArgs { read_pct, pattern, block: Size(4 << 20), depth: 16, seed: info.seed })?;
    if theirs {
        // rados bench has no ramp, and its reader expects every object from the first on.
        load.ramp_ns = 0;
    }
    let object_bytes = m.get_one::<Size>("object_size").map_or(u64::from(load.block_bytes), |s| s.0);
    let named = m.get_one::<String>("pool");
    let own = format!("fathom-{}", info.id);
    let pool = named.unwrap_or(&own);
    // In somebody's pool: a namespace of our own, but for objects that rados bench shall find.
    let namespace = match (m.get_one::<String>("namespace"), named) {
        (Some(asked), _) => asked.clone(),
        (None, Some(_)) if !theirs => format!("fathom-{}", info.id),
        _ => String::new(),
    };
    let mut place = Place {
        id: &info.id,
        pool,
        namespace: &namespace,
        object_bytes,
        max_objects: m.get_one::<u64>("max-objects").copied(),
        room_bytes: None,
    };
    let extra = layer_params(m);
    // Everything that is wrong with the words alone is found before anything is connected.
    plan::check(&rados::step(mode, &place, load.clone(), &extra)?, &connect)?;
    let control = Arc::new(Control::open(Transport::local()?, connect.clone())?);
    if let Some(pool) = named {
        require_pool(&control, pool)?;
    }
    let copies = m.get_one::<u64>("size").copied();
    place.room_bytes = rados::room_bytes(&control, named.map(String::as_str), copies.unwrap_or(3));
    let mut step = rados::step(mode, &place, load, &extra)?;
    if theirs {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let run_name = m.get_one::<String>("run-name").map(String::as_str);
        step = match mode {
            Mode::Write if named.is_none() => {
                return Err(Fail::usage("name the pool that rados bench shall read from with -p"));
            }
            Mode::Write => rados::rados_bench_write(&control, step, &host, run_name)?,
            _ => rados::rados_bench_read(&control, step, mode, &host, run_name)?,
        };
        plan::check(&step, &connect)?;
    }
    let own_pool = named.is_none().then(|| OwnPool {
        name: own.clone(),
        size: copies,
        pg_num: m.get_one::<u64>("pg-num").copied(),
    });
    let campaign = Campaign {
        steps: vec![step],
        repeats: repeats(m, if theirs { 1 } else { 3 }),
        shuffle: false,
        own_pool,
        keep: m.get_flag("no-cleanup"),
        dir: plan::results_dir(m, &name),
        transport: Transport::local()?,
        info,
    };
    execute(m, campaign, Some(control))
}

/// The flags that come from the layer's own table, as it wants them.
fn layer_params(m: &clap::ArgMatches) -> Map<String, Value> {
    let mut params = Map::new();
    if let Some(handles) = m.get_one::<u64>("handles") {
        params.insert("handles".into(), json!(handles.to_string()));
    }
    if m.get_flag("hints") {
        params.insert("hints".into(), json!("true"));
    }
    params
}

/// Names what exists when a pool doesn't: a typing error is seen at once.
pub fn require_pool(control: &Control, pool: &str) -> Result<(), Fail> {
    let names = control.mon("osd pool ls").ok().and_then(|text| serde_json::from_str::<Vec<String>>(&text).ok());
    match names {
        Some(names) if !names.iter().any(|n| n == pool) => {
            let known =
                if names.is_empty() { "there are none".to_owned() } else { format!("there are: {}", names.join(", ")) };
            Err(Fail::new(
                ExitCode::Unreachable,
                format!("there is no pool `{pool}` ({known}); leave -p out to use one of fathom's own"),
            ))
        }
        _ => Ok(()),
    }
}

/// Runs a campaign and prints its report.
pub fn execute(m: &clap::ArgMatches, campaign: Campaign, control: Option<Arc<Control>>) -> Result<ExitCode, Fail> {
    let dir = campaign.dir.clone();
    let cancel = live::on_signals()?;
    let observers = live::observers(&campaign, m.get_flag("quiet"));
    let outcome = fathom_run::run(campaign, control, observers, &cancel)?;
    let analysis = analyse(&report::read(&dir)?);
    let html = dir.join("report.html");
    let written = std::fs::write(&html, report::html(&analysis)?);
    if m.get_flag("json") {
        let text = fathom_report::to_json(&analysis).map_err(|e| Fail::new(ExitCode::Internal, e.to_string()))?;
        out::print(&text)?;
    } else {
        report::print_text(&analysis)?;
    }
    for message in &outcome.messages {
        eprintln!("fathom: {message}");
    }
    if outcome.exit == ExitCode::Interrupted {
        eprintln!("fathom: stopped; what was measured is stored, what was made is removed as told above");
    }
    match written {
        Ok(()) => eprintln!("results: {}\nreport:  {}", dir.display(), html.display()),
        Err(e) => eprintln!("results: {}\nfathom: cannot write {}: {e}", dir.display(), html.display()),
    }
    Ok(outcome.exit)
}
