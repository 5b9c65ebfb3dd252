//! Waiting until a cluster is healthy.
use crate::{
    ask::Session,
    error::{LabError, Result},
    health::Health,
    spec::{LabSpec, normal_key},
};
use std::{
    thread,
    time::{Duration, Instant},
};

/// How long to wait for a warning to go once the cluster is usable. One that stays has to do with the machine, the
/// packages or the settings asked for; the lab is up all the same, and the warning is told.
const WARN_LIMIT: Duration = Duration::from_secs(8);
/// From release 17 on the manager makes a pool for itself, `.mgr`, soon after the first OSDs are there. It is waited
/// for, so that no PG appears while somebody measures; not for long, since not every manager makes one.
const POOL_LIMIT: Duration = Duration::from_secs(4);

/// Waits until the cluster is usable and, if it can be, healthy.
pub(crate) fn settle(
    session: &mut Session,
    spec: &LabSpec,
    limit: Duration,
    progress: &mut dyn FnMut(&str),
) -> Result<Health> {
    let deadline = Instant::now() + limit;
    // Another object store has a size setting of its own.
    let other_store = spec.conf.iter().any(|(key, _)| normal_key(key) == "osd_objectstore");
    let size_bytes = if other_store { 1 } else { spec.size_bytes };
    let mut shown = String::new();
    let mut usable = None;
    loop {
        let status = session.ask("status", Duration::from_secs(30))?;
        let health = Health::parse(&status)
            .ok_or_else(|| LabError::Failed("`ceph status` gave no health: is this a Ceph older than 14?".into()))?;
        let line = health.line();
        if line != shown {
            progress(&line);
            shown = line;
        }
        if health.usable(spec.osds, size_bytes) {
            let since = usable.get_or_insert_with(Instant::now).elapsed();
            let calm = health.status == "HEALTH_OK" || health.lacks_modules() && health.checks.len() == 1;
            let whole = health.release.as_str() < "quincy" || health.pools > 0 || health.lacks_modules();
            if (calm || since > WARN_LIMIT) && (whole || since > POOL_LIMIT) {
                if !health.checks.is_empty() {
                    progress(&format!("up, with a warning: {}", health.checks_line()));
                }
                return Ok(health);
            }
        }
        if Instant::now() >= deadline {
            return Err(LabError::Failed(format!(
                "the cluster did not become usable in {} s: {shown} {}",
                limit.as_secs(),
                health.checks_line()
            )));
        }
        thread::sleep(Duration::from_millis(100));
    }
}
