//! Runs a load against a job and holds everything that is true of any load against the result.
use crate::record::{LaneLog, Ledger, RecordedJob};
use fathom_load::layer::Job;
use fathom_load::{Account, run};
use fathom_model::{ErrorClass, EventKind, Latency, Load, Pace, Pattern, Phase, Sample, Share, Stop, StuckOp, Verb};
use fathom_stats::Hist;
use std::collections::BTreeMap;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A load that hangs takes its process along: nothing else could end it.
const PATIENCE: Duration = Duration::from_secs(90);

pub const MS: u64 = 1_000_000;
pub const ECANCELED: ErrorClass = ErrorClass::Errno(125);

/// Writes in closed loop for 300 ms.
pub fn load() -> Load {
    Load {
        mix: vec![Share { verb: Verb::Write, weight: 1 }],
        pattern: Pattern::Sequential { wrap: true },
        block_bytes: 4096,
        depth: 8,
        lanes: 1,
        pace: Pace::Closed,
        ramp_ns: 0,
        stop: Stop { duration_ns: 300 * MS, ops: None, tight: None },
        op_timeout_ns: 20_000 * MS,
        seed: 7,
        compressible_pct: 0,
        verify: false,
        tick_ns: 100 * MS,
    }
}

/// Reads and writes, half each.
pub fn half_and_half() -> Vec<Share> {
    vec![Share { verb: Verb::Read, weight: 1 }, Share { verb: Verb::Write, weight: 1 }]
}

/// What came of it.
pub struct Outcome {
    pub account: Account,
    pub samples: Vec<Sample>,
    pub stuck: Vec<StuckOp>,
    pub lanes: Vec<LaneLog>,
    /// From the start of load to the account.
    pub took: Duration,
}

/// Runs `load` on a job that makes nothing.
pub fn drive(job: &dyn Job, load: &Load) -> Outcome {
    drive_with(job, load, &Ledger::of_nothing(), PATIENCE)
}

/// Runs `load`; the process dies when it is not over within `patience`.
pub fn drive_with(job: &dyn Job, load: &Load, ledger: &Ledger, patience: Duration) -> Outcome {
    let job = RecordedJob::new(job, load.block_bytes, ledger);
    job.prepare(ledger).unwrap();
    let (mut samples, mut stuck) = (Vec::new(), Vec::new());
    let begun = Instant::now();
    let account = within(patience, || {
        run(&job, load, ledger, None, &mut |event| match event {
            EventKind::LoadStarted => drop(ledger.started.set(Instant::now())),
            EventKind::Sample(sample) => samples.push(with_length(sample)),
            EventKind::Stuck(op) => stuck.push(op),
            other => panic!("a load emits no {other:?}"),
        })
    })
    .unwrap();
    let took = ledger.started.get().unwrap_or(&begun).elapsed();
    let outcome = Outcome { account, samples, stuck, lanes: job.logs(), took };
    assert_eq!(ledger.faults(), Vec::<String>::new());
    outcome.holds(load);
    outcome
}

/// An interval of no length means that a lane turns over for ever, and eats all memory within seconds. It can't be
/// stopped from outside, so the process ends.
fn with_length(sample: Sample) -> Sample {
    if sample.start_ns >= sample.end_ns {
        eprintln!("an interval from {} to {} ns; the process is ended", sample.start_ns, sample.end_ns);
        std::process::abort();
    }
    sample
}

/// Does `work`, or ends the process: a test that hangs must not take the machine's memory and time with it.
fn within<T>(patience: Duration, work: impl FnOnce() -> T) -> T {
    let (over, wait) = mpsc::channel::<()>();
    let name = std::thread::current().name().unwrap_or("a load").to_owned();
    std::thread::spawn(move || {
        if wait.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout) {
            eprintln!("{name}: not over after {patience:?}; the process is ended");
            std::process::abort();
        }
    });
    let result = work();
    drop(over);
    result
}

impl Outcome {
    /// What is true of every load on every layer.
    fn holds(&self, load: &Load) {
        self.lanes_behaved(load);
        self.adds_up(load);
        self.intervals_are_in_order(load);
    }

    fn lanes_behaved(&self, load: &Load) {
        for lane in &self.lanes {
            assert_eq!(lane.faults, Vec::<String>::new(), "lane {}", lane.spec.index);
            assert!(lane.peak <= lane.spec.depth, "{} in flight in {:?}", lane.peak, lane.spec);
            let back = lane.completed + lane.errors.values().sum::<u64>();
            assert_eq!(lane.submitted, back + u64::from(lane.in_flight()), "lane {}", lane.spec.index);
            assert!(self.account.abandoned || lane.in_flight() == 0, "{:?} never came back", lane.flying);
        }
        assert_eq!(self.lanes.len() as u32, load.lanes.clamp(1, load.depth));
        assert_eq!(self.lanes.iter().map(|l| l.spec.depth).sum::<u32>(), load.depth);
    }

    fn adds_up(&self, load: &Load) {
        let end = &self.account.end;
        let sum = |of: fn(&Sample) -> u64| self.samples.iter().map(of).sum::<u64>();
        assert_eq!(end.issued, end.completed + end.failed + end.timed_out, "{end:?}");
        assert_eq!(end.issued, self.lanes.iter().map(|l| l.submitted).sum::<u64>(), "what the lanes were given");
        assert_eq!(
            (sum(|s| s.ops), sum(Sample::failed), sum(|s| s.timeouts), sum(|s| s.unsent)),
            (end.completed, end.failed, end.timed_out, end.unsent),
            "samples (left) against account"
        );
        assert_eq!(sum(|s| s.bytes), end.completed * u64::from(load.block_bytes));
        assert_eq!(sum(|s| s.service.count), end.completed + end.timed_out);
        assert_eq!(sum(|s| s.response.count), end.completed + end.timed_out + end.unsent);
        if !self.account.abandoned {
            assert_eq!(end.completed, self.lanes.iter().map(|l| l.completed).sum::<u64>(), "what the lanes gave back");
            // A cancelled operation is a time-out or, when the whole attempt was cancelled, a failure.
            let given: BTreeMap<ErrorClass, u64> =
                self.lanes.iter().flat_map(|l| l.errors.clone()).fold(BTreeMap::new(), |mut all, (class, n)| {
                    *all.entry(class).or_default() += n;
                    all
                });
            let mut counted = self.errors();
            *counted.entry(ECANCELED).or_default() += end.timed_out;
            counted.retain(|_, n| *n > 0);
            assert_eq!(counted, given, "errors counted (left) against those the lanes gave back");
        }
        assert!(self.account.error.is_none(), "{:?}", self.account.error);
    }

    fn intervals_are_in_order(&self, load: &Load) {
        for verb in [Verb::Read, Verb::Write] {
            let of_verb: Vec<&Sample> = self.samples.iter().filter(|s| s.verb == verb).collect();
            assert!(of_verb.is_empty() || load.has(verb));
            for s in &of_verb {
                assert!(s.phase != Phase::Ramp || s.end_ns <= load.ramp_ns, "a ramp until {} ns", s.end_ns);
                assert!(s.phase != Phase::Measure || s.start_ns >= load.ramp_ns, "measured from {} ns", s.start_ns);
                assert!(s.phase == Phase::Drain || s.end_ns - s.start_ns <= load.tick_ns + 50 * MS);
            }
            for pair in of_verb.windows(2) {
                assert_eq!(pair[0].end_ns, pair[1].start_ns, "intervals must touch");
                assert!(pair[0].phase <= pair[1].phase);
            }
        }
    }

    /// Failed operations by class.
    pub fn errors(&self) -> BTreeMap<ErrorClass, u64> {
        let mut all = BTreeMap::new();
        for (class, n) in self.samples.iter().flat_map(|s| &s.errors) {
            *all.entry(*class).or_default() += *n;
        }
        all
    }

    /// Service times of the whole attempt.
    pub fn service(&self) -> Hist {
        self.merged(|s| &s.service)
    }

    /// Response times of the whole attempt.
    pub fn response(&self) -> Hist {
        self.merged(|s| &s.response)
    }

    fn merged(&self, of: fn(&Sample) -> &Latency) -> Hist {
        let mut all = Hist::new();
        for l in self.samples.iter().map(of) {
            all.merge(&Hist::decode(&l.hdr, l.sum_ns, l.min_ns, l.max_ns).unwrap());
        }
        all
    }
}

/// How many of the recorded values are above `ns`.
pub fn above(hist: &Hist, ns: u64) -> u64 {
    hist.count() - hist.count_at_most(ns)
}
