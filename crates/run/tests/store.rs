//! The store: what goes in comes out, a torso opens, the ledger grows in place.
use fathom_model::{
    AttemptEnd, ClusterTick, Connect, ErrorClass, Event, EventKind, Fact, Latency, Load, Made, OwnIo, Pace, Pattern,
    Phase, Probe, RunInfo, Sample, Share, Step, Stop, StopReason, StuckOp, Verb,
};
use fathom_run::{RunLock, STORE_FILE, Store, StoreError};
use std::path::Path;

fn info() -> RunInfo {
    RunInfo {
        id: "0123456789ab".into(),
        name: "test".into(),
        command: "fathom bench null".into(),
        build: "0".into(),
        seed: 7,
        started_unix_ns: 1_000,
        ended_unix_ns: None,
        connect: Connect {
            conf: Some("/etc/ceph/ceph.conf".into()),
            user: "client.admin".into(),
            keyring: None,
            timeout_ns: 1,
        },
        fsid: "f".into(),
    }
}

fn step() -> Step {
    let load = Load {
        mix: vec![Share { verb: Verb::Write, weight: 1 }],
        pattern: Pattern::Zipf { theta: 1.2 },
        block_bytes: 4096,
        depth: 16,
        lanes: 1,
        pace: Pace::Poisson { per_s: 10.5 },
        ramp_ns: 1,
        stop: Stop { duration_ns: 2, ops: Some(3), tight: None },
        op_timeout_ns: 4,
        seed: u64::MAX,
        compressible_pct: 5,
        verify: true,
        tick_ns: 6,
    };
    Step { name: "write".into(), layer: "null".into(), params: serde_json::Map::new(), load }
}

fn sample(start_ns: u64) -> Sample {
    let latency = Latency { count: 2, sum_ns: 30, min_ns: 10, max_ns: 20, hdr: "abc".into() };
    Sample {
        phase: Phase::Measure,
        start_ns,
        end_ns: start_ns + 1,
        verb: Verb::Write,
        ops: 2,
        bytes: 8192,
        errors: vec![(ErrorClass::Errno(28), 3), (ErrorClass::Corrupt, 1)],
        timeouts: 4,
        unsent: 5,
        response: latency.clone(),
        service: latency,
    }
}

fn event(at: i64, kind: EventKind) -> Event {
    Event { at_unix_ns: at, host: "h".into(), attempt: Some(0), kind }
}

fn objects(until: u64) -> Made {
    Made::Objects { fsid: "f".into(), pool: "p".into(), namespace: String::new(), prefix: "x".into(), until }
}

fn filled(dir: &Path) -> Store {
    let mut store = Store::create(dir, &info(), &[step()]).expect("it is made");
    for (at, kind) in [
        (1, EventKind::AttemptStarted { step: 0, repeat: 2 }),
        (2, EventKind::LoadStarted),
        (3, EventKind::Sample(sample(10))),
        (4, EventKind::Sample(sample(11))),
        (5, EventKind::Stuck(StuckOp { target: "o".into(), age_ns: 9, acting: vec![1, 2] })),
        (6, EventKind::Cluster(ClusterTick { health: "HEALTH_OK".into(), ..ClusterTick::default() })),
        (7, EventKind::Probe(Probe { osd: 1, answer_ns: None, deadline_ns: 5 })),
        (8, EventKind::OwnIo(OwnIo { pool: "p".into(), writes: 1, removes: 2, reads: 3 })),
        (9, EventKind::Fact(Fact { moment: "before".into(), source: "s".into(), text: "t\n".into(), error: None })),
        (10, EventKind::Note { text: "n".into() }),
    ] {
        store.event(&event(at, kind)).expect("it is stored");
    }
    store.commit().expect("it is stored");
    store
}

#[test]
fn what_goes_in_comes_out() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = filled(dir.path());
    let end = AttemptEnd { issued: 5, completed: 4, failed: 1, ..AttemptEnd::not_started(StopReason::Tight) };
    store.event(&event(11, EventKind::AttemptEnded(end.clone()))).unwrap();
    store.end(99).unwrap();
    drop(store);
    let run = Store::open_to_read(dir.path()).unwrap().read().unwrap();
    assert_eq!(run.info, RunInfo { ended_unix_ns: Some(99), ..info() });
    assert_eq!(run.steps, [step()]);
    let attempt = &run.attempts[0];
    assert_eq!((attempt.step, attempt.repeat, attempt.load_started_unix_ns), (0, 2, Some(2)));
    assert_eq!(attempt.samples, [sample(10), sample(11)]);
    assert_eq!(attempt.end, Some(end));
    assert_eq!(attempt.stuck[0].1.acting, [1, 2]);
    assert_eq!((run.ticks.len(), run.probes.len(), run.own_io.len(), run.notes.len()), (1, 1, 1, 1));
    assert_eq!(run.facts[0].text, "t\n");
}

#[test]
fn a_torso_opens_with_what_was_committed() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = filled(dir.path());
    store.event(&event(12, EventKind::Sample(sample(12)))).unwrap();
    // As `kill -9` leaves it: nothing is closed, nothing more is committed.
    std::mem::forget(store);
    let run = Store::open_to_read(dir.path()).unwrap().read().unwrap();
    assert_eq!(run.attempts[0].samples.len(), 2);
    assert_eq!((run.info.ended_unix_ns, run.attempts[0].end.is_none()), (None, true));
}

#[test]
fn a_ledger_entry_grows_in_place_until_it_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create(dir.path(), &info(), &[]).unwrap();
    let pool = Made::Pool { fsid: "f".into(), pool: "fathom-x".into() };
    store.ledger(1, &objects(10), false).unwrap();
    store.ledger(2, &pool, true).unwrap();
    store.ledger(3, &objects(20), false).unwrap();
    let entries = store.ledger_entries().unwrap();
    assert_eq!(entries.iter().map(|e| (e.id, e.keep)).collect::<Vec<_>>(), [(1, false), (2, true)]);
    assert_eq!((&entries[0].made, &entries[1].made), (&objects(20), &pool));
    store.removed(1, 5).unwrap();
    store.ledger(6, &objects(7), false).unwrap();
    let entries = store.ledger_entries().unwrap();
    assert_eq!(entries[0].removed_unix_ns, Some(5));
    assert_eq!(
        (entries[2].id, &entries[2].made),
        (3, &objects(7)),
        "what was removed and is made again is a new entry"
    );
}

#[test]
fn a_directory_holds_one_run_and_a_newer_store_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(Store::open(dir.path()), Err(StoreError::Missing(_))));
    drop(filled(dir.path()));
    assert!(matches!(Store::create(dir.path(), &info(), &[]), Err(StoreError::Exists(_))));
    let sql = rusqlite::Connection::open(dir.path().join(STORE_FILE)).unwrap();
    sql.pragma_update(None, "user_version", 99).unwrap();
    drop(sql);
    assert!(matches!(Store::open(dir.path()), Err(StoreError::Newer { found: 99, .. })));
}

#[test]
fn damage_is_said_and_does_not_panic() {
    let dir = tempfile::tempdir().unwrap();
    drop(filled(dir.path()));
    let sql = rusqlite::Connection::open(dir.path().join(STORE_FILE)).unwrap();
    sql.execute("UPDATE step SET json = '{}'", []).unwrap();
    drop(sql);
    let error = Store::open_to_read(dir.path()).unwrap().read().unwrap_err().to_string();
    assert!(error.contains("damaged") && error.contains("step"), "{error}");
}

#[test]
fn one_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let held = RunLock::take(dir.path()).unwrap();
    assert!(matches!(RunLock::take(dir.path()), Err(StoreError::Busy(_))));
    drop(held);
    RunLock::take(dir.path()).unwrap();
}
