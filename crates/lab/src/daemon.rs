//! A lab's daemons: starting them so that they outlive us, and finding them again.
use crate::{
    ask,
    error::{LabError, Result},
    marker::{Daemon, Marker},
    process::{self, Process},
    program::{self, Running, last_lines},
};
use serde_json::{Value, json};
use std::{
    fs,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    thread,
    time::{Duration, Instant},
};

/// Programs formatting or starting OSDs at one time: enough to fill a small machine, few enough not to drown one.
pub(crate) const AT_ONCE: usize = 8;

/// Starts a daemon. Ceph's daemons go to the background by themselves, into a session of their own and with all three
/// standard streams on `/dev/null`; the process waited for ends when the daemon has initialised or failed.
pub(crate) fn launch(marker: &Marker, name: &str) -> Result<Running> {
    let (kind, id) = name.split_once('.').unwrap_or((name, ""));
    let pid_file = marker.run_dir().join(format!("{name}.pid"));
    // One from before would be taken for the new daemon's.
    let _ = fs::remove_file(&pid_file);
    program::start(marker, name, &format!("ceph-{kind}"), &["-i", id], Duration::from_secs(60))
}

/// The process of a daemon that has just been started, from its pid file.
pub(crate) fn started(marker: &Marker, name: &str) -> Result<Daemon> {
    let file = marker.run_dir().join(format!("{name}.pid"));
    // The daemon writes it before it lets its parent end, but the manager does so a moment later in some releases.
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let pid = fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok());
        if let Some(process) = pid.and_then(Process::read) {
            return Ok(Daemon { name: name.to_owned(), pid: process.pid, start_ticks: process.start_ticks });
        }
        if Instant::now() >= deadline {
            let log = marker.spec.dir.join("log").join(format!("{name}.log"));
            let text = fs::read_to_string(&log).unwrap_or_default();
            return Err(LabError::Failed(format!("{name} ended right after its start: {}", last_lines(&text, &log))));
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Starts daemons side by side and records each.
pub(crate) fn start_all(marker: &mut Marker, names: &[String]) -> Result<()> {
    for group in names.chunks(AT_ONCE) {
        let running = group.iter().map(|name| launch(marker, name)).collect::<Result<Vec<Running>>>()?;
        for (name, running) in group.iter().zip(running) {
            running.wait()?;
            let daemon = started(marker, name)?;
            marker.record(daemon)?;
        }
    }
    Ok(())
}

/// A directory under `/tmp` does not survive every reboot.
pub(crate) fn ensure_run_dir(marker: &Marker) -> Result<()> {
    let run = marker.run_dir();
    if let Ok(data) = fs::symlink_metadata(&run) {
        // In `/tmp` somebody else may have made it.
        if data.is_dir() && data.uid() == rustix::process::geteuid().as_raw() {
            return Ok(());
        }
        return Err(LabError::Refused(format!("{} is not a directory of yours: remove it", run.display())));
    }
    fs::DirBuilder::new().mode(0o700).create(&run).map_err(|error| LabError::io("make", &run, &error))
}

/// The process of a daemon, if it runs.
pub(crate) fn running(marker: &Marker, name: &str) -> Option<Process> {
    let daemon = marker.daemons.iter().find(|d| d.name == name)?;
    (marker.boot_id == process::boot_id()).then(|| Process::same(daemon.pid, daemon.start_ticks)).flatten()
}

/// Waits until these OSDs, just started, have joined the cluster. Before that the monitors may still count an earlier
/// process of theirs as up. Gives up quietly: the OSDs may be kept out on purpose (`noup`).
pub(crate) fn wait_joined(marker: &Marker, names: &[String], limit: Duration) {
    let deadline = Instant::now() + limit;
    for name in names.iter().filter(|name| name.starts_with("osd.")) {
        let socket = marker.run_dir().join(format!("{name}.asok"));
        while Instant::now() < deadline {
            let answer = ask::admin(&socket, &json!({"prefix": "status"}), Duration::from_secs(2)).unwrap_or_default();
            let status: Value = serde_json::from_str(&answer).unwrap_or_default();
            if status["state"] == "active" {
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
}
