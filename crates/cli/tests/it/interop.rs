//! Objects of `rados bench` and of Fathom in each other's hands.
use crate::{
    program::{RUN, Ran, run},
    shared_lab::Pool,
};
use serde_json::Value;
use tempfile::TempDir;

/// A `rados bench` result line: `Total reads made:     1234`.
fn told(ran: &Ran, what: &str) -> u64 {
    let line = ran.out.lines().find(|l| l.starts_with(what)).unwrap_or_else(|| panic!("no {what:?} in {ran:#?}"));
    line.rsplit(':').next().unwrap().trim().parse().unwrap()
}

/// `rados bench` tells of a bad object in the middle of its table.
fn reads_well(ran: &Ran) {
    for bad in ["is not correct", "got -", "error"] {
        assert!(!ran.out.contains(bad) && !ran.err.contains(bad), "{bad:?} in {ran:#?}");
    }
}

/// One run of Fathom on their objects; the account of its only step.
fn fathom(pool: &Pool, args: &[&str]) -> (Value, Value) {
    let dir = TempDir::new().unwrap();
    let mut command = pool.bench(&["--rados-bench-objects", "--json", "-q", "--results"]);
    let ran = run(command.arg(dir.path().join("r")).args(args), RUN).exits(0);
    let json = ran.json();
    assert_eq!(json["steps"].as_array().unwrap().len(), 1);
    assert_eq!(json["defects"], serde_json::json!([]), "{json:#}");
    (json["steps"][0]["account"].clone(), json)
}

#[track_caller]
fn without_errors(account: &Value) {
    for what in ["failed", "timed_out", "unsent"] {
        assert_eq!(account[what], 0, "{account:#}");
    }
    assert_eq!(account["errors"], serde_json::json!([]), "{account:#}");
    assert_eq!(account["mismatches"], serde_json::json!([]), "{account:#}");
}

fn fathom_writes(pool: &Pool, sizes: &[&str]) {
    let mut args = vec!["write", "--no-cleanup", "-t", "8", "--duration", "1s"];
    args.extend(sizes);
    let (account, _) = fathom(pool, &args);
    without_errors(&account);
    let written = account["completed"].as_u64().unwrap();
    assert!(written > 8, "{account:#}");

    let seq = pool.rados(&["bench", "60", "seq", "-t", "8"]);
    reads_well(&seq);
    assert_eq!(told(&seq, "Total reads made"), written, "{seq:#?}");
    let rand = pool.rados(&["bench", "1", "rand", "-t", "8"]);
    reads_well(&rand);
    assert!(told(&rand, "Total reads made") > 0, "{rand:#?}");
    // It finds all of it to remove, too.
    pool.rados(&["cleanup"]);
    assert_eq!(pool.list(), vec![]);
}

#[test]
fn rados_bench_reads_what_fathom_wrote() {
    fathom_writes(&Pool::shared("theirs"), &["-b", "64k"]);
}

#[test]
fn rados_bench_reads_what_fathom_wrote_several_to_an_object() {
    fathom_writes(&Pool::shared("theirs"), &["-b", "16k", "-O", "64k"]);
}

fn fathom_reads(pool: &Pool, sizes: &[&str]) {
    let mut args = vec!["bench", "1", "write", "-t", "8", "--no-cleanup", "--run-name", "ours"];
    args.extend(sizes);
    let written = told(&pool.rados(&args), "Total writes made");
    assert!(written > 8);
    let before = pool.list();

    let (account, json) = fathom(pool, &["seq", "--run-name", "ours", "-t", "8", "--duration", "60s"]);
    without_errors(&account);
    assert_eq!(account["completed"].as_u64(), Some(written), "{account:#}");
    let plan = &json["steps"][0]["plan"];
    assert_eq!(plan["load"]["verify"], true, "{plan:#}");

    let (account, json) = fathom(pool, &["rand", "--run-name", "ours", "-t", "8", "--duration", "1s"]);
    without_errors(&account);
    assert!(account["completed"].as_u64().unwrap() > 0, "{account:#}");
    assert_eq!(json["steps"][0]["plan"]["load"]["verify"], true);
    // What somebody else wrote is still there after reading it.
    assert_eq!(pool.list(), before);
}

#[test]
fn fathom_reads_what_rados_bench_wrote() {
    fathom_reads(&Pool::shared("theirs"), &["-b", "65536"]);
}

#[test]
fn fathom_reads_what_rados_bench_wrote_several_to_an_object() {
    fathom_reads(&Pool::shared("theirs"), &["-b", "16384", "-O", "65536"]);
}

/// The object size need not be a multiple of the operation: `rados bench` leaves the rest of the object out.
#[test]
fn fathom_finds_what_was_changed() {
    let pool = Pool::shared("theirs");
    pool.rados(&["bench", "1", "write", "-t", "8", "-b", "65536", "--no-cleanup", "--run-name", "ours"]);
    let object = pool.list().into_iter().map(|(_, name)| name).find(|n| n.ends_with("_object3")).unwrap();
    let mut content = pool.get("", &object);
    assert_eq!(content.len(), 65536);
    content[65535] ^= 1;
    pool.put("", &object, &content);
    let dir = TempDir::new().unwrap();
    let args = ["seq", "--rados-bench-objects", "--run-name", "ours", "-t", "8", "--json", "-q", "--results"];
    let json = run(pool.bench(&args).arg(dir.path().join("r")), RUN).json();
    let account = &json["steps"][0]["account"];
    assert_eq!(account["failed"], 1, "{account:#}");
    assert_eq!(account["errors"][0]["class"], "wrong data read back", "{account:#}");
}

#[test]
fn somebody_elses_run_is_not_overwritten() {
    let pool = Pool::shared("theirs");
    pool.put("", "benchmark_last_metadata", b"somebody else's");
    let before = pool.contents();
    let dir = TempDir::new().unwrap();
    let results = dir.path().join("r");
    let bench = |name: &[&str]| {
        let mut command = pool.bench(&["write", "--rados-bench-objects", "-b", "4k", "--duration", "1s", "-q"]);
        run(command.args(name).arg("--results").arg(&results), RUN)
    };
    bench(&[]).says(4, &["benchmark_last_metadata", &pool.name, "--run-name"]);
    assert_eq!(pool.contents(), before);
    assert!(!results.exists());
    // Under a name of its own it runs, and removes no more than it made.
    bench(&["--run-name", "ours"]).exits(0);
    assert_eq!(pool.contents(), before);
}

#[test]
fn there_is_nothing_of_rados_bench() {
    let pool = Pool::shared("theirs");
    let dir = TempDir::new().unwrap();
    let mut command = pool.bench(&["seq", "--rados-bench-objects", "--results"]);
    run(command.arg(dir.path().join("r")), RUN).says(3, &["benchmark_last_metadata", &pool.name, "--run-name"]);
}
