//! What is told of a run: the same in every form, and it adds up.
use crate::{
    program::{QUICK, RUN, Ran, fathom, run, start},
    shared_lab::{Pool, unique},
};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

fn report(dir: &Path, args: &[&str]) -> Ran {
    run(fathom(["report"]).args(args).arg(dir), QUICK).exits(0)
}

fn count(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("no {key} in {value:#}"))
}

/// The numbers of a step against each other.
fn adds_up(step: &Value) {
    let account = &step["account"];
    let (failed, timed_out) = (count(account, "failed"), count(account, "timed_out"));
    assert_eq!(count(account, "issued"), count(account, "completed") + failed + timed_out, "{account:#}");
    assert_eq!(account["mismatches"], json!([]));
    let repeats = step["repeats"].as_array().unwrap();
    assert!(!repeats.is_empty());
    let sum = |of: &dyn Fn(&Value) -> u64| repeats.iter().map(of).sum::<u64>();
    assert_eq!(sum(&|r| count(&r["account"], "issued")), count(account, "issued"));
    assert_eq!(sum(&|r| count(r, "ops")), count(&step["merged"], "ops"));
    for repeat in repeats {
        let series = repeat["series"].as_array().unwrap();
        let of = |phase: &str| series.iter().filter(|s| s["phase"] == phase).map(|s| count(s, "ops")).sum::<u64>();
        assert_eq!(of("measure"), count(repeat, "ops"), "measured seconds against the total: {repeat:#}");
        assert_eq!(of("ramp") + of("measure") + of("drain"), count(&repeat["account"], "completed"), "{repeat:#}");
        assert!(of("measure") > 0, "{repeat:#}");
        let ends: Vec<f64> = series.iter().map(|s| s["to_s"].as_f64().unwrap()).collect();
        let starts: Vec<f64> = series.iter().map(|s| s["from_s"].as_f64().unwrap()).collect();
        assert!(starts.iter().skip(1).zip(&ends).all(|(start, end)| (start - end).abs() < 1e-6), "gaps: {series:#?}");
    }
    let every = count(account, "completed") + timed_out;
    assert!(count(&step["merged"]["response"], "count") <= every + failed, "{step:#}");
}

#[test]
fn a_run_is_told_the_same_in_every_form() {
    let pool = Pool::shared("forms");
    let dir = TempDir::new().unwrap();
    let results = dir.path().join("r");
    let args = ["mixed", "-b", "4k,8k", "-t", "4", "--max-objects", "64", "--duration", "2s", "--ramp", "1s"];
    let more = ["--repeat", "2", "--seed", "12345", "--json", "-q", "--results"];
    let ran = run(pool.bench(&args).args(more).arg(&results), RUN).exits(0);
    let json = ran.json();
    assert_eq!(json["schema"], "fathom-analysis/1");
    assert_eq!(json["defects"], json!([]));
    assert_eq!(json["run"]["seed"], 12345);
    assert!(json["run"]["seconds"].as_f64().is_some_and(|s| s > 0.0), "{}", json["run"]);
    let steps = json["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 2);
    for step in steps {
        adds_up(step);
        assert_eq!(step["repeats_found"], 2);
        assert_eq!(step["by_verb"].as_array().unwrap().len(), 2, "reads and writes apart: {step:#}");
        assert_eq!(step["account"]["errors"], json!([]));
    }
    for row in json["reconciled"].as_array().unwrap() {
        // Nobody else uses this pool. Counters may come late on a busy machine, but never from nowhere.
        assert!(count(row, "cluster_ops") <= count(row, "client_ops"), "{row:#}");
        let late = row["note"].as_str().unwrap().contains("had not arrived");
        assert!(row["agrees"] == true || late, "{row:#}");
    }
    assert!(!json["reconciled"].as_array().unwrap().is_empty());
    assert_eq!(json["ledger"]["left"], 0);
    assert_eq!(pool.list(), vec![]);

    // A report is a function of the store: the same bytes every time, and those the run itself printed.
    assert_eq!(report(&results, &["--json"]).out, ran.out);
    let store = std::fs::read(results.join("run.sqlite")).unwrap();
    let text = report(&results, &[]).out;
    assert_eq!(report(&results, &[]).out, text);
    let html = report(&results, &["--html", "-"]).out;
    assert_eq!(report(&results, &["--html", "-"]).out, html);
    assert_eq!(std::fs::read_to_string(results.join("report.html")).unwrap().trim_end(), html.trim_end());
    assert_eq!(std::fs::read(results.join("run.sqlite")).unwrap(), store, "looking at a run changed it");

    for section in ["VERDICT", "RESULTS", "HARDWARE", "SOFTWARE", "CONFIGURATION", "LOAD", "RESULT", "STATE"] {
        assert!(text.lines().any(|l| l.trim_start().starts_with(section)), "no {section} in {text}");
    }
    for step in steps {
        let name = step["name"].as_str().unwrap();
        assert!(text.contains(name) && html.contains(name), "{name}");
    }
    // A command line to copy stays whole.
    let wide = |l: &&str| l.chars().count() > 100 && !l.starts_with("  command ");
    assert_eq!(text.lines().filter(wide).collect::<Vec<_>>(), Vec::<&str>::new(), "wider than asked for");
    opens_offline(&html);
    series_as_csv(&report(&results, &["--csv", "-"]).out, steps);
}

/// One file: nothing is loaded from anywhere.
fn opens_offline(html: &str) {
    assert!(html.starts_with("<!doctype html>") || html.starts_with("<!DOCTYPE html>"));
    for loads in ["<link", "src=\"http", "url(http", "@import", "src=\"/"] {
        assert!(!html.contains(loads), "{loads}");
    }
}

fn series_as_csv(csv: &str, steps: &[Value]) {
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let width = header.len();
    let expected: usize = steps
        .iter()
        .flat_map(|s| s["repeats"].as_array().unwrap())
        .map(|r| r["series"].as_array().unwrap().len())
        .sum();
    assert_eq!(lines.clone().count(), expected, "{csv}");
    assert!(header.iter().any(|h| h.contains("ops")), "{header:?}");
    assert!(lines.all(|l| l.split(',').count() == width), "{csv}");
}

/// Without a cluster: the layer that does nothing.
#[test]
fn the_null_layer_adds_up() {
    let dir = TempDir::new().unwrap();
    let results = dir.path().join("r");
    let args = ["bench", "null", "-t", "32", "--duration", "2s", "--ramp", "500ms", "--json", "-q", "--results"];
    let json = run(fathom(args).arg(&results), RUN).exits(0).json();
    let step = &json["steps"][0];
    adds_up(step);
    assert_eq!(step["repeats_found"], 3);
    assert_eq!(step["little"]["depth"].as_f64(), Some(32.0));
    let ran = run(fathom(["clean"]).arg(&results), QUICK).exits(0);
    assert_eq!(ran.out.trim(), "nothing to remove");
}

/// By count: not one operation more.
#[test]
fn as_many_operations_as_asked_for() {
    let pool = Pool::shared("counted");
    let dir = TempDir::new().unwrap();
    let args = ["-b", "4k", "-t", "7", "--ops", "100", "--ramp", "0", "--repeat", "2", "--json", "-q", "--results"];
    let json = run(pool.bench(&args).arg(dir.path().join("r")), RUN).exits(0).json();
    let account = &json["steps"][0]["account"];
    assert_eq!((count(account, "issued"), count(account, "completed")), (200, 200), "{account:#}");
    assert_eq!(pool.list(), vec![]);
}

/// Data that somebody changes while it is read.
#[test]
fn wrong_data_is_found() {
    let pool = Pool::shared("verify");
    let namespace = unique("ns");
    let dir = TempDir::new().unwrap();
    let results = dir.path().join("r");
    let args = ["rand", "-N", &namespace, "--verify", "-b", "4k", "-t", "4", "--max-objects", "8", "--ramp", "0"];
    let more = ["--duration", "8s", "--repeat", "1", "--results"];
    let mut running = start(pool.bench(&args).args(more).arg(&results));
    running.until_err("1s", RUN);
    let object = pool.list().into_iter().map(|(_, name)| name).find(|n| n.ends_with("_object5")).unwrap();
    let mut content = pool.get(&namespace, &object);
    content[4095] ^= 0x10;
    pool.put(&namespace, &object, &content);
    let ran = running.end(RUN);
    let json = report(&results, &["--json"]).json();
    let account = &json["steps"][0]["account"];
    assert!(count(account, "failed") > 0, "{account:#}");
    assert_eq!(account["errors"][0]["class"], "wrong data read back", "{account:#}");
    assert_eq!(account["errors"][0]["ops"], account["failed"]);
    assert!(ran.out.contains("wrong data read back"), "{ran:#?}");
    let findings = json["findings"].as_array().unwrap();
    let grave = |f: &&Value| f["severity"] != "note" && f.to_string().contains("wrong data");
    assert!(findings.iter().any(|f| grave(&f)), "no finding says that data was wrong: {findings:#?}");
    assert_eq!(pool.list(), vec![], "a changed object of ours is ours");
}
