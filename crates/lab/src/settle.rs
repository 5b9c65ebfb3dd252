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

/// How long to look out for the manager's own pool.
const POOL_LIMIT: Duration = Duration::from_secs(4);

/// Waits until the cluster is healthy.
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
    let mut settled = None;
    loop {
        let status = session.ask("status", Duration::from_secs(30))?;
        let health = Health::parse(&status)
            .ok_or_else(|| LabError::Failed("`ceph status` gave no health: is this a Ceph older than 14?".into()))?;
        let line = health.line();
        if line != shown {
            progress(&line);
            shown = line;
        }
        if health.settled(spec.osds, size_bytes) {
            // From release 17 on the manager makes a pool for itself, `.mgr`, soon after the first OSDs are there. It
            // is waited for, so that no PG appears while somebody measures; not for long, since a manager without
            // some of its modules makes none.
            let since = *settled.get_or_insert_with(Instant::now);
            let own_pool = health.release.as_str() >= "quincy";
            if !own_pool || health.pools > 0 || since.elapsed() > POOL_LIMIT {
                return Ok(health);
            }
        }
        if Instant::now() >= deadline {
            let checks: Vec<String> = health.checks.iter().map(|(code, text)| format!("{code}: {text}")).collect();
            return Err(LabError::Failed(format!(
                "the cluster did not become healthy in {} s: {shown} {}",
                limit.as_secs(),
                checks.join("; ")
            )));
        }
        thread::sleep(Duration::from_millis(100));
    }
}
