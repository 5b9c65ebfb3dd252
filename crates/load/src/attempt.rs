//! One attempt: opens the lanes, starts them together, merges their intervals into samples, decides the adaptive
//! end, and keeps the account. The lanes' own loop is the driver's.
use crate::{
    driver::{Driver, LaneEnd, Message, boundary},
    layer::{Cx, Job, LaneSpec, LoadError},
    tally::Tally,
};
use fathom_model::{AttemptEnd, ErrorClass, EventKind, Load, Phase, StopReason, StuckOp};
use std::{
    collections::BTreeMap,
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    time::{Duration, Instant},
};

/// Longest wait between two looks at cancel and clock.
const LOOK: Duration = Duration::from_millis(50);
/// Spare intervals per lane, so that the driver never allocates one while load runs.
const SPARES: usize = 3;

/// What the lanes read while they run.
pub struct Signals {
    /// End of the measured window, nanoseconds since the start of load. Only ever moves nearer.
    pub(crate) end_ns: AtomicU64,
    /// Asked to stop: in-flight operations are cancelled.
    pub(crate) cancel: AtomicBool,
    tight: AtomicBool,
}

impl Signals {
    fn new(load: &Load) -> Signals {
        Signals {
            end_ns: AtomicU64::new(load.ramp_ns.saturating_add(load.stop.duration_ns)),
            cancel: AtomicBool::new(false),
            tight: AtomicBool::new(false),
        }
    }

    pub(crate) fn reason(&self) -> StopReason {
        if self.cancel.load(Relaxed) {
            StopReason::Cancelled
        } else if self.tight.load(Relaxed) {
            StopReason::Tight
        } else {
            StopReason::Duration
        }
    }
}

/// How an attempt ended.
pub struct Account {
    /// For the store.
    pub end: AttemptEnd,
    /// Some operations never came back, their buffers were leaked: end this process soon.
    pub abandoned: bool,
    /// A lane failed as a whole; the counters hold up to there.
    pub error: Option<LoadError>,
}

/// Runs the load of one prepared job. `emit` gets `LoadStarted`, every sample and every stuck operation as they come.
/// `start`: when load begins, `None` for as soon as all lanes are open.
///
/// # Errors
/// When a lane can't be opened: no load was made. A lane that fails later is in [`Account::error`].
pub fn run(
    job: &dyn Job,
    load: &Load,
    cx: &dyn Cx,
    start: Option<Instant>,
    emit: &mut dyn FnMut(EventKind),
) -> Result<Account, LoadError> {
    let signals = Signals::new(load);
    let (sink, inbox) = mpsc::channel();
    std::thread::scope(|scope| {
        let mut lanes = Vec::new();
        let mut spare = Vec::new();
        for spec in lane_specs(load) {
            let (open_sink, opened) = mpsc::channel::<Result<(), LoadError>>();
            let (go, gone) = mpsc::channel::<Instant>();
            let (recycle, fresh) = mpsc::channel();
            for _ in 0..SPARES {
                let _ = recycle.send(Box::new(Tally::new()));
            }
            let (sink, signals) = (sink.clone(), &signals);
            let body = move || {
                // 1 ns instead of the default 50 µs: open-loop arrivals shall not be late by it.
                let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
                let lane = match job.lane(spec, cx) {
                    Ok(lane) => lane,
                    Err(error) => {
                        let _ = open_sink.send(Err(error));
                        return;
                    }
                };
                let _ = open_sink.send(Ok(()));
                // A closed channel: another lane failed to open, there will be no load.
                let Ok(base) = gone.recv() else { return };
                std::thread::sleep(base.saturating_duration_since(Instant::now()));
                Driver::new(job, load, spec, signals, base, sink, fresh).run(lane);
            };
            std::thread::Builder::new()
                .name(format!("lane-{}", spec.index))
                .spawn_scoped(scope, body)
                .map_err(|e| LoadError::Failed(format!("cannot start load thread {}: {e}", spec.index)))?;
            lanes.push((opened, go));
            spare.push(recycle);
        }
        drop(sink);
        for (opened, _) in &lanes {
            opened.recv().unwrap_or_else(|_| Err(LoadError::Failed("a load thread ended early".into())))?;
        }
        let base = start.unwrap_or_else(Instant::now).max(Instant::now());
        emit(EventKind::LoadStarted);
        for (_, go) in &lanes {
            let _ = go.send(base);
        }
        let merger = Merger {
            job,
            load,
            signals: &signals,
            base,
            spare,
            waiting: BTreeMap::new(),
            ends: lanes.iter().map(|_| None).collect(),
            rates: Vec::new(),
            window_ns: (u64::MAX, 0),
        };
        Ok(merger.run(&inbox, cx, emit))
    })
}

fn lane_specs(load: &Load) -> impl Iterator<Item = LaneSpec> {
    let lanes = load.lanes.clamp(1, load.depth.max(1));
    let depth = load.depth.max(1);
    (0..lanes).map(move |index| LaneSpec { index, lanes, depth: depth / lanes + u32::from(index < depth % lanes) })
}

/// Intervals of one key: what came so far, and from which lanes.
struct Waiting {
    tally: Box<Tally>,
    from: Vec<bool>,
}

struct Merger<'a> {
    job: &'a dyn Job,
    load: &'a Load,
    signals: &'a Signals,
    base: Instant,
    spare: Vec<mpsc::Sender<Box<Tally>>>,
    waiting: BTreeMap<(Phase, u64), Waiting>,
    ends: Vec<Option<LaneEnd>>,
    rates: Vec<f64>,
    /// First start and last end of measured intervals.
    window_ns: (u64, u64),
}

impl Merger<'_> {
    fn run(mut self, inbox: &mpsc::Receiver<Message>, cx: &dyn Cx, emit: &mut dyn FnMut(EventKind)) -> Account {
        let mut cost = Cost::default();
        loop {
            let now_ns = self.base.elapsed().as_nanos() as u64;
            if now_ns >= self.load.ramp_ns && cost.began.is_none() && Instant::now() >= self.base {
                cost.began = Some(Usage::read());
            }
            if now_ns >= self.signals.end_ns.load(Relaxed) && cost.ended.is_none() {
                cost.ended = Some(Usage::read());
            }
            if cx.cancelled() && !self.signals.cancel.swap(true, Relaxed) {
                self.signals.end_ns.fetch_min(now_ns, Relaxed);
            }
            match inbox.recv_timeout(self.nap(now_ns, &cost)) {
                Ok(Message::Tally { lane, tally }) => self.take(lane, tally),
                Ok(Message::Stuck { at, age_ns }) => {
                    let target = self.job.target(at);
                    emit(EventKind::Stuck(StuckOp { target, age_ns, acting: Vec::new() }));
                }
                Ok(Message::Ended { lane, end }) => self.ends[lane as usize] = Some(end),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            self.flush(emit);
        }
        cost.ended.get_or_insert_with(Usage::read);
        self.account(&cost)
    }

    /// Until the next moment something must be read on time.
    fn nap(&self, now_ns: u64, cost: &Cost) -> Duration {
        let mut nap = LOOK;
        for (done, at_ns) in
            [(cost.began.is_some(), self.load.ramp_ns), (cost.ended.is_some(), self.signals.end_ns.load(Relaxed))]
        {
            if !done {
                nap = nap.min(Duration::from_nanos(at_ns.saturating_sub(now_ns)));
            }
        }
        nap.max(Duration::from_micros(200))
    }

    fn take(&mut self, lane: u32, tally: Box<Tally>) {
        let lanes = self.ends.len();
        match self.waiting.entry((tally.phase, tally.start_ns)) {
            std::collections::btree_map::Entry::Vacant(vacant) => {
                let mut from = vec![false; lanes];
                from[lane as usize] = true;
                vacant.insert(Waiting { tally, from });
            }
            std::collections::btree_map::Entry::Occupied(mut occupied) => {
                let waiting = occupied.get_mut();
                waiting.tally.merge(&tally);
                waiting.from[lane as usize] = true;
                let _ = self.spare[lane as usize].send(tally);
            }
        }
    }

    /// Emits every interval that all lanes delivered or can't deliver any more.
    fn flush(&mut self, emit: &mut dyn FnMut(EventKind)) {
        while let Some(entry) = self.waiting.first_entry() {
            let complete = entry.get().from.iter().zip(&self.ends).all(|(came, end)| *came || end.is_some());
            if !complete {
                return;
            }
            let Waiting { tally, from } = entry.remove();
            tally.samples(self.load).into_iter().for_each(|s| emit(EventKind::Sample(s)));
            if tally.phase == Phase::Measure && tally.end_ns > tally.start_ns {
                self.window_ns = (self.window_ns.0.min(tally.start_ns), self.window_ns.1.max(tally.end_ns));
                self.rates.push(tally.ops() as f64 * 1e9 / (tally.end_ns - tally.start_ns) as f64);
                self.maybe_tight();
            }
            if let Some(lane) = from.iter().position(|f| *f) {
                let _ = self.spare[lane].send(tally);
            }
        }
    }

    /// The adaptive end: all lanes end at the same coming boundary.
    fn maybe_tight(&self) {
        let Some(tight) = self.load.stop.tight else { return };
        if self.window_ns.1 - self.window_ns.0 < tight.floor_ns || self.signals.tight.load(Relaxed) {
            return;
        }
        if fathom_stats::tight(&self.rates).is_some_and(|half| half <= tight.rel_half_width) {
            let soon_ns = self.base.elapsed().as_nanos() as u64 + 30_000_000;
            let end_ns = boundary(self.load, soon_ns);
            if end_ns < self.signals.end_ns.load(Relaxed) {
                self.signals.tight.store(true, Relaxed);
                self.signals.end_ns.fetch_min(end_ns, Relaxed);
            }
        }
    }

    fn account(self, cost: &Cost) -> Account {
        let window_ns = self.window_ns.1.saturating_sub(self.window_ns.0.min(self.window_ns.1));
        let mut end = AttemptEnd {
            cpu_ns: cost.cpu_ns(window_ns),
            window_ns,
            host_cpu_busy: cost.host_busy(),
            ..AttemptEnd::not_started(StopReason::Duration)
        };
        let (mut abandoned, mut error) = (false, None);
        for lane in self.ends.into_iter().flatten() {
            end.issued += lane.issued;
            end.completed += lane.completed;
            end.failed += lane.failed;
            end.timed_out += lane.timed_out;
            end.unsent += lane.unsent;
            end.generator_lag_ns += lane.generator_lag_ns;
            abandoned |= lane.abandoned;
            error = error.or(lane.error);
            if severity(&lane.stop) > severity(&end.stop) {
                end.stop = lane.stop;
            }
        }
        Account { end, abandoned, error }
    }
}

/// Which lane's reason stands for the attempt, when they differ.
fn severity(stop: &StopReason) -> u8 {
    match stop {
        StopReason::Duration => 0,
        StopReason::Tight => 1,
        StopReason::Ops => 2,
        StopReason::Space => 3,
        StopReason::AllFailed { class: ErrorClass::Errno(_) } => 5,
        StopReason::AllFailed { .. } => 6,
        StopReason::NoProgress => 7,
        StopReason::Cancelled => 8,
        StopReason::NotStarted { .. } | StopReason::WorkerLost { .. } => 9,
    }
}

/// CPU used by this process and by its host up to a moment.
struct Usage {
    at: Instant,
    process_ns: u64,
    /// Busy and total jiffies of all CPUs (`/proc/stat`, proc(5)).
    host: Option<(u64, u64)>,
}

impl Usage {
    fn read() -> Usage {
        let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        let host = std::fs::read_to_string("/proc/stat").ok().and_then(|text| busy_and_total(&text));
        Usage { at: Instant::now(), process_ns: cpu.tv_sec as u64 * 1_000_000_000 + cpu.tv_nsec as u64, host }
    }
}

/// user nice system idle iowait irq softirq steal: idle and iowait are not busy; steal is busy, it is time we could
/// not have.
fn busy_and_total(text: &str) -> Option<(u64, u64)> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let fields: Vec<u64> = line.split_whitespace().take(8).map_while(|f| f.parse().ok()).collect();
    let total: u64 = fields.iter().sum();
    (fields.len() >= 5).then(|| (total - fields[3] - fields[4], total))
}

#[derive(Default)]
struct Cost {
    began: Option<Usage>,
    ended: Option<Usage>,
}

impl Cost {
    /// CPU time over the window; scaled, because the two readings happen some microseconds off its borders.
    fn cpu_ns(&self, window_ns: u64) -> u64 {
        let (Some(a), Some(b)) = (&self.began, &self.ended) else { return 0 };
        let read_ns = b.at.saturating_duration_since(a.at).as_nanos() as f64;
        let used_ns = b.process_ns.saturating_sub(a.process_ns) as f64;
        if read_ns > 0.0 { (used_ns * window_ns as f64 / read_ns) as u64 } else { 0 }
    }

    fn host_busy(&self) -> Option<f64> {
        let ((busy_a, total_a), (busy_b, total_b)) = (self.began.as_ref()?.host?, self.ended.as_ref()?.host?);
        (total_b > total_a).then(|| busy_b.saturating_sub(busy_a) as f64 / (total_b - total_a) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_stat() {
        assert_eq!(busy_and_total("cpu  10 1 5 80 4 0 0 0 0 0\ncpu0 1 2\n"), Some((16, 100)));
        assert_eq!(busy_and_total(""), None);
        assert_eq!(busy_and_total("cpu  a b"), None);
    }
}
