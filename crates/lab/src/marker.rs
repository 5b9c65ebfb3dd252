//! The marker: the file that says "this directory is a lab, made by fathom, and these are its processes".
//!
//! It is the first thing written and the last thing removed, so that whatever is found in between is known to be ours.
use crate::{
    error::{LabError, Result},
    process,
    spec::{LabSpec, absolute},
};
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

/// Name of the marker file in a lab's directory.
pub const MARKER: &str = "fathom-lab.json";
/// What a marker is called while it is being written; a directory with nothing but this in it is a lab, too.
pub(crate) const MARKER_DRAFT: &str = "fathom-lab.json.new";
const FORMAT: u32 = 1;

/// One daemon as it was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Daemon {
    /// `mon.a`, `mgr.x`, `osd.0`.
    pub name: String,
    /// Its process.
    pub pid: u32,
    /// When that process started, in clock ticks since boot (`/proc/PID/stat`, field 22): a process with this number
    /// and another start is not ours.
    pub start_ticks: u64,
}

/// How far `up` came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Being made, or left half made.
    Making,
    /// Came up.
    Up,
}

/// The marker's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marker {
    pub format: u32,
    pub id: String,
    pub created_unix_s: u64,
    /// Pids and start ticks mean something within one boot only.
    pub boot_id: String,
    pub stage: Stage,
    /// The directory existed, empty, before the lab: it is emptied again, not removed.
    pub dir_was_there: bool,
    pub spec: LabSpec,
    pub fsid: String,
    /// Monitor addresses in the form of `mon_host`; empty until the ports are chosen.
    pub mon_host: String,
    pub daemons: Vec<Daemon>,
}

/// What is in a directory.
pub(crate) enum Found {
    /// It does not exist.
    Nothing,
    /// It exists and is empty (an unfinished first marker does not count).
    Empty,
    /// A lab.
    Lab(Box<Marker>),
    /// Anything else.
    Foreign,
}

impl Marker {
    pub fn new(spec: LabSpec, dir_was_there: bool) -> Result<Marker> {
        Ok(Marker {
            format: FORMAT,
            id: crate::secret::hex(6)?,
            created_unix_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs()),
            boot_id: process::boot_id(),
            stage: Stage::Making,
            dir_was_there,
            spec,
            fsid: crate::secret::uuid()?,
            mon_host: String::new(),
            daemons: Vec::new(),
        })
    }

    /// Looks into a directory.
    pub fn find(dir: &Path) -> Result<Found> {
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(Found::Foreign),
            Err(error) => return Err(LabError::io("read", dir, &error)),
        };
        let path = dir.join(MARKER);
        match fs::read(&path) {
            Ok(bytes) => match serde_json::from_slice::<Marker>(&bytes) {
                Ok(marker) if marker.format == FORMAT && process::is_lab_id(&marker.id) => {
                    Ok(Found::Lab(Box::new(marker)))
                }
                Ok(marker) => Err(LabError::Refused(format!(
                    "{} is of format {} and this fathom knows format {FORMAT}: use the fathom that made the lab",
                    path.display(),
                    marker.format
                ))),
                Err(error) => Err(LabError::Refused(format!(
                    "{} is not a lab's marker ({error}): if the directory is not needed, remove it by hand",
                    path.display()
                ))),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let only_draft = entries.flatten().all(|entry| entry.file_name() == MARKER_DRAFT);
                Ok(if only_draft { Found::Empty } else { Found::Foreign })
            }
            Err(error) => Err(LabError::io("read", &path, &error)),
        }
    }

    /// Writes it in one step: after a crash the old one is there or the new one, never half of one.
    pub fn save(&self) -> Result<()> {
        let (draft, path) = (self.spec.dir.join(MARKER_DRAFT), self.spec.dir.join(MARKER));
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| LabError::Failed(format!("cannot write {}: {error}", path.display())))?;
        fs::write(&draft, text + "\n")
            .and_then(|()| fs::rename(&draft, &path))
            .map_err(|error| LabError::io("write", &path, &error))
    }

    /// Records a daemon's process, in place of an earlier one of that name, and saves.
    pub fn record(&mut self, daemon: Daemon) -> Result<()> {
        self.daemons.retain(|known| known.name != daemon.name);
        self.daemons.push(daemon);
        self.daemons.sort_by_key(|d| order(&d.name));
        self.boot_id = process::boot_id();
        self.save()
    }

    /// The names of all daemons this lab is to have, in the order they start.
    pub fn names(&self) -> Vec<String> {
        let mons = mon_names(self.spec.mon_count).into_iter().map(|m| format!("mon.{m}"));
        let osds = (0..self.spec.osds).map(|n| format!("osd.{n}"));
        mons.chain(["mgr.x".to_owned()]).chain(osds).collect()
    }

    pub fn conf(&self) -> PathBuf {
        self.spec.dir.join("ceph.conf")
    }

    pub fn keyring(&self) -> PathBuf {
        self.spec.dir.join("keyring")
    }

    /// Where admin sockets and pid files are. A socket's path may have 107 bytes (`sun_path` of unix(7)), of which up
    /// to 64 are left for a client's name, pid and context; a lab in a deeper directory has its sockets under `/tmp`.
    pub fn run_dir(&self) -> PathBuf {
        let inside = self.spec.dir.join("run");
        if inside.as_os_str().len() <= 107 - 65 { inside } else { self.short_run_dir() }
    }

    /// The run directory of a lab in a deep directory. Its name follows from the id, so it needs no record.
    pub fn short_run_dir(&self) -> PathBuf {
        PathBuf::from(format!("/tmp/fathom-lab-{}", self.id))
    }
}

/// The marker of a lab, or what is wrong with the directory.
pub(crate) fn lab_in(dir: &Path) -> Result<Marker> {
    let dir = absolute(dir)?;
    match Marker::find(&dir)? {
        Found::Lab(marker) if marker.spec.dir == dir => Ok(*marker),
        // A lab's files hold absolute paths, so one that was moved does not work any more; `down` still removes it.
        Found::Lab(marker) => Err(LabError::Refused(format!(
            "the lab in {} was made in {}: it does not work in another place; move it back or remove it with \
             `fathom lab down {}`",
            dir.display(),
            marker.spec.dir.display(),
            dir.display()
        ))),
        _ => Err(LabError::Unreachable(format!(
            "there is no lab in {}: make one with `fathom lab up {}`",
            dir.display(),
            dir.display()
        ))),
    }
}

/// Monitors are called `a`, `b`, …
pub(crate) fn mon_names(count: u32) -> Vec<char> {
    ('a'..='z').take(count as usize).collect()
}

/// Monitors first, then managers, then OSDs by number.
fn order(name: &str) -> (u8, u32, String) {
    let (kind, id) = name.split_once('.').unwrap_or((name, ""));
    let rank = match kind {
        "mon" => 0,
        "mgr" => 1,
        _ => 2,
    };
    (rank, id.parse().unwrap_or(0), name.to_owned())
}
