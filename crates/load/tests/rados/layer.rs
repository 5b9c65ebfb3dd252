//! The rados layer: filling, writing, reading, what goes wrong.
use super::*;

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
    // Made first: under nextest each test is a process with a pool of its own.
    let there = pool();
    let bench = bench(Verb::Write, 4096, json!({"pool": "no-such-pool", "prefix": "x", "objects": "1"}));
    let text = failure(bench.job.prepare(&Ledger::default()));
    assert!(text.contains("no pool named no-such-pool") && text.contains(there), "{text}");
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
