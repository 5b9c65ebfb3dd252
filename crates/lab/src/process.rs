//! Processes as `/proc` shows them, and signals that reach the process meant and no other.
use rustix::{
    io::Errno,
    process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal},
};
use std::{
    fs,
    os::unix::ffi::OsStrExt,
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// The environment variable every process of a lab carries; its value is the lab's id.
pub const LAB_VARIABLE: &str = "FATHOM_LAB";

/// The servers of Ceph that somebody may have started by hand on a lab's configuration file, after a how-to. They live
/// off the lab's directory, so they end with it; clients and shells with `CEPH_CONF` set are left alone.
const SERVERS: &[&str] =
    &["ceph-mon", "ceph-mgr", "ceph-osd", "ceph-mds", "radosgw", "rbd-mirror", "cephfs-mirror", "ceph-exporter"];

/// A process at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub pid: u32,
    pub start_ticks: u64,
    /// The state letter of proc(5): `R`, `S`, `D`, `T` (stopped), …
    pub state: char,
    pub resident_bytes: u64,
    /// The program's name, at most 15 bytes.
    pub name: String,
}

impl Process {
    /// Reads a process; `None` when it has ended, also when nobody has collected it yet.
    pub fn read(pid: u32) -> Option<Process> {
        Process::parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    fn parse(pid: u32, stat: &str) -> Option<Process> {
        // The name is in brackets and may hold anything, brackets and blanks too: split at the last one.
        let (head, tail) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = tail.split_whitespace().collect();
        let state = fields.first()?.chars().next()?;
        if matches!(state, 'Z' | 'X' | 'x') {
            return None;
        }
        let pages: u64 = fields.get(21)?.parse().ok()?;
        Some(Process {
            pid,
            start_ticks: fields.get(19)?.parse().ok()?,
            state,
            resident_bytes: pages * rustix::param::page_size() as u64,
            name: head.split_once('(')?.1.to_owned(),
        })
    }

    /// The process with this number, if it is still the one that started then.
    pub fn same(pid: u32, start_ticks: u64) -> Option<Process> {
        Process::read(pid).filter(|p| p.start_ticks == start_ticks)
    }

    /// True while this very process runs.
    pub fn alive(&self) -> bool {
        Process::same(self.pid, self.start_ticks).is_some()
    }

    /// Sends a signal to this very process. `Ok(false)` when it has ended already.
    ///
    /// A pid can be given to another process between a look and a signal, so the look is repeated while a pidfd holds
    /// the process fast. Kernels before 5.3 have no pidfd; there the gap is microseconds.
    pub fn signal(&self, signal: Signal) -> std::result::Result<bool, Errno> {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return Ok(false) };
        let sent = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(fd) if self.alive() => pidfd_send_signal(&fd, signal),
            Err(Errno::NOSYS | Errno::PERM) if self.alive() => kill_process(pid, signal),
            Ok(_) | Err(Errno::SRCH | Errno::NOSYS | Errno::PERM | Errno::INVAL) => return Ok(false),
            Err(error) => return Err(error),
        };
        match sent {
            Ok(()) => Ok(true),
            Err(Errno::SRCH) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// All processes of a lab: those that carry its id, and Ceph servers started by hand on its configuration file.
/// Processes of other users, whose environment cannot be read, are not found.
pub(crate) fn of_lab(id: &str, conf: &Path) -> Vec<Process> {
    let own = std::process::id();
    let marker = [LAB_VARIABLE.as_bytes(), b"=", id.as_bytes()].concat();
    let variable = [b"CEPH_CONF=", conf.as_os_str().as_bytes()].concat();
    let joined = [b"--conf=", conf.as_os_str().as_bytes()].concat();
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid != own)
        .filter_map(|pid| {
            let process = Process::read(pid)?;
            let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            if has(&environ, &marker) {
                return Some(process);
            }
            if !SERVERS.contains(&process.name.as_str()) {
                return None;
            }
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let ours = has(&environ, &variable) || has(&line, conf.as_os_str().as_bytes()) || has(&line, &joined);
            ours.then_some(process)
        })
        .collect()
}

/// True when one of the NUL-separated texts is `wanted`.
fn has(texts: &[u8], wanted: &[u8]) -> bool {
    texts.split(|b| *b == 0).any(|text| text == wanted)
}

/// Waits until none of them runs; returns those that still do at the deadline.
pub(crate) fn wait_gone(processes: &[Process], limit: Duration) -> Vec<Process> {
    let deadline = Instant::now() + limit;
    loop {
        let left: Vec<Process> = processes.iter().filter(|p| p.alive()).cloned().collect();
        if left.is_empty() || Instant::now() >= deadline {
            return left;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Identifies this boot of the machine; empty when the kernel does not tell.
pub(crate) fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// True for what can be a lab's id. It becomes part of a path, so nothing else is let through.
pub(crate) fn is_lab_id(id: &str) -> bool {
    id.len() == 12 && id.chars().all(|c| c.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_name_with_brackets_does_not_shift_the_fields() {
        let tail: Vec<String> = (4..=52).map(|n| n.to_string()).collect();
        let process = Process::parse(7, &format!("7 (a) b (c) T {}", tail.join(" "))).unwrap();
        assert_eq!((process.state, process.start_ticks, process.name.as_str()), ('T', 22, "a) b (c"));
        assert_eq!(process.resident_bytes, 24 * rustix::param::page_size() as u64);
        assert_eq!(Process::parse(7, "7 (a) Z 1 2"), None);
    }

    #[test]
    fn a_recycled_pid_gets_no_signal() {
        let mut child = Command::new("sleep").arg("60").env(LAB_VARIABLE, "0123456789ab").spawn().unwrap();
        let process = Process::read(child.id()).unwrap();
        let other = Process { start_ticks: process.start_ticks + 1, ..process.clone() };
        assert_eq!(other.signal(Signal::KILL), Ok(false));
        assert!(process.alive());
        let found = of_lab("0123456789ab", Path::new("/no/such/conf"));
        assert_eq!(found.iter().map(|p| p.pid).collect::<Vec<_>>(), [child.id()]);
        assert_eq!(process.signal(Signal::KILL), Ok(true));
        // Not collected yet: a zombie counts as gone.
        assert!(wait_gone(&[process], Duration::from_secs(5)).is_empty());
        child.wait().unwrap();
    }
}
