//! A place on a real cluster: a pool of its own, in which nothing may be left but what is not ours.
use crate::drive::{drive_with, half_and_half, load};
use crate::record::{Ledger, names};
use fathom_load::control::{ControlHandle, Target};
use fathom_load::layer::Job;
use fathom_load::layers;
use fathom_load::remove::{POOL_PREFIX, Removed, remove};
use fathom_model::{Connect, Load, Made, Pattern, Step, StopReason};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// An object of somebody else.
const FOREIGN: &str = "conformance_foreign";

/// A pool, and everything the ledgers of its jobs were told. Dropping it removes what they name and nothing else,
/// looks at what is left, and removes the pool.
pub struct Place {
    connect: Connect,
    control: Arc<ControlHandle>,
    pool: String,
    made: Arc<Mutex<Vec<Made>>>,
}

static NEXT: AtomicU64 = AtomicU64::new(0);

fn next() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Place {
    pub fn new() -> Place {
        let conf = std::env::var("FATHOM_TEST_CONF").expect("run ./test, it starts the lab");
        let connect =
            Connect { conf: Some(conf), user: "client.admin".into(), keyring: None, timeout_ns: 30_000_000_000 };
        let control = Arc::new(ControlHandle::connect(&connect).unwrap());
        let pool = format!("{POOL_PREFIX}test-conformance-{}-{}", std::process::id(), next());
        let create = json!({"prefix": "osd pool create", "pool": pool, "pg_num": 8, "autoscale_mode": "off"});
        control.command(&Target::Mon, &create.to_string()).unwrap();
        control.write_object(&pool, "", FOREIGN, b"not ours").unwrap();
        Place { connect, control, pool, made: Arc::default() }
    }

    /// A job with objects of one block in this pool, under names no other job has.
    pub fn job(&self, load: &Load, more: Value) -> Box<dyn Job> {
        let mut params = json!({"pool": self.pool, "prefix": format!("conformance_{}_", next())});
        if let (Value::Object(all), Value::Object(more)) = (&mut params, more) {
            all.extend(more);
        }
        let Value::Object(params) = params else { unreachable!() };
        let step = Step { name: "conformance".into(), layer: "rados".into(), params, load: load.clone() };
        layers::find("rados").unwrap().job(&step, &self.connect).unwrap()
    }

    /// A ledger that looks, before an entry counts as stored, whether something it names is already there.
    pub fn ledger(&self) -> Ledger {
        let (control, pool, all) = (Arc::clone(&self.control), self.pool.clone(), Arc::clone(&self.made));
        let witness = move |before: &[Made], made: &Made| {
            all.lock().unwrap().push(made.clone());
            let early = newly_named(before, made);
            let there = early.into_iter().find(|n| control.read_object(&pool, "", n, 1).unwrap().is_some());
            there.map(|name| format!("{name} exists and only now the ledger is told: {made:?}"))
        };
        Ledger::witnessed(Box::new(witness))
    }

    fn objects(&self) -> Vec<String> {
        self.control.list_objects(&self.pool, "", 1_000_000).unwrap()
    }
}

/// The objects that `made` names and no entry before did: the first few and the last of them.
fn newly_named(before: &[Made], made: &Made) -> Vec<String> {
    let all = match made {
        Made::Pool { .. } => Vec::new(),
        Made::Object { name, .. } => vec![name.clone()],
        Made::Objects { prefix, until, .. } => {
            let bound = |m: &Made| match m {
                Made::Objects { prefix: p, until, .. } if p == prefix => *until,
                _ => 0,
            };
            let from = before.iter().map(bound).max().unwrap_or(0);
            let first = from..until.saturating_sub(1).min(from + 20);
            first.chain(until.checked_sub(1)).map(|n| format!("{prefix}{n}")).collect()
        }
    };
    all.into_iter().filter(|name| !before.iter().any(|m| names(m, name))).collect()
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut left = None;
        if !std::thread::panicking() {
            for made in self.made.lock().unwrap().iter() {
                remove(made, &self.connect, &mut |_, _| {}).unwrap();
            }
            left = Some(self.objects());
        }
        let pool = Made::Pool { fsid: self.control.fsid().to_owned(), pool: self.pool.clone() };
        let removed = remove(&pool, &self.connect, &mut |_, _| {});
        if let Some(left) = left {
            assert_eq!(left, [FOREIGN], "objects left after everything the ledger names was removed");
            assert_eq!(removed.unwrap(), Removed { removed: 1, absent: 0 });
        }
    }
}

#[test]
fn names_are_those_of_the_entry_and_no_others() {
    let some = |text: &str| text.to_owned();
    let made = Made::Objects { fsid: some(""), pool: some(""), namespace: some(""), prefix: some("p_"), until: 100 };
    for (name, is) in [
        ("p_0", true),
        ("p_99", true),
        ("p_100", false),
        ("p_07", false),
        ("p_", false),
        ("q_1", false),
        ("p_1x", false),
    ] {
        assert_eq!(names(&made, name), is, "{name}");
    }
    let more = Made::Objects { fsid: some(""), pool: some(""), namespace: some(""), prefix: some("p_"), until: 103 };
    assert_eq!(newly_named(&[made], &more), ["p_100", "p_101", "p_102"]);
}

#[test]
fn rados_names_new_objects_before_it_makes_them_however_many_they_become() {
    let place = Place::new();
    // More than the first bound lasts for: it is raised under load.
    let mut load = load();
    (load.block_bytes, load.depth, load.lanes) = (64, 64, 2);
    load.pattern = Pattern::Sequential { wrap: false };
    load.stop.ops = Some(6000);
    load.stop.duration_ns = 60_000_000_000;
    let ledger = place.ledger();
    let outcome =
        drive_with(&*place.job(&load, json!({"objects": 1u64 << 40})), &load, &ledger, Duration::from_secs(90));
    assert_eq!((outcome.account.end.stop, outcome.account.end.completed), (StopReason::Ops, 6000));
    let made = ledger.made();
    assert!(made.len() >= 2, "the bound was never raised: {made:?}");
    let objects = place.objects();
    assert_eq!(objects.len(), 6001);
    assert!(objects.iter().all(|o| o == FOREIGN || made.iter().any(|m| names(m, o))));
}

#[test]
fn rados_leaves_nothing_of_a_data_set_that_was_overwritten() {
    let place = Place::new();
    let mut load = load();
    (load.mix, load.pattern) = (half_and_half(), Pattern::Uniform);
    let ledger = place.ledger();
    drive_with(
        &*place.job(&load, json!({"objects": 50, "object_size": "16k", "fill": true})),
        &load,
        &ledger,
        Duration::from_secs(60),
    );
    // Objects and the marker that closes the set.
    assert_eq!(place.objects().len(), 52);
    assert!(place.objects().iter().all(|o| o == FOREIGN || ledger.names(o)));
}
