//! Bringing a lab up.
use crate::{
    ask::Session,
    conf,
    daemon::{self, AT_ONCE},
    down::{self, DownReport},
    error::{LabError, Result},
    haste,
    health::Health,
    lock::DirLock,
    marker::{Daemon, Found, Marker, Stage, mon_names},
    port::Port,
    program::{self, Running},
    secret,
    settle::settle,
    spec::LabSpec,
};
use fathom_model::Size;
use serde::Serialize;
use std::{
    fs,
    os::unix::fs::DirBuilderExt,
    path::PathBuf,
    time::{Duration, Instant},
};

/// From the first program to a settled cluster, at most. A busy two-core machine needs 10 s.
const SETTLE_LIMIT: Duration = Duration::from_secs(120);
/// `ceph-osd --mkfs`, at most.
const MKFS_LIMIT: Duration = Duration::from_secs(90);
/// A lab that is up.
#[derive(Clone, Debug, Serialize)]
pub struct LabInfo {
    /// The lab's directory, absolute.
    pub dir: PathBuf,
    /// The lab's id: the value of `FATHOM_LAB` in its processes' environment.
    pub id: String,
    /// The cluster's id.
    pub fsid: String,
    /// The configuration file; any Ceph tool uses the lab with `CEPH_CONF` set to it.
    pub conf: PathBuf,
    /// The keyring, with `client.admin`.
    pub keyring: PathBuf,
    /// Where the admin sockets are: `NAME.asok`.
    pub run_dir: PathBuf,
    /// Monitor addresses in the form of `mon_host`.
    pub mon_host: String,
    /// The daemons with their processes.
    pub daemons: Vec<Daemon>,
    /// The cluster as it was when `up` ended; `None` when an earlier `up` had made it and nothing was to be done.
    pub health: Option<Health>,
    /// True when the lab was up before.
    pub was_up: bool,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

impl LabInfo {
    /// Environment that makes any Ceph tool use the lab.
    #[must_use]
    pub fn env(&self) -> Vec<(String, String)> {
        vec![("CEPH_CONF".to_owned(), self.conf.display().to_string())]
    }

    /// The same as lines for a shell: `export CEPH_CONF=…`.
    #[must_use]
    pub fn shell(&self) -> String {
        // The path was checked to have no character a shell gives a meaning to.
        self.env().iter().map(|(name, value)| format!("export {name}={value}\n")).collect()
    }
}

/// Brings a lab up and waits until it is healthy, or usable with a warning that stays (see [`LabInfo::health`]). A lab of this directory that is up already is left as it is (daemons
/// of it that ended, in a reboot perhaps, are started again); one that is half made is removed and made anew.
///
/// # Errors
/// `Usage` for a specification that makes no sense, `Unreachable` when Ceph's programs are missing, `Refused` when the
/// directory holds anything else or a lab with another specification, `Failed` when Ceph does not come up; then no
/// process is left and the logs are.
pub fn up(spec: &LabSpec, progress: &mut dyn FnMut(&str)) -> Result<LabInfo> {
    let began = Instant::now();
    let spec = spec.resolved()?;
    program::check()?;
    let (mut marker, _lock) = match claim(&spec, progress)? {
        Claim::Fresh(marker, lock) => (marker, lock),
        Claim::Known(marker, lock) => return revive(*marker, began, progress).inspect(|_| drop(lock)),
    };
    match make(&mut marker, progress) {
        Ok(health) => Ok(info(&marker, Some(health), false, began)),
        Err(error) => Err(gave_up(&marker, error)),
    }
}

enum Claim {
    Fresh(Box<Marker>, DirLock),
    Known(Box<Marker>, DirLock),
}

/// Makes the directory ours, with the marker as the first thing in it.
fn claim(spec: &LabSpec, progress: &mut dyn FnMut(&str)) -> Result<Claim> {
    let dir = &spec.dir;
    // A `down` or another `up` may come in between: a few rounds settle it.
    for _ in 0..8 {
        let there = dir.exists();
        if !there {
            match fs::DirBuilder::new().mode(0o755).create(dir) {
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                    return Err(LabError::io("make", dir, &error));
                }
                _ => {}
            }
        }
        let Some(lock) = DirLock::take(dir)? else { continue };
        match Marker::find(dir)? {
            Found::Nothing => {}
            Found::Foreign => {
                return Err(LabError::Refused(format!(
                    "{} is not empty and is not a lab: name a directory that does not exist yet",
                    dir.display()
                )));
            }
            Found::Empty => {
                let marker = Marker::new(spec.clone(), there)?;
                marker.save()?;
                return Ok(Claim::Fresh(Box::new(marker), lock));
            }
            Found::Lab(old) if old.stage == Stage::Up && old.spec == *spec => return Ok(Claim::Known(old, lock)),
            Found::Lab(old) if old.stage == Stage::Up => {
                return Err(LabError::Refused(format!(
                    "the lab in {0} was made with other settings ({1} of {2}, {3}): use it as it \
                     is, or remove it first with `fathom lab down {0}`",
                    dir.display(),
                    count(old.spec.osds, "OSD"),
                    Size(old.spec.size_bytes),
                    count(old.spec.mon_count, "monitor")
                )));
            }
            Found::Lab(old) => {
                progress("removing what an earlier, unfinished start left");
                let was_there = old.dir_was_there;
                // The directory itself stays: its lock is ours.
                let spec_here = LabSpec { dir: dir.clone(), ..old.spec.clone() };
                let old = Marker { dir_was_there: true, spec: spec_here, ..*old };
                down::remove(&old, &mut DownReport::default(), progress)?;
                let marker = Marker::new(spec.clone(), was_there)?;
                marker.save()?;
                return Ok(Claim::Fresh(Box::new(marker), lock));
            }
        }
    }
    Err(LabError::Failed(format!("{} keeps being removed by somebody else: choose another directory", dir.display())))
}

/// `1 OSD`, `3 OSDs`.
fn count(n: u32, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Makes a cluster in an empty lab.
fn make(marker: &mut Marker, progress: &mut dyn FnMut(&str)) -> Result<Health> {
    let began = Instant::now();
    // Held until the monitors have bound them.
    let ports = (0..2 * marker.spec.mon_count).map(|_| Port::choose()).collect::<Result<Vec<Port>>>()?;
    marker.mon_host = ports
        .chunks(2)
        .map(|pair| format!("[v2:127.0.0.1:{},v1:127.0.0.1:{}]", pair[0].number, pair[1].number))
        .collect::<Vec<_>>()
        .join(",");
    marker.save()?;
    lay_out(marker)?;

    progress(&format!("formatting {} and starting the monitor", count(marker.spec.osds, "OSD")));
    let uuids = (0..marker.spec.osds).map(|_| secret::uuid()).collect::<Result<Vec<String>>>()?;
    let mut formatting: Vec<(u32, Running)> = Vec::new();
    let mut waiting = (0..marker.spec.osds).rev().collect::<Vec<u32>>();
    let mut feed = |formatting: &mut Vec<(u32, Running)>, marker: &Marker| -> Result<()> {
        while formatting.len() < AT_ONCE {
            let Some(n) = waiting.pop() else { break };
            formatting.push((n, format(marker, n, &uuids[n as usize])?));
        }
        Ok(())
    };
    feed(&mut formatting, marker)?;
    start_mons(marker, true)?;
    drop(ports);
    let mut session = Session::open(marker, Duration::from_secs(60))?;
    haste::mons(marker, true);
    let mgr = daemon::launch(marker, "mgr.x")?;
    // Device health monitoring would run smartctl as root on the host's disk and make a pool of its own; the balancer
    // would move PGs while somebody measures. The manager, which knows these settings, is not there yet: `--force`.
    session.tell("config set mgr mgr/devicehealth/enable_monitoring false --force")?;
    session.tell("config set mgr mgr/balancer/active false --force")?;
    for (n, uuid) in uuids.iter().enumerate() {
        session.ask(&format!("osd new {uuid} {n}"), Duration::from_secs(60))?;
    }
    mgr.wait()?;
    marker.record(daemon::started(marker, "mgr.x")?)?;
    while !formatting.is_empty() {
        let (_, running) = formatting.remove(0);
        running.wait()?;
        feed(&mut formatting, marker)?;
    }

    progress(&format!("starting {}", count(marker.spec.osds, "OSD")));
    let hurried = haste::mgr(marker, true);
    let names: Vec<String> = (0..marker.spec.osds).map(|n| format!("osd.{n}")).collect();
    daemon::start_all(marker, &names)?;
    if !hurried {
        haste::mgr(marker, true);
    }
    let left = SETTLE_LIMIT.saturating_sub(began.elapsed()).max(Duration::from_secs(30));
    let health = settle(&mut session, &marker.spec, left, progress)?;
    haste::mgr(marker, false);
    haste::mons(marker, false);
    marker.stage = Stage::Up;
    marker.save()?;
    Ok(health)
}

/// Directories, configuration, keys, monitor map.
fn lay_out(marker: &Marker) -> Result<()> {
    let dir = &marker.spec.dir;
    let mut make = vec![dir.join("log"), dir.join("crash"), marker.run_dir()];
    make.extend(marker.names().iter().map(|name| dir.join(name)));
    for path in make {
        // 0700: the daemons' directories hold keys, and the run directory may be in /tmp.
        fs::DirBuilder::new().mode(0o700).create(&path).map_err(|error| LabError::io("make", &path, &error))?;
    }
    conf::write(&marker.conf(), &conf::text(marker), 0o644)?;
    conf::make_keyring(marker)?;
    let map = dir.join("monmap").display().to_string();
    let mut args = vec!["--create", "--clobber", "--fsid", &marker.fsid];
    let hosts: Vec<String> = mon_addresses(marker);
    let names: Vec<String> = mon_names(marker.spec.mon_count).iter().map(char::to_string).collect();
    for (name, host) in names.iter().zip(&hosts) {
        args.extend(["--addv", name, host]);
    }
    args.push(&map);
    program::start(marker, "monmaptool", "monmaptool", &args, Duration::from_secs(20))?.wait()
}

/// `mon_host` split into one address vector per monitor.
fn mon_addresses(marker: &Marker) -> Vec<String> {
    marker.mon_host.split_inclusive(']').map(|part| part.trim_start_matches(',').to_owned()).collect()
}

fn format(marker: &Marker, n: u32, uuid: &str) -> Result<Running> {
    let id = n.to_string();
    let args = ["-i", &id, "--mkfs", "--osd-uuid", uuid, "--no-mon-config"];
    program::start(marker, &format!("osd.{n}.mkfs"), "ceph-osd", &args, MKFS_LIMIT)
}

fn start_mons(marker: &mut Marker, new: bool) -> Result<()> {
    let dir = marker.spec.dir.clone();
    let (map, keyring) = (dir.join("monmap").display().to_string(), marker.keyring().display().to_string());
    let ids = mon_names(marker.spec.mon_count);
    if new {
        for id in &ids {
            let args = ["-i", &id.to_string(), "--mkfs", "--monmap", &map, "--keyring", &keyring];
            let name = format!("mon.{id}.mkfs");
            program::start(marker, &name, "ceph-mon", &args, Duration::from_secs(60))?.wait()?;
        }
    }
    let names: Vec<String> = ids.iter().map(|id| format!("mon.{id}")).collect();
    daemon::start_all(marker, &names)
}

/// Starts what is not running of a lab that was up.
fn revive(mut marker: Marker, began: Instant, progress: &mut dyn FnMut(&str)) -> Result<LabInfo> {
    let dead: Vec<String> =
        marker.names().into_iter().filter(|name| daemon::running(&marker, name).is_none()).collect();
    if dead.is_empty() {
        progress("the lab is up already");
        return Ok(info(&marker, None, true, began));
    }
    progress(&format!("starting again: {}", dead.join(", ")));
    daemon::ensure_run_dir(&marker)?;
    for kind in ["mon.", "mgr.", "osd."] {
        let names: Vec<String> = dead.iter().filter(|name| name.starts_with(kind)).cloned().collect();
        daemon::start_all(&mut marker, &names)?;
    }
    daemon::wait_joined(&marker, &dead, Duration::from_secs(60));
    let mut session = Session::open(&marker, Duration::from_secs(60))?;
    let health = settle(&mut session, &marker.spec, SETTLE_LIMIT, progress)?;
    Ok(info(&marker, Some(health), true, began))
}

/// Ends the processes of a lab that did not come up; its logs stay.
fn gave_up(marker: &Marker, error: LabError) -> LabError {
    let _ = down::stop(marker, &mut DownReport::default(), &mut |_| {});
    let text = format!(
        "{error}; its logs are in {}/log, and `fathom lab down {}` removes them",
        marker.spec.dir.display(),
        marker.spec.dir.display()
    );
    match error {
        LabError::Unreachable(_) => LabError::Unreachable(text),
        _ => LabError::Failed(text),
    }
}

fn info(marker: &Marker, health: Option<Health>, was_up: bool, began: Instant) -> LabInfo {
    LabInfo {
        dir: marker.spec.dir.clone(),
        id: marker.id.clone(),
        fsid: marker.fsid.clone(),
        conf: marker.conf(),
        keyring: marker.keyring(),
        run_dir: marker.run_dir(),
        mon_host: marker.mon_host.clone(),
        daemons: marker.daemons.clone(),
        health,
        was_up,
        took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
    }
}
