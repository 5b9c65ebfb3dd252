//! OSDs that the map had down, or that went out, while load ran.
use super::episode::{attempts_text, episodes, only_step, seconds, since_first_load, touched};
use super::{finding, osd_names};
use crate::Facts;
use fathom_model::{ClusterTick, Finding, OsdState, Severity};

const SOURCE: &str = "`ceph osd dump`, once a second; the map calls an OSD down osd_heartbeat_grace (20 s) after its last sign of life unless its connections are refused at once";

pub(super) fn during(facts: &Facts<'_>) -> Vec<Finding> {
    let mut osds: Vec<i32> = facts.ticks.iter().flat_map(|(_, t)| &t.osds_not_up_in).map(|o| o.id).collect();
    osds.sort_unstable();
    osds.dedup();
    let mut out: Vec<Finding> = Vec::new();
    for osd in osds.into_iter().filter(|osd| !is_retired(facts, *osd)) {
        out.extend(of_osd(facts, osd));
    }
    if out.is_empty() {
        out.extend(from_checks(facts));
    }
    out
}

fn state(tick: &ClusterTick, osd: i32) -> Option<&OsdState> {
    tick.osds_not_up_in.iter().find(|o| o.id == osd)
}

/// Down and out in every tick: an OSD that takes no part in anything, before and after.
fn is_retired(facts: &Facts<'_>, osd: i32) -> bool {
    let known = facts.ticks.iter().filter(|(_, t)| t.error.is_none());
    known.into_iter().all(|(_, t)| state(t, osd).is_some_and(|o| !o.is_in))
}

fn of_osd(facts: &Facts<'_>, osd: i32) -> Vec<Finding> {
    let stretches = episodes(facts.ticks, |t| state(t, osd).is_some()).into_iter();
    stretches
        .filter_map(|episode| {
            let attempts = touched(facts, episode.span);
            if attempts.is_empty() {
                return None;
            }
            let down = episode.ticks.iter().filter_map(|t| state(t, osd)).any(|o| !o.up);
            let word = if down { "down" } else { "out" };
            let mut out = finding(
                if down { "osd-down-during-run" } else { "osd-out-during-run" },
                Severity::Warn,
                format!("osd.{osd} was {word} for {} while load ran", seconds(episode.span)),
                format!(
                    "from {} on, in {} of {} looks at the map; touched {}",
                    since_first_load(facts, episode.span),
                    episode.ticks.len(),
                    facts.ticks.len(),
                    attempts_text(facts, &attempts)
                ),
                "look at its log and its host for that time; the numbers of these attempts are those of a cluster that lost and regained an OSD",
                SOURCE,
            );
            out.span = Some(episode.span);
            out.step = only_step(facts, &attempts);
            Some(out)
        })
        .collect()
}

/// Without the OSD map only the health check tells, and it does not name them all.
fn from_checks(facts: &Facts<'_>) -> Vec<Finding> {
    let message = |t: &ClusterTick| t.checks.iter().find(|(code, _)| code == "OSD_DOWN").map(|(_, m)| m.clone());
    // Those that were down before the run are a finding of the health before it.
    let before = facts.before.status.as_ref().is_some_and(|s| s.health.check("OSD_DOWN").is_some());
    if before || facts.ticks.iter().any(|(_, t)| !t.osds_not_up_in.is_empty()) {
        return Vec::new();
    }
    let stretches = episodes(facts.ticks, |t| message(t).is_some()).into_iter();
    stretches
        .filter_map(|episode| {
            let attempts = touched(facts, episode.span);
            let mut out = finding(
                "osd-down-during-run",
                Severity::Warn,
                format!("OSDs were down for {} while load ran", seconds(episode.span)),
                format!(
                    "OSD_DOWN: {}; touched {}",
                    episode.ticks.iter().find_map(|t| message(t)).unwrap_or_default(),
                    attempts_text(facts, &attempts)
                ),
                "look at `ceph osd tree down` and the cluster log for that time",
                "health check OSD_DOWN of `ceph status`, once a second",
            );
            out.span = Some(episode.span);
            out.step = only_step(facts, &attempts);
            (!attempts.is_empty()).then_some(out)
        })
        .collect()
}

/// Names for other rules: which OSDs were not up at some time while load ran.
pub(super) fn seen_down(facts: &Facts<'_>) -> Option<String> {
    let mut osds: Vec<i32> =
        facts.ticks.iter().flat_map(|(_, t)| &t.osds_not_up_in).filter(|o| !o.up).map(|o| o.id).collect();
    osds.sort_unstable();
    osds.dedup();
    (!osds.is_empty()).then(|| osd_names(&osds))
}

#[cfg(test)]
mod tests {
    use super::super::case::{Case, SECOND};
    use fathom_model::OsdState;

    fn down(up: bool, is_in: bool) -> OsdState {
        OsdState { id: 2, up, is_in }
    }

    #[test]
    fn names_the_osd_and_the_interval() {
        let mut case = Case::healthy();
        for at in 4..8 {
            case.tick(at, |t| t.osds_not_up_in = vec![down(false, true)]);
        }
        let found = case.one("osd-down-during-run");
        assert!(found.title.contains("osd.2 was down for 4.0 s"), "{}", found.title);
        assert_eq!(found.span.unwrap().from_unix_ns, case.start + 4 * SECOND);
    }

    #[test]
    fn out_is_another_finding_and_retired_is_none() {
        let mut case = Case::healthy();
        case.tick(4, |t| t.osds_not_up_in = vec![down(true, false)]);
        assert!(case.one("osd-out-during-run").title.contains("was out"));
        let mut case = Case::healthy();
        for at in 0..case.run.ticks.len() {
            case.tick(at as i64, |t| t.osds_not_up_in = vec![down(false, false)]);
        }
        assert!(case.all("osd-down-during-run").is_empty() && case.all("osd-out-during-run").is_empty());
    }

    #[test]
    fn a_health_check_is_enough() {
        let mut case = Case::healthy();
        case.tick(4, |t| t.checks = vec![("OSD_DOWN".into(), "1 osds down".into())]);
        assert!(case.one("osd-down-during-run").evidence.contains("1 osds down"));
    }
}
