//! `fathom bench rados`: objects through librados.
use crate::{
    cmd::{bench::repeats, execute::execute},
    fail::Fail,
    plan::{
        self, LoadArgs,
        rados::{self, Mode, Place},
    },
};
use fathom_model::{Connect, ExitCode, Load, Pattern, RunInfo, Size, Step};
use fathom_run::{Campaign, Control, OwnPool, Transport};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// What is asked for, before any cluster was seen.
struct Asked<'a> {
    m: &'a clap::ArgMatches,
    mode: Mode,
    /// Objects that `rados bench` reads or wrote.
    theirs: bool,
    info: &'a RunInfo,
    /// The pool named, `None` for one of our own.
    named: Option<&'a str>,
    pool: &'a str,
    namespace: &'a str,
}

pub fn run(m: &clap::ArgMatches) -> Result<ExitCode, Fail> {
    let word = m.get_one::<String>("mode").map_or("write", String::as_str);
    let mode = match word {
        "seq" => Mode::Seq,
        "rand" => Mode::Rand,
        "mixed" => Mode::Mixed,
        _ => Mode::Write,
    };
    let theirs = m.get_flag("rados-bench-objects");
    let connect = plan::connect(m);
    let name = format!("bench-rados-{word}");
    let info = plan::info(m, &name, &connect);
    let named = m.get_one::<String>("pool").map(String::as_str);
    let own = format!("fathom-{}", info.id);
    // In somebody's pool: a namespace of our own, but for objects that rados bench shall find.
    let namespace = match (m.get_one::<String>("namespace"), named) {
        (Some(asked), _) => asked.clone(),
        (None, Some(_)) if !theirs => own.clone(),
        _ => String::new(),
    };
    let asked = Asked { m, mode, theirs, info: &info, named, pool: named.unwrap_or(&own), namespace: &namespace };
    asked.refuse_nonsense()?;
    // Everything that is wrong with the words alone is found before anything is connected.
    asked.steps(None, &connect)?;
    let control = Arc::new(Control::open(Transport::local()?, connect.clone())?);
    if let Some(pool) = named {
        require_pool(&control, pool)?;
    }
    let copies = m.get_one::<u64>("size").copied();
    let room_bytes = rados::room_bytes(&control, named, copies.unwrap_or(3));
    let mut steps = asked.steps(room_bytes, &connect)?;
    if theirs {
        steps = steps.into_iter().map(|step| asked.as_rados_bench(&control, step)).collect::<Result<_, _>>()?;
        steps.iter().try_for_each(|step| plan::check(step, &connect))?;
    }
    let pg_num = m.get_one::<u64>("pg-num").copied();
    let own_pool = named.is_none().then(|| OwnPool { name: own.clone(), size: copies, pg_num });
    let campaign = Campaign {
        shuffle: steps.len() > 1,
        steps,
        repeats: repeats(m, if theirs { 1 } else { 3 }),
        own_pool,
        keep: m.get_flag("no-cleanup"),
        dir: plan::results_dir(m, &name),
        transport: Transport::local()?,
        info,
    };
    execute(m, campaign, Some(control))
}

impl Asked<'_> {
    fn refuse_nonsense(&self) -> Result<(), Fail> {
        let usage = |text: &str| Err(Fail::usage(text));
        if self.mode == Mode::Write && self.m.get_one::<String>("pattern").is_some() {
            return usage(
                "--pattern: `write` makes new objects in order; use `mixed --read-share 0` to overwrite a data set",
            );
        }
        if !self.theirs {
            return Ok(());
        }
        if self.mode == Mode::Mixed {
            return usage("--rados-bench-objects goes with write, seq and rand: rados bench has no mix");
        }
        if self.named.is_none() {
            return usage("--rados-bench-objects: name the pool that rados bench uses with -p");
        }
        if self.loads()?.len() > 1 {
            return usage("--rados-bench-objects goes with one block size and one depth");
        }
        Ok(())
    }

    fn loads(&self) -> Result<Vec<Load>, Fail> {
        let (read_pct, pattern) = match self.mode {
            Mode::Write => (0, Pattern::Sequential { wrap: false }),
            Mode::Seq => (100, Pattern::Sequential { wrap: true }),
            Mode::Rand => (100, Pattern::Uniform),
            Mode::Mixed => (self.m.get_one::<u32>("read-share").copied().unwrap_or(70), Pattern::Uniform),
        };
        plan::matrix(self.m, Size(4 << 20), 16)
            .into_iter()
            .map(|(block, depth)| {
                let seed = self.info.seed;
                let mut load = plan::load(self.m, &LoadArgs { read_pct, pattern, block, depth, seed })?;
                if self.theirs {
                    // rados bench has no ramp, and its reader expects every object from the first on.
                    load.ramp_ns = 0;
                }
                Ok(load)
            })
            .collect()
    }

    fn steps(&self, room_bytes: Option<u64>, connect: &Connect) -> Result<Vec<Step>, Fail> {
        let extra = layer_params(self.m);
        self.loads()?
            .into_iter()
            .map(|load| {
                let place = Place {
                    id: &self.info.id,
                    pool: self.pool,
                    namespace: self.namespace,
                    object_bytes: self.m.get_one::<Size>("object_size").map_or(u64::from(load.block_bytes), |s| s.0),
                    max_objects: self.m.get_one::<u64>("max-objects").copied(),
                    room_bytes,
                };
                let step = rados::step(self.mode, &place, load, &extra)?;
                plan::check(&step, connect)?;
                Ok(step)
            })
            .collect()
    }

    fn as_rados_bench(&self, control: &Control, step: Step) -> Result<Step, Fail> {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let run_name = self.m.get_one::<String>("run-name").map(String::as_str);
        match self.mode {
            Mode::Write => rados::rados_bench_write(control, step, &host, run_name),
            mode => rados::rados_bench_read(control, step, mode, &host, run_name),
        }
    }
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
