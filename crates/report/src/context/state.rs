//! State of the cluster before and after: two answers to `ceph status`, side by side.
use super::{ContextLine, Facts, json, known, member, unknown};
use fathom_model::{ClusterTick, Fact, RunData};
use serde_json::Value;

pub(super) fn lines(facts: &Facts<'_>, run: &RunData) -> Vec<ContextLine> {
    let mut lines = Vec::new();
    for moment in ["before", "after"] {
        let fact = facts.at("ceph status", moment).or_else(|| facts.at("ceph -s", moment));
        lines.extend(status(moment, fact));
    }
    lines.extend(watched(run));
    lines
}

fn status(moment: &str, fact: Option<&Fact>) -> Vec<ContextLine> {
    let name = format!("Cluster {moment}");
    let Some(fact) = fact else { return vec![unknown(&name, "not captured (`ceph status`)", "")] };
    if let Some(error) = &fact.error {
        return vec![unknown(&name, error, &fact.source)];
    }
    let Some(status) = json(&fact.text) else {
        return vec![unknown(&name, "the answer is not JSON", &fact.source)];
    };
    let null = Value::Null;
    let health = status.get("health").unwrap_or(&null);
    let mut lines = vec![known(&name, &member(health, "status").unwrap_or_default(), &fact.source)];
    for (code, check) in health.get("checks").and_then(Value::as_object).into_iter().flatten() {
        let message = check.pointer("/summary/message").and_then(Value::as_str).unwrap_or_default();
        lines.push(known(&format!("Health {moment}: {code}"), message, &fact.source));
    }
    // Nautilus and older nest the OSD map once more.
    let osds = status.get("osdmap").map(|m| m.get("osdmap").unwrap_or(m)).unwrap_or(&null);
    if let (Some(all), Some(up), Some(in_)) =
        (member(osds, "num_osds"), member(osds, "num_up_osds"), member(osds, "num_in_osds"))
    {
        lines.push(known(&format!("OSDs {moment}"), &format!("{all} OSDs, {up} up, {in_} in"), &fact.source));
    }
    let states = status.pointer("/pgmap/pgs_by_state").and_then(Value::as_array);
    let texts: Vec<String> = states
        .into_iter()
        .flatten()
        .filter_map(|s| Some(format!("{} {}", member(s, "count")?, member(s, "state_name")?)))
        .collect();
    if !texts.is_empty() {
        lines.push(known(&format!("PGs {moment}"), &texts.join(", "), &fact.source));
    }
    lines
}

/// What the watch over the run saw: whether anything but the load kept the cluster busy.
fn watched(run: &RunData) -> Vec<ContextLine> {
    let ticks = &run.ticks;
    if ticks.is_empty() {
        return vec![unknown("During the run", "the cluster was not watched", "")];
    }
    let n = ticks.len();
    let any = |of: &dyn Fn(&ClusterTick) -> bool| ticks.iter().filter(|(_, t)| of(t)).count();
    let in_state = |tick: &ClusterTick, word: &str| tick.pg_states.iter().any(|(s, k)| *k > 0 && s.contains(word));
    let scrubs = any(&|t| in_state(t, "scrub"));
    let recovery = any(&|t| t.recovering_objects_per_s > 0.0 || in_state(t, "recover") || in_state(t, "backfill"));
    let not_ok = any(&|t| t.error.is_none() && t.health != "HEALTH_OK");
    let silent = any(&|t| t.error.is_some());
    let text = format!(
        "{n} looks at the cluster: scrubbing in {scrubs}, recovery or backfill in {recovery}, health not OK in \
         {not_ok}, no answer in {silent}"
    );
    vec![known("During the run", &text, "watch during the run")]
}
