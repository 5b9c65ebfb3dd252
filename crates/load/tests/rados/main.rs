//! The rados layer, the control plane and removal against a real cluster.
//!
//! `FATHOM_TEST_CONF` names its `ceph.conf`; `./test` starts a lab and sets it.
#![allow(clippy::unwrap_used, reason = "shared functions of tests count as tests")]
mod control;
mod layer;
mod removal;

use fathom_load::control::{ControlHandle, Target};
use fathom_load::layer::{Cx, Done, Job, LaneSpec, LoadError, Op};
use fathom_load::remove::{POOL_PREFIX, Removed, remove};
use fathom_model::{Connect, ErrorClass, Load, Made, Pace, Pattern, Share, Step, Stop, Verb};
use serde_json::{Value, json};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

fn connect() -> Connect {
    let conf = std::env::var("FATHOM_TEST_CONF").expect("run ./test, it starts the lab");
    Connect { conf: Some(conf), user: "client.admin".into(), keyring: None, timeout_ns: 30_000_000_000 }
}

fn mon(handle: &ControlHandle, command: Value) -> String {
    handle.command(&Target::Mon, &command.to_string()).unwrap_or_else(|e| panic!("{command}: {e:?}"))
}

/// A pool for all tests of this process; each uses a namespace of its own.
fn pool() -> &'static str {
    static POOL: OnceLock<String> = OnceLock::new();
    POOL.get_or_init(|| make_pool("shared"))
}

fn make_pool(what: &str) -> String {
    let handle = ControlHandle::connect(&connect()).unwrap();
    let pool = format!("{POOL_PREFIX}test-{what}-{}", std::process::id());
    mon(&handle, json!({"prefix": "osd pool create", "pool": pool, "pg_num": 8, "autoscale_mode": "off"}));
    pool
}

/// A namespace nobody else uses.
fn namespace() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("t{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Keeps the ledger, and answers for the controller.
#[derive(Default)]
struct Ledger {
    made: Mutex<Vec<Made>>,
    orphaned: AtomicBool,
    cancelled: AtomicBool,
}

impl Ledger {
    fn len(&self) -> usize {
        self.made.lock().unwrap().len()
    }
}

impl Cx for Ledger {
    fn ledger(&self, made: &Made) -> Result<(), LoadError> {
        if self.orphaned.load(Ordering::Relaxed) {
            return Err(LoadError::Orphaned);
        }
        self.made.lock().unwrap().push(made.clone());
        Ok(())
    }
    fn progress(&self, _: u64, _: u64, _: &str) {}
    fn note(&self, _: &str) {}
    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// A job and what it is driven with.
struct Bench {
    job: Box<dyn Job>,
    block_bytes: u32,
    depth: u32,
}

fn bench(verb: Verb, block_bytes: u32, params: Value) -> Bench {
    try_bench(&connect(), verb, block_bytes, params).unwrap()
}

fn try_bench(connect: &Connect, verb: Verb, block_bytes: u32, params: Value) -> Result<Bench, LoadError> {
    let Value::Object(params) = params else { panic!("an object of parameters") };
    let depth = 16;
    let load = Load {
        mix: vec![Share { verb, weight: 1 }],
        pattern: Pattern::Sequential { wrap: false },
        block_bytes,
        depth,
        lanes: 1,
        pace: Pace::Closed,
        ramp_ns: 0,
        stop: Stop { duration_ns: 1_000_000_000, ops: None, tight: None },
        op_timeout_ns: 20_000_000_000,
        seed: 1,
        compressible_pct: 0,
        verify: verb == Verb::Read,
        tick_ns: 1_000_000_000,
    };
    let step = Step { name: "test".into(), layer: "rados".into(), params, load };
    Ok(Bench { job: fathom_load::layers::find("rados").unwrap().job(&step, connect)?, block_bytes, depth })
}

impl Bench {
    /// Does `verb` at every address, with the depth in flight, and returns the results in the order of `at`.
    fn drive(&self, verb: Verb, at: &[u64], cx: &Ledger) -> Vec<Result<u32, ErrorClass>> {
        let spec = LaneSpec { index: 0, lanes: 1, depth: self.depth };
        let mut lane = self.job.lane(spec, cx).unwrap();
        let mut results = vec![Err(ErrorClass::Errno(0)); at.len()];
        let mut of_slot = vec![0; self.depth as usize];
        let mut free: Vec<u32> = (0..self.depth).collect();
        let mut done: Vec<Done> = Vec::new();
        let mut next = 0;
        let begun = Instant::now();
        while next < at.len() || free.len() < self.depth as usize {
            while next < at.len()
                && let Some(slot) = free.pop()
            {
                of_slot[slot as usize] = next;
                lane.submit(Op { verb, at: at[next], len: self.block_bytes, slot }).unwrap();
                next += 1;
            }
            lane.reap(Duration::from_millis(100), &mut done).unwrap();
            for d in done.drain(..) {
                results[of_slot[d.slot as usize]] = d.result;
                free.push(d.slot);
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "the cluster hangs");
        }
        results
    }
}

fn names(namespace: &str) -> Vec<String> {
    let mut names = ControlHandle::connect(&connect()).unwrap().list_objects(pool(), namespace, 100_000).unwrap();
    names.sort();
    names
}

fn failure(result: Result<impl Sized, LoadError>) -> String {
    match result {
        Ok(_) => panic!("it should fail"),
        Err(e) => e.to_string(),
    }
}
