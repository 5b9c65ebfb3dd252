//! Faults on purpose: what an OSD that hangs, dies or comes back does to a measurement.
use crate::{
    error::{LabError, Result},
    lock::DirLock,
    marker::{Daemon, Marker},
    process::{self, Process},
    up,
};
use rustix::process::Signal;
use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// Stops a daemon's process (`SIGSTOP`): it keeps its sockets and answers nothing, like one whose disk hangs.
///
/// # Errors
/// `Unreachable` when there is no lab, `Usage` when it has no such daemon, `Failed` when the daemon does not run.
pub fn pause(dir: &Path, daemon: &str) -> Result<()> {
    let process = signal(dir, daemon, Signal::STOP)?;
    until(daemon, "stop", || Process::same(process.pid, process.start_ticks).is_none_or(|p| p.state == 'T'))
}

/// Lets a paused daemon go on (`SIGCONT`).
///
/// # Errors
/// As [`pause`].
pub fn resume(dir: &Path, daemon: &str) -> Result<()> {
    let process = signal(dir, daemon, Signal::CONT)?;
    until(daemon, "go on", || Process::same(process.pid, process.start_ticks).is_none_or(|p| p.state != 'T'))
}

/// Kills a daemon (`SIGKILL`) and waits until it is gone. The cluster notices by itself.
///
/// # Errors
/// As [`pause`].
pub fn kill(dir: &Path, daemon: &str) -> Result<()> {
    let process = signal(dir, daemon, Signal::KILL)?;
    until(daemon, "die", || process::wait_gone(std::slice::from_ref(&process), Duration::ZERO).is_empty())
}

/// Starts a daemon that has ended. It takes a second or two more until the cluster counts it as up.
///
/// # Errors
/// As [`pause`]; `Failed` when it runs already or does not start.
pub fn start(dir: &Path, daemon: &str) -> Result<Daemon> {
    let (mut marker, _lock) = lab(dir, daemon)?;
    if let Some(process) = up::running(&marker, daemon) {
        return Err(LabError::Failed(format!("{daemon} runs already, as process {}", process.pid)));
    }
    up::ensure_run_dir(&marker)?;
    up::start_all(&mut marker, &[daemon.to_owned()])?;
    let started = marker.daemons.iter().find(|d| d.name == daemon).cloned();
    started.ok_or_else(|| LabError::Failed(format!("{daemon} was started and not recorded")))
}

fn lab(dir: &Path, daemon: &str) -> Result<(Marker, Option<DirLock>)> {
    let lock = DirLock::take(&crate::spec::absolute(dir)?)?;
    let marker = up::lab_in(dir)?;
    let names = marker.names();
    if !names.iter().any(|name| name == daemon) {
        return Err(LabError::Usage(format!("the lab has no `{daemon}`; it has {}", names.join(", "))));
    }
    Ok((marker, lock))
}

fn signal(dir: &Path, daemon: &str, signal: Signal) -> Result<Process> {
    let (marker, _lock) = lab(dir, daemon)?;
    let gone = || LabError::Failed(format!("{daemon} does not run: start it with `fathom lab fault start {daemon}`"));
    let process = up::running(&marker, daemon).ok_or_else(gone)?;
    match process.signal(signal) {
        Ok(true) => Ok(process),
        Ok(false) => Err(gone()),
        Err(error) => Err(LabError::Failed(format!("cannot signal {daemon}, process {}: {error}", process.pid))),
    }
}

/// Waits until a signal has had its effect: the kernel delivers it to every thread in its own time.
fn until(daemon: &str, verb: &str, done: impl Fn() -> bool) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !done() {
        if Instant::now() >= deadline {
            return Err(LabError::Failed(format!("{daemon} did not {verb} in 10 s: it hangs in the kernel")));
        }
        thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}
