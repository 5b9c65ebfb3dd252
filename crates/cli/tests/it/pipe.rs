//! Readers that go away, and outputs that are full: no panic, and an exit code that is documented.
use crate::program::{QUICK, fathom, run, start, start_into};
use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    os::unix::process::ExitStatusExt as _,
    path::PathBuf,
    process::Stdio,
};
use tempfile::TempDir;

/// A run of the null layer, which needs no cluster.
fn null_run(dir: &TempDir) -> PathBuf {
    let results = dir.path().join("results");
    let mut command = fathom(["bench", "null", "--duration", "300ms", "--ramp", "0", "-q", "--results"]);
    run(command.arg(&results), QUICK).exits(0);
    results
}

/// A pipe whose reader is gone before anything is written.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn the_reader_takes_one_line() {
    let dir = TempDir::new().unwrap();
    let results = null_run(&dir);
    for args in [&["report"][..], &["report", "--json"], &["report", "--html", "-"], &["report", "--csv", "-"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        let running = start_into(fathom(args).arg(&results), writer);
        let mut line = String::new();
        BufReader::with_capacity(1, reader).read_line(&mut line).unwrap();
        assert!(!line.is_empty());
        let ran = running.end(QUICK).exits(0);
        assert_eq!(ran.err, "", "{args:?}");
    }
}

#[test]
fn nobody_reads() {
    let dir = TempDir::new().unwrap();
    let results = null_run(&dir);
    for args in [&["report"][..], &["report", "--json"], &["report", "--html", "-"], &["clean"]] {
        let ran = start_into(fathom(args).arg(&results), closed()).end(QUICK).exits(0);
        assert_eq!(ran.err, "", "{args:?}");
    }
    for args in [&["layers"][..], &["layers", "--json"], &["--help"], &["--version"]] {
        start_into(&mut fathom(args), closed()).end(QUICK).exits(0);
    }
}

/// `2>&1 | head -1`: messages go nowhere, the exit code is that of the work.
#[test]
fn nobody_reads_the_messages() {
    let dir = TempDir::new().unwrap();
    let results = dir.path().join("results");
    let code = |command: &mut std::process::Command| {
        let status = command.stdin(Stdio::null()).stdout(closed()).stderr(closed()).status().unwrap();
        assert_eq!(status.signal(), None, "{command:?}");
        status.code()
    };
    let mut null = fathom(["bench", "null", "--duration", "300ms", "--ramp", "0", "--results"]);
    assert_eq!(code(null.arg(&results)), Some(0));
    assert_eq!(code(fathom(["report"]).arg(&results)), Some(0));
    assert_eq!(code(fathom(["report"]).arg(dir.path().join("none"))), Some(3));
    assert_eq!(code(&mut fathom(["bench", "rados", "-t", "0"])), Some(2));
    assert_eq!(code(&mut fathom(["bench", "rados", "-t", "x"])), Some(2));
    assert_eq!(code(fathom(["-v", "report"]).arg(&results)), Some(0));
}

#[test]
fn standard_output_is_full() {
    let dir = TempDir::new().unwrap();
    let results = null_run(&dir);
    let full = || File::options().write(true).open("/dev/full").unwrap();
    start_into(fathom(["report"]).arg(&results), full()).end(QUICK).says(7, &["standard output"]);
    let ran = start(fathom(["report", "--html", "/no/such/dir/x.html"]).arg(&results)).end(QUICK);
    ran.says(7, &["/no/such/dir/x.html"]);
}
