//! One repeat of one step: the attempts that ran together, one per host.
//!
//! Which phase counts for what: rates come from the measured window only; latencies from the window and the drain
//! after it, because an operation that is stuck at the end of the window must not vanish from the percentiles; the
//! ramp is shown in the series and in the account, nowhere else.
use super::account::Account;
use super::disturbance::{disturbed_by, span};
use super::latency::{LatencySummary, Merged};
use super::little::{LittleCheck, LittleSums};
use super::series::{SeriesPoint, series};
use super::stall::{Stall, StuckView, stalls, stuck};
use super::steadiness::{RateView, rate_view};
use crate::words;
use fathom_model::{Attempt, Finding, Pace, Phase, Step, StopReason, Verb};
use serde::Serialize;
use std::collections::BTreeMap;

/// Rates and latencies of one set of operations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Operations completed in the measured window.
    pub ops: u64,
    /// Bytes they carried.
    pub bytes: u64,
    /// Operations per second; `None` when none completed: then there is no rate, only an account of errors.
    pub ops_per_s: Option<f64>,
    /// Bytes per second, likewise.
    pub bytes_per_s: Option<f64>,
    /// From when operations were due to their completion.
    pub response: LatencySummary,
    /// From when operations were sent to their completion.
    pub service: LatencySummary,
}

/// [`Measured`] of one verb of a mix.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VerbMeasured {
    /// Which.
    pub verb: Verb,
    /// Its part.
    #[serde(flatten)]
    pub measured: Measured,
}

/// How far the numbers of a repeat can stand for the step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "state", content = "reason", rename_all = "snake_case")]
pub enum Completeness {
    /// Measured as planned.
    Whole,
    /// Ended early: it counts only when no repeat of its step is whole.
    Part(String),
    /// No operation completed: there is no rate.
    Empty(String),
}

/// One repeat of a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RepeatResult {
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// The attempts it consists of, one per host.
    pub attempts: Vec<u32>,
    /// The hosts that made the load.
    pub hosts: Vec<String>,
    /// Start of load in seconds after the run's start; `None` when there was no load.
    pub started_s: Option<f64>,
    /// Length of the measured window in seconds.
    pub measured_s: f64,
    /// Why load ended, in words.
    pub stop: String,
    /// Set when the run was killed in this repeat: seconds of load there are samples of.
    pub cut_off_after_s: Option<f64>,
    /// Whether it is whole.
    pub completeness: Completeness,
    /// True when it is among the repeats the step's numbers are made of.
    pub counted: bool,
    /// Titles of findings whose time overlaps the load.
    pub disturbed_by: Vec<String>,
    /// All operations of the mix together.
    #[serde(flatten)]
    pub total: Measured,
    /// Per verb, when the mix has more than one.
    pub by_verb: Vec<VerbMeasured>,
    /// How steady the rate was and how well its mean is known; `None` for too few intervals to tell.
    pub rate: Option<RateView>,
    /// Where the operations went.
    pub account: Account,
    /// CPU time of the worker per completed operation, in nanoseconds.
    pub cpu_ns_per_op: Option<f64>,
    /// The generator's own delay per operation, in nanoseconds.
    pub generator_lag_ns_per_op: Option<f64>,
    /// Busy share of the CPUs of the busiest load host, 0 to 1.
    pub host_cpu_busy: Option<f64>,
    /// Mean latency × rate against the depth; closed loop only.
    pub little: Option<LittleCheck>,
    /// Times when nothing or next to nothing completed.
    pub stalls: Vec<Stall>,
    /// Operations that were in flight for more than a second.
    pub stuck: Vec<StuckView>,
    /// Interval by interval.
    pub series: Vec<SeriesPoint>,
}

/// Histograms of one verb, kept beside the result so that the step merges histograms and never percentiles.
#[derive(Clone, Default)]
pub(crate) struct Pair {
    pub(crate) response: Merged,
    pub(crate) service: Merged,
    pub(crate) ops: u64,
    pub(crate) bytes: u64,
}

impl Pair {
    pub(crate) fn merge(&mut self, other: &Pair) {
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.ops = self.ops.saturating_add(other.ops);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// A repeat with its histograms.
pub(crate) struct Repeat {
    pub(crate) result: RepeatResult,
    pub(crate) verbs: BTreeMap<Verb, Pair>,
    pub(crate) little: LittleSums,
    pub(crate) defects: Vec<String>,
}

/// The measured window of an attempt in seconds.
fn window_s(attempt: &Attempt) -> f64 {
    let measured = || attempt.samples.iter().filter(|s| s.phase == Phase::Measure);
    let from = measured().map(|s| s.start_ns).min().unwrap_or(0);
    let to = measured().map(|s| s.end_ns).max().unwrap_or(0);
    let sampled_ns = to.saturating_sub(from);
    let ns = attempt.end.as_ref().map_or(sampled_ns, |end| if end.window_ns > 0 { end.window_ns } else { sampled_ns });
    ns as f64 / 1e9
}

/// Analyses the attempts of one repeat.
pub(crate) fn repeat(step: &Step, attempts: &[&Attempt], findings: &[Finding], run_started_unix_ns: i64) -> Repeat {
    let mut verbs: BTreeMap<Verb, Pair> = BTreeMap::new();
    let mut rates: BTreeMap<Verb, (f64, f64)> = BTreeMap::new();
    let mut little = LittleSums::default();
    let mut defects = Vec::new();
    for attempt in attempts {
        let window = window_s(attempt);
        little.open(step.load.depth, attempt.end.as_ref(), window);
        for (verb, pair) in attempt_verbs(attempt) {
            if window > 0.0 {
                let rate = rates.entry(verb).or_default();
                rate.0 += pair.ops as f64 / window;
                rate.1 += pair.bytes as f64 / window;
            }
            verbs.entry(verb).or_default().merge(&pair);
        }
        attempt.samples.iter().for_each(|sample| little.add(sample));
    }
    for (verb, pair) in &verbs {
        for (kind, merged) in [("response", &pair.response), ("service", &pair.service)] {
            let ids: Vec<String> = attempts.iter().map(|a| a.id.to_string()).collect();
            let defect = merged.defect();
            defects.extend(defect.map(|d| format!("attempt {}: {} {kind} times: {d}", ids.join(", "), verb.word())));
        }
    }
    let measured = |verb: &Verb, pair: &Pair| {
        let (ops_per_s, bytes_per_s) = rates.get(verb).copied().unwrap_or_default();
        Measured::of(pair, (pair.ops > 0 && ops_per_s > 0.0).then_some((ops_per_s, bytes_per_s)))
    };
    let by_verb: Vec<VerbMeasured> =
        verbs.iter().map(|(verb, pair)| VerbMeasured { verb: *verb, measured: measured(verb, pair) }).collect();
    let mut all = Pair::default();
    verbs.values().for_each(|pair| all.merge(pair));
    let rate = rates.values().fold((0.0, 0.0), |sum, r| (sum.0 + r.0, sum.1 + r.1));
    let total = Measured::of(&all, (all.ops > 0 && rate.0 > 0.0).then_some(rate));

    let accounts: Vec<Account> = attempts.iter().map(|a| Account::of_attempt(a)).collect();
    for (attempt, account) in attempts.iter().zip(&accounts) {
        defects.extend(account.mismatches.iter().map(|m| format!("attempt {}: {m}", attempt.id)));
    }
    let account = Account::sum(accounts.iter());
    let points = series(attempts, step.load.tick_ns);
    let first = attempts.iter().filter_map(|a| a.load_started_unix_ns).min();
    let completeness = completeness(attempts, &total);
    let result = RepeatResult {
        repeat: attempts.first().map_or(0, |a| a.repeat),
        attempts: attempts.iter().map(|a| a.id).collect(),
        hosts: attempts.iter().map(|a| a.host.clone()).collect(),
        started_s: first.map(|at| at.saturating_sub(run_started_unix_ns) as f64 / 1e9),
        measured_s: attempts.iter().map(|a| window_s(a)).fold(0.0, f64::max),
        stop: stop_words(attempts),
        cut_off_after_s: cut_off(attempts),
        completeness,
        counted: false,
        disturbed_by: distinct(attempts.iter().flat_map(|a| disturbed_by(a, findings))),
        cpu_ns_per_op: per_op(attempts, all.ops, |end| end.cpu_ns),
        generator_lag_ns_per_op: per_op(attempts, account.issued.unwrap_or(0), |end| end.generator_lag_ns),
        host_cpu_busy: attempts.iter().filter_map(|a| a.end.as_ref()?.host_cpu_busy).reduce(f64::max),
        little: (step.load.pace == Pace::Closed).then(|| little.check()).flatten(),
        rate: rate_view(&points),
        stalls: stalls(&points),
        stuck: stuck(attempts, run_started_unix_ns),
        by_verb: if by_verb.len() > 1 { by_verb } else { Vec::new() },
        total,
        account,
        series: points,
    };
    Repeat { result, verbs, little, defects }
}

/// Histograms and counters of one attempt, ramp left out.
fn attempt_verbs(attempt: &Attempt) -> BTreeMap<Verb, Pair> {
    let mut verbs: BTreeMap<Verb, Pair> = BTreeMap::new();
    for sample in attempt.samples.iter().filter(|s| s.phase != Phase::Ramp) {
        let pair = verbs.entry(sample.verb).or_default();
        let response = Merged::of(&sample.response);
        // In closed loop both are the same, and reading a histogram is what an analysis spends its time with.
        if sample.service == sample.response {
            pair.service.merge(&response);
        } else {
            pair.service.add(&sample.service);
        }
        pair.response.merge(&response);
        if sample.phase == Phase::Measure {
            pair.ops = pair.ops.saturating_add(sample.ops);
            pair.bytes = pair.bytes.saturating_add(sample.bytes);
        }
    }
    verbs
}

impl Measured {
    /// From histograms and counters; `rate` is operations and bytes per second.
    pub(crate) fn of(pair: &Pair, rate: Option<(f64, f64)>) -> Measured {
        Measured {
            ops: pair.ops,
            bytes: pair.bytes,
            ops_per_s: rate.map(|r| r.0),
            bytes_per_s: rate.map(|r| r.1),
            response: pair.response.summary(),
            service: pair.service.summary(),
        }
    }
}

fn per_op(attempts: &[&Attempt], ops: u64, of: impl Fn(&fathom_model::AttemptEnd) -> u64) -> Option<f64> {
    let ends: Option<Vec<_>> = attempts.iter().map(|a| a.end.as_ref()).collect();
    let total = ends?.into_iter().fold(0u64, |sum, end| sum.saturating_add(of(end)));
    (ops > 0).then(|| total as f64 / ops as f64)
}

fn cut_off(attempts: &[&Attempt]) -> Option<f64> {
    let torsos = attempts.iter().filter(|a| a.end.is_none());
    torsos.map(|a| a.samples.iter().map(|s| s.end_ns).max().unwrap_or(0) as f64 / 1e9).reduce(f64::min)
}

fn stop_words(attempts: &[&Attempt]) -> String {
    let words = attempts.iter().map(|a| match &a.end {
        Some(end) => words::stop(&end.stop),
        None => match span(a) {
            Some((from, to)) => format!("cut off after {}", words::seconds((to - from) as f64 / 1e9)),
            None => "cut off before load began".to_owned(),
        },
    });
    distinct(words).join("; ")
}

fn completeness(attempts: &[&Attempt], total: &Measured) -> Completeness {
    if total.ops_per_s.is_none() {
        return Completeness::Empty(stop_words(attempts));
    }
    let early = |a: &&&Attempt| match &a.end {
        None => true,
        Some(end) => {
            matches!(end.stop, StopReason::Cancelled | StopReason::WorkerLost { .. } | StopReason::NotStarted { .. })
        }
    };
    if attempts.iter().any(|a| early(&a)) { Completeness::Part(stop_words(attempts)) } else { Completeness::Whole }
}

fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for text in texts {
        if !list.contains(&text) {
            list.push(text);
        }
    }
    list
}
