//! Where the race is run: a lab, somebody's or one of its own, and a pool in it. Both are gone afterwards, whatever
//! happens.
use super::child;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(120);
/// Placement groups of the pool: plenty for three OSDs.
const PG_NUM: &str = "32";
/// Both sides work in this namespace.
pub const NAMESPACE: &str = "race";

/// A directory below the temporary one, removed at the end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> Result<Scratch> {
        let dir = std::env::temp_dir().join(format!("fathom-race-{}", std::process::id()));
        std::fs::create_dir(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
        Ok(Scratch(dir))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// True from the first Ctrl-C or TERM on: the race ends after the child that is running, which gets the same signal.
pub fn on_signals() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// A lab that this race started.
struct Lab {
    fathom: PathBuf,
    dir: PathBuf,
}

impl Drop for Lab {
    fn drop(&mut self) {
        let down = Command::new(&self.fathom).args(["lab", "down", "--dir"]).arg(&self.dir).output();
        if !down.is_ok_and(|output| output.status.success()) {
            eprintln!("xtask: the lab is still there: `fathom lab down --dir {}`", self.dir.display());
        }
    }
}

/// A pool in a cluster, and a place for files.
pub struct Cluster {
    pub conf: PathBuf,
    pub pool: String,
    pub stop: Arc<AtomicBool>,
    // Dropped in this order, after the pool was removed: the lab, then the directory it is in.
    _lab: Option<Lab>,
    pub scratch: Scratch,
}

impl Cluster {
    pub fn open(fathom: &Path, conf: Option<&str>) -> Result<Cluster> {
        let (stop, scratch) = (on_signals()?, Scratch::new()?);
        let (lab, conf) = match conf {
            Some(conf) => (None, std::path::absolute(conf)?),
            None => {
                eprintln!("starting a lab");
                let lab = Lab { fathom: fathom.to_owned(), dir: scratch.0.join("lab") };
                let up = Command::new(fathom).args(["lab", "up", "--dir"]).arg(&lab.dir).output()?;
                let conf = lab.dir.join("ceph.conf");
                if !up.status.success() {
                    bail!("no lab: {}", String::from_utf8_lossy(&up.stderr));
                }
                (Some(lab), conf)
            }
        };
        let pool = format!("fathom-race-{}", std::process::id());
        let cluster = Cluster { conf, pool, stop, _lab: lab, scratch };
        cluster.ceph(&["osd", "pool", "create", &cluster.pool, PG_NUM, "--autoscale-mode=off"])?;
        cluster.ceph(&["osd", "pool", "application", "enable", &cluster.pool, "fathom"])?;
        Ok(cluster)
    }

    /// Fails when the race was asked to stop.
    pub fn go_on(&self) -> Result<()> {
        if self.stop.load(Relaxed) { bail!("stopped") } else { Ok(()) }
    }

    pub fn ceph(&self, args: &[&str]) -> Result<String> {
        let mut command = Command::new("ceph");
        command.arg("-c").arg(&self.conf).args(args);
        Ok(child::run(&mut command, &self.scratch.0, DEADLINE)?.stdout)
    }

    /// `rados` in the race's pool and namespace.
    pub fn rados(&self, args: &[&str], deadline: Duration) -> Result<child::Ended> {
        let mut command = Command::new("rados");
        command.arg("-c").arg(&self.conf).args(["-p", &self.pool, "-N", NAMESPACE]).args(args);
        child::run(&mut command, &self.scratch.0, deadline)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let pool = self.pool.clone();
        if let Err(error) = self.ceph(&["osd", "pool", "rm", &pool, &pool, "--yes-i-really-really-mean-it"]) {
            eprintln!(
                "xtask: pool {pool} is still there ({error:#}): \
                 `ceph osd pool rm {pool} {pool} --yes-i-really-really-mean-it`"
            );
        }
    }
}
