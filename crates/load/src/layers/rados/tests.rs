//! Everything of the layer that needs no cluster. What needs one is in `tests/rados.rs`.
use super::params::{PARAMS, Params, PayloadKind};
use super::*;
use fathom_model::{Pace, Share, Stop};
use serde_json::{Map, Value, json};

fn step(params: Value, block_bytes: u32, depth: u32) -> Step {
    let Value::Object(params) = params else { panic!("an object of parameters") };
    let load = Load {
        mix: vec![Share { verb: Verb::Write, weight: 1 }],
        pattern: Pattern::Sequential { wrap: false },
        block_bytes,
        depth,
        lanes: 1,
        pace: Pace::Closed,
        ramp_ns: 0,
        stop: Stop { duration_ns: 1_000_000_000, ops: None, tight: None },
        op_timeout_ns: 10_000_000_000,
        seed: 1,
        compressible_pct: 0,
        verify: false,
        tick_ns: 1_000_000_000,
    };
    Step { name: "test".into(), layer: "rados".into(), params, load }
}

fn with(extra: Value) -> Value {
    let mut all = Map::new();
    for (key, value) in [("pool", "p"), ("prefix", "x_"), ("objects", "10")] {
        all.insert(key.into(), value.into());
    }
    if let Value::Object(extra) = extra {
        all.extend(extra);
    }
    Value::Object(all)
}

fn refused(params: Value, block_bytes: u32) -> String {
    match Params::of(&step(params, block_bytes, 16), 8) {
        Err(LoadError::Usage(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn defaults_are_those_of_the_table() {
    let p = Params::of(&step(with(json!({})), 4096, 16), 8).unwrap();
    assert_eq!(p.object_bytes, 4096);
    assert_eq!((p.fill, p.hints, p.payload, p.metadata), (false, false, PayloadKind::Random, None));
    assert_eq!(p.namespace, "");
    for (key, default) in [("namespace", ""), ("fill", "false"), ("handles", "0"), ("payload", "random")] {
        let param = PARAMS.iter().find(|p| p.name == key).unwrap();
        assert_eq!(param.default, Some(default), "{key}");
    }
}

#[test]
fn plans_may_write_numbers_and_switches_without_quotes() {
    let params = json!({"objects": 7, "fill": true, "object_size": "4M", "handles": 3});
    let p = Params::of(&step(with(params), 1 << 20, 16), 8).unwrap();
    assert_eq!((p.objects, p.fill, p.object_bytes, p.handles), (7, true, 4 << 20, 3));
}

#[test]
fn what_is_wrong_is_named() {
    assert!(refused(with(json!({"objct_size": "4M"})), 4096).contains("`objct_size` is not a parameter"));
    assert!(refused(with(json!({"object_size": "6k"})), 4096).contains("not a multiple of the block size 4096"));
    assert!(refused(with(json!({"object_size": "2k"})), 4096).contains("not a multiple"));
    assert!(refused(with(json!({"object_size": "big"})), 4096).contains("object_size"));
    assert!(refused(with(json!({"objects": "0"})), 4096).contains("objects = 0"));
    assert!(refused(with(json!({"objects": "-1"})), 4096).contains("objects"));
    assert!(refused(with(json!({"objects": u64::MAX.to_string(), "object_size": "8k"})), 4096).contains("objects"));
    assert!(refused(with(json!({"fill": "yes"})), 4096).contains("neither true nor false"));
    assert!(refused(with(json!({"payload": "zeros"})), 4096).contains("rados-bench"));
    assert!(refused(with(json!({"handles": "65"})), 4096).contains("at most 64"));
    assert!(refused(with(json!({"prefix": ""})), 4096).contains("prefix"));
    assert!(refused(with(json!({"prefix": "a\0b"})), 4096).contains("NUL"));
    assert!(refused(with(json!({"prefix": "a".repeat(3000)})), 4096).contains("3000 bytes"));
    assert!(refused(with(json!({"pool": ["a"]})), 4096).contains("one value"));
    assert!(refused(json!({"prefix": "x", "objects": "1"}), 4096).contains("needs the parameter pool"));
    assert!(refused(with(json!({"metadata": "m"})), 4096).contains("rados-bench"));
    assert!(refused(with(json!({"bench_pid": "9999999999"})), 4096).contains("bench_pid"));
    assert!(refused(with(json!({})), 0).contains("block size 0"));
}

#[test]
fn handles_follow_the_cpus_and_never_exceed_the_depth() {
    let handles = |given: &str, cpus, depth| {
        Params::of(&step(with(json!({"handles": given})), 4096, depth), cpus).unwrap().handles
    };
    assert_eq!(handles("0", 1, 16), 1);
    assert_eq!(handles("0", 8, 16), 4);
    assert_eq!(handles("0", 128, 256), 8);
    assert_eq!(handles("0", 128, 2), 2);
    assert_eq!(handles("5", 1, 16), 5);
    assert_eq!(handles("5", 1, 3), 3);
}

#[test]
fn blocks_are_places_in_objects() {
    let step = step(with(json!({"object_size": "16k", "objects": "3"})), 4096, 4);
    let job = RadosJob::new(&step, &Connect::default(), Params::of(&step, 2).unwrap());
    assert_eq!(job.space(), Space { blocks: 12 });
    assert_eq!([job.place(0), job.place(3), job.place(4), job.place(11)], [(0, 0), (0, 12288), (1, 0), (2, 12288)]);
    assert_eq!(job.target(7), "x_1");
    assert!(job.lease.is_some());
}

#[test]
fn only_loads_that_make_objects_have_a_lease() {
    let filled = step(with(json!({"fill": "true"})), 4096, 4);
    assert!(RadosJob::new(&filled, &Connect::default(), Params::of(&filled, 2).unwrap()).lease.is_none());
    let mut reads = step(with(json!({})), 4096, 4);
    reads.load.mix = vec![Share { verb: Verb::Read, weight: 1 }];
    assert!(RadosJob::new(&reads, &Connect::default(), Params::of(&reads, 2).unwrap()).lease.is_none());
}
