//! Taking a lab down: no process and no file of it is left.
use crate::{
    error::{LabError, Result},
    lock::DirLock,
    marker::{Found, MARKER, MARKER_DRAFT, Marker},
    process::{self, Process},
    spec::{self, LabSpec},
};
use rustix::process::Signal;
use serde::Serialize;
use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// What `down` did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DownReport {
    /// There was a lab. False when an earlier `down` removed it: nothing was to be done.
    pub was_lab: bool,
    /// Processes that ended when asked to.
    pub ended: u32,
    /// Processes that had to be killed.
    pub killed: u32,
    /// Files and directories in the lab's directory that the lab did not make; they are still there.
    pub left: Vec<PathBuf>,
}

impl fmt::Display for DownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.was_lab {
            return write!(f, "there was no lab: nothing to do");
        }
        write!(f, "removed; {} of its processes ended when asked, {} had to be killed", self.ended, self.killed)?;
        for path in &self.left {
            write!(f, "\nleft alone, because the lab did not make it: {}", path.display())?;
        }
        Ok(())
    }
}

/// How long the OSDs have to end by themselves. They do so in a moment unless they wait for a monitor.
const OSD_PATIENCE: Duration = Duration::from_millis(3000);
/// How long everything else has.
const REST_PATIENCE: Duration = Duration::from_millis(2000);
/// How long to go on killing. Only a process that hangs in the kernel outlives the first kill.
const KILL_PATIENCE: Duration = Duration::from_secs(15);

/// Takes a lab down, in whatever state it is. A second `down` of the same directory does nothing and succeeds.
///
/// # Errors
/// `Refused` for a directory that is no lab; `Failed` when a process cannot be killed or a file not be removed: what is
/// left is still known to be a lab, so `down` can be repeated.
pub fn down(dir: &Path, progress: &mut dyn FnMut(&str)) -> Result<DownReport> {
    let dir = spec::absolute(dir)?;
    let mut report = DownReport::default();
    let Some(_lock) = DirLock::take(&dir)? else { return Ok(report) };
    match Marker::find(&dir)? {
        Found::Nothing => {}
        Found::Empty => {
            let _ = fs::remove_file(dir.join(MARKER_DRAFT));
        }
        Found::Foreign => {
            return Err(LabError::Refused(format!(
                "{} is not a lab (it has no {MARKER}), so nothing in it is touched",
                dir.display()
            )));
        }
        Found::Lab(marker) => {
            // The directory may have been moved: what is removed is what was pointed at.
            let marker = Marker { spec: LabSpec { dir: dir.clone(), ..marker.spec.clone() }, ..*marker };
            report.was_lab = true;
            remove(&marker, &mut report, progress)?;
        }
    }
    Ok(report)
}

/// Ends the processes, then removes the files.
pub(crate) fn remove(marker: &Marker, report: &mut DownReport, progress: &mut dyn FnMut(&str)) -> Result<()> {
    stop(marker, report, progress)?;
    progress(&format!("removing {}", marker.spec.dir.display()));
    remove_files(marker, report)
}

/// Ends every process of a lab.
pub(crate) fn stop(marker: &Marker, report: &mut DownReport, progress: &mut dyn FnMut(&str)) -> Result<()> {
    let all = processes(marker);
    if !all.is_empty() {
        progress(&format!("stopping {} processes", all.len()));
    }
    let (osds, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|p| p.name == "ceph-osd");
    // OSDs first: one that lost its monitor takes its time.
    let osds_left = terminate(&osds, OSD_PATIENCE);
    let rest_left = terminate(&rest, REST_PATIENCE);
    report.ended += (osds.len() + rest.len() - osds_left.len() - rest_left.len()) as u32;
    // A process that was being started while we looked shows up in a later look, so look until three in a row find none.
    let deadline = Instant::now() + KILL_PATIENCE;
    let mut clear = 0;
    let mut killed: Vec<Process> = Vec::new();
    while clear < 3 {
        let left = processes(marker);
        if left.is_empty() {
            clear += 1;
            thread::sleep(Duration::from_millis(20));
            continue;
        }
        clear = 0;
        let mut refused = None;
        for process in &left {
            match process.signal(Signal::KILL) {
                Ok(_) if killed.iter().any(|k| (k.pid, k.start_ticks) == (process.pid, process.start_ticks)) => {}
                Ok(_) => killed.push(process.clone()),
                Err(error) => refused = Some(error),
            }
        }
        let left = process::wait_gone(&left, Duration::from_millis(500));
        if let (Some(process), true) = (left.first(), refused.is_some() || Instant::now() >= deadline) {
            return Err(LabError::Failed(format!(
                "cannot end process {} ({}) of the lab: {}; end it by hand and run `fathom lab down {}` again",
                process.pid,
                process.name,
                refused.map_or_else(|| format!("it is in state {}", process.state), |error| error.to_string()),
                marker.spec.dir.display()
            )));
        }
    }
    report.killed += killed.len() as u32;
    Ok(())
}

/// The processes that carry the lab's id or its configuration file, and those recorded that are still the same.
fn processes(marker: &Marker) -> Vec<Process> {
    let mut all = process::of_lab(&marker.id, &marker.conf());
    if marker.boot_id == process::boot_id() {
        for daemon in &marker.daemons {
            let known = all.iter().any(|p| p.pid == daemon.pid);
            all.extend(Process::same(daemon.pid, daemon.start_ticks).filter(|_| !known));
        }
    }
    all
}

/// Asks processes to end and waits; a stopped one is continued so that it can. Returns those that did not.
fn terminate(processes: &[Process], patience: Duration) -> Vec<Process> {
    for process in processes {
        let _ = process.signal(Signal::TERM);
        let _ = process.signal(Signal::CONT);
    }
    process::wait_gone(processes, patience)
}

/// Removes what the lab made and the marker last.
fn remove_files(marker: &Marker, report: &mut DownReport) -> Result<()> {
    let dir = &marker.spec.dir;
    // Whether or not this lab's run directory is there: a lab that was moved may have got a shorter path.
    remove_tree(&marker.short_run_dir())?;
    let made = |name: &str| {
        matches!(name, "run" | "log" | "crash" | "monmap" | "ceph.conf" | "keyring" | MARKER_DRAFT)
            || name.split_once('.').is_some_and(|(kind, _)| matches!(kind, "mon" | "mgr" | "osd" | "mds"))
    };
    let entries = fs::read_dir(dir).map_err(|error| LabError::io("read", dir, &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| LabError::io("read", dir, &error))?;
        let name = entry.file_name();
        match name.to_str() {
            Some(MARKER) => {}
            Some(name) if made(name) => remove_tree(&entry.path())?,
            _ => report.left.push(entry.path()),
        }
    }
    let path = dir.join(MARKER);
    fs::remove_file(&path).map_err(|error| LabError::io("remove", &path, &error))?;
    if report.left.is_empty() && !marker.dir_was_there {
        fs::remove_dir(dir).map_err(|error| LabError::io("remove", dir, &error))?;
    }
    Ok(())
}

/// Removes a file, or a directory with all in it; symbolic links are removed, not followed.
fn remove_tree(path: &Path) -> Result<()> {
    let is_dir = match fs::symlink_metadata(path) {
        Ok(data) => data.is_dir(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(LabError::io("look at", path, &error)),
    };
    // A client that uses the lab may drop a socket into the run directory while it is emptied.
    for _ in 0..5 {
        let done = if is_dir { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        match done {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(LabError::io("remove", path, &error)),
            _ => return Ok(()),
        }
    }
    Err(LabError::Failed(format!(
        "{} is being filled while it is removed: end the programs that use the lab",
        path.display()
    )))
}
