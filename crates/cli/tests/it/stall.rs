//! OSDs that stop answering, in labs of their own: the run ends in time and says who it was.
use crate::{
    program::{QUICK, RUN, fathom, run, start},
    shared_lab::{Cluster, Pool},
};
use fathom_lab::{LabSpec, down, pause, resume, up};
use serde_json::Value;
use std::{
    panic::AssertUnwindSafe,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// A lab of its own: nobody else's run may meet an OSD that we stop.
struct OwnLab {
    dir: PathBuf,
    _parent: TempDir,
}

impl OwnLab {
    fn up() -> OwnLab {
        let parent = TempDir::new().unwrap();
        let dir = parent.path().canonicalize().unwrap().join("lab");
        let own = OwnLab { dir, _parent: parent };
        let spec = LabSpec { size_bytes: 2 << 30, ..LabSpec::new(&own.dir) };
        up(&spec, &mut |line| println!("{line}")).unwrap_or_else(|e| panic!("{e}"));
        own
    }

    fn cluster(&self) -> Cluster {
        Cluster { conf: self.dir.join("ceph.conf").to_str().unwrap().to_owned() }
    }
}

impl Drop for OwnLab {
    fn drop(&mut self) {
        if let Err(error) = down(&self.dir, &mut |_| {}) {
            eprintln!("the lab in {} stays: {error}", self.dir.display());
        }
    }
}

/// An OSD that is stopped until this is dropped.
struct Paused<'a>(&'a Path, String);

impl<'a> Paused<'a> {
    fn new(dir: &'a Path, osd: u32) -> Paused<'a> {
        let name = format!("osd.{osd}");
        pause(dir, &name).unwrap();
        Paused(dir, name)
    }
}

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        let _ = resume(self.0, &self.1);
    }
}

fn json(results: &Path) -> Value {
    run(fathom(["report", "--json"]).arg(results), QUICK).exits(0).json()
}

/// What happens, and the function that makes it happen.
type Scene = (&'static str, fn(&OwnLab));

/// All in one test, because a lab takes longer to come up than any of them takes. Each is run, whatever became of the
/// others.
#[test]
fn osds_that_stop() {
    let lab = OwnLab::up();
    let scenes: [Scene; 3] = [
        ("one OSD stops", one_osd_stops),
        ("an open loop shows the stall", an_open_loop_shows_the_stall),
        ("all OSDs stop", all_osds_stop),
    ];
    let failed = |scene: Scene| {
        let began = Instant::now();
        let failed = std::panic::catch_unwind(AssertUnwindSafe(|| scene.1(&lab))).is_err();
        println!("{:?}", began.elapsed());
        failed
    };
    let wrong: Vec<&str> = scenes.into_iter().filter(|scene| failed(*scene)).map(|(name, _)| name).collect();
    assert!(wrong.is_empty(), "these went wrong, see above: {wrong:?}");
}

fn one_osd_stops(lab: &OwnLab) {
    let pool = Pool::new(&lab.cluster(), "stall");
    let dir = TempDir::new().unwrap();
    let results = dir.path().join("r");
    let args = ["-b", "4k", "-t", "16", "--duration", "10s", "--repeat", "1", "--op-timeout", "2s", "--results"];
    let mut running = start(pool.bench(&args).arg(&results));
    running.until_err(" 3s ", RUN);
    let paused = Paused::new(&lab.dir, 1);
    let since = Instant::now();
    std::thread::sleep(Duration::from_secs(5));
    drop(paused);
    // The rest of the run, the operations' deadline, and what comes after; without the OSD it would be no longer.
    let ran = running.end(RUN);
    assert!(since.elapsed() < Duration::from_secs(80), "{ran:#?}");
    let ran = ran.exits(0);
    let json = json(&results);
    let account = &json["steps"][0]["account"];
    assert!(account["timed_out"].as_u64().unwrap() > 0, "{account:#}");
    assert_eq!(account["failed"], 0, "a time-out is no error of another class: {account:#}");
    assert_eq!(account["mismatches"], serde_json::json!([]));
    let repeat = &json["steps"][0]["repeats"][0];
    assert!(!repeat["stuck"].as_array().unwrap().is_empty(), "{repeat:#}");
    // The probes tell the one that was silent from those that waited for it.
    let probes = json["probes"].as_array().unwrap();
    let silent: Vec<&Value> = probes.iter().filter(|p| p["unanswered"].as_u64() > Some(0)).collect();
    assert_eq!(silent.len(), 1, "{probes:#?}");
    assert_eq!(silent[0]["osd"], 1, "{probes:#?}");
    let findings = json["findings"].as_array().unwrap();
    let named = findings.iter().find(|f| {
        let text = format!("{} {}", f["title"], f["evidence"]);
        text.contains("osd.1") && !text.contains("osd.0") && f["from_s"].is_number() && f["to_s"].is_number()
    });
    let named = named.unwrap_or_else(|| panic!("no finding names osd.1 and an interval: {findings:#?}"));
    let (from, to) = (named["from_s"].as_f64().unwrap(), named["to_s"].as_f64().unwrap());
    assert!(from < to, "{named:#}");
    assert!(ran.out.contains("osd.1"), "{}", ran.out);
    assert!(ran.out.contains(named["title"].as_str().unwrap()) || ran.out.contains("osd.1 "), "{}", ran.out);
    assert_eq!(pool.list(), vec![], "what timed out may have been written: it must be gone, too");
}

fn all_osds_stop(lab: &OwnLab) {
    let pool = Pool::new(&lab.cluster(), "stall");
    let dir = TempDir::new().unwrap();
    let results = dir.path().join("r");
    let args = ["-b", "4k", "-t", "16", "--duration", "10s", "--repeat", "2", "--op-timeout", "2s"];
    let more = ["--connect-timeout", "5s", "--results"];
    let mut running = start(pool.bench(&args).args(more).arg(&results));
    running.until_err(" 2s ", RUN);
    let paused: Vec<Paused<'_>> = (0..3).map(|osd| Paused::new(&lab.dir, osd)).collect();
    let ran = running.end(RUN);
    drop(paused);
    // Nothing could be removed while all of them slept: that is said, and how to do it later.
    assert!(matches!(ran.code, Some(5 | 6)), "{ran:#?}");
    let ran = ran.mentions(&["fathom: ", "timed out"]);
    if ran.code == Some(6) {
        assert!(ran.err.contains(&format!("fathom clean {}", results.display())), "{ran:#?}");
    }
    let json = json(&results);
    assert!(json["steps"][0]["account"]["timed_out"].as_u64().unwrap() > 0, "{json:#}");
    let probes = json["probes"].as_array().unwrap();
    assert_eq!(probes.iter().filter(|p| p["unanswered"].as_u64() > Some(0)).count(), 3, "{probes:#?}");
    run(&mut pool.cluster.clean(&results, &[]), RUN).exits(0);
    assert_eq!(pool.list(), vec![]);
}

/// Half the rate a closed loop reaches, and one stop of two seconds: who asks for the time since an operation was due
/// sees it, who asks for the time since it was sent hardly does.
fn an_open_loop_shows_the_stall(lab: &OwnLab) {
    let pool = Pool::new(&lab.cluster(), "stall");
    let dir = TempDir::new().unwrap();
    let base = ["-b", "4k", "-t", "4", "--repeat", "1", "--ramp", "1s"];
    let closed = dir.path().join("closed");
    run(pool.bench(&base).args(["--duration", "4s", "-q", "--results"]).arg(&closed), RUN).exits(0);
    let rate = json(&closed)["steps"][0]["ops_per_s"]["median"].as_f64().unwrap() / 2.0;
    let results = dir.path().join("open");
    let rate = format!("{rate:.0}");
    let mut command = pool.bench(&base);
    command.args(["--duration", "12s", "--rate", &rate, "--results"]).arg(&results);
    let mut running = start(&mut command);
    running.until_err(" 5s ", RUN);
    let paused = Paused::new(&lab.dir, 1);
    std::thread::sleep(Duration::from_secs(2));
    drop(paused);
    running.end(RUN).exits(0);
    let json = json(&results);
    let merged = &json["steps"][0]["merged"];
    let p99 = |what: &str| merged[what]["p99_ns"].as_f64().unwrap_or_else(|| panic!("{merged:#}"));
    assert!(p99("response") > 5.0 * p99("service"), "{merged:#}");
    assert_eq!(json["steps"][0]["account"]["timed_out"], 0, "{json:#}");
}
