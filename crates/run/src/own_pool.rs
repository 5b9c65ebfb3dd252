//! A pool of our own: written into the ledger, then made, with the autoscaler off, and only where it can be removed.
use crate::{
    control::Control,
    protocol::{CommandTarget, Failure, FailureClass},
    recorder::Recorder,
};
use fathom_ceph::{ClusterFacts, pool};
use fathom_model::{Fact, Made};
use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

/// How long placement groups get to become active and clean.
const CLEAN_WAIT: Duration = Duration::from_secs(90);

/// The pool a run makes for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPool {
    /// Name; begins with `fathom-`.
    pub name: String,
    /// Copies; `None`: the cluster's default.
    pub size: Option<u64>,
    /// Placement groups; `None`: by the number of OSDs.
    pub pg_num: Option<u64>,
}

impl OwnPool {
    /// Makes it and waits until it is usable.
    ///
    /// # Errors
    /// When the cluster doesn't allow it or would not allow its removal; then nothing was made.
    pub(crate) fn make(
        &self,
        control: &Control,
        recorder: &Recorder,
        before: &[Fact],
        keep: bool,
        cancel: &AtomicBool,
    ) -> Result<(), Failure> {
        if !keep && may_delete(control) == Some(false) {
            return Err(Failure::new(
                FailureClass::Refused,
                "the monitors don't allow pools to be deleted (mon_allow_pool_delete is false), so a pool of fathom's own \
                 would stay: name a pool to use with -p, or run `ceph config set mon mon_allow_pool_delete true` first",
            ));
        }
        let facts = ClusterFacts::read(before);
        let size =
            self.size.or_else(|| facts.setting("osd_pool_default_size").and_then(|v| v.parse().ok())).unwrap_or(3);
        let pg_num = self
            .pg_num
            .unwrap_or_else(|| pool::choose_pg_num(facts.osds_in(), size, facts.pg_copies(), pool::MAX_PGS_PER_OSD));
        let made = Made::Pool { fsid: control.fsid(), pool: self.name.clone() };
        recorder.ledger(made, keep).map_err(|e| Failure::new(FailureClass::Failed, e))?;
        let plan = pool::BenchPool {
            name: self.name.clone(),
            pg_num,
            size: self.size,
            min_size: None,
            erasure_code_profile: None,
            crush_rule: None,
        };
        for command in plan.create_commands() {
            control.command(CommandTarget::Mon, &command, None).map_err(|failure| Failure {
                text: format!("cannot make pool {}: {}; name an existing one with -p", self.name, failure.text),
                ..failure
            })?;
        }
        wait_clean(control, cancel)
    }
}

/// What the monitors answer to whether pools may be deleted; `None` when they don't say. A monitor's own configuration
/// file may differ from the central one: the daemon's running value counts.
fn may_delete(control: &Control) -> Option<bool> {
    let json =
        serde_json::json!({"prefix": "config get", "var": "mon_allow_pool_delete", "format": "json"}).to_string();
    let leader = control
        .mon("quorum_status")
        .ok()
        .and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok())
        .and_then(|v| v["quorum_leader_name"].as_str().map(str::to_owned))?;
    let text = control.command(CommandTarget::MonNamed(leader), &json, Some(Duration::from_secs(5))).ok()?;
    let value: serde_json::Value = serde_json::from_str(&text).ok()?;
    match value["mon_allow_pool_delete"].as_str()? {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn wait_clean(control: &Control, cancel: &AtomicBool) -> Result<(), Failure> {
    let deadline = Instant::now() + CLEAN_WAIT;
    loop {
        let status = control.mon("status")?;
        let tick = fathom_ceph::cluster_tick(&status, None);
        let waiting: u64 = tick.pg_states.iter().filter(|(s, _)| !s.starts_with("active+clean")).map(|(_, n)| n).sum();
        if !tick.pg_states.is_empty() && waiting == 0 {
            return Ok(());
        }
        if cancel.load(Relaxed) {
            return Err(Failure::new(FailureClass::Failed, "cancelled"));
        }
        if Instant::now() > deadline {
            // Measured all the same: the rules say what state the cluster was in.
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(300));
    }
}
