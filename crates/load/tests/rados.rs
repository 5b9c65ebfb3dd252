//! The rados layer, the control plane and removal against a real cluster.
//!
//! `FATHOM_TEST_CONF` names its `ceph.conf`; `./test` starts a lab and sets it.
#![allow(clippy::unwrap_used, reason = "shared functions of tests count as tests")]
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

#[test]
fn commands_reach_every_daemon_in_parallel() {
    let handle = ControlHandle::connect(&connect()).unwrap();
    let status: Value = serde_json::from_str(&mon(&handle, json!({"prefix": "status", "format": "json"}))).unwrap();
    assert_eq!(status["fsid"], handle.fsid());
    let version = json!({"prefix": "version"}).to_string();
    let quorum: Value =
        serde_json::from_str(&mon(&handle, json!({"prefix": "quorum_status", "format": "json"}))).unwrap();
    let name = quorum["quorum_names"][0].as_str().unwrap().to_owned();
    std::thread::scope(|scope| {
        for target in [Target::MonNamed(name), Target::Osd(0), Target::Osd(1), Target::Osd(2)] {
            let (handle, version) = (&handle, &version);
            scope.spawn(move || {
                let text = handle.command(&target, version).unwrap_or_else(|e| panic!("{target:?}: {e:?}"));
                assert!(text.contains("version"), "{text}");
            });
        }
        scope.spawn(|| handle.command(&Target::Mgr, &json!({"prefix": "pg stat"}).to_string()).unwrap());
    });
    assert_eq!(handle.command(&Target::Osd(9999), &version).unwrap_err().errno, 2);
    let unknown = handle.command(&Target::Mon, &json!({"prefix": "no such command"}).to_string()).unwrap_err();
    assert_eq!((unknown.errno, unknown.status.as_str()), (22, "command not known"));
    assert_eq!(handle.option("admin_socket").as_deref(), Some(""));
    assert_eq!(handle.option("log_file").as_deref(), Some(""));
}

#[test]
fn objects_are_read_written_and_removed() {
    let (handle, ns) = (ControlHandle::connect(&connect()).unwrap(), namespace());
    assert_eq!(handle.read_object(pool(), &ns, "o", 10).unwrap(), None);
    assert!(!handle.remove_object(pool(), &ns, "o").unwrap());
    handle.write_object(pool(), &ns, "o", b"content").unwrap();
    assert_eq!(handle.read_object(pool(), &ns, "o", 100).unwrap().unwrap(), b"content");
    assert_eq!(handle.read_object(pool(), &ns, "o", 4).unwrap().unwrap(), b"cont");
    assert_eq!(handle.read_object(pool(), "", "o", 4).unwrap(), None);
    assert!(handle.remove_object(pool(), &ns, "o").unwrap());
    assert!(handle.pool_id(pool()).unwrap().is_some());
    assert_eq!(handle.pool_id("no-such-pool").unwrap(), None);
}

#[test]
fn what_keeps_a_client_out_is_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        path
    };
    let good = connect();
    let conf = std::fs::read_to_string(good.conf.as_ref().unwrap()).unwrap();
    let lines = |keep: &dyn Fn(&str) -> bool| conf.lines().filter(|l| keep(l)).collect::<Vec<_>>().join("\n");
    // A key of the right form that is nobody's.
    let key = "AQDQ0V9nAAAAABAAaJ8Pm1WGZ5bBVd0n1dZlzA==";
    let try_with = |change: &dyn Fn(&mut Connect)| {
        let mut connect = Connect { timeout_ns: 2_000_000_000, ..good.clone() };
        change(&mut connect);
        let begun = Instant::now();
        let text = failure(ControlHandle::connect(&connect));
        assert!(begun.elapsed() < Duration::from_secs(8), "{:?}: {text}", begun.elapsed());
        assert!(!text.contains('\n') && !text.contains(key), "{text}");
        text
    };

    let wrong = file("wrong", &format!("[client.admin]\n\tkey = {key}\n[client.ghost]\n\tkey = {key}\n"));
    let text = try_with(&|c| c.keyring = Some(wrong.clone()));
    assert!(text.contains("refuses client.admin") && text.contains("ceph auth get client.admin"), "{text}");
    let text = try_with(&|c| (c.user, c.keyring) = ("client.ghost".into(), Some(wrong.clone())));
    assert!(text.contains("refuses client.ghost") && text.contains("no such user"), "{text}");
    let text = try_with(&|c| (c.user, c.keyring) = ("other".into(), Some(wrong.clone())));
    assert!(text.contains(&format!("keyring {wrong} has no key for client.other")), "{text}");
    let text = try_with(&|c| c.keyring = Some("/nonexistent/keyring".into()));
    assert!(text.contains("keyring /nonexistent/keyring does not exist"), "{text}");
    let text = try_with(&|c| c.keyring = Some(file("junk", "junk")));
    assert!(text.contains("is not a keyring"), "{text}");

    let other = |l: &str| !l.trim_start().starts_with("keyring");
    let no_keyring = file("no-keyring", &format!("{}\nkeyring = /nonexistent/k\n", lines(&other)));
    let text = try_with(&|c| c.conf = Some(no_keyring.clone()));
    assert!(text.contains("no keyring for client.admin in /nonexistent/k"), "{text}");

    let other = |l: &str| !l.replace('_', " ").trim_start().starts_with("mon host");
    let far = file("far", &format!("{}\n[global]\nmon host = [v2:127.0.0.1:1,v1:127.0.0.1:2]\n", lines(&other)));
    let text = try_with(&|c| c.conf = Some(far.clone()));
    assert!(text.contains("no monitor answered within 2 s ([v2:127.0.0.1:1,v1:127.0.0.1:2])"), "{text}");
    let nowhere = file("nowhere", &format!("{}\n[global]\nmon host = no-such-host.invalid\n", lines(&other)));
    let text = try_with(&|c| c.conf = Some(nowhere.clone()));
    assert!(text.contains("monitor address no-such-host.invalid can't be used"), "{text}");
    let nobody = file("nobody", &(lines(&other) + "\n"));
    let text = try_with(&|c| c.conf = Some(nobody.clone()));
    assert!(text.contains("names no monitor"), "{text}");

    let text = try_with(&|c| c.conf = Some("/nonexistent/ceph.conf".into()));
    assert!(text.contains("configuration file /nonexistent/ceph.conf does not exist"), "{text}");
    let text = try_with(&|c| c.conf = Some(file("garbage", "not [a conf")));
    assert!(text.contains("does not parse"), "{text}");
    let text = try_with(&|c| c.user = "nobody.knows".into());
    assert!(text.contains("not a user"), "{text}");
}

#[test]
fn a_user_with_few_caps_can_work_and_one_with_fewer_is_told_so() {
    let (ns, cx, dir) = (namespace(), Ledger::default(), tempfile::tempdir().unwrap());
    let admin = ControlHandle::connect(&connect()).unwrap();
    let user = |name: &str, osd: &str| {
        let entity = format!("client.fathom-test-{name}-{}", std::process::id());
        let caps = json!({"prefix": "auth get-or-create", "entity": entity, "caps": ["mon", "allow r", "osd", osd]});
        let path = dir.path().join(name);
        std::fs::write(&path, mon(&admin, caps)).unwrap();
        Connect { user: entity, keyring: path.to_str().map(str::to_owned), ..connect() }
    };
    let params = json!({"pool": pool(), "namespace": ns, "prefix": "c", "objects": "10", "fill": "true"});
    let reader = user("reader", &format!("allow r pool={}", pool()));
    let text = failure(try_bench(&reader, Verb::Read, 4096, params.clone()).unwrap().job.prepare(&cx));
    assert!(text.contains("EPERM") && text.contains("caps"), "{text}");
    let worker = user("worker", &format!("allow rw pool={} namespace={ns}", pool()));
    let reads = try_bench(&worker, Verb::Read, 4096, params).unwrap();
    reads.job.prepare(&cx).unwrap();
    assert!(reads.drive(Verb::Read, &(0..10).collect::<Vec<_>>(), &cx).iter().all(|r| *r == Ok(4096)));
    let made = cx.made.lock().unwrap().last().cloned().unwrap();
    assert_eq!(remove(&made, &worker, &mut |_, _| {}).unwrap().removed, 1);
}

#[test]
fn a_missing_pool_is_named_and_so_are_those_that_exist() {
    let bench = bench(Verb::Write, 4096, json!({"pool": "no-such-pool", "prefix": "x", "objects": "1"}));
    let text = failure(bench.job.prepare(&Ledger::default()));
    assert!(text.contains("no pool named no-such-pool") && text.contains(pool()), "{text}");
}

#[test]
fn what_is_written_is_read_back_and_what_is_changed_is_noticed() {
    let (ns, cx) = (namespace(), Ledger::default());
    let params = json!({"pool": pool(), "namespace": ns, "prefix": "w", "objects": "100", "handles": "3"});
    let writes = bench(Verb::Write, 4096, params.clone());
    writes.job.prepare(&cx).unwrap();
    let all: Vec<u64> = (0..90).collect();
    assert!(writes.drive(Verb::Write, &all, &cx).iter().all(|r| *r == Ok(4096)));
    assert_eq!(names(&ns).len(), 90);

    let handle = ControlHandle::connect(&connect()).unwrap();
    let mut changed = handle.read_object(pool(), &ns, "w7", 4096).unwrap().unwrap();
    changed[2000] ^= 1;
    handle.write_object(pool(), &ns, "w7", &changed).unwrap();
    handle.write_object(pool(), &ns, "w8", b"short").unwrap();

    let reads = bench(Verb::Read, 4096, params);
    reads.job.prepare(&cx).unwrap();
    let results = reads.drive(Verb::Read, &(0..100).collect::<Vec<_>>(), &cx);
    for (at, result) in results.iter().enumerate() {
        let expected = match at {
            7 => Err(ErrorClass::Corrupt),
            8 => Err(ErrorClass::Short),
            90.. => Err(ErrorClass::Errno(2)),
            _ => Ok(4096),
        };
        assert_eq!(*result, expected, "{at}");
    }
    let settings = reads.job.settings();
    assert!(settings.contains(&("handles".into(), "3".into())), "{settings:?}");
    assert!(settings.contains(&("ms_async_op_threads".into(), "1".into())), "{settings:?}");
}

#[test]
fn a_data_set_is_filled_once_and_serves_other_block_sizes() {
    let (ns, cx) = (namespace(), Ledger::default());
    let params = |objects: &str, size: &str| json!({"pool": pool(), "namespace": ns, "prefix": "d", "objects": objects, "object_size": size, "fill": "true"});
    let first = bench(Verb::Read, 4096, params("20", "64k"));
    first.job.prepare(&cx).unwrap();
    let Made::Objects { until, .. } = cx.made.lock().unwrap()[0].clone() else { panic!("objects come first") };
    assert_eq!((until, cx.len()), (20, 2));
    assert_eq!(names(&ns).len(), 21);
    assert!(first.drive(Verb::Read, &(0..320).collect::<Vec<_>>(), &cx).iter().all(|r| *r == Ok(4096)));

    // Nothing to make for the same, a smaller, or another block size.
    let larger_blocks = bench(Verb::Read, 32768, params("20", "64k"));
    larger_blocks.job.prepare(&cx).unwrap();
    assert!(larger_blocks.drive(Verb::Read, &(0..40).collect::<Vec<_>>(), &cx).iter().all(|r| *r == Ok(32768)));
    bench(Verb::Write, 4096, params("7", "64k")).job.prepare(&cx).unwrap();
    assert_eq!(cx.len(), 2);

    // Overwriting a part leaves everything readable.
    let writes = bench(Verb::Write, 4096, params("20", "64k"));
    writes.job.prepare(&cx).unwrap();
    assert!(writes.drive(Verb::Write, &[3, 17, 18, 319], &cx).iter().all(|r| *r == Ok(4096)));
    assert!(larger_blocks.drive(Verb::Read, &(0..40).collect::<Vec<_>>(), &cx).iter().all(|r| *r == Ok(32768)));

    // Another object size is another data set: made again, ledger first.
    let other = bench(Verb::Read, 4096, params("5", "128k"));
    other.job.prepare(&cx).unwrap();
    assert_eq!(cx.len(), 4);
    assert!(other.drive(Verb::Read, &(0..160).collect::<Vec<_>>(), &cx).iter().all(|r| *r == Ok(4096)));
}

#[test]
fn large_objects_are_filled_in_pieces() {
    let (ns, cx) = (namespace(), Ledger::default());
    let params = json!({"pool": pool(), "namespace": ns, "prefix": "L", "objects": "2", "object_size": "40M",
        "fill": "true", "handles": "2"});
    let reads = bench(Verb::Read, 4 << 20, params);
    reads.job.prepare(&cx).unwrap();
    assert!(reads.drive(Verb::Read, &(0..20).collect::<Vec<_>>(), &cx).iter().all(|r| *r == Ok(4 << 20)));
}

#[test]
fn without_a_ledger_nothing_is_made_and_a_cancel_is_heard() {
    let ns = namespace();
    let orphan = Ledger { orphaned: AtomicBool::new(true), ..Ledger::default() };
    for fill in ["true", "false"] {
        let params = json!({"pool": pool(), "namespace": ns, "prefix": "o", "objects": "50", "fill": fill});
        let result = bench(Verb::Write, 4096, params).job.prepare(&orphan);
        assert!(matches!(result, Err(LoadError::Orphaned)), "{result:?}");
    }
    assert!(names(&ns).is_empty());
    let cx = Ledger { cancelled: AtomicBool::new(true), ..Ledger::default() };
    let params = json!({"pool": pool(), "namespace": ns, "prefix": "o", "objects": "10000000", "fill": "true"});
    let begun = Instant::now();
    assert!(bench(Verb::Read, 4096, params).job.prepare(&cx).is_err());
    assert!(begun.elapsed() < Duration::from_secs(10));
    // No marker: the next attempt fills again.
    assert!(!names(&ns).contains(&"ofilled".to_owned()));
}

#[test]
fn the_ledger_is_ahead_of_every_new_object() {
    let (ns, cx) = (namespace(), Ledger::default());
    let params = json!({"pool": pool(), "namespace": ns, "prefix": "n", "objects": "1000000000000"});
    let writes = bench(Verb::Write, 512, params);
    writes.job.prepare(&cx).unwrap();
    assert_eq!(cx.len(), 1);
    let far = [0, 4000, 5000, 9000, 100_000];
    assert!(writes.drive(Verb::Write, &far, &cx).iter().all(|r| *r == Ok(512)));
    let made = cx.made.lock().unwrap().clone();
    let bounds: Vec<u64> =
        made.iter().map(|m| if let Made::Objects { until, .. } = m { *until } else { panic!("{m:?}") }).collect();
    assert!(bounds.is_sorted() && *bounds.last().unwrap() > 100_000 && bounds.len() <= 5, "{bounds:?}");
}

#[test]
fn a_lane_may_be_dropped_with_operations_in_flight() {
    let (ns, cx) = (namespace(), Ledger::default());
    let params = json!({"pool": pool(), "namespace": ns, "prefix": "f", "objects": "1000"});
    let writes = bench(Verb::Write, 65536, params.clone());
    writes.job.prepare(&cx).unwrap();
    let spec = LaneSpec { index: 0, lanes: 1, depth: 16 };
    for round in 0..5 {
        let mut lane = writes.job.lane(spec, &cx).unwrap();
        for slot in 0..16 {
            lane.submit(Op { verb: Verb::Write, at: round * 16 + u64::from(slot), len: 65536, slot }).unwrap();
        }
        if round == 2 {
            // Cancelled ones come back, in whatever way.
            (0..16).for_each(|slot| lane.cancel(slot));
            let (mut done, begun) = (Vec::new(), Instant::now());
            while done.len() < 16 && begun.elapsed() < Duration::from_secs(5) {
                lane.reap(Duration::from_millis(50), &mut done).unwrap();
            }
            assert_eq!(done.len(), 16);
            assert!(done.iter().all(|d| matches!(d.result, Ok(65536) | Err(ErrorClass::Errno(125)))), "{done:?}");
        }
        let begun = Instant::now();
        drop(lane);
        assert!(begun.elapsed() < Duration::from_secs(3));
    }
}

#[test]
fn a_quota_is_an_error_and_not_a_hang() {
    let pool = make_pool("quota");
    let handle = ControlHandle::connect(&connect()).unwrap();
    mon(&handle, json!({"prefix": "osd pool set-quota", "pool": pool, "field": "max_objects", "val": "1"}));
    let cx = Ledger::default();
    let writes = bench(Verb::Write, 4096, json!({"pool": pool, "prefix": "q", "objects": "1000000"}));
    writes.job.prepare(&cx).unwrap();
    let begun = Instant::now();
    let mut next = 0;
    // The flag is raised when the manager has counted the objects.
    let class = loop {
        let results = writes.drive(Verb::Write, &[next, next + 1, next + 2], &cx);
        next += 3;
        if let Some(Err(class)) = results.iter().find(|r| r.is_err()) {
            break *class;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "the quota never took effect");
        std::thread::sleep(Duration::from_millis(200));
    };
    assert!(matches!(class, ErrorClass::Errno(28 | 122)), "{class}");
    let entry = Made::Pool { fsid: handle.fsid().into(), pool };
    assert_eq!(remove(&entry, &connect(), &mut |_, _| {}).unwrap(), Removed { removed: 1, absent: 0 });
}

#[test]
fn what_rados_bench_wrote_is_read_and_the_reverse() {
    let (ns, connect) = (namespace(), connect());
    let conf = connect.conf.clone().unwrap();
    let rados = |args: &[&str]| {
        let base = ["-c", &conf, "-p", pool(), "-N", &ns];
        let output = Command::new("rados").args(base).args(args).output().expect("the rados command");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), text)
    };
    let (good, text) =
        rados(&["bench", "1", "write", "-b", "4096", "-O", "16384", "-t", "4", "--no-cleanup", "--run-name", "theirs"]);
    assert!(good, "{text}");
    let theirs = names(&ns);
    let data = theirs.iter().find(|n| n.starts_with("benchmark_data")).unwrap();
    let prefix = data[..data.find("_object").unwrap() + 7].to_owned();
    let handle = ControlHandle::connect(&connect).unwrap();
    let metadata = handle.read_object(pool(), &ns, "theirs", 24).unwrap().unwrap();
    let ops = u64::from(u32::from_le_bytes(metadata[8..12].try_into().unwrap()));
    let objects = ops.div_ceil(4).to_string();
    let params = |prefix: &str, more: Value| {
        let mut all = json!({"pool": pool(), "namespace": ns, "prefix": prefix, "object_size": "16k",
            "objects": objects, "payload": "rados-bench"});
        if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
            all.extend(more);
        }
        all
    };
    let cx = Ledger::default();
    let reads = bench(Verb::Read, 4096, params(&prefix, json!({})));
    reads.job.prepare(&cx).unwrap();
    let results = reads.drive(Verb::Read, &(0..ops).collect::<Vec<_>>(), &cx);
    assert!(results.iter().all(|r| *r == Ok(4096)), "{:?}", results.iter().find(|r| r.is_err()));

    // The host name is in the names it looks for, so ours are made from theirs with another process number.
    let host = prefix.rsplit_once('_').unwrap().0.rsplit_once('_').unwrap().0.to_owned();
    let ours = params(&format!("{host}_4711_object"), json!({"metadata": "ours", "bench_pid": "4711"}));
    let writes = bench(Verb::Write, 4096, ours);
    writes.job.prepare(&cx).unwrap();
    assert!(writes.drive(Verb::Write, &(0..40).collect::<Vec<_>>(), &cx).iter().all(|r| *r == Ok(4096)));
    writes.job.finish(40, &cx).unwrap();
    assert!(matches!(cx.made.lock().unwrap().last(), Some(Made::Object { name, .. }) if name == "ours"));
    for mode in ["seq", "rand"] {
        let (good, text) = rados(&["bench", "1", mode, "-t", "4", "--run-name", "ours"]);
        assert!(good && text.contains("Average IOPS") && !text.contains("error"), "{text}");
    }
}

#[test]
fn removal_takes_what_the_entry_names_and_nothing_else() {
    let (ns, cx, connect) = (namespace(), Ledger::default(), connect());
    let params = json!({"pool": pool(), "namespace": ns, "prefix": "r_", "objects": "300", "fill": "true"});
    bench(Verb::Read, 4096, params).job.prepare(&cx).unwrap();
    let handle = ControlHandle::connect(&connect).unwrap();
    let kept = ["r_300", "r_", "r_x1", "s_1"];
    for name in kept {
        handle.write_object(pool(), &ns, name, b"not ours").unwrap();
    }
    handle.remove_object(pool(), &ns, "r_17").unwrap();
    let made = cx.made.lock().unwrap().clone();
    let mut progress = Vec::new();
    let removed = remove(&made[0], &connect, &mut |done, total| progress.push((done, total))).unwrap();
    assert_eq!(removed, Removed { removed: 299, absent: 1 });
    assert!(progress.is_sorted() && progress.last() == Some(&(900, 900)), "{progress:?}");
    assert_eq!(remove(&made[1], &connect, &mut |_, _| {}).unwrap(), Removed { removed: 1, absent: 0 });
    let mut left = kept.map(str::to_owned).to_vec();
    left.sort();
    assert_eq!(names(&ns), left);
    // Again: all absent.
    assert_eq!(remove(&made[0], &connect, &mut |_, _| {}).unwrap(), Removed { removed: 0, absent: 300 });
    assert_eq!(remove(&made[1], &connect, &mut |_, _| {}).unwrap(), Removed { removed: 0, absent: 1 });
}

#[test]
fn objects_that_land_during_removal_are_found() {
    let (ns, connect) = (namespace(), connect());
    let handle = ControlHandle::connect(&connect).unwrap();
    let fsid = handle.fsid().to_owned();
    let entry = Made::Objects { fsid, pool: pool().into(), namespace: ns.clone(), prefix: "z".into(), until: 501 };
    let mut late = false;
    let removed = remove(&entry, &connect, &mut |done, total| {
        // When everything found was removed: as an operation of a killed client would.
        if done == total / 3 * 2 && !late {
            late = true;
            handle.write_object(pool(), &ns, "z123", b"late").unwrap();
        }
    });
    assert_eq!(removed.unwrap(), Removed { removed: 1, absent: 500 });
    assert!(names(&ns).is_empty());
}

#[test]
fn pools_are_removed_only_when_they_are_ours() {
    let connect = connect();
    let fsid = ControlHandle::connect(&connect).unwrap().fsid().to_owned();
    let entry = |pool: &str| Made::Pool { fsid: fsid.clone(), pool: pool.into() };
    let none = &mut |_, _| {};
    let mine = make_pool("remove");
    assert_eq!(remove(&entry(&mine), &connect, none).unwrap(), Removed { removed: 1, absent: 0 });
    assert_eq!(remove(&entry(&mine), &connect, none).unwrap(), Removed { removed: 0, absent: 1 });
    assert!(matches!(remove(&entry("rbd"), &connect, none), Err(LoadError::Refused(_))));
    let elsewhere = "00000000-0000-0000-0000-000000000000";
    let text = failure(remove(&Made::Pool { fsid: elsewhere.into(), pool: mine.clone() }, &connect, none));
    assert!(text.contains(elsewhere) && text.contains(&fsid), "{text}");
    // Objects of a pool that is gone are gone.
    let (namespace, prefix) = (String::new(), String::from("x"));
    let objects = Made::Objects { fsid: fsid.clone(), pool: mine, namespace, prefix, until: 12 };
    assert_eq!(remove(&objects, &connect, none).unwrap(), Removed { removed: 0, absent: 12 });
}
