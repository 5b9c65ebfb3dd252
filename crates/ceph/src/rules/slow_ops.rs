//! Slow operations as the cluster itself reports them.
use super::episode::{attempts_text, episodes, only_step, seconds, touched};
use super::{finding, osd_names};
use crate::Facts;
use fathom_model::{ClusterTick, Finding, Severity};

const ADVICE: &str =
    "look at `ceph tell osd.N dump_historic_slow_ops` of the OSDs named (`fathom ops`) for the stage they waited in";

pub(super) fn during(facts: &Facts<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    let message = |t: &ClusterTick| t.checks.iter().find(|(code, _)| code == "SLOW_OPS").map(|(_, m)| m.clone());
    for episode in episodes(facts.ticks, |t| message(t).is_some()) {
        let attempts = touched(facts, episode.span);
        if attempts.is_empty() {
            continue;
        }
        let last = episode.ticks.iter().rev().find_map(|t| message(t)).unwrap_or_default();
        let mut found = finding(
            "slow-ops",
            Severity::Warn,
            format!("the cluster reported slow operations for {} while load ran", seconds(episode.span)),
            format!("SLOW_OPS: {last}; touched {}", attempts_text(facts, &attempts)),
            ADVICE,
            "health check SLOW_OPS: operations older than osd_op_complaint_time (30 s)",
        );
        found.span = Some(episode.span);
        found.step = only_step(facts, &attempts);
        out.push(found);
    }
    if out.is_empty() {
        out.extend(counted(facts));
    }
    out
}

/// Releases that count them (18.2.5 and later) tell even when the health check came and went between two looks.
fn counted(facts: &Facts<'_>) -> Option<Finding> {
    let pairs = facts.after.osd_counters.iter().filter_map(|after| {
        let before = facts.before.osd_counters.iter().find(|b| b.osd == after.osd)?;
        let delta = after.since(before);
        Some((after.osd, delta.slow_ops.filter(|n| *n > 0 && !delta.restarted)?))
    });
    let slow: Vec<(i32, u64)> = pairs.collect();
    let total: u64 = slow.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n));
    (total > 0).then(|| {
        let osds: Vec<i32> = slow.iter().map(|(osd, _)| *osd).collect();
        finding(
            "slow-ops",
            Severity::Warn,
            format!("{total} slow operations on {} during the run", osd_names(&osds)),
            slow.iter().map(|(osd, n)| format!("osd.{osd}: {n}")).collect::<Vec<_>>().join(", "),
            ADVICE,
            "perf counter trackedop.slow_ops_count, after minus before",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;

    #[test]
    fn from_the_health_check() {
        let mut case = Case::healthy();
        case.tick(5, |t| {
            t.checks = vec![("SLOW_OPS".into(), "3 slow ops, oldest one blocked for 31 sec, osd.1 has slow ops".into())]
        });
        let found = case.one("slow-ops");
        assert!(found.evidence.contains("osd.1 has slow ops") && found.span.is_some());
    }

    #[test]
    fn from_the_counter() {
        let mut case = Case::healthy();
        case.replace_at("after", "ceph tell osd.1 perf dump", "\"slow_ops_count\": 0", "\"slow_ops_count\": 4");
        assert!(case.one("slow-ops").title.contains("4 slow operations on osd.1"));
        assert!(Case::healthy().all("slow-ops").is_empty());
    }
}
