//! What a row of the result table does not show: incomplete, disturbed and unsteady repeats, queueing in front of an
//! open loop, stalls.
use super::repeat::{Completeness, RepeatResult};
use super::stall::STUCK_LIMIT;
use super::step::{Stability, StepResult};
use crate::words;

/// In the order in which a reader needs them: what the numbers are made of, then what happened.
pub(crate) fn remarks(step: &StepResult) -> Vec<String> {
    let mut list: Vec<String> = step.repeats.iter().flat_map(|r| repeat(r, step.repeats_found)).collect();
    if let Some(quiet) = step.undisturbed_ops_per_s {
        list.push(format!("median of the undisturbed repeats alone: {} IOPS", words::figure(quiet)));
    }
    if (1..3).contains(&step.repeats_counted) && step.stability == Stability::Unknown {
        list.push(format!("{}: too few to know the spread", words::plural(step.repeats_counted, "repeat")));
    }
    list.extend(open_loop(step));
    if let Some(little) = step.little.as_ref().filter(|l| !l.holds) {
        list.push(format!("Little's law (mean latency × IOPS = T) {}", little.verdict));
    }
    list
}

fn repeat(repeat: &RepeatResult, total: u64) -> Vec<String> {
    let name = format!("repeat {} of {total}", repeat.repeat + 1);
    let mut list = Vec::new();
    match (&repeat.completeness, repeat.counted) {
        (Completeness::Whole, _) => {}
        (Completeness::Empty(_), true) => {
            list.push(format!("{name} completed nothing in the measured window: it counts as 0 in the median"));
        }
        (Completeness::Part(why), true) => {
            list.push(format!("{name} counts although incomplete, there is no better one: {why}"));
        }
        (Completeness::Part(why), false) => list.push(format!("{name} does not count: {why}")),
        (Completeness::Empty(why), _) => {
            list.push(format!("{name} completed no operation in the measured window: {why}"));
        }
    }
    if !repeat.disturbed_by.is_empty() {
        list.push(format!("{name} was disturbed: {}", repeat.disturbed_by.join("; ")));
    }
    if let Some(warning) = repeat.rate.as_ref().and_then(|r| r.warning.as_ref()).filter(|_| repeat.counted) {
        list.push(format!("{name}: {warning}"));
    }
    if !repeat.stalls.is_empty() {
        let longest = repeat.stalls.iter().map(|s| s.to_s - s.from_s).fold(0.0, f64::max);
        list.push(format!(
            "{name}: {} with next to no completions, the longest {}",
            words::plural(repeat.stalls.len() as u64, "stall"),
            words::seconds(longest)
        ));
    }
    if let Some(first) = repeat.stuck.first() {
        let acting: Vec<String> = first.acting.iter().map(|osd| format!("osd.{osd}")).collect();
        let place = if acting.is_empty() { String::new() } else { format!(", acting set {}", acting.join(", ")) };
        list.push(format!(
            "{name}: {}{} seen in flight for more than a second, the first on {}{place}",
            if repeat.stuck.len() >= STUCK_LIMIT { "at least " } else { "" },
            words::plural(repeat.stuck.len() as u64, "operation"),
            words::plain(&first.target)
        ));
    }
    list
}

fn open_loop(step: &StepResult) -> Option<String> {
    let offered = step.plan.load.pace.per_s()?;
    let service = &step.merged.service;
    let text = |ns: Option<u64>| ns.map_or_else(|| "–".to_owned(), |ns| words::duration(ns as f64));
    Some(format!(
        "open loop: {} ops/s offered, {} never sent; service times (from when an operation was sent) p50 {}, p99 {}, \
         max {}: the difference to the response times is waiting in front of the {} slots",
        words::figure(offered),
        words::count(step.account.unsent as f64),
        text(service.p50_ns),
        text(service.p99_ns),
        text(service.max_ns),
        step.plan.load.depth
    ))
}
