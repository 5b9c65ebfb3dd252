//! How a lab is doing.
use crate::{
    daemon,
    error::Result,
    health::Health,
    marker::{self, Marker, Stage},
};
use fathom_model::Size;
use serde::Serialize;
use std::{
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

/// How long the monitors may take to answer.
const LIMIT: Duration = Duration::from_secs(10);

/// What a daemon's process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DaemonState {
    /// It runs.
    Running,
    /// It is stopped by a signal (state `T`): it keeps its sockets and answers nothing.
    Paused,
    /// It is not there.
    Dead,
}

/// One daemon of a lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DaemonStatus {
    /// `osd.1`.
    pub name: String,
    /// Its process, the last one known; `None` when it was never started.
    pub pid: Option<u32>,
    /// What it does.
    pub state: DaemonState,
    /// Memory it has in RAM, in bytes.
    pub resident_bytes: u64,
}

/// A lab at one moment.
#[derive(Clone, Debug, Serialize)]
pub struct LabStatus {
    /// Its directory.
    pub dir: PathBuf,
    /// Its id.
    pub id: String,
    /// How far `up` came.
    pub stage: Stage,
    /// The configuration file.
    pub conf: PathBuf,
    /// When it was made, Unix time in seconds.
    pub created_unix_s: u64,
    /// Its daemons.
    pub daemons: Vec<DaemonStatus>,
    /// What `ceph status` says; `None` when it did not answer.
    pub health: Option<Health>,
    /// Why there is no health.
    pub health_error: Option<String>,
}

/// Looks at a lab. A cluster that does not answer is part of the answer, not an error.
///
/// # Errors
/// `Unreachable` when there is no lab in the directory.
pub fn status(dir: &Path) -> Result<LabStatus> {
    let marker = marker::lab_in(dir)?;
    let daemons: Vec<DaemonStatus> = marker.names().into_iter().map(|name| one(&marker, name)).collect();
    let mon_runs = daemons.iter().any(|d| d.name.starts_with("mon.") && d.state == DaemonState::Running);
    let (health, health_error) = if mon_runs {
        match ask(&marker) {
            Ok(health) => (Some(health), None),
            Err(error) => (None, Some(error)),
        }
    } else {
        (None, Some("no monitor is running".to_owned()))
    };
    Ok(LabStatus {
        conf: marker.conf(),
        dir: marker.spec.dir,
        id: marker.id,
        stage: marker.stage,
        created_unix_s: marker.created_unix_s,
        daemons,
        health,
        health_error,
    })
}

fn one(marker: &Marker, name: String) -> DaemonStatus {
    let pid = marker.daemons.iter().find(|d| d.name == name).map(|d| d.pid);
    match daemon::running(marker, &name) {
        Some(process) => DaemonStatus {
            name,
            pid,
            state: if matches!(process.state, 'T' | 't') { DaemonState::Paused } else { DaemonState::Running },
            resident_bytes: process.resident_bytes,
        },
        None => DaemonStatus { name, pid, state: DaemonState::Dead, resident_bytes: 0 },
    }
}

fn ask(marker: &Marker) -> std::result::Result<Health, String> {
    let mut session = crate::ask::Session::open(marker, LIMIT).map_err(|error| error.to_string())?;
    let status = session.ask("status", LIMIT).map_err(|error| error.to_string())?;
    Health::parse(&status).ok_or_else(|| "`ceph status` gave no health".to_owned())
}

impl fmt::Display for LabStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made = if self.stage == Stage::Up { "" } else { ", half made" };
        writeln!(f, "lab {} in {}{made}", self.id, self.dir.display())?;
        match (&self.health, &self.health_error) {
            (Some(health), _) => {
                writeln!(f, "{}", health.line())?;
                for (code, text) in &health.checks {
                    writeln!(f, "  {code}: {text}")?;
                }
            }
            (None, error) => writeln!(f, "no health: {}", error.as_deref().unwrap_or("not asked"))?,
        }
        writeln!(f, "{:<8} {:>8}  {:<8} {:>10}", "daemon", "pid", "state", "memory")?;
        for d in &self.daemons {
            let state = match d.state {
                DaemonState::Running => "running",
                DaemonState::Paused => "paused",
                DaemonState::Dead => "dead",
            };
            let pid = d.pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string());
            writeln!(f, "{:<8} {pid:>8}  {state:<8} {:>10}", d.name, Size(d.resident_bytes).to_string())?;
        }
        write!(f, "export CEPH_CONF={}", self.conf.display())
    }
}
