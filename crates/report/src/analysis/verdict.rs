//! The result in a paragraph: best numbers with their conditions first, then everything that limits their use.
use super::{Analysis, Completeness, Stability, StepResult};
use crate::words;
use fathom_model::{RunData, Severity};
use serde::Serialize;

/// The result of a step that stands for its kind of load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Highlight {
    /// Name of the step.
    pub step: String,
    /// The number to quote: IOPS for small blocks, bandwidth for large ones.
    pub figure: String,
    /// The other one.
    pub also: String,
    /// Mean and p99 of the response time.
    pub latency: String,
    /// Repeats, spread, failures.
    pub certainty: String,
    /// Load, pool and time: without these the figure means nothing.
    pub conditions: String,
}

impl Highlight {
    /// `None` when no operation completed.
    pub(crate) fn of(step: &StepResult) -> Option<Highlight> {
        let (ops, bytes) = step.ops_per_s.zip(step.bytes_per_s)?;
        let iops = format!("{}{}IOPS", words::figure(ops.median), words::GAP);
        let rate = format!("{}/s", words::bytes(bytes.median));
        let (figure, also) = if step.is_bandwidth() { (rate, iops) } else { (iops, rate) };
        let response = &step.merged.response;
        let mut latency = Vec::new();
        latency.extend(response.mean_ns.map(|ns| format!("mean {}", words::duration(ns))));
        latency.push(match response.p99_ns {
            Some(ns) => format!("p99 {}", words::duration(ns as f64)),
            None => format!("no p99 (only {} operations)", words::count(response.count as f64)),
        });
        let mut certainty = match step.repeats_counted {
            1 => "one repeat, spread unknown".to_owned(),
            n => format!("median of {n} repeats, spread {}", words::percent(ops.spread)),
        };
        if step.stability == Stability::Unstable {
            certainty.push_str(" (unstable)");
        }
        if step.account.bad() > 0 {
            certainty.push_str(&format!("; {} failed or timed out", words::plural(step.account.bad(), "operation")));
        }
        Some(Highlight {
            step: step.name.clone(),
            figure,
            also,
            latency: latency.join(", "),
            certainty,
            conditions: step.conditions.clone(),
        })
    }
}

/// The result of one step in one sentence.
pub(crate) fn headline(step: &StepResult) -> String {
    if step.repeats_found == 0 {
        return "not run".to_owned();
    }
    if let Some(h) = Highlight::of(step) {
        return format!("{} ({}), {}; {}", h.figure, h.also, h.latency, h.certainty);
    }
    let account = &step.account;
    match (account.failed, account.timed_out) {
        (0, 0) => "no operation completed; no rate can be given".to_owned(),
        (failed, timed_out) => format!(
            "no operation completed in the measured window ({} failed, {} timed out); no rate can be given",
            words::count(failed as f64),
            words::count(timed_out as f64)
        ),
    }
}

/// The paragraph: what makes the numbers unusable first, then the numbers, then what limits them.
pub(crate) fn verdict(analysis: &Analysis) -> String {
    let grave = grave(analysis);
    let numbers = analysis
        .highlights
        .iter()
        .map(|h| format!("{}: {} ({}), {}; {}; {}.", h.step, h.figure, h.also, h.latency, h.certainty, h.conditions));
    let rest = analysis.caveats.iter().skip(grave.len()).cloned();
    grave.iter().cloned().chain(numbers).chain(rest).collect::<Vec<_>>().join(" ")
}

/// What makes numbers unusable.
fn grave(analysis: &Analysis) -> Vec<String> {
    let invalid = analysis.findings.iter().filter(|f| f.finding.severity == Severity::Invalid);
    let mut list: Vec<String> =
        invalid.map(|f| format!("Invalid: {}.", words::plain(f.finding.title.trim_end_matches('.')))).collect();
    if !analysis.defects.is_empty() {
        list.push(format!(
            "The stored data contradict themselves in {}: do not use the numbers before that is explained.",
            words::plural(analysis.defects.len() as u64, "place")
        ));
    }
    list
}

pub(crate) fn caveats(analysis: &Analysis, run: &RunData) -> Vec<String> {
    let mut list = grave(analysis);
    if analysis.highlights.is_empty() {
        list.push(match analysis.steps.len() {
            0 => "Nothing was measured: the plan has no step.".to_owned(),
            _ => "No operation completed in any step: there are no rates, only accounts of errors.".to_owned(),
        });
    }
    list.extend(limits(analysis, run));
    list
}

pub(crate) fn highlights(steps: &[StepResult]) -> Vec<Highlight> {
    let mut best = best_steps(steps);
    // What the load generator does with nothing to do is no result of a run that measured something.
    if best.iter().any(|s| s.plan.layer != "null") {
        best.retain(|s| s.plan.layer != "null");
    }
    best.into_iter().filter_map(Highlight::of).collect()
}

/// Per layer, verb mix and block size the step with the highest rate: the paragraph says what the cluster gave, the
/// table what it took.
fn best_steps(steps: &[StepResult]) -> Vec<&StepResult> {
    let key = |s: &StepResult| {
        let open = s.plan.load.pace.per_s().is_some();
        (s.plan.layer.clone(), words::mix(&s.plan.load.mix), s.plan.load.block_bytes, open)
    };
    let rate = |s: &StepResult| s.ops_per_s.map_or(0.0, |o| o.median);
    let mut best: Vec<&StepResult> = Vec::new();
    for step in steps.iter().filter(|s| s.ops_per_s.is_some()) {
        match best.iter_mut().find(|b| key(b) == key(step)) {
            Some(kept) if rate(step) > rate(kept) => *kept = step,
            Some(_) => {}
            None => best.push(step),
        }
    }
    best
}

fn limits(analysis: &Analysis, run: &RunData) -> Vec<String> {
    let mut list = Vec::new();
    let steps = &analysis.steps;
    let names = |pick: &dyn Fn(&StepResult) -> bool| {
        steps.iter().filter(|s| pick(s)).map(|s| s.name.clone()).collect::<Vec<_>>().join(", ")
    };
    let unstable = names(&|s| s.stability == Stability::Unstable);
    if !unstable.is_empty() {
        list.push(format!("Unstable, the repeats differ too much to quote a median: {unstable}."));
    }
    let not_run = steps.iter().filter(|s| s.repeats_found == 0).count() as u64;
    if not_run > 0 {
        list.push(format!("{not_run} of {} not run.", words::plural(steps.len() as u64, "step")));
    }
    let empty = names(&|s| s.ops_per_s.is_none() && s.repeats_found > 0);
    if !empty.is_empty() && steps.iter().any(|s| s.ops_per_s.is_some()) {
        list.push(format!("Without a result: {empty}."));
    }
    let all = || steps.iter().flat_map(|s| &s.repeats);
    let total = all().count() as u64;
    let disturbed = all().filter(|r| !r.disturbed_by.is_empty()).count() as u64;
    if disturbed > 0 {
        list.push(format!("{disturbed} of {} overlap a disturbance of the cluster.", words::plural(total, "repeat")));
    }
    let partial = all().filter(|r| matches!(r.completeness, Completeness::Part(_))).count() as u64;
    if partial > 0 {
        list.push(format!("{partial} of {} did not run to the end.", words::plural(total, "repeat")));
    }
    let bad: u64 = steps.iter().fold(0, |sum, s| sum.saturating_add(s.account.bad()));
    let done: u64 = steps.iter().fold(0, |sum, s| sum.saturating_add(s.account.completed));
    if bad > 0 {
        let share = bad as f64 / bad.saturating_add(done) as f64;
        list.push(format!(
            "{} of all operations failed or timed out ({}).",
            words::percent(share),
            words::count(bad as f64)
        ));
    }
    let warnings = analysis.findings.iter().filter(|f| f.finding.severity == Severity::Warn).count() as u64;
    if warnings > 0 {
        list.push(format!("{}, see the findings.", words::plural(warnings, "warning")));
    }
    if run.info.ended_unix_ns.is_none() {
        list.push("The run did not end by itself: this is what was stored up to then.".to_owned());
    }
    if analysis.ledger.left > 0 {
        list.push(analysis.ledger.summary.clone());
    }
    list
}
