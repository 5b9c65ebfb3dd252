//! Does the cluster's own count agree with the client's?
use super::finding;
use crate::counters::{ClientCount, PoolCounters, Reconciliation, reconcile};
use crate::{ClusterFacts, Facts};
use fathom_model::{Attempt, Finding, Severity, Verb};

/// Above this difference in percent it is a finding; between this and what counts as agreement the report's table tells.
const DIFFER_PCT: f64 = 1.0;

/// The client's count against the cluster's for one attempt; empty when the pool's counters were not captured around it
/// (`attempt-N-before` and `attempt-N-after`, `ceph pg dump pools` or `ceph df detail`), or when several hosts loaded
/// the pool at once (an attempt is one host's).
///
/// The first capture is to be made after preparation, the second before anything is removed.
#[must_use]
pub fn reconcile_attempt(facts: &Facts<'_>, attempt: &Attempt) -> Vec<Reconciliation> {
    let (before, after) = facts.around(attempt.id);
    let Some(pool) = facts.step_of(attempt).and_then(|s| s.params.get("pool")?.as_str()) else { return Vec::new() };
    let together = facts.attempts.iter().filter(|a| a.step == attempt.step && a.repeat == attempt.repeat).count();
    let counters = counters_of(facts, &before, pool).zip(counters_of(facts, &after, pool));
    match counters {
        Some((before, after)) if together == 1 => reconcile(&client_count(attempt), &before, &after),
        _ => Vec::new(),
    }
}

fn counters_of(facts: &Facts<'_>, side: &ClusterFacts, pool: &str) -> Option<PoolCounters> {
    let by_name = |c: &ClusterFacts| c.pool(pool).map(|p| p.id).or_else(|| Some(c.df.as_ref()?.pool(pool)?.id));
    let id = by_name(side).or_else(|| by_name(&facts.after)).or_else(|| by_name(&facts.before))?;
    let of_df = || PoolCounters::from_df(side.df.as_ref().unwrap_or(&crate::dump::Df::default()));
    let dumped = side.pool_counters.iter().find(|c| c.pool_id == id).copied();
    dumped.or_else(|| of_df().into_iter().find(|c| c.pool_id == id))
}

fn client_count(attempt: &Attempt) -> ClientCount {
    let ops = |verb: Verb| {
        let of_verb = attempt.samples.iter().filter(|s| s.verb == verb);
        of_verb.fold(0u64, |sum, s| sum.saturating_add(s.ops))
    };
    let uncertain = attempt.samples.iter().map(|s| s.timeouts.saturating_add(s.failed()));
    ClientCount {
        read_ops: ops(Verb::Read),
        write_ops: ops(Verb::Write),
        uncertain_ops: uncertain.fold(0, u64::saturating_add),
    }
}

pub(super) fn differ(facts: &Facts<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    for attempt in facts.attempts {
        let differing =
            reconcile_attempt(facts, attempt).into_iter().filter(|r| !r.agrees && r.diff_pct.abs() > DIFFER_PCT);
        out.extend(differing.map(|r| {
            let mut found = finding(
                "counts-differ",
                Severity::Warn,
                format!("client and cluster counted different {}s in attempt {}", r.verb.word(), attempt.id),
                format!("client {}, cluster {} ({:+.2} %): {}", r.client_ops, r.cluster_ops, r.diff_pct, r.note),
                "do not quote this attempt before the difference is explained",
                "ceph pg dump pools (stat_sum.num_read, num_write) around the attempt; exact on 16.2.15, 18.2.7 and 20.2.4",
            );
            found.step = facts.step_of(attempt).map(|s| s.name.clone());
            found
        }));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;
    use super::*;

    fn with(cluster_writes: u64) -> Case {
        let mut case = Case::healthy();
        let dump = |n: u64| format!(r#"{{"pool_stats":[{{"poolid":1,"stat_sum":{{"num_write":{n}}}}}]}}"#);
        case.text("attempt-1-before", "ceph pg dump pools", &dump(500));
        case.text("attempt-1-after", "ceph pg dump pools", &dump(500 + cluster_writes));
        case
    }

    #[test]
    fn one_percent_is_the_line() {
        // Ten samples of 1000 writes.
        assert!(with(10_000).all("counts-differ").is_empty());
        assert!(with(10_100).all("counts-differ").is_empty());
        let found = with(10_101).one("counts-differ");
        assert!(found.evidence.contains("client 10000, cluster 10101 (+1.01 %)"), "{}", found.evidence);
    }

    #[test]
    fn an_attempt_that_was_captured_is_reconciled() {
        let case = with(10_000);
        let facts = Facts::of_run(&case.run);
        let all: Vec<_> = facts.attempts.iter().flat_map(|a| reconcile_attempt(&facts, a)).collect();
        assert_eq!(all.len(), 1);
        assert!(all[0].agrees && all[0].client_ops == 10_000);
    }
}
