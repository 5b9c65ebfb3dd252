//! A disk that fills up under the store: the run ends, says so, and takes away what it made all the same.
use crate::{
    program::{FATHOM, QUICK, RUN, Ran, apart, require_mounts, run, start},
    shared_lab::Pool,
};
use std::{ffi::OsStr, io::Write as _, path::PathBuf};
use tempfile::TempDir;

/// `$1` is a directory, `$2` the size of the disk mounted on it; the rest is executed.
const ON_A_SMALL_DISK: &str = r#"mount -t tmpfs -o "size=$2" none "$1"; shift 2; exec "$@""#;

fn bench(pool: &Pool, dir: &TempDir, size: &str, args: &[&str]) -> std::process::Command {
    let results = dir.path().join("results");
    let mut all: Vec<&OsStr> = vec![dir.path().as_os_str(), size.as_ref(), FATHOM.as_ref()];
    let words = ["bench", "rados", "--conf", &pool.cluster.conf, "-p", &pool.name, "--results"];
    all.extend(words.iter().map(AsRef::<OsStr>::as_ref));
    all.push(results.as_os_str());
    all.extend(args.iter().map(AsRef::<OsStr>::as_ref));
    apart(ON_A_SMALL_DISK, &all)
}

/// Our lines on stderr.
fn ours(ran: &Ran) -> Vec<&str> {
    ran.err.lines().filter(|l| l.starts_with("fathom: ")).collect()
}

#[test]
fn full_from_the_start() {
    require_mounts();
    let (pool, dir) = (Pool::shared("full"), TempDir::new().unwrap());
    let results = dir.path().join("results");
    let ran = run(&mut bench(&pool, &dir, "16k", &["-q", "--duration", "2s"]), QUICK);
    ran.says(7, &[results.to_str().unwrap(), "space"]);
    assert_eq!(pool.list(), vec![]);
}

/// The facts captured before the run don't fit.
#[test]
fn full_before_the_load() {
    require_mounts();
    let (pool, dir) = (Pool::shared("full"), TempDir::new().unwrap());
    let ran = run(&mut bench(&pool, &dir, "160k", &["-q", "-b", "4k", "--duration", "60s"]), RUN).exits(7);
    assert!(ours(&ran).iter().any(|l| l.contains("run.sqlite") && l.contains("full")), "{ran:#?}");
    assert_eq!(pool.list(), vec![]);
}

#[test]
fn full_in_the_middle_of_the_load() {
    require_mounts();
    let (pool, dir) = (Pool::shared("full"), TempDir::new().unwrap());
    let mut running = start(&mut bench(&pool, &dir, "8m", &["-b", "4k", "-t", "8", "--duration", "60s"]));
    running.until_err("2s", RUN);
    // The disk is seen from here through the process that mounted it.
    let seen: PathBuf = format!("/proc/{}/root{}", running.pid(), dir.path().display()).into();
    let mut filler = std::fs::File::create(seen.join("filler")).unwrap();
    while filler.write_all(&[0; 4096]).is_ok() {}
    let ran = running.end(RUN).exits(7);
    let told: Vec<&str> = ours(&ran);
    assert!(told.iter().any(|l| l.contains("run.sqlite") && l.contains("full")), "{ran:#?}");
    assert_eq!(pool.list(), vec![], "left behind: {ran:#?}");
}

/// A run that could not begin leaves nothing that would stand in the way of the next.
#[test]
fn room_is_made() {
    require_mounts();
    let dir = TempDir::new().unwrap();
    let script = r#"
        mount -t tmpfs -o size=16k none "$1"
        run() { "$2" bench null --duration 100ms --ramp 0 --repeat 1 -q --results "$1/results"; }
        code=0; run "$@" || code=$?
        [ $code = 7 ] || { echo "on a full disk: $code"; exit 1; }
        mount -o remount,size=8m "$1"
        run "$@"
    "#;
    run(&mut apart(script, &[dir.path().as_os_str(), FATHOM.as_ref()]), QUICK).exits(0);
}

/// Somebody else's results, or a copy on a read-only disk: to look at them nothing has to be written.
#[test]
fn results_that_can_only_be_read() {
    require_mounts();
    let dir = TempDir::new().unwrap();
    let script = r#"
        mount -t tmpfs -o size=8m none "$1"
        "$2" bench null --duration 100ms --ramp 0 --repeat 1 -q --results "$1/results"
        mount -o remount,ro "$1"
        "$2" report "$1/results"
    "#;
    let ran = run(&mut apart(script, &[dir.path().as_os_str(), FATHOM.as_ref()]), QUICK).exits(0);
    assert_eq!(ran.out.matches("VERDICT").count(), 2, "{ran:#?}");
}
