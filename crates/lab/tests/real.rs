//! Labs with real daemons. Without Ceph's packages these tests fail and say what to install.
#![allow(clippy::unwrap_used)]
use fathom_lab::{
    DaemonState, DownReport, LabError, LabInfo, LabSpec, LabStatus, down, kill, pause, resume, start, status, up,
};
use std::{
    env, fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Set for the process that is to be killed while it brings a lab up.
const VICTIM: &str = "FATHOM_LAB_TEST_VICTIM";

/// A directory for a lab; whatever is in it is taken down at the end, also after a panic.
struct Place {
    dir: PathBuf,
    _parent: TempDir,
}

impl Place {
    fn new() -> Place {
        let parent = TempDir::new().unwrap();
        Place { dir: parent.path().canonicalize().unwrap().join("lab"), _parent: parent }
    }

    fn spec(&self, osds: u32) -> LabSpec {
        LabSpec { osds, size_bytes: 2 << 30, ..LabSpec::new(&self.dir) }
    }

    fn up(&self, osds: u32) -> LabInfo {
        let began = Instant::now();
        let lab = up(&self.spec(osds), &mut |line| println!("{:?} {line}", self.dir)).unwrap_or_else(|e| panic!("{e}"));
        println!("{osds} OSDs up in {:?}", began.elapsed());
        lab
    }

    /// Takes the lab down and proves that nothing is left.
    fn down(&self) -> DownReport {
        let id = self.id();
        let report = down(&self.dir, &mut |line| println!("{:?} {line}", self.dir)).unwrap();
        assert_eq!(self.processes(id.as_deref()), Vec::<String>::new(), "left running");
        assert!(!self.dir.exists(), "files left in {:?}", self.dir);
        if let Some(id) = id {
            assert!(!Path::new("/tmp").join(format!("fathom-lab-{id}")).exists());
        }
        report
    }

    fn id(&self) -> Option<String> {
        let marker: serde_json::Value =
            serde_json::from_slice(&fs::read(self.dir.join("fathom-lab.json")).ok()?).ok()?;
        Some(marker["id"].as_str()?.to_owned())
    }

    /// Processes that carry the lab's id, or its configuration file in their environment.
    fn processes(&self, id: Option<&str>) -> Vec<String> {
        let conf = format!("CEPH_CONF={}", self.dir.join("ceph.conf").display());
        let id = id.map(|id| format!("FATHOM_LAB={id}"));
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let environ = fs::read(entry.path().join("environ")).unwrap_or_default();
            let text = String::from_utf8_lossy(&environ).into_owned();
            if text.split('\0').any(|v| v == conf || Some(v) == id.as_deref()) {
                let line = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
                found.push(format!("{:?} {line}", entry.file_name()));
            }
        }
        found
    }

    fn status(&self) -> LabStatus {
        status(&self.dir).unwrap()
    }

    fn state(&self, daemon: &str) -> DaemonState {
        self.status().daemons.iter().find(|d| d.name == daemon).unwrap().state
    }

    /// Waits until that many OSDs are up.
    fn wait_osds_up(&self, osds: u64) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.status().health.is_none_or(|h| h.osds_up != osds) {
            assert!(Instant::now() < deadline, "{}", self.status());
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = down(&self.dir, &mut |_| {}) {
            eprintln!("{error}");
        }
    }
}

/// Runs a Ceph tool on a lab and returns what it prints.
fn tool(lab: &LabInfo, program: &str, args: &[&str]) -> String {
    let out = Command::new(program).args(args).envs(lab.env()).stdin(Stdio::null()).output().unwrap();
    let err = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{program} {args:?}: {err}");
    assert!(!err.contains("AdminSocket") && !err.contains("unable to"), "{program} {args:?}: {err}");
    String::from_utf8_lossy(&out.stdout).into_owned()
}

#[test]
fn one_osd_up_used_hurt_and_down() {
    let place = Place::new();
    let lab = place.up(1);
    let health = lab.health.clone().unwrap();
    assert!(health.status == "HEALTH_OK" || health.lacks_modules(), "{}", health.checks_line());
    assert_eq!((health.osds_up, lab.was_up), (1, false));
    assert_eq!(lab.daemons.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(), ["mon.a", "mgr.x", "osd.0"]);
    assert_eq!(fs::metadata(&lab.keyring).unwrap().permissions().mode() & 0o777, 0o600);

    // Every daemon leads a session of its own and has none of our files open.
    for daemon in &lab.daemons {
        let stat = fs::read_to_string(format!("/proc/{}/stat", daemon.pid)).unwrap();
        let session = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(3).unwrap().to_owned();
        assert_eq!(session, daemon.pid.to_string());
        for fd in 0..3 {
            let target = fs::read_link(format!("/proc/{}/fd/{fd}", daemon.pid)).unwrap();
            assert_eq!(target, Path::new("/dev/null"), "{} fd {fd}", daemon.name);
        }
    }

    // A second `up` does nothing; one with another specification is refused.
    let again = up(&place.spec(1), &mut |_| {}).unwrap();
    assert_eq!((again.was_up, &again.daemons), (true, &lab.daemons));
    let other = up(&place.spec(2), &mut |_| {}).unwrap_err();
    assert!(matches!(other, LabError::Refused(_)), "{other}");

    // It stores data; two clients of one name at a time do not meet on a socket.
    tool(&lab, "ceph", &["osd", "pool", "create", "data", "8"]);
    let write = |run: &str| {
        tool(&lab, "rados", &["-p", "data", "bench", "1", "write", "-b", "4096", "-t", "2", "--run-name", run])
    };
    thread::scope(|scope| {
        let (one, two) = (scope.spawn(|| write("one")), scope.spawn(|| write("two")));
        assert!(one.join().unwrap().contains("Average IOPS") && two.join().unwrap().contains("Average IOPS"));
    });
    tool(&lab, "ceph", &["osd", "pool", "delete", "data", "data", "--yes-i-really-really-mean-it"]);

    // Faults.
    pause(&place.dir, "osd.0").unwrap();
    assert_eq!(place.state("osd.0"), DaemonState::Paused);
    resume(&place.dir, "osd.0").unwrap();
    assert_eq!(place.state("osd.0"), DaemonState::Running);
    kill(&place.dir, "osd.0").unwrap();
    assert_eq!(place.state("osd.0"), DaemonState::Dead);
    assert!(matches!(pause(&place.dir, "osd.0"), Err(LabError::Failed(_))));
    assert!(matches!(kill(&place.dir, "osd.7"), Err(LabError::Usage(_))));
    start(&place.dir, "osd.0").unwrap();
    place.wait_osds_up(1);
    assert!(matches!(start(&place.dir, "osd.0"), Err(LabError::Failed(_))));

    // `up` also brings back what died, manager and monitor included.
    for daemon in ["osd.0", "mgr.x", "mon.a"] {
        kill(&place.dir, daemon).unwrap();
    }
    let silent = place.status();
    assert_eq!((silent.health, silent.health_error.as_deref()), (None, Some("no monitor is running")));
    let back = up(&place.spec(1), &mut |line| println!("{line}")).unwrap();
    assert_eq!((back.was_up, back.fsid.as_str()), (true, lab.fsid.as_str()));

    let text = place.status().to_string();
    assert!(text.contains("HEALTH_") && text.contains("osd.0") && text.contains("export CEPH_CONF="), "{text}");
    assert!(serde_json::to_string(&place.status()).unwrap().contains("\"running\""));

    assert_eq!(place.down(), DownReport { was_lab: true, ended: 3, killed: 0, left: vec![] });
    assert_eq!(place.down(), DownReport::default());
    assert!(matches!(status(&place.dir), Err(LabError::Unreachable(_))));
}

#[test]
fn two_labs_at_once_and_down_after_kill_and_stop() {
    let (a, b) = (Place::new(), Place::new());
    let (lab_a, lab_b) = thread::scope(|scope| {
        let other = scope.spawn(|| b.up(2));
        (a.up(2), other.join().unwrap())
    });
    assert_ne!(lab_a.mon_host, lab_b.mon_host);
    assert_eq!(tool(&lab_a, "ceph", &["fsid"]).trim(), lab_a.fsid);
    assert_eq!(tool(&lab_b, "ceph", &["fsid"]).trim(), lab_b.fsid);
    // One killed by a stranger, one stopped, and the other lab's monitor stopped.
    let pid = lab_a.daemons.iter().find(|d| d.name == "osd.0").unwrap().pid.to_string();
    assert!(Command::new("sh").args(["-c", &format!("kill -9 {pid}")]).status().unwrap().success());
    pause(&a.dir, "osd.1").unwrap();
    pause(&b.dir, "mon.a").unwrap();
    assert_eq!(a.state("osd.1"), DaemonState::Paused);
    let deadline = Instant::now() + Duration::from_secs(10);
    while a.state("osd.0") != DaemonState::Dead {
        assert!(Instant::now() < deadline, "{}", a.status());
    }
    let began = Instant::now();
    a.down();
    b.down();
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

/// Not a test: the process that the next test kills.
#[test]
#[ignore = "started by another test"]
fn victim() {
    if let Ok(dir) = env::var(VICTIM) {
        let _ = up(&LabSpec { size_bytes: 2 << 30, osds: 2, ..LabSpec::new(dir) }, &mut |_| {});
    }
}

#[test]
fn nothing_is_left_of_an_up_that_was_killed() {
    let mut half_made = 0;
    for moment_ms in [0, 2, 5, 10, 20, 35, 60, 100, 150, 250, 400, 700, 1200, 1800, 2400, 3000, 3600] {
        let place = Place::new();
        let mut victim = Command::new(env::current_exe().unwrap())
            .args(["--ignored", "--exact", "victim"])
            .env(VICTIM, &place.dir)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The clock starts when the directory is there: before that nothing is made.
        let deadline = Instant::now() + Duration::from_secs(20);
        while !place.dir.exists() && Instant::now() < deadline {
            thread::sleep(Duration::from_micros(200));
        }
        thread::sleep(Duration::from_millis(moment_ms));
        victim.kill().unwrap();
        victim.wait().unwrap();
        if place.dir.join("fathom-lab.json").exists() {
            half_made += 1;
            place.down();
        } else {
            // Killed before the marker: the directory is empty, and nobody can tell who made it.
            down(&place.dir, &mut |_| {}).unwrap();
            assert_eq!(fs::read_dir(&place.dir).unwrap().count(), 0);
            assert_eq!(place.processes(None), Vec::<String>::new());
        }
    }
    assert!(half_made >= 8, "only {half_made} labs were caught half made");
}

#[test]
fn a_half_made_lab_is_made_anew_by_the_next_up() {
    let place = Place::new();
    let mut victim = Command::new(env::current_exe().unwrap())
        .args(["--ignored", "--exact", "victim"])
        .env(VICTIM, &place.dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while !place.dir.join("run/mgr.x.pid").exists() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(1));
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
    let old = place.id().unwrap();
    let lab = place.up(1);
    assert_ne!(lab.id, old);
    assert_eq!(place.processes(Some(&old)).len(), 3, "mon, mgr and osd of the new lab only");
    place.down();
}

#[test]
fn what_is_not_ours_is_not_touched() {
    let place = Place::new();
    fs::create_dir(&place.dir).unwrap();
    let file = place.dir.join("ceph.conf");
    fs::write(&file, "mine").unwrap();
    for error in [up(&place.spec(1), &mut |_| {}).unwrap_err(), down(&place.dir, &mut |_| {}).unwrap_err()] {
        assert!(matches!(error, LabError::Refused(_)), "{error}");
    }
    assert!(matches!(down(&file, &mut |_| {}), Err(LabError::Refused(_))));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    // Neither is a directory whose marker is not one.
    fs::File::create(place.dir.join("fathom-lab.json")).unwrap().write_all(b"{\"id\": \"../../etc\"}").unwrap();
    assert!(matches!(down(&place.dir, &mut |_| {}), Err(LabError::Refused(_))));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    fs::remove_dir_all(&place.dir).unwrap();
}

#[test]
fn a_deep_directory_with_a_file_of_the_user_in_it() {
    let mut place = Place::new();
    let deep = place.dir.with_file_name("d".repeat(120));
    // It was there before the lab, so it is there afterwards.
    fs::create_dir(&deep).unwrap();
    place.dir = deep;
    let lab = place.up(1);
    assert!(lab.run_dir.starts_with("/tmp") && lab.run_dir.join("osd.0.asok").exists(), "{:?}", lab.run_dir);
    let version = tool(&lab, "ceph", &["daemon", "osd.0", "version"]);
    assert!(version.contains("version"), "{version}");
    let mine = place.dir.join("results.txt");
    fs::write(&mine, "mine").unwrap();
    let report = down(&place.dir, &mut |_| {}).unwrap();
    assert_eq!(report.left, vec![mine.clone()]);
    assert_eq!(place.processes(Some(&lab.id)), Vec::<String>::new());
    assert!(!lab.run_dir.exists());
    let names: Vec<_> = fs::read_dir(&place.dir).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(names, ["results.txt"]);
    fs::remove_file(mine).unwrap();
}
