//! The client's counts against the cluster's own, and where reads came from: two answers to "did the cluster really
//! do this work?".
use crate::words;
use fathom_ceph::{Facts, Reconciliation, rules};
use fathom_model::Verb;
use serde::Serialize;

/// One verb's count on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReconciledView {
    /// `pool bench, whole run`, or one attempt.
    pub scope: String,
    /// Read or write.
    pub verb: Verb,
    /// Operations this program completed, preparation and removal included for a whole run.
    pub client_ops: u64,
    /// Operations the cluster counted on that pool.
    pub cluster_ops: u64,
    /// Bytes the cluster counted.
    pub cluster_bytes: u64,
    /// Difference in percent of the client's count.
    pub diff_pct: f64,
    /// True when both agree.
    pub agrees: bool,
    /// What explains or limits it.
    pub note: String,
}

/// Where the reads of one attempt came from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadOriginView {
    /// Which.
    pub attempt: u32,
    /// Name of its step.
    pub step: String,
    /// Repeat, from 0.
    pub repeat: u32,
    /// Bytes found in the OSDs' cache.
    pub cache_bytes: u64,
    /// Bytes the OSDs asked their devices for.
    pub device_bytes: u64,
    /// Share of the bytes that came from the cache, 0 to 1.
    pub cache_share: f64,
    /// OSDs this rests on.
    pub osds: u64,
    /// What this does not tell.
    pub limits: String,
}

pub(crate) fn reconciled(facts: &Facts<'_>) -> Vec<ReconciledView> {
    let mut list = Vec::new();
    for pool in facts.pool_names() {
        let scope = format!("pool {}, whole run", words::plain(pool));
        list.extend(rules::reconcile_pool(facts, pool).into_iter().map(|r| view(&scope, r)));
    }
    for attempt in facts.attempts {
        let name = facts.step_of(attempt).map_or("", |s| s.name.as_str());
        let scope = format!("{} #{}", words::plain(name), attempt.repeat.saturating_add(1));
        list.extend(rules::reconcile_attempt(facts, attempt).into_iter().map(|r| view(&scope, r)));
    }
    // A pool that was only written to need not say that nothing was read.
    list.retain(|r| r.client_ops > 0 || r.cluster_ops > 0);
    list
}

fn view(scope: &str, r: Reconciliation) -> ReconciledView {
    ReconciledView {
        scope: scope.to_owned(),
        verb: r.verb,
        client_ops: r.client_ops,
        cluster_ops: r.cluster_ops,
        cluster_bytes: r.cluster_bytes,
        diff_pct: r.diff_pct,
        agrees: r.agrees,
        note: r.note,
    }
}

pub(crate) fn read_origins(facts: &Facts<'_>) -> Vec<ReadOriginView> {
    let reads = facts.attempts.iter().filter(|a| facts.step_of(a).is_some_and(|s| s.load.has(Verb::Read)));
    reads
        .filter_map(|attempt| {
            let origin = rules::attempt_origin(facts, attempt)?;
            Some(ReadOriginView {
                attempt: attempt.id,
                step: facts.step_of(attempt).map_or_else(String::new, |s| s.name.clone()),
                repeat: attempt.repeat,
                cache_bytes: origin.cache_bytes,
                device_bytes: origin.device_bytes,
                cache_share: origin.cache_share,
                osds: origin.osds as u64,
                limits: origin.limits,
            })
        })
        .collect()
}
