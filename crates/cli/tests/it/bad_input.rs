//! What is wrong with the words, the files or the way to the cluster: one line that says what, where and what to do,
//! a documented exit code, and nothing left behind.
use crate::{
    program::{FATHOM, QUICK, Ran, apart, fathom, require_mounts, run},
    shared_lab::{Pool, conf, keyring},
};
use std::{ffi::OsStr, fs, time::Duration};
use tempfile::TempDir;

/// `fathom bench rados` with these arguments, the lab's conf and a results directory, which must not come to be.
#[track_caller]
fn bench(args: &[&str]) -> Ran {
    let dir = TempDir::new().unwrap();
    let results = dir.path().join("results");
    let mut command = fathom(["bench", "rados"]);
    let ran = run(command.args(args).arg("--results").arg(&results), QUICK);
    assert!(!results.exists(), "a results directory of a run that did not begin: {ran:?}");
    ran
}

/// Wrong words, with a cluster that would be there.
#[track_caller]
fn wrong(args: &[&str]) -> Ran {
    let conf = conf();
    let mut all = vec!["--conf", &conf];
    all.extend(args);
    bench(&all)
}

/// Clap's own messages have several lines; the first says what.
#[track_caller]
fn unparsable(ran: Ran, words: &[&str]) {
    let ran = ran.exits(2).mentions(words);
    assert!(ran.err.starts_with("error: "), "{ran:?}");
    assert_eq!(ran.out, "", "{ran:?}");
}

fn config(dir: &TempDir, text: &str) -> String {
    let path = dir.path().join("ceph.conf");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn an_unknown_pool() {
    let pool = Pool::shared("known");
    wrong(&["-p", "fathom-no-such-pool"]).says(3, &["fathom-no-such-pool", &pool.name, "-p"]);
}

#[test]
fn a_wrong_key() {
    let dir = TempDir::new().unwrap();
    let keyring = dir.path().join("keyring");
    // A well-formed key of nobody.
    fs::write(&keyring, "[client.admin]\n\tkey = AQBhy2BmAAAAABAAZ0Zk1oH2m9cO4nC3mVx0Zg==\n").unwrap();
    let keyring = keyring.to_str().unwrap();
    wrong(&["--keyring", keyring, "--connect-timeout", "10s"]).says(3, &["client.admin", "key"]);
}

#[test]
fn a_keyring_that_is_not_there() {
    wrong(&["--keyring", "/no/such/keyring"]).says(3, &["/no/such/keyring"]);
}

#[test]
fn a_user_that_is_not_there() {
    wrong(&["--id", "nobody-of-that-name", "--connect-timeout", "10s"]).says(3, &["client.nobody-of-that-name"]);
}

#[test]
fn a_monitor_that_does_not_answer() {
    let dir = TempDir::new().unwrap();
    // Port 1 answers nobody; the keyring is good, so that only the monitor is to blame.
    let text = format!("[global]\nmon_host = v2:127.0.0.1:1\nkeyring = {}\n", keyring().display());
    let conf = config(&dir, &text);
    let ran = bench(&["--conf", &conf, "--connect-timeout", "2s"]).says(3, &["monitor", "127.0.0.1:1", "2 s"]);
    assert!(ran.took < Duration::from_secs(20), "{ran:?}");
}

#[test]
fn a_configuration_that_is_not_there() {
    bench(&["--conf", "/no/such/ceph.conf"]).says(3, &["/no/such/ceph.conf", "--conf"]);
}

#[test]
fn a_configuration_that_names_no_monitor() {
    let dir = TempDir::new().unwrap();
    let conf = config(&dir, "[global]\n");
    bench(&["--conf", &conf, "--connect-timeout", "2s"]).says(3, &[&conf]);
}

#[test]
fn a_configuration_that_is_none() {
    let dir = TempDir::new().unwrap();
    let conf = config(&dir, "{\"this\": \"is JSON\"}\n\0\u{1}[[[");
    bench(&["--conf", &conf, "--connect-timeout", "2s"]).says(3, &[&conf]);
}

/// The library is hidden: its directory is replaced by one of links to all the other files in it.
#[test]
fn without_librados() {
    require_mounts();
    let dir = TempDir::new().unwrap();
    let script = r#"
        lib=$(dirname "$(readlink -f "$(ldconfig -p | awk '/librados\.so\.2 / { print $NF; exit }')")")
        mkdir "$1/real" "$1/links"
        mount --bind "$lib" "$1/real"
        cp -rs "$1/real/." "$1/links"
        rm "$1"/links/librados.so*
        mount --bind "$1/links" "$lib"
        fathom=$2; results=$1/results
        shift 2
        exec "$fathom" bench rados --results "$results" "$@"
    "#;
    let conf = conf();
    let args: [&OsStr; 4] = [dir.path().as_os_str(), FATHOM.as_ref(), "--conf".as_ref(), conf.as_ref()];
    run(&mut apart(script, &args), QUICK).says(3, &["librados", "not installed", "apt install librados2"]);
    assert!(!dir.path().join("results").exists());
}

#[test]
fn sizes_that_are_none() {
    for size in ["4x", "", "-1", "4kk", "1e3", "99999999999999999999G"] {
        unparsable(wrong(&[&format!("--block-size={size}")]), &["--block-size", size]);
    }
    wrong(&["-b", "0"]).says(2, &["--block-size", "0"]);
    wrong(&["-b", "2G"]).says(2, &["--block-size", "2 GiB"]);
}

#[test]
fn depths_that_are_none() {
    wrong(&["-t", "0"]).says(2, &["--depth 0"]);
    wrong(&["-t", "1,0"]).says(2, &["--depth 0"]);
    wrong(&["-t", "70000"]).says(2, &["--depth 70000"]);
    unparsable(wrong(&["-t", "many"]), &["--depth", "many"]);
    wrong(&["-t", "4", "--lanes", "5"]).says(2, &["--lanes 5"]);
    wrong(&["-t", "4096", "-b", "4M"]).says(2, &["--depth 4096", "4 MiB", "lower"]);
}

#[test]
fn durations_that_are_none() {
    wrong(&["--duration", "0"]).says(2, &["--duration"]);
    wrong(&["--op-timeout", "0"]).says(2, &["--op-timeout"]);
    unparsable(wrong(&["--duration", "soon"]), &["--duration", "soon"]);
    unparsable(wrong(&["--duration=-3s"]), &["--duration", "-3s"]);
}

#[test]
fn an_object_smaller_than_the_operation() {
    wrong(&["-b", "8k", "-O", "4k"]).says(2, &["--object-size 4 KiB", "8 KiB"]);
    wrong(&["-b", "8k", "-O", "12k"]).says(2, &["--object-size 12 KiB", "8 KiB"]);
    wrong(&["-b", "8k", "-O", "0"]).says(2, &["--object-size"]);
}

#[test]
fn words_that_do_not_go_together() {
    wrong(&["--poisson"]).says(2, &["--poisson", "--rate"]);
    wrong(&["--rate", "fast"]).says(2, &["--rate fast"]);
    wrong(&["--rate", "0"]).says(2, &["--rate 0"]);
    wrong(&["rand", "--pattern", "zipf:x"]).says(2, &["--pattern zipf:x"]);
    wrong(&["write", "--pattern", "uniform"]).says(2, &["--pattern", "mixed"]);
    wrong(&["mixed", "--rados-bench-objects", "-p", "x"]).says(2, &["--rados-bench-objects"]);
    wrong(&["--rados-bench-objects"]).says(2, &["--rados-bench-objects", "-p"]);
    unparsable(wrong(&["--max-objects", "0"]), &["--max-objects"]);
    unparsable(wrong(&["--compressible", "101"]), &["--compressible"]);
}

/// Not once is not a run; it is not made once in silence.
#[test]
fn repeats_that_are_none() {
    let dir = TempDir::new().unwrap();
    let mut null = fathom(["bench", "null", "--duration", "100ms", "--ramp", "0", "--repeat", "0", "-q", "--results"]);
    run(null.arg(dir.path().join("r")), QUICK).exits(2).mentions(&["--repeat"]);
}

#[test]
fn unknown_words() {
    unparsable(wrong(&["--colour-of-the-disk"]), &["--colour-of-the-disk"]);
    unparsable(run(&mut fathom(["measure"]), QUICK), &["measure"]);
    unparsable(run(&mut fathom(["bench", "tape"]), QUICK), &["tape"]);
}

#[test]
fn results_that_cannot_be_written() {
    let pool = Pool::shared("unwritable");
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "not a directory").unwrap();
    let below = file.join("results");
    let bench = |results: &str| run(&mut pool.bench(&["--results", results]), QUICK);
    bench(below.to_str().unwrap()).says(7, &[below.to_str().unwrap(), "--results"]);
    bench(file.to_str().unwrap()).says(7, &[file.to_str().unwrap(), "--results"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "not a directory");
    // Nobody, not even root, makes a directory there.
    bench("/proc/fathom-results").says(7, &["/proc/fathom-results", "--results"]);
    assert_eq!(pool.list(), vec![]);
}

#[test]
fn a_directory_that_holds_a_run() {
    let dir = TempDir::new().unwrap();
    let results = dir.path().join("results");
    let mut null = fathom(["bench", "null", "--duration", "100ms", "--ramp", "0", "--repeat", "1", "-q", "--results"]);
    null.arg(&results);
    run(&mut null, QUICK).exits(0);
    let before = fs::read(results.join("run.sqlite")).unwrap();
    run(&mut null, QUICK).says(7, &[results.to_str().unwrap(), "already holds a run", "--results"]);
    assert_eq!(fs::read(results.join("run.sqlite")).unwrap(), before, "the first run was touched");

    let pool = Pool::shared("twice");
    run(pool.bench(&["--results"]).arg(&results), QUICK).says(7, &["already holds a run", "--results"]);
    assert_eq!(pool.list(), vec![]);
    assert_eq!(fs::read(results.join("run.sqlite")).unwrap(), before, "the first run was touched");
}

#[test]
fn reports_of_what_is_no_run() {
    let dir = TempDir::new().unwrap();
    for command in ["report", "clean"] {
        let go = || run(fathom([command]).arg(dir.path()), QUICK);
        go().says(3, &[dir.path().to_str().unwrap(), "run.sqlite"]);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{command} made something");
        run(fathom([command]).arg(dir.path().join("none")), QUICK).says(3, &["none"]);
        assert!(!dir.path().join("none").exists());

        fs::write(
            dir.path().join("run.sqlite"),
            "a text of more than a hundred bytes, which is no database. ".repeat(9),
        )
        .unwrap();
        go().says(7, &["run.sqlite"]);
        fs::write(dir.path().join("run.sqlite"), "").unwrap();
        go().says(7, &["run.sqlite"]);
        fs::remove_dir_all(dir.path()).unwrap();
        fs::create_dir(dir.path()).unwrap();
    }
}

#[test]
fn a_store_of_a_newer_program() {
    let dir = TempDir::new().unwrap();
    let results = dir.path().join("results");
    let mut null = fathom(["bench", "null", "--duration", "100ms", "--ramp", "0", "--repeat", "1", "-q", "--results"]);
    run(null.arg(&results), QUICK).exits(0);
    let sql = rusqlite::Connection::open(results.join("run.sqlite")).unwrap();
    sql.pragma_update(None, "user_version", 99).unwrap();
    drop(sql);
    for command in ["report", "clean"] {
        run(fathom([command]).arg(&results), QUICK).says(3, &["run.sqlite", "newer fathom", "99", "update"]);
    }
}

/// Also right after the pool was made, when `ceph df` doesn't know it yet.
#[test]
fn more_objects_than_there_is_room_for() {
    let pool = Pool::shared("room");
    let dir = TempDir::new().unwrap();
    let mut command = pool.bench(&["rand", "-b", "4k", "--max-objects", "1000000000", "--results"]);
    let ran = run(command.arg(dir.path().join("r")), Duration::from_secs(15));
    ran.says(4, &["1000000000 objects", &pool.name, "--max-objects"]);
    assert_eq!(pool.list(), vec![]);
}
