//! Faults on purpose: what an OSD that hangs, dies or comes back does to a measurement.
use crate::{
    daemon,
    error::{LabError, Result},
    lock::DirLock,
    marker::{self, Daemon, Marker},
    process::{self, Process},
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
pub fn pause(dir: &Path, name: &str) -> Result<()> {
    let process = signal(dir, name, Signal::STOP)?;
    until(name, "stop", || Process::same(process.pid, process.start_ticks).is_none_or(|p| p.state == 'T'))
}

/// Lets a paused daemon go on (`SIGCONT`).
///
/// # Errors
/// As [`pause`].
pub fn resume(dir: &Path, name: &str) -> Result<()> {
    let process = signal(dir, name, Signal::CONT)?;
    until(name, "go on", || Process::same(process.pid, process.start_ticks).is_none_or(|p| p.state != 'T'))
}

/// Kills a daemon (`SIGKILL`) and waits until it is gone. The cluster notices by itself.
///
/// # Errors
/// As [`pause`].
pub fn kill(dir: &Path, name: &str) -> Result<()> {
    let process = signal(dir, name, Signal::KILL)?;
    until(name, "die", || process::wait_gone(std::slice::from_ref(&process), Duration::ZERO).is_empty())
}

/// Starts a daemon that has ended, and waits up to 20 s for an OSD to join the cluster.
///
/// # Errors
/// As [`pause`]; `Failed` when it runs already or does not start.
pub fn start(dir: &Path, name: &str) -> Result<Daemon> {
    let (mut marker, lock) = lab(dir, name)?;
    if let Some(process) = daemon::running(&marker, name) {
        return Err(LabError::Failed(format!("{name} runs already, as process {}", process.pid)));
    }
    daemon::ensure_run_dir(&marker)?;
    let names = [name.to_owned()];
    daemon::start_all(&mut marker, &names)?;
    drop(lock);
    daemon::wait_joined(&marker, &names, Duration::from_secs(20));
    let started = marker.daemons.iter().find(|d| d.name == name).cloned();
    started.ok_or_else(|| LabError::Failed(format!("{name} was started and not recorded")))
}

fn lab(dir: &Path, name: &str) -> Result<(Marker, Option<DirLock>)> {
    let lock = DirLock::take(&crate::spec::absolute(dir)?)?;
    let marker = marker::lab_in(dir)?;
    let names = marker.names();
    if !names.iter().any(|known| known == name) {
        return Err(LabError::Usage(format!("the lab has no `{name}`; it has {}", names.join(", "))));
    }
    Ok((marker, lock))
}

fn signal(dir: &Path, name: &str, signal: Signal) -> Result<Process> {
    let (marker, _lock) = lab(dir, name)?;
    let gone = || LabError::Failed(format!("{name} does not run: start it first"));
    let process = daemon::running(&marker, name).ok_or_else(gone)?;
    match process.signal(signal) {
        Ok(true) => Ok(process),
        Ok(false) => Err(gone()),
        Err(error) => Err(LabError::Failed(format!("cannot signal {name}, process {}: {error}", process.pid))),
    }
}

/// Waits until a signal has had its effect: the kernel delivers it to every thread in its own time.
fn until(name: &str, verb: &str, done: impl Fn() -> bool) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !done() {
        if Instant::now() >= deadline {
            return Err(LabError::Failed(format!("{name} did not {verb} in 10 s: it hangs in the kernel")));
        }
        thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}
