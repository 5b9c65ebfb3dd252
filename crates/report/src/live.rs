//! A run while it goes on: the state that screen and plain lines are drawn from, fed by the event stream.
//!
//! Time is the time of the events, so a stored stream replayed gives the same lines and the same screen.
use crate::analysis::{LatencySummary, Merged};
use crate::words;
use fathom_model::{ClusterTick, Event, EventKind, Phase, Sample, Step};
use std::collections::VecDeque;

/// Notes kept for the screen.
const NOTES: usize = 50;
/// Seconds kept for the sparkline.
const HISTORY: usize = 240;
const SECOND_NS: u64 = 1_000_000_000;

/// One second of load, all verbs and hosts together.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveSecond {
    /// End of the second, in nanoseconds since load began.
    pub end_ns: u64,
    /// Ramp, window or drain.
    pub phase: Phase,
    /// Operations per second.
    pub ops_per_s: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Response times.
    pub response: LatencySummary,
    /// Failed and timed-out operations.
    pub errors: u64,
}

/// An attempt that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveResult {
    /// Name of the step.
    pub step: String,
    /// Repeat, from 0.
    pub repeat: u32,
    /// Operations per second of the measured window; `None` when none completed.
    pub ops_per_s: Option<f64>,
    /// Bytes per second, likewise.
    pub bytes_per_s: Option<f64>,
    /// Length of the window in seconds.
    pub seconds: f64,
    /// Response times of window and drain.
    pub response: LatencySummary,
    /// Failed and timed-out operations of the whole attempt.
    pub errors: u64,
    /// Why it ended.
    pub stop: String,
}

/// What one event changed, for renderers that print lines.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// An attempt was given to a worker.
    Started,
    /// Preparation went on.
    Preparing,
    /// A second of load is complete.
    Second(LiveSecond),
    /// An attempt ended.
    Ended(LiveResult),
    /// Something a reader should know.
    Note(String),
}

/// The attempt that runs.
#[derive(Default)]
pub(crate) struct Current {
    pub(crate) step: Option<Step>,
    pub(crate) repeat: u32,
    pub(crate) began_unix_ns: i64,
    /// Hosts that have not ended it yet.
    running: u32,
    /// Failed and timed-out operations of the hosts that have ended it.
    errors: u64,
    /// Units done, units in all, unit, while preparing.
    pub(crate) preparing: Option<(u64, u64, String)>,
    pending: Pending,
    window: Window,
    pub(crate) last: Option<LiveSecond>,
    pub(crate) history: VecDeque<u64>,
}

#[derive(Default)]
struct Pending {
    samples: Vec<Sample>,
}

/// Counters of the attempt as a whole.
#[derive(Default)]
struct Window {
    ops: u64,
    bytes: u64,
    response: Merged,
}

/// State of a run while it goes on.
pub struct Live {
    steps: Vec<Step>,
    total: u64,
    pub(crate) done: u64,
    pub(crate) started_unix_ns: Option<i64>,
    pub(crate) now_unix_ns: i64,
    pub(crate) current: Current,
    pub(crate) results: Vec<LiveResult>,
    pub(crate) errors: u64,
    pub(crate) tick: Option<ClusterTick>,
    pub(crate) notes: VecDeque<(i64, String)>,
    /// Sum of the lengths of ended attempts, preparation included.
    spent_ns: i64,
}

impl Live {
    /// For a run of these steps, each `repeats` times.
    #[must_use]
    pub fn new(steps: &[Step], repeats: u32) -> Live {
        Live {
            total: steps.len() as u64 * u64::from(repeats),
            steps: steps.to_vec(),
            done: 0,
            started_unix_ns: None,
            now_unix_ns: 0,
            current: Current::default(),
            results: Vec::new(),
            errors: 0,
            tick: None,
            notes: VecDeque::new(),
            spent_ns: 0,
        }
    }

    /// Attempts planned; more when more were made than planned.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total.max(self.number())
    }

    /// Number of the attempt that runs, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.done + u64::from(self.current.step.is_some())
    }

    /// Seconds since the first event.
    pub(crate) fn elapsed_s(&self) -> f64 {
        self.started_unix_ns.map_or(0.0, |start| self.now_unix_ns.saturating_sub(start).max(0) as f64 / 1e9)
    }

    /// Seconds that the rest will take if it goes on as it did; from the plan alone while nothing has ended.
    pub(crate) fn left_s(&self) -> f64 {
        let left = self.total().saturating_sub(self.done) as f64;
        let planned = |s: &Step| s.load.ramp_ns.saturating_add(s.load.stop.duration_ns) as f64 / 1e9;
        let per_attempt = if self.done > 0 {
            self.spent_ns as f64 / 1e9 / self.done as f64
        } else {
            self.steps.iter().map(planned).sum::<f64>() / self.steps.len().max(1) as f64
        };
        let into = if self.current.step.is_some() { self.current_s() } else { 0.0 };
        (left * per_attempt - into.min(per_attempt)).max(0.0)
    }

    fn current_s(&self) -> f64 {
        self.now_unix_ns.saturating_sub(self.current.began_unix_ns).max(0) as f64 / 1e9
    }

    /// Health in one word, with what keeps it from being good.
    pub(crate) fn health(&self) -> String {
        let Some(tick) = &self.tick else { return String::new() };
        if let Some(error) = &tick.error {
            return format!("monitors do not answer ({})", words::plain(error));
        }
        let down: Vec<String> =
            tick.osds_not_up_in.iter().filter(|o| !o.up).map(|o| format!("osd.{} down", o.id)).collect();
        let health = words::plain(&tick.health);
        if down.is_empty() { health } else { format!("{health} ({})", down.join(", ")) }
    }

    /// Takes in one event and tells what it changed.
    pub fn apply(&mut self, event: &Event) -> Vec<Change> {
        self.now_unix_ns = self.now_unix_ns.max(event.at_unix_ns);
        self.started_unix_ns.get_or_insert(event.at_unix_ns);
        match &event.kind {
            EventKind::AttemptStarted { step, repeat } => self.start(event, *step, *repeat),
            EventKind::Preparing { done, total, unit } => {
                self.current.preparing = Some((*done, *total, words::plain(unit)));
                vec![Change::Preparing]
            }
            EventKind::LoadStarted => {
                self.current.preparing = None;
                Vec::new()
            }
            EventKind::Sample(sample) => self.sample(sample),
            EventKind::AttemptEnded(end) => self.end(event, end),
            EventKind::Cluster(tick) => self.cluster(event.at_unix_ns, tick),
            EventKind::Stuck(op) => {
                let acting: Vec<String> = op.acting.iter().map(|o| format!("osd.{o}")).collect();
                let place = if acting.is_empty() { String::new() } else { format!(" ({})", acting.join(", ")) };
                let age = words::duration(op.age_ns as f64);
                self.note(event.at_unix_ns, format!("{} in flight for {age}{place}", words::plain(&op.target)))
            }
            EventKind::Probe(probe) if probe.answer_ns.is_none() => {
                let waited = words::duration(probe.deadline_ns as f64);
                self.note(event.at_unix_ns, format!("osd.{} gave no answer within {waited}", probe.osd))
            }
            EventKind::Note { text } => self.note(event.at_unix_ns, words::plain(text)),
            _ => Vec::new(),
        }
    }

    fn note(&mut self, at: i64, text: String) -> Vec<Change> {
        if self.notes.len() == NOTES {
            self.notes.pop_front();
        }
        self.notes.push_back((at, text.clone()));
        vec![Change::Note(text)]
    }

    fn start(&mut self, event: &Event, step: u32, repeat: u32) -> Vec<Change> {
        // A second host of the same attempt joins it; an attempt that never ended is left behind.
        let step = self.steps.get(step as usize).cloned();
        if self.current.step.is_some() && self.current.step == step && self.current.repeat == repeat {
            self.current.running += 1;
            return Vec::new();
        }
        self.current = Current { step, repeat, began_unix_ns: event.at_unix_ns, running: 1, ..Current::default() };
        vec![Change::Started]
    }

    fn sample(&mut self, sample: &Sample) -> Vec<Change> {
        let cell = |s: &Sample| (s.phase, s.start_ns / SECOND_NS);
        let mut changes = Vec::new();
        let current = &mut self.current;
        if current.pending.samples.last().is_some_and(|last| cell(last) != cell(sample)) {
            changes.extend(current.flush().map(Change::Second));
        }
        current.pending.samples.push(sample.clone());
        self.errors = self.errors.saturating_add(sample.failed()).saturating_add(sample.timeouts);
        if sample.phase == Phase::Measure {
            current.window.ops = current.window.ops.saturating_add(sample.ops);
            current.window.bytes = current.window.bytes.saturating_add(sample.bytes);
        }
        if sample.phase != Phase::Ramp {
            current.window.response.add(&sample.response);
        }
        // The second is complete when every verb has reached its end: no need to wait for the next to begin.
        let end = (sample.start_ns / SECOND_NS).saturating_add(1).saturating_mul(SECOND_NS);
        let verbs = current.step.as_ref().map_or(1, |s| s.load.mix.iter().filter(|m| m.weight > 0).count());
        let ended = current.pending.samples.iter().filter(|s| s.end_ns >= end).count();
        if ended >= verbs {
            changes.extend(current.flush().map(Change::Second));
        }
        changes
    }

    fn end(&mut self, event: &Event, end: &fathom_model::AttemptEnd) -> Vec<Change> {
        let mut changes: Vec<Change> = self.current.flush().map(Change::Second).into_iter().collect();
        self.current.errors = self.current.errors.saturating_add(end.failed).saturating_add(end.timed_out);
        self.current.running = self.current.running.saturating_sub(1);
        if self.current.running > 0 {
            return changes;
        }
        let current = std::mem::take(&mut self.current);
        let seconds = end.window_ns as f64 / 1e9;
        let rate = |n: u64| (current.window.ops > 0 && seconds > 0.0).then(|| n as f64 / seconds);
        let result = LiveResult {
            step: current.step.as_ref().map_or_else(String::new, |s| words::plain(&s.name)),
            repeat: current.repeat,
            ops_per_s: rate(current.window.ops),
            bytes_per_s: rate(current.window.bytes),
            seconds,
            response: current.window.response.summary(),
            errors: current.errors,
            stop: words::plain(&words::stop(&end.stop)),
        };
        self.done += 1;
        self.spent_ns = self.spent_ns.saturating_add(event.at_unix_ns.saturating_sub(current.began_unix_ns).max(0));
        self.results.push(result.clone());
        changes.push(Change::Ended(result));
        changes
    }

    fn cluster(&mut self, at: i64, tick: &ClusterTick) -> Vec<Change> {
        let before = self.health();
        let first = self.tick.is_none();
        self.tick = Some(tick.clone());
        let now = self.health();
        if first || before == now { Vec::new() } else { self.note(at, format!("cluster: {now}")) }
    }
}

impl Current {
    /// Makes a second of the pending samples.
    fn flush(&mut self) -> Option<LiveSecond> {
        let samples = std::mem::take(&mut self.pending.samples);
        let phase = samples.first()?.phase;
        let from = samples.iter().map(|s| s.start_ns).min()?;
        let end_ns = samples.iter().map(|s| s.end_ns).max()?;
        let seconds = (end_ns.saturating_sub(from) as f64 / 1e9).max(1e-9);
        let sum = |of: fn(&Sample) -> u64| samples.iter().fold(0u64, |sum, s| sum.saturating_add(of(s)));
        let mut response = Merged::default();
        samples.iter().for_each(|s| response.add(&s.response));
        let second = LiveSecond {
            end_ns,
            phase,
            ops_per_s: sum(|s| s.ops) as f64 / seconds,
            bytes_per_s: sum(|s| s.bytes) as f64 / seconds,
            response: response.summary(),
            errors: sum(|s| s.failed().saturating_add(s.timeouts)),
        };
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(second.ops_per_s.round() as u64);
        self.last = Some(second.clone());
        Some(second)
    }
}
