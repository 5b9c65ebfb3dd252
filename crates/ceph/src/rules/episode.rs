//! Stretches of time in which something was the case, and the attempts they touched.
use crate::Facts;
use fathom_model::{Attempt, ClusterTick, Span};

const SECOND_NS: i64 = 1_000_000_000;
/// Stretches closer than this are one: a scrub goes from PG to PG with pauses.
const GAP_NS: i64 = 10 * SECOND_NS;
/// Episodes reported one by one; what comes later is put into the last.
const EPISODES_MAX: usize = 6;

/// One stretch.
pub(super) struct Episode<'a> {
    /// From the first tick that saw it to the first that no longer did.
    pub(super) span: Span,
    /// The ticks that saw it.
    pub(super) ticks: Vec<&'a ClusterTick>,
}

/// The stretches in which `is` held. A tick without state (the monitors did not answer) neither begins nor ends one.
pub(super) fn episodes<'a>(ticks: &'a [(i64, ClusterTick)], is: impl Fn(&ClusterTick) -> bool) -> Vec<Episode<'a>> {
    let mut out: Vec<Episode<'_>> = Vec::new();
    let mut open = false;
    for (at, tick) in ticks.iter().filter(|(_, t)| !t.health.is_empty() || t.error.is_none()) {
        if open && let Some(last) = out.last_mut() {
            last.span.to_unix_ns = *at;
        }
        let holds = is(tick);
        if holds {
            let full = out.len() == EPISODES_MAX;
            match out.last_mut() {
                Some(last) if open || full || at.saturating_sub(last.span.to_unix_ns) <= GAP_NS => {
                    last.ticks.push(tick)
                }
                _ => out.push(Episode { span: Span { from_unix_ns: *at, to_unix_ns: *at }, ticks: vec![tick] }),
            }
        }
        open = holds;
    }
    for episode in &mut out {
        // The last tick of a run, or the only one: it says nothing of how long it went on, so it stands for a second.
        let least = episode.span.from_unix_ns.saturating_add(SECOND_NS);
        episode.span.to_unix_ns = episode.span.to_unix_ns.max(least);
    }
    out
}

/// When an attempt made load; `None` when it never did.
pub(super) fn load_span(attempt: &Attempt) -> Option<Span> {
    let from = attempt.load_started_unix_ns?;
    let sampled = attempt.samples.iter().map(|s| s.end_ns).max().unwrap_or(0);
    let window = attempt.end.as_ref().map_or(0, |e| e.window_ns);
    let length = i64::try_from(sampled.max(window)).unwrap_or(i64::MAX);
    Some(Span { from_unix_ns: from, to_unix_ns: from.saturating_add(length) })
}

/// The attempts whose load and the span overlap.
pub(super) fn touched<'a>(facts: &Facts<'a>, span: Span) -> Vec<&'a Attempt> {
    let overlaps = |a: &&Attempt| {
        load_span(a).is_some_and(|l| l.from_unix_ns < span.to_unix_ns && span.from_unix_ns < l.to_unix_ns)
    };
    facts.attempts.iter().filter(overlaps).collect()
}

/// `attempts 2 and 3 (rados write 4 KiB T=16)`.
pub(super) fn attempts_text(facts: &Facts<'_>, attempts: &[&Attempt]) -> String {
    let numbers: Vec<String> = attempts.iter().map(|a| a.id.to_string()).collect();
    let mut steps: Vec<String> = Vec::new();
    for step in attempts.iter().filter_map(|a| facts.step_of(a)) {
        if !steps.contains(&step.name) {
            steps.push(step.name.clone());
        }
    }
    let word = if numbers.len() == 1 { "attempt" } else { "attempts" };
    format!("{word} {} ({})", super::listed(&numbers), super::listed(&steps))
}

/// The step all of the attempts belong to, when it is one.
pub(super) fn only_step(facts: &Facts<'_>, attempts: &[&Attempt]) -> Option<String> {
    let first = attempts.first()?;
    let one = attempts.iter().all(|a| a.step == first.step);
    facts.step_of(first).filter(|_| one).map(|s| s.name.clone())
}

/// Seconds of a span with one decimal.
pub(super) fn seconds(span: Span) -> String {
    format!("{:.1} s", span.to_unix_ns.saturating_sub(span.from_unix_ns) as f64 / 1e9)
}

/// When a span began, as seconds after the first load of the run (what a reader sees on the axis).
pub(super) fn since_first_load(facts: &Facts<'_>, span: Span) -> String {
    match facts.attempts.iter().filter_map(|a| a.load_started_unix_ns).min() {
        Some(start) => {
            format!("{:.1} s after the first load began", span.from_unix_ns.saturating_sub(start) as f64 / 1e9)
        }
        None => "before any load".to_owned(),
    }
}
