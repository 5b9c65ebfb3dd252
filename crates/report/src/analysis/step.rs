//! One step over its repeats: the median with its range, percentiles from all histograms merged.
use super::account::Account;
use super::certainty::{PercentileView, percentiles};
use super::latency::SpectrumPoint;
use super::little::{LittleCheck, LittleSums};
use super::remark::remarks;
use super::repeat::{Completeness, Measured, Pair, Repeat, RepeatResult, VerbMeasured, repeat};
use crate::words;
use fathom_ceph::Facts;
use fathom_model::{Attempt, RunData, Step, Verb};
use serde::Serialize;
use std::collections::BTreeMap;

/// A metric over the counted repeats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Over {
    /// Median of the repeats; the mean of the middle two for an even number.
    pub median: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// `(max − min) ÷ median`.
    pub spread: f64,
    /// True when the spread is above a tenth; tail latencies spread wider by nature.
    pub unstable: bool,
}

impl Over {
    /// `None` without values.
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Option<Over> {
        let values: Vec<f64> = values.filter(|v| v.is_finite()).collect();
        let repeats = fathom_stats::Repeats::of(&values)?;
        Some(Over {
            median: repeats.median,
            min: repeats.min,
            max: repeats.max,
            spread: repeats.rel_spread,
            unstable: repeats.unstable(),
        })
    }
}

/// Range of latencies over the counted repeats, each from that repeat's own histogram. The values to quote are the
/// percentiles of the merged histogram; these say how much one repeat differs from another.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LatencyRanges {
    /// Mean response, nanoseconds.
    pub mean_ns: Option<Over>,
    /// Median response, nanoseconds.
    pub p50_ns: Option<Over>,
    /// 95th percentile, nanoseconds.
    pub p95_ns: Option<Over>,
    /// 99th percentile, nanoseconds.
    pub p99_ns: Option<Over>,
    /// 99.9th percentile, nanoseconds.
    pub p999_ns: Option<Over>,
    /// Maximum, nanoseconds.
    pub max_ns: Option<Over>,
}

/// How well the repeats agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stability {
    /// The repeats agree.
    Stable,
    /// They don't: the median is not to be trusted.
    Unstable,
    /// Too few repeats to tell.
    Unknown,
}

/// One step over its repeats.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepResult {
    /// Name, unique in the run.
    pub name: String,
    /// Conditions in one line: layer, verb mix, block size, pattern, pace, time.
    pub conditions: String,
    /// The pool and its size, where the step uses one.
    pub pool: Option<String>,
    /// What the layer was told about itself besides the pool: object size, namespace.
    pub parameters: String,
    /// The step as it was run, no default left open.
    pub plan: Step,
    /// Repeats found in the run.
    pub repeats_found: u64,
    /// Repeats the numbers below are made of.
    pub repeats_counted: u64,
    /// Counted repeats that a warning overlaps in time.
    pub repeats_disturbed: u64,
    /// What a reader of the numbers must know and a row of a table does not show; empty when there is nothing.
    pub remarks: Vec<String>,
    /// Operations per second over the repeats; `None` when no operation completed.
    pub ops_per_s: Option<Over>,
    /// Bytes per second over the repeats.
    pub bytes_per_s: Option<Over>,
    /// Median operations per second of the undisturbed repeats alone, when some were disturbed and some not.
    pub undisturbed_ops_per_s: Option<f64>,
    /// Counters and percentiles over all counted repeats: histograms merged. The rates in it are the medians.
    pub merged: Measured,
    /// Per verb, when the mix has more than one.
    pub by_verb: Vec<VerbMeasured>,
    /// Percentiles of the response times with what is known of their precision.
    pub percentiles: Vec<PercentileView>,
    /// How latencies differ from repeat to repeat.
    pub latency_ranges: LatencyRanges,
    /// How well the repeats agree.
    pub stability: Stability,
    /// Seconds measured, all counted repeats together.
    pub measured_s: f64,
    /// Where all operations of all repeats went.
    pub account: Account,
    /// Mean latency × rate against the depth; closed loop only.
    pub little: Option<LittleCheck>,
    /// CPU time of the load generator per completed operation, in nanoseconds, over the counted repeats.
    pub cpu_ns_per_op: Option<Over>,
    /// The generator's own delay per operation, in nanoseconds, over the counted repeats.
    pub generator_lag_ns_per_op: Option<Over>,
    /// Busy share of the CPUs of the load hosts, 0 to 1, over the counted repeats.
    pub host_cpu_busy: Option<Over>,
    /// Latency spectrum of the response times, all counted repeats merged.
    pub response_spectrum: Vec<SpectrumPoint>,
    /// Latency spectrum of the service times; empty in closed loop, where it is the same.
    pub service_spectrum: Vec<SpectrumPoint>,
    /// Every repeat, in order.
    pub repeats: Vec<RepeatResult>,
}

impl StepResult {
    /// True for blocks from 256 KiB: their result is a bandwidth, that of smaller ones a rate of operations.
    #[must_use]
    pub fn is_bandwidth(&self) -> bool {
        self.plan.load.block_bytes >= 256 * 1024
    }
}

/// Groups attempts into repeats: attempts of the same repeat on different hosts ran together; one on a host that the
/// repeat already has is a new try of its own.
fn group(attempts: &[Attempt], step: usize) -> Vec<Vec<&Attempt>> {
    let mut groups: Vec<Vec<&Attempt>> = Vec::new();
    for attempt in attempts.iter().filter(|a| a.step as usize == step) {
        let together = |g: &&mut Vec<&Attempt>| g.iter().all(|a| a.repeat == attempt.repeat && a.host != attempt.host);
        match groups.iter_mut().rev().find(together) {
            Some(group) => group.push(attempt),
            None => groups.push(vec![attempt]),
        }
    }
    groups
}

/// Analyses one step; defects found on the way go to `defects`.
pub(crate) fn step(
    run: &RunData,
    facts: &Facts<'_>,
    index: usize,
    step: &Step,
    defects: &mut Vec<String>,
) -> StepResult {
    let started = run.info.started_unix_ns;
    let groups = group(&run.attempts, index);
    let mut repeats: Vec<Repeat> = groups.iter().map(|g| repeat(step, g, &run.findings, started)).collect();
    for repeat in &mut repeats {
        defects.extend(repeat.defects.drain(..).map(|d| format!("{}: {d}", step.name)));
    }
    choose(&mut repeats);
    let counted: Vec<&Repeat> = repeats.iter().filter(|r| r.result.counted).collect();
    let over = |of: fn(&RepeatResult) -> Option<f64>| Over::of(counted.iter().filter_map(|r| of(&r.result)));
    // A counted repeat without a rate completed nothing: that is a rate of 0, and leaving it out would flatter.
    let rate = |of: fn(&RepeatResult) -> Option<f64>| Over::of(counted.iter().map(|r| of(&r.result).unwrap_or(0.0)));
    let (ops_per_s, bytes_per_s) = (rate(|r| r.total.ops_per_s), rate(|r| r.total.bytes_per_s));

    let mut verbs: BTreeMap<Verb, Pair> = BTreeMap::new();
    let mut little = LittleSums::default();
    for repeat in &counted {
        little.merge(&repeat.little);
        for (verb, pair) in &repeat.verbs {
            verbs.entry(*verb).or_default().merge(pair);
        }
    }
    let mut all = Pair::default();
    verbs.values().for_each(|pair| all.merge(pair));
    let counted_groups: Vec<&[&Attempt]> =
        groups.iter().zip(&repeats).filter(|(_, r)| r.result.counted).map(|(g, _)| g.as_slice()).collect();
    let closed = step.load.pace.per_s().is_none();
    let pool = crate::context::pool_words(facts, step);
    let disturbed = counted.iter().filter(|r| !r.result.disturbed_by.is_empty()).count();
    let quiet =
        Over::of(counted.iter().filter(|r| r.result.disturbed_by.is_empty()).filter_map(|r| r.result.total.ops_per_s));
    let mut result = StepResult {
        name: step.name.clone(),
        conditions: conditions(step, &counted, pool.as_deref()),
        pool,
        parameters: parameters(step),
        plan: step.clone(),
        repeats_found: repeats.len() as u64,
        repeats_counted: counted.len() as u64,
        repeats_disturbed: disturbed as u64,
        remarks: Vec::new(),
        undisturbed_ops_per_s: quiet.filter(|_| disturbed > 0).map(|o| o.median),
        merged: Measured::of(&all, ops_per_s.zip(bytes_per_s).map(|(o, b)| (o.median, b.median))),
        by_verb: by_verb(&verbs, &counted),
        percentiles: percentiles(&all.response, &counted_groups),
        latency_ranges: LatencyRanges {
            mean_ns: over(|r| r.total.response.mean_ns),
            p50_ns: over(|r| r.total.response.p50_ns.map(|n| n as f64)),
            p95_ns: over(|r| r.total.response.p95_ns.map(|n| n as f64)),
            p99_ns: over(|r| r.total.response.p99_ns.map(|n| n as f64)),
            p999_ns: over(|r| r.total.response.p999_ns.map(|n| n as f64)),
            max_ns: over(|r| r.total.response.max_ns.map(|n| n as f64)),
        },
        stability: stability(ops_per_s, counted.len()),
        measured_s: counted.iter().map(|r| r.result.measured_s).sum(),
        account: Account::sum(repeats.iter().map(|r| &r.result.account)),
        little: closed.then(|| little.check()).flatten(),
        cpu_ns_per_op: over(|r| r.cpu_ns_per_op),
        generator_lag_ns_per_op: over(|r| r.generator_lag_ns_per_op),
        host_cpu_busy: over(|r| r.host_cpu_busy),
        response_spectrum: all.response.spectrum(),
        service_spectrum: if closed { Vec::new() } else { all.service.spectrum() },
        ops_per_s,
        bytes_per_s,
        repeats: repeats.into_iter().map(|r| r.result).collect(),
    };
    result.remarks = remarks(&result);
    result
}

/// Decides which repeats count.
fn choose(repeats: &mut [Repeat]) {
    let any_whole = repeats.iter().any(|r| r.result.completeness == Completeness::Whole);
    for Repeat { result, .. } in repeats.iter_mut() {
        result.counted = match result.completeness {
            Completeness::Whole => true,
            Completeness::Part(_) => !any_whole,
            // Load ran and nothing came back, while other repeats gave something.
            Completeness::Empty(_) => any_whole && result.measured_s > 0.0,
        };
    }
}

fn by_verb(verbs: &BTreeMap<Verb, Pair>, counted: &[&Repeat]) -> Vec<VerbMeasured> {
    if verbs.len() < 2 {
        return Vec::new();
    }
    let rate = |verb: Verb, of: fn(&Measured) -> Option<f64>| {
        let parts = counted.iter().flat_map(|r| &r.result.by_verb).filter(|v| v.verb == verb);
        Over::of(parts.filter_map(|v| of(&v.measured))).map(|o| o.median)
    };
    verbs
        .iter()
        .map(|(verb, pair)| {
            let rate = rate(*verb, |m| m.ops_per_s).zip(rate(*verb, |m| m.bytes_per_s));
            VerbMeasured { verb: *verb, measured: Measured::of(pair, rate) }
        })
        .collect()
}

fn stability(ops_per_s: Option<Over>, repeats: usize) -> Stability {
    match ops_per_s {
        Some(over) if over.unstable => Stability::Unstable,
        Some(_) if repeats >= 3 => Stability::Stable,
        _ => Stability::Unknown,
    }
}

/// Conditions without which a number of this step means nothing.
fn conditions(step: &Step, counted: &[&Repeat], pool: Option<&str>) -> String {
    let load = &step.load;
    let mut parts = vec![
        format!("{} {}", step.layer, words::mix(&load.mix)),
        words::bytes(f64::from(load.block_bytes)),
        words::pattern(load.pattern),
        words::pace(load),
    ];
    let hosts = counted.iter().map(|r| r.result.hosts.len()).max().unwrap_or(1);
    if hosts > 1 {
        parts.push(format!("on each of {hosts} hosts"));
    }
    parts.extend(pool.map(words::plain));
    let measured = Over::of(counted.iter().map(|r| r.result.measured_s));
    if let Some(seconds) = measured {
        parts.push(format!(
            "{}{}×{}{} measured",
            counted.len(),
            words::GAP,
            words::GAP,
            words::seconds(seconds.median)
        ));
    }
    parts.join(", ")
}

fn parameters(step: &Step) -> String {
    let text = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let list: Vec<String> = step
        .params
        .iter()
        .filter(|(key, value)| key.as_str() != "pool" && value.as_str() != Some(""))
        .map(|(key, value)| format!("{key} {}", words::plain(&text(value))))
        .collect();
    list.join(", ")
}
