//! What the cluster did on its own while load ran: scrub, recovery, snapshot trimming, PGs that did not serve.
use super::episode::{attempts_text, episodes, only_step, seconds, since_first_load, touched};
use super::finding;
use crate::Facts;
use fathom_model::{ClusterTick, Finding, Severity};

struct Kind {
    id: &'static str,
    what: &'static str,
    is: fn(&str) -> bool,
    advice: &'static str,
}

const KINDS: [Kind; 4] = [
    Kind {
        id: "scrub-during-run",
        what: "placement groups were scrubbed",
        is: |state| state.contains("scrubbing"),
        advice: "repeat with `ceph osd set noscrub` and `nodeep-scrub` (and unset them afterwards), or outside the scrub hours; or leave it: this is what clients see while scrubs run",
    },
    Kind {
        id: "recovery-during-run",
        what: "the cluster recovered or moved data",
        is: is_recovery,
        advice: "wait until all placement groups are active+clean and repeat the attempts that were touched",
    },
    Kind {
        id: "snaptrim-during-run",
        what: "snapshots were trimmed",
        is: |state| state.contains("snaptrim"),
        advice: "wait until no placement group is in snaptrim or snaptrim_wait and repeat the attempts that were touched",
    },
    Kind {
        id: "pgs-inactive-during-run",
        what: "placement groups did not serve I/O",
        is: is_inactive,
        advice: "find out why with `ceph health detail` and `ceph pg PGID query`; operations on these placement groups waited",
    },
];

const SOURCE: &str = "PG states of `ceph status`, once a second (Ceph documentation, placement group states)";

fn is_recovery(state: &str) -> bool {
    state.split('+').any(|s| {
        s.starts_with("recover")
            || s.starts_with("backfill")
            || matches!(s, "degraded" | "undersized" | "forced_recovery")
    })
}

fn is_inactive(state: &str) -> bool {
    // `unknown` is a manager that has not heard of the PG, `creating` a pool that is being made: neither says that
    // operations waited (seen on 16.2.15 while every operation completed).
    let known = !matches!(state, "" | "unknown") && !state.split('+').any(|s| s.starts_with("creating"));
    known && !state.split('+').any(|s| s == "active")
}

fn count(tick: &ClusterTick, is: fn(&str) -> bool) -> u64 {
    tick.pg_states.iter().filter(|(state, _)| is(state)).map(|(_, n)| n).fold(0, |sum, n| sum.saturating_add(*n))
}

pub(super) fn during(facts: &Facts<'_>) -> Vec<Finding> {
    KINDS.iter().flat_map(|kind| of_kind(facts, kind)).collect()
}

fn of_kind(facts: &Facts<'_>, kind: &Kind) -> Vec<Finding> {
    if facts.ticks.is_empty() && facts.attempts.is_empty() {
        return now(facts, kind).into_iter().collect();
    }
    let recovers = |t: &ClusterTick| kind.id == "recovery-during-run" && t.recovering_objects_per_s > 0.0;
    let found = episodes(facts.ticks, |t| count(t, kind.is) > 0 || recovers(t)).into_iter();
    found
        .filter_map(|episode| {
            let attempts = touched(facts, episode.span);
            if attempts.is_empty() {
                return None;
            }
            let most = episode.ticks.iter().map(|t| count(t, kind.is)).max().unwrap_or(0);
            let of: u64 = episode.ticks.first().map_or(0, |t| count(t, |_| true));
            let rate = episode.ticks.iter().map(|t| t.recovering_objects_per_s).fold(0.0, f64::max);
            let rate = if rate > 0.0 { format!(", up to {rate:.0} objects/s recovered") } else { String::new() };
            let mut out = finding(
                kind.id,
                Severity::Warn,
                format!("{} for {} while load ran", kind.what, seconds(episode.span)),
                format!(
                    "from {} on, up to {most} of {of} placement groups{rate}; touched {}; states seen: {}",
                    since_first_load(facts, episode.span),
                    attempts_text(facts, &attempts),
                    states(&episode.ticks, kind.is),
                ),
                kind.advice,
                SOURCE,
            );
            out.span = Some(episode.span);
            out.step = only_step(facts, &attempts);
            Some(out)
        })
        .collect()
}

/// Before a run: what is going on at the moment.
fn now(facts: &Facts<'_>, kind: &Kind) -> Option<Finding> {
    let status = facts.before.status.as_ref()?;
    let affected: u64 = status.pg_states.iter().filter(|(s, _)| (kind.is)(s)).map(|(_, n)| n).sum();
    let rate = if kind.id == "recovery-during-run" { status.recovering_objects_per_s } else { 0.0 };
    (affected > 0 || rate > 0.0).then(|| {
        finding(
            &kind.id.replace("-during-run", "-now"),
            Severity::Warn,
            format!(
                "now: {}",
                kind.what
                    .replace("were ", "are ")
                    .replace("recovered or moved", "recovers or moves")
                    .replace("did not", "do not")
            ),
            format!("{affected} of {} placement groups, {rate:.0} objects/s recovered", status.num_pgs),
            kind.advice,
            "PG states of `ceph status`",
        )
    })
}

fn states(ticks: &[&ClusterTick], is: fn(&str) -> bool) -> String {
    let mut seen: Vec<String> = Vec::new();
    for (state, _) in ticks.iter().flat_map(|t| &t.pg_states).filter(|(s, _)| is(s)) {
        if !seen.contains(state) {
            seen.push(state.clone());
        }
    }
    if seen.is_empty() { "none named".to_owned() } else { super::listed(&seen) }
}

#[cfg(test)]
mod tests {
    use super::super::case::{Case, SECOND};

    #[test]
    fn each_state_is_found_with_its_span_and_attempts() {
        for (state, id) in [
            ("active+clean+scrubbing+deep", "scrub-during-run"),
            ("active+undersized+degraded", "recovery-during-run"),
            ("active+remapped+backfill_wait", "recovery-during-run"),
            ("active+clean+snaptrim_wait", "snaptrim-during-run"),
            ("peering", "pgs-inactive-during-run"),
        ] {
            let mut case = Case::healthy();
            case.tick(3, |t| t.pg_states = vec![("active+clean".into(), 40), (state.into(), 9)]);
            case.tick(4, |t| t.pg_states = vec![("active+clean".into(), 46), (state.into(), 3)]);
            let found = case.one(id);
            let span = found.span.unwrap();
            assert_eq!(
                (span.from_unix_ns, span.to_unix_ns),
                (case.start + 3 * SECOND, case.start + 5 * SECOND),
                "{state}"
            );
            assert!(
                found.evidence.contains("up to 9 of 49")
                    && found.evidence.contains("attempt 0")
                    && found.evidence.contains(state)
            );
            assert_eq!(found.step.as_deref(), Some("rados write 4 KiB T=64"));
        }
    }

    #[test]
    fn a_recovery_rate_alone_counts_and_zero_does_not() {
        let with = |rate| {
            let mut case = Case::healthy();
            case.tick(2, |t| t.recovering_objects_per_s = rate);
            case.severity("recovery-during-run").is_some()
        };
        assert!(with(1.0) && !with(0.0));
    }

    #[test]
    fn what_touched_no_attempt_is_not_reported() {
        let mut case = Case::healthy();
        case.run.attempts.truncate(1);
        case.tick(25, |t| t.pg_states = vec![("active+clean+scrubbing".into(), 1)]);
        assert_eq!(case.severity("scrub-during-run"), None);
    }

    #[test]
    fn stretches_close_together_are_one_and_others_are_not() {
        let mut case = Case::healthy();
        for at in [2, 6, 28] {
            case.tick(at, |t| t.pg_states = vec![("active+clean+scrubbing".into(), 1)]);
        }
        assert_eq!(case.all("scrub-during-run").len(), 2);
    }

    #[test]
    fn before_a_run_the_present_state_counts() {
        let mut case = Case::healthy();
        case.run.attempts.clear();
        case.run.ticks.clear();
        case.replace("ceph status", "\"active+clean\"", "\"active+clean+scrubbing\"");
        assert!(case.one("scrub-now").title.contains("are scrubbed"));
    }
}
