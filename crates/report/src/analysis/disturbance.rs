//! What happened to the cluster while load was made, and which attempts it touched.
use fathom_model::{Attempt, ClusterTick, Finding, Severity};
use serde::Serialize;

/// A change of the cluster's state, seen from one tick to the next.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterEvent {
    /// When, in seconds after the run's start.
    pub at_s: f64,
    /// When, Unix nanoseconds.
    pub at_unix_ns: i64,
    /// What changed: `osd.2 is down`.
    pub text: String,
    /// How much it matters.
    pub severity: Severity,
}

/// Changes of state over the whole run, in order of time.
pub(crate) fn events(ticks: &[(i64, ClusterTick)], started_unix_ns: i64) -> Vec<ClusterEvent> {
    let mut events = Vec::new();
    let mut last: Option<&ClusterTick> = None;
    for (at, tick) in ticks {
        let mut push = |severity, text: String| {
            let at_s = at.saturating_sub(started_unix_ns) as f64 / 1e9;
            events.push(ClusterEvent { at_s, at_unix_ns: *at, text, severity });
        };
        match (&tick.error, last.is_some_and(|l| l.error.is_some())) {
            (Some(error), false) => push(Severity::Warn, format!("the monitors did not answer: {error}")),
            (None, true) => push(Severity::Note, "the monitors answer again".to_owned()),
            _ => {}
        }
        if tick.error.is_none() {
            changes(last.filter(|l| l.error.is_none()), tick, &mut push);
        }
        last = Some(tick);
    }
    events
}

fn changes(before: Option<&ClusterTick>, now: &ClusterTick, push: &mut impl FnMut(Severity, String)) {
    let gone = |tick: &ClusterTick, id: i32| tick.osds_not_up_in.iter().find(|o| o.id == id).cloned();
    for osd in &now.osds_not_up_in {
        let was = before.and_then(|b| gone(b, osd.id));
        if !osd.up && was.as_ref().is_none_or(|w| w.up) {
            push(Severity::Warn, format!("osd.{} is down", osd.id));
        }
        if osd.up && was.as_ref().is_some_and(|w| !w.up) {
            push(Severity::Note, format!("osd.{} is up", osd.id));
        }
        if !osd.is_in && was.as_ref().is_none_or(|w| w.is_in) {
            push(Severity::Warn, format!("osd.{} is out", osd.id));
        }
    }
    let Some(before) = before else { return };
    for osd in before.osds_not_up_in.iter().filter(|o| gone(now, o.id).is_none()) {
        push(Severity::Note, format!("osd.{} is up and in again", osd.id));
    }
    if before.health != now.health {
        let severity = if now.health == "HEALTH_OK" { Severity::Note } else { Severity::Warn };
        let codes: Vec<&str> = now.checks.iter().map(|(code, _)| code.as_str()).collect();
        let why = if codes.is_empty() { String::new() } else { format!(" ({})", codes.join(", ")) };
        push(severity, format!("{}{why}", now.health));
    }
    for (state, word) in [("scrub", "scrubbing"), ("recover", "recovery"), ("backfill", "backfill")] {
        let active = |tick: &ClusterTick| tick.pg_states.iter().any(|(s, n)| *n > 0 && s.contains(state));
        match (active(before), active(now)) {
            (false, true) => push(Severity::Warn, format!("{word} started")),
            (true, false) => push(Severity::Note, format!("{word} ended")),
            _ => {}
        }
    }
}

/// The span of an attempt's load in Unix nanoseconds, `None` when there was no load.
pub(crate) fn span(attempt: &Attempt) -> Option<(i64, i64)> {
    let from = attempt.load_started_unix_ns?;
    let length_ns = attempt.samples.iter().map(|s| s.end_ns).max().unwrap_or(0);
    Some((from, from.saturating_add(i64::try_from(length_ns).unwrap_or(i64::MAX))))
}

/// Titles of the findings (warnings and worse) whose span overlaps the attempt's load.
pub(crate) fn disturbed_by(attempt: &Attempt, findings: &[Finding]) -> Vec<String> {
    let Some((from, to)) = span(attempt) else { return Vec::new() };
    findings
        .iter()
        .filter(|f| f.severity >= Severity::Warn)
        .filter(|f| f.span.is_some_and(|s| s.from_unix_ns < to && s.to_unix_ns > from))
        .map(|f| f.title.clone())
        .collect()
}
