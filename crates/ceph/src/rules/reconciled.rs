//! Does the cluster's own count agree with the client's?
use super::finding;
use crate::counters::{ClientCount, PoolCounters, Reconciliation, reconcile};
use crate::{ClusterFacts, Facts};
use fathom_model::{Attempt, Finding, Severity, Verb};

/// Above this difference in percent it is a finding; between this and what counts as agreement the report's table tells.
const DIFFER_PCT: f64 = 1.0;

/// The client's count against the cluster's on one pool over the whole run, preparation and removal included. Empty when
/// the pool's counters were not captured after the run (`ceph pg dump pools` or `ceph df detail` of the moment `after`).
///
/// A pool that was not there before the run began at 0.
#[must_use]
pub fn reconcile_pool(facts: &Facts<'_>, pool: &str) -> Vec<Reconciliation> {
    let Some(after) = counters_of(&facts.after, pool_id(&facts.after, pool), pool) else { return Vec::new() };
    let before_id = pool_id(&facts.before, pool);
    let before = match counters_of(&facts.before, before_id, pool) {
        Some(counters) => counters,
        // Known to be there but not counted: nothing to subtract.
        None if before_id.is_some() => return Vec::new(),
        None => PoolCounters { pool_id: after.pool_id, ..PoolCounters::default() },
    };
    let on_pool = |a: &&Attempt| pool_of(facts, a) == Some(pool);
    let mut client = facts.attempts.iter().filter(on_pool).map(client_count).fold(ClientCount::default(), sum);
    // A removal is counted as a write of no bytes.
    for io in facts.own_io.iter().filter(|io| io.pool == pool) {
        client.write_ops = client.write_ops.saturating_add(io.writes).saturating_add(io.removes);
        client.read_ops = client.read_ops.saturating_add(io.reads);
    }
    reconcile(&client, &before, &after)
}

/// The same for one attempt; empty when the pool's counters were not captured around it (`attempt-N-before`, after
/// preparation, and `attempt-N-after`, before anything is removed), or when several hosts loaded the pool at once (an
/// attempt is one host's).
#[must_use]
pub fn reconcile_attempt(facts: &Facts<'_>, attempt: &Attempt) -> Vec<Reconciliation> {
    let (before, after) = facts.around(attempt.id);
    let Some(pool) = pool_of(facts, attempt) else { return Vec::new() };
    let together = facts.attempts.iter().filter(|a| a.step == attempt.step && a.repeat == attempt.repeat).count();
    let id =
        |side| pool_id(side, pool).or_else(|| pool_id(&facts.after, pool)).or_else(|| pool_id(&facts.before, pool));
    let counters = counters_of(&before, id(&before), pool).zip(counters_of(&after, id(&after), pool));
    match counters {
        Some((before, after)) if together == 1 => reconcile(&client_count(attempt), &before, &after),
        _ => Vec::new(),
    }
}

fn pool_of<'a>(facts: &Facts<'a>, attempt: &Attempt) -> Option<&'a str> {
    facts.step_of(attempt)?.params.get("pool")?.as_str()
}

fn pool_id(side: &ClusterFacts, pool: &str) -> Option<i64> {
    side.pool(pool).map(|p| p.id).or_else(|| Some(side.df.as_ref()?.pool(pool)?.id))
}

/// From `pg dump pools`, which knows numbers only; else from `df detail`, which knows the name.
fn counters_of(side: &ClusterFacts, id: Option<i64>, pool: &str) -> Option<PoolCounters> {
    let dumped = id.and_then(|id| side.pool_counters.iter().find(|c| c.pool_id == id).copied());
    let of_df = || {
        let df = side.df.as_ref()?;
        let id = df.pool(pool)?.id;
        PoolCounters::from_df(df).into_iter().find(|c| c.pool_id == id)
    };
    dumped.or_else(of_df)
}

fn sum(a: ClientCount, b: ClientCount) -> ClientCount {
    ClientCount {
        read_ops: a.read_ops.saturating_add(b.read_ops),
        write_ops: a.write_ops.saturating_add(b.write_ops),
        uncertain_ops: a.uncertain_ops.saturating_add(b.uncertain_ops),
    }
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
    for pool in facts.pool_names().into_iter().filter(|_| !facts.attempts.is_empty()) {
        out.extend(
            reconcile_pool(facts, pool).iter().filter_map(|r| of(r, &format!("on pool `{pool}` in this run"), None)),
        );
    }
    for attempt in facts.attempts {
        let step = facts.step_of(attempt).map(|s| s.name.clone());
        let where_ = format!("in attempt {}", attempt.id);
        out.extend(reconcile_attempt(facts, attempt).iter().filter_map(|r| of(r, &where_, step.clone())));
    }
    out
}

fn of(r: &Reconciliation, where_: &str, step: Option<String>) -> Option<Finding> {
    if r.agrees || r.diff_pct.abs() <= DIFFER_PCT {
        return None;
    }
    let mut out = finding(
        "counts-differ",
        Severity::Warn,
        format!("client and cluster counted different {}s {where_}", r.verb.word()),
        format!("client {}, cluster {} ({:+.2} %): {}", r.client_ops, r.cluster_ops, r.diff_pct, r.note),
        "do not quote these numbers before the difference is explained",
        "ceph pg dump pools (stat_sum.num_read, num_write), after minus before; exact on 16.2.15, 18.2.7 and 20.2.4",
    );
    out.step = step;
    Some(out)
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
    fn the_whole_run_with_preparation_and_removal() {
        let with = |writes| {
            let mut case = Case::healthy();
            case.run.own_io.push(fathom_model::OwnIo { pool: "fx".into(), writes: 2_000, removes: 0, reads: 0 });
            case.run.own_io.push(fathom_model::OwnIo { pool: "fx".into(), writes: 0, removes: 3_000, reads: 0 });
            case.run.own_io.push(fathom_model::OwnIo { pool: "other".into(), writes: 9_999, removes: 0, reads: 0 });
            case.count_writes(writes);
            case.severity("counts-differ").is_some()
        };
        assert!(!with(35_000) && !with(35_350) && with(35_351) && with(30_000));
    }

    #[test]
    fn a_pool_the_run_made_began_at_zero() {
        let mut case = Case::healthy();
        for source in ["ceph osd pool ls detail", "ceph osd dump", "ceph df detail", "ceph pg dump pools"] {
            case.text("before", source, "");
        }
        case.text("after", "ceph pg dump pools", r#"{"pool_stats":[{"poolid":1,"stat_sum":{"num_write":30000}}]}"#);
        let facts = Facts::of_run(&case.run);
        let all = reconcile_pool(&facts, "fx");
        assert!(all.len() == 1 && all[0].agrees, "{all:?}");
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
