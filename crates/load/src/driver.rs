//! The one driver loop: the only place that decides when an operation starts and how long it took.
//!
//! Pace, mix, addressing, ramp and end are values it reads. It knows no socket, file or object. In the loop nothing
//! allocates, locks or logs; finished intervals leave through a channel, fresh ones come back through another.
use crate::{
    address::Addresses,
    attempt::Signals,
    layer::{Done, Job, Lane, LaneSpec, LoadError, Op},
    pace::Schedule,
    tally::{Tally, VERBS, index_of},
};
use fathom_model::{ErrorClass, Load, Phase, StopReason, Verb};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::{
    sync::{atomic::Ordering::Relaxed, mpsc},
    time::{Duration, Instant},
};

/// Longest wait inside one reap: bounds how late a cancel or a deadline is noticed.
const REAP_NS: u64 = 20_000_000;
/// How often the ages of operations in flight are looked at.
const SCAN_NS: u64 = 50_000_000;
/// An operation in flight for longer is reported as stuck.
const STUCK_NS: u64 = 1_000_000_000;
/// A cancelled operation that doesn't come back within this is abandoned.
const ABANDON_NS: u64 = 1_000_000_000;
/// In-flight operations get this long to end by themselves after a cancel of the whole attempt.
const CANCEL_GRACE_NS: u64 = 300_000_000;
/// Stuck operations reported per lane and attempt, at most.
const STUCK_MAX: u32 = 64;
/// `Errno(ECANCELED)`: what a layer returns for an operation the driver cancelled.
const ECANCELED: ErrorClass = ErrorClass::Errno(125);

/// What a lane tells the attempt.
pub(crate) enum Message {
    /// A finished interval.
    Tally { lane: u32, tally: Box<Tally> },
    /// An operation older than a second: its address and age.
    Stuck { at: u64, age_ns: u64 },
    /// The lane ended.
    Ended { lane: u32, end: LaneEnd },
}

/// One lane's account.
#[derive(Debug)]
pub(crate) struct LaneEnd {
    pub stop: StopReason,
    pub issued: u64,
    pub completed: u64,
    pub failed: u64,
    pub timed_out: u64,
    pub unsent: u64,
    pub generator_lag_ns: u64,
    /// Operations never came back: the lane was left open on purpose and the process should end soon.
    pub abandoned: bool,
    pub error: Option<LoadError>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    InFlight,
    Cancelled { at_ns: u64 },
    Abandoned,
}

#[derive(Clone, Copy)]
struct Slot {
    due_ns: u64,
    sent_ns: u64,
    freed_ns: u64,
    at: u64,
    verb: Verb,
    state: State,
    reported: bool,
}

/// The random stream of one lane: a function of the step's seed and the lane's index alone.
#[must_use]
pub fn seed_of_lane(seed: u64, lane: u32) -> u64 {
    // SplitMix64's increment and finaliser: neighbouring seeds give unrelated streams.
    let mut z = seed.wrapping_add(u64::from(lane + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Chooses verbs by weight.
struct Mix {
    total: u32,
    read: u32,
}

impl Mix {
    fn new(load: &Load) -> Mix {
        let weight = |verb| load.mix.iter().filter(|s| s.verb == verb).map(|s| s.weight).sum::<u32>();
        Mix { total: weight(Verb::Read) + weight(Verb::Write), read: weight(Verb::Read) }
    }

    #[inline]
    fn pick(&self, rng: &mut Xoshiro256PlusPlus) -> Verb {
        if self.read == self.total {
            Verb::Read
        } else if self.read == 0 || rng.random_range(0..self.total) >= self.read {
            Verb::Write
        } else {
            Verb::Read
        }
    }
}

/// Everything one lane needs.
pub(crate) struct Driver<'a> {
    load: &'a Load,
    signals: &'a Signals,
    lane: u32,
    base: Instant,
    rng: Xoshiro256PlusPlus,
    schedule: Schedule,
    addresses: Addresses,
    mix: Mix,
    slots: Vec<Slot>,
    free: Vec<u32>,
    in_flight: u32,
    quota: u64,
    tally: Box<Tally>,
    boundary_ns: u64,
    sink: mpsc::Sender<Message>,
    fresh: mpsc::Receiver<Box<Tally>>,
    end: LaneEnd,
    /// Failures and time-outs since the last success, and when the first of them came back.
    bad_run: u64,
    bad_since_ns: u64,
    timeout_run: u64,
    last_class: ErrorClass,
    stuck_reported: u32,
}

impl<'a> Driver<'a> {
    pub(crate) fn new(
        job: &dyn Job,
        load: &'a Load,
        spec: LaneSpec,
        signals: &'a Signals,
        base: Instant,
        sink: mpsc::Sender<Message>,
        fresh: mpsc::Receiver<Box<Tally>>,
    ) -> Driver<'a> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed_of_lane(load.seed, spec.index));
        let schedule = Schedule::new(load.pace, spec.index, spec.lanes, &mut rng);
        let slot =
            Slot { due_ns: 0, sent_ns: 0, freed_ns: 0, at: 0, verb: Verb::Read, state: State::Free, reported: false };
        let quota = load.stop.ops.map_or(u64::MAX, |ops| {
            let (lanes, index) = (u64::from(spec.lanes), u64::from(spec.index));
            ops / lanes + u64::from(index < ops % lanes)
        });
        let mut tally = fresh.try_recv().unwrap_or_else(|_| Box::new(Tally::new()));
        let first = if load.ramp_ns > 0 { Phase::Ramp } else { Phase::Measure };
        tally.begin(first, 0);
        Driver {
            load,
            signals,
            lane: spec.index,
            base,
            schedule,
            addresses: Addresses::new(load.pattern, job.space(), spec),
            mix: Mix::new(load),
            rng,
            slots: vec![slot; spec.depth as usize],
            free: (0..spec.depth).rev().collect(),
            in_flight: 0,
            quota,
            boundary_ns: boundary(load, 0).min(signals.end_ns.load(Relaxed)),
            tally,
            sink,
            fresh,
            end: LaneEnd {
                stop: StopReason::Duration,
                issued: 0,
                completed: 0,
                failed: 0,
                timed_out: 0,
                unsent: 0,
                generator_lag_ns: 0,
                abandoned: false,
                error: None,
            },
            bad_run: 0,
            bad_since_ns: 0,
            timeout_run: 0,
            last_class: ECANCELED,
            stuck_reported: 0,
        }
    }

    #[inline]
    fn now_ns(&self) -> u64 {
        self.base.elapsed().as_nanos() as u64
    }

    /// Drives the lane from `base` to the end of load and drain. The result's counters always add up:
    /// issued = completed + failed + timed out.
    pub(crate) fn run(mut self, mut lane: Box<dyn Lane + '_>) {
        if let Err(error) = self.drive(&mut *lane) {
            self.end.error = Some(error);
        }
        // Whatever is still out counts as timed out; nothing is counted twice, nothing is lost.
        let now_ns = self.now_ns();
        for slot in 0..self.slots.len() {
            if matches!(self.slots[slot].state, State::InFlight | State::Cancelled { .. }) {
                self.time_out(slot, now_ns);
                self.end.abandoned = true;
            }
        }
        self.close_interval(now_ns);
        if self.end.abandoned {
            // Buffers of operations that may still complete must outlive them: the process ends soon.
            std::mem::forget(lane);
        } else {
            drop(lane);
        }
        let _ = self.sink.send(Message::Ended { lane: self.lane, end: self.end });
    }

    fn drive(&mut self, lane: &mut dyn Lane) -> Result<(), LoadError> {
        let mut done: Vec<Done> = Vec::with_capacity(self.slots.len());
        let mut now_ns = self.now_ns();
        let mut next_scan_ns = SCAN_NS;
        let mut issuing = true;
        loop {
            if issuing {
                now_ns = self.issue(lane, now_ns, &mut issuing)?;
            }
            self.heed_end();
            if now_ns >= self.boundary_ns {
                self.turn_over(now_ns);
            }
            if self.in_flight == 0 && !issuing {
                return Ok(());
            }
            let wait = Duration::from_nanos(self.wait_ns(now_ns, issuing));
            if self.in_flight > 0 {
                lane.reap(wait, &mut done)?;
            } else {
                std::thread::sleep(wait);
            }
            for d in done.drain(..) {
                self.complete(d);
            }
            now_ns = self.now_ns();
            if now_ns >= next_scan_ns {
                next_scan_ns = now_ns + SCAN_NS;
                self.scan(lane, now_ns);
                if issuing && self.hopeless(now_ns) {
                    issuing = false;
                    self.count_unsent(now_ns);
                }
            }
        }
    }

    /// Sends every operation that is due and has a free slot. Returns the time after the last.
    #[inline]
    fn issue(&mut self, lane: &mut dyn Lane, mut now_ns: u64, issuing: &mut bool) -> Result<u64, LoadError> {
        let end_ns = self.signals.end_ns.load(Relaxed);
        if now_ns >= end_ns {
            *issuing = false;
            self.end.stop = self.signals.reason();
            self.count_unsent(end_ns);
            return Ok(now_ns);
        }
        while let Some(&slot) = self.free.last() {
            let due_ns = match self.schedule.due() {
                None => now_ns,
                Some(due) if due.as_nanos() as u64 <= now_ns => due.as_nanos() as u64,
                Some(_) => break,
            };
            if self.end.issued >= self.quota {
                *issuing = false;
                self.end.stop = StopReason::Ops;
                break;
            }
            let Some(at) = self.addresses.next(&mut self.rng) else {
                *issuing = false;
                self.end.stop = StopReason::Space;
                break;
            };
            self.free.pop();
            let verb = self.mix.pick(&mut self.rng);
            let s = &mut self.slots[slot as usize];
            let freed_ns = s.freed_ns;
            *s = Slot { due_ns, sent_ns: now_ns, freed_ns, at, verb, state: State::InFlight, reported: false };
            let could_ns = if self.load.pace.per_s().is_some() { due_ns.max(freed_ns) } else { freed_ns };
            self.end.generator_lag_ns += now_ns.saturating_sub(could_ns);
            self.end.issued += 1;
            self.in_flight += 1;
            lane.submit(Op { verb, at, len: self.load.block_bytes, slot })?;
            self.schedule.advance(&mut self.rng);
            now_ns = self.now_ns();
            if now_ns >= self.boundary_ns || now_ns >= end_ns {
                break;
            }
        }
        Ok(now_ns)
    }

    /// The end may have moved nearer: an adaptive end, a cancel.
    #[inline]
    fn heed_end(&mut self) {
        if self.tally.phase != Phase::Drain {
            self.boundary_ns = self.boundary_ns.min(self.signals.end_ns.load(Relaxed));
        }
    }

    /// How long to wait for a completion: not past the next due time, interval boundary or look at the deadlines.
    #[inline]
    fn wait_ns(&self, now_ns: u64, issuing: bool) -> u64 {
        let mut until_ns = (now_ns + REAP_NS).min(self.boundary_ns);
        if issuing && !self.free.is_empty() {
            match self.schedule.due() {
                Some(due) => until_ns = until_ns.min(due.as_nanos() as u64),
                None => return 0,
            }
        }
        until_ns.saturating_sub(now_ns)
    }

    #[inline]
    fn complete(&mut self, done: Done) {
        let at_ns = done.at.saturating_duration_since(self.base).as_nanos() as u64;
        if at_ns >= self.boundary_ns {
            self.turn_over(at_ns);
        }
        let slot = &mut self.slots[done.slot as usize];
        let was = slot.state;
        let (due_ns, sent_ns, verb) = (slot.due_ns, slot.sent_ns, slot.verb);
        if was == State::Free {
            debug_assert!(false, "slot {} completed twice", done.slot);
            return;
        }
        slot.state = State::Free;
        slot.freed_ns = at_ns;
        self.free.push(done.slot);
        if was == State::Abandoned {
            return; // counted as timed out already
        }
        self.in_flight -= 1;
        let tally = &mut self.tally.verbs[index_of(verb)];
        match done.result {
            Ok(bytes) => {
                tally.ops += 1;
                tally.bytes += u64::from(bytes);
                tally.response.record(at_ns.saturating_sub(due_ns));
                tally.service.record(at_ns.saturating_sub(sent_ns));
                self.end.completed += 1;
                self.bad_run = 0;
                self.timeout_run = 0;
            }
            Err(ECANCELED) if was != State::InFlight && !self.signals.cancel.load(Relaxed) => {
                tally.timeouts += 1;
                tally.response.record(at_ns.saturating_sub(due_ns));
                tally.service.record(at_ns.saturating_sub(sent_ns));
                self.end.timed_out += 1;
                self.timeout_run += 1;
            }
            Err(class) => {
                tally.fail(class, 1);
                self.end.failed += 1;
                if self.bad_run == 0 {
                    self.bad_since_ns = at_ns;
                }
                self.bad_run += 1;
                self.last_class = class;
            }
        }
    }

    /// Counts a slot that didn't come back.
    fn time_out(&mut self, slot: usize, now_ns: u64) {
        let s = &mut self.slots[slot];
        s.state = State::Abandoned;
        let tally = &mut self.tally.verbs[index_of(s.verb)];
        tally.timeouts += 1;
        tally.response.record(now_ns.saturating_sub(s.due_ns));
        tally.service.record(now_ns.saturating_sub(s.sent_ns));
        self.in_flight -= 1;
        self.end.timed_out += 1;
        self.timeout_run += 1;
    }

    /// Looks at the age of everything in flight: reports the stuck, cancels the overdue, gives up on the lost.
    #[cold]
    fn scan(&mut self, lane: &mut dyn Lane, now_ns: u64) {
        let cancelled_ns = self.signals.cancel.load(Relaxed).then(|| self.signals.end_ns.load(Relaxed));
        for slot in 0..self.slots.len() {
            let s = self.slots[slot];
            let age_ns = now_ns.saturating_sub(s.sent_ns);
            match s.state {
                State::Free | State::Abandoned => {}
                State::InFlight => {
                    if age_ns >= STUCK_NS && !s.reported && self.stuck_reported < STUCK_MAX {
                        self.slots[slot].reported = true;
                        self.stuck_reported += 1;
                        let _ = self.sink.send(Message::Stuck { at: s.at, age_ns });
                    }
                    let hurry = cancelled_ns.is_some_and(|at| now_ns.saturating_sub(at) >= CANCEL_GRACE_NS);
                    if age_ns >= self.load.op_timeout_ns || hurry {
                        self.slots[slot].state = State::Cancelled { at_ns: now_ns };
                        lane.cancel(slot as u32);
                    }
                }
                State::Cancelled { at_ns } => {
                    if now_ns.saturating_sub(at_ns) >= ABANDON_NS {
                        self.time_out(slot, now_ns);
                        self.end.abandoned = true;
                    }
                }
            }
        }
    }

    /// True when going on would only repeat the same failure: nothing but errors for a second, or nothing but
    /// time-outs for two rounds of the whole depth.
    #[cold]
    fn hopeless(&mut self, now_ns: u64) -> bool {
        let rounds = (2 * self.slots.len() as u64).max(8);
        if self.bad_run >= rounds && now_ns.saturating_sub(self.bad_since_ns) >= 1_000_000_000 {
            self.end.stop = StopReason::AllFailed { class: self.last_class };
            return true;
        }
        let lost = self.slots.iter().all(|s| s.state == State::Abandoned);
        if self.timeout_run >= rounds || lost {
            self.end.stop = StopReason::NoProgress;
            return true;
        }
        // A cluster that answers every operation with an error at once would be hammered: slow down.
        if self.bad_run > self.slots.len() as u64 {
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }

    /// Open loop: what was due before the end and never sent. It waited until the end at least; leaving it out would
    /// be coordinated omission.
    #[cold]
    fn count_unsent(&mut self, end_ns: u64) {
        while let Some(due) = self.schedule.due() {
            let due_ns = due.as_nanos() as u64;
            if due_ns >= end_ns {
                break;
            }
            let verb = self.mix.pick(&mut self.rng);
            let tally = &mut self.tally.verbs[index_of(verb)];
            tally.unsent += 1;
            tally.response.record(end_ns - due_ns);
            self.end.unsent += 1;
            self.schedule.advance(&mut self.rng);
        }
    }

    /// Closes every interval that ended at or before `now_ns`.
    #[cold]
    fn turn_over(&mut self, now_ns: u64) {
        let end_ns = self.signals.end_ns.load(Relaxed);
        while now_ns >= self.boundary_ns {
            let at_ns = self.boundary_ns.min(end_ns);
            // The end first: a cancel may come before the ramp is over.
            let phase = if at_ns >= end_ns {
                Phase::Drain
            } else if at_ns < self.load.ramp_ns {
                Phase::Ramp
            } else {
                Phase::Measure
            };
            if at_ns <= self.tally.start_ns {
                // A cancel that was told late: the end lies before this interval began, so all of it is drain.
                self.tally.phase = phase;
            } else {
                self.swap(at_ns, phase);
            }
            self.boundary_ns = if phase == Phase::Drain { u64::MAX } else { boundary(self.load, at_ns).min(end_ns) };
        }
    }

    fn close_interval(&mut self, now_ns: u64) {
        let now_ns = now_ns.max(self.tally.start_ns + 1);
        self.swap(now_ns, Phase::Drain);
    }

    fn swap(&mut self, end_ns: u64, next: Phase) {
        let mut fresh = self.fresh.try_recv().unwrap_or_else(|_| Box::new(Tally::new()));
        fresh.begin(next, end_ns);
        let mut full = std::mem::replace(&mut self.tally, fresh);
        full.end_ns = end_ns;
        let _ = self.sink.send(Message::Tally { lane: self.lane, tally: full });
    }
}

/// The first interval boundary after `at_ns`: the end of the ramp, or the next tick counted from there.
pub(crate) fn boundary(load: &Load, at_ns: u64) -> u64 {
    if at_ns < load.ramp_ns {
        return load.ramp_ns.min((at_ns / load.tick_ns + 1) * load.tick_ns);
    }
    load.ramp_ns + ((at_ns - load.ramp_ns) / load.tick_ns + 1) * load.tick_ns
}

const _: () = assert!(VERBS.len() == 2, "Mix knows two verbs");
