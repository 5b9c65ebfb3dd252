//! State of the cluster before and after: two answers to `ceph status`, and what the watch saw between them.
use super::{ContextLine, Texts, known, unknown, unread};
use crate::words;
use fathom_ceph::dump::Status;
use fathom_ceph::{ClusterFacts, Facts};
use fathom_model::{ClusterTick, RunData};

pub(super) fn lines(texts: &Texts<'_>, facts: &Facts<'_>, run: &RunData) -> Vec<ContextLine> {
    let mut lines = Vec::new();
    for (moment, side) in [("before", &facts.before), ("after", &facts.after)] {
        let fact = texts.at("status", moment).or_else(|| texts.at("-s", moment));
        let values = side.status.as_ref().map(|s| status(moment, s, side)).unwrap_or_default();
        lines.extend(texts.lines_at(&format!("Cluster {moment}"), "ceph status", fact, values));
        lines.extend(unread(&side.unread));
    }
    lines.push(watched(run));
    lines
}

fn status(moment: &str, status: &Status, side: &ClusterFacts) -> Vec<(String, String)> {
    // `health detail` has the same checks; where it was captured too its details are in the store.
    let health = side.health.as_ref().unwrap_or(&status.health);
    let mut lines = vec![(format!("Cluster {moment}"), health.status.clone())];
    for check in &health.checks {
        let muted = if check.muted { " (muted)" } else { "" };
        lines.push((format!("{} {moment}", check.code), format!("{}{muted}", check.message)));
    }
    lines.push((
        format!("OSDs {moment}"),
        format!("{} OSDs, {} up, {} in", status.num_osds, status.num_up_osds, status.num_in_osds),
    ));
    let states: Vec<String> = status.pg_states.iter().map(|(state, n)| format!("{n} {state}")).collect();
    if !states.is_empty() {
        lines.push((format!("PGs {moment}"), states.join(", ")));
    }
    if status.bytes_total > 0 {
        let share = status.bytes_used as f64 / status.bytes_total as f64;
        let text = format!("{} of {}", words::bytes(status.bytes_used as f64), words::bytes(status.bytes_total as f64));
        lines.push((format!("Used {moment}"), format!("{text} ({})", words::percent(share))));
    }
    lines
}

/// What the watch over the run saw: whether anything but the load kept the cluster busy.
fn watched(run: &RunData) -> ContextLine {
    let ticks = &run.ticks;
    if ticks.is_empty() {
        return unknown("During the run", "the cluster was not watched", "");
    }
    let any = |of: &dyn Fn(&ClusterTick) -> bool| ticks.iter().filter(|(_, t)| of(t)).count();
    let in_state = |tick: &ClusterTick, word: &str| tick.pg_states.iter().any(|(s, k)| *k > 0 && s.contains(word));
    let scrubs = any(&|t| in_state(t, "scrub"));
    let recovery = any(&|t| t.recovering_objects_per_s > 0.0 || in_state(t, "recover") || in_state(t, "backfill"));
    let not_ok = any(&|t| t.error.is_none() && t.health != "HEALTH_OK");
    let silent = any(&|t| t.error.is_some());
    let text = format!(
        "{} looks at the cluster: scrubbing in {scrubs}, recovery or backfill in {recovery}, health not OK in \
         {not_ok}, no answer in {silent}",
        ticks.len()
    );
    known("During the run", &text, "watch during the run")
}
