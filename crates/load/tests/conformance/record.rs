//! Proxies between driver and layer that write down what passes, and what passes wrongly.
use fathom_load::layer::{Cx, Done, Job, Lane, LaneSpec, LoadError, Op, Space};
use fathom_model::{ErrorClass, Made, Verb};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Operations remembered per lane, at most.
const SEQUENCE_MAX: usize = 1 << 20;

/// What passed through one lane.
#[derive(Clone, Debug)]
pub struct LaneLog {
    pub spec: LaneSpec,
    /// Verbs and addresses, in the order they were submitted.
    pub sequence: Vec<(Verb, u64)>,
    pub submitted: u64,
    pub completed: u64,
    pub errors: BTreeMap<ErrorClass, u64>,
    pub cancels: u64,
    /// By slot.
    pub flying: Vec<Option<Op>>,
    /// Most operations in flight at once.
    pub peak: u32,
    /// What must not happen.
    pub faults: Vec<String>,
}

impl LaneLog {
    fn new(spec: LaneSpec) -> LaneLog {
        LaneLog {
            spec,
            sequence: Vec::new(),
            submitted: 0,
            completed: 0,
            errors: BTreeMap::new(),
            cancels: 0,
            flying: vec![None; spec.depth as usize],
            peak: 0,
            faults: Vec::new(),
        }
    }

    pub fn in_flight(&self) -> u32 {
        self.flying.iter().flatten().count() as u32
    }

    fn fault(&mut self, what: String) {
        if self.faults.len() < 10 {
            self.faults.push(what);
        }
    }

    fn submit(&mut self, op: Op, space: Space, block_bytes: u32) {
        self.submitted += 1;
        if self.sequence.len() < SEQUENCE_MAX {
            self.sequence.push((op.verb, op.at));
        }
        if op.at >= space.blocks || op.len != block_bytes {
            self.fault(format!("{op:?} is not a block of {space:?}"));
        }
        match self.flying.get(op.slot as usize) {
            None => self.fault(format!("{op:?}: there is no such slot")),
            Some(Some(other)) => self.fault(format!("{op:?} went into the slot of {other:?}")),
            Some(None) => self.flying[op.slot as usize] = Some(op),
        }
        self.peak = self.peak.max(self.in_flight());
    }

    fn complete(&mut self, done: &Done) -> Option<Op> {
        let op = self.flying.get_mut(done.slot as usize).and_then(Option::take);
        match op {
            None => self.fault(format!("{done:?}: nothing was in flight there")),
            Some(_) => match done.result {
                Ok(_) => self.completed += 1,
                Err(class) => *self.errors.entry(class).or_default() += 1,
            },
        }
        op
    }
}

/// A job whose lanes are recorded.
pub struct RecordedJob<'j> {
    job: &'j dyn Job,
    block_bytes: u32,
    lanes: Mutex<Vec<Arc<Mutex<LaneLog>>>>,
    ledger: &'j Ledger,
}

impl<'j> RecordedJob<'j> {
    pub fn new(job: &'j dyn Job, block_bytes: u32, ledger: &'j Ledger) -> RecordedJob<'j> {
        RecordedJob { job, block_bytes, lanes: Mutex::default(), ledger }
    }

    /// The lanes' logs, by number of lane.
    pub fn logs(&self) -> Vec<LaneLog> {
        let mut logs: Vec<LaneLog> = self.lanes.lock().unwrap().iter().map(|l| l.lock().unwrap().clone()).collect();
        logs.sort_by_key(|l| l.spec.index);
        logs
    }
}

impl Job for RecordedJob<'_> {
    fn space(&self) -> Space {
        self.job.space()
    }
    fn prepare(&self, cx: &dyn Cx) -> Result<(), LoadError> {
        self.job.prepare(cx)
    }
    fn lane<'a>(&'a self, spec: LaneSpec, cx: &'a dyn Cx) -> Result<Box<dyn Lane + 'a>, LoadError> {
        let lane = self.job.lane(spec, cx)?;
        let log = Arc::new(Mutex::new(LaneLog::new(spec)));
        self.lanes.lock().unwrap().push(Arc::clone(&log));
        Ok(Box::new(RecordedLane { job: self, lane, log }))
    }
    fn finish(&self, completed: u64, cx: &dyn Cx) -> Result<(), LoadError> {
        self.job.finish(completed, cx)
    }
    fn target(&self, at: u64) -> String {
        self.job.target(at)
    }
}

/// The log outlives the lane: the driver leaves a lane open whose operations never come back.
struct RecordedLane<'a> {
    job: &'a RecordedJob<'a>,
    lane: Box<dyn Lane + 'a>,
    log: Arc<Mutex<LaneLog>>,
}

impl Lane for RecordedLane<'_> {
    fn submit(&mut self, op: Op) -> Result<(), LoadError> {
        self.log.lock().unwrap().submit(op, self.job.space(), self.job.block_bytes);
        self.lane.submit(op)
    }
    fn reap(&mut self, wait: Duration, done: &mut Vec<Done>) -> Result<(), LoadError> {
        let before = done.len();
        self.lane.reap(wait, done)?;
        let mut log = self.log.lock().unwrap();
        for d in &done[before..] {
            let op = log.complete(d);
            if let Some(op) = op.filter(|op| op.verb == Verb::Write)
                && !self.job.ledger.names(&self.job.target(op.at))
            {
                log.fault(format!("{} was made and the ledger does not name it", self.job.target(op.at)));
            }
        }
        Ok(())
    }
    fn cancel(&mut self, slot: u32) {
        let mut log = self.log.lock().unwrap();
        log.cancels += 1;
        if log.flying.get(slot as usize).is_none_or(Option::is_none) {
            log.fault(format!("slot {slot} was cancelled and nothing was in flight there"));
        }
        drop(log);
        self.lane.cancel(slot);
    }
}

/// Asked before an entry counts as stored: what the entry names and no earlier one did. Tells what is wrong.
pub type Witness = Box<dyn Fn(&[Made], &Made) -> Option<String> + Send + Sync>;

/// Keeps the ledger, and is the controller that may cancel.
#[derive(Default)]
pub struct Ledger {
    made: Mutex<Vec<Made>>,
    faults: Mutex<Vec<String>>,
    /// The layer makes nothing at all, so that nothing must be named.
    makes_nothing: bool,
    witness: Option<Witness>,
    /// How long after the start of load the attempt is to end.
    pub cancel_after: Option<Duration>,
    /// How long it takes to tell that it is to end.
    pub cancel_takes: Duration,
    pub started: OnceLock<Instant>,
}

impl Ledger {
    /// Of a layer that makes nothing.
    pub fn of_nothing() -> Ledger {
        Ledger { makes_nothing: true, ..Ledger::default() }
    }

    /// Of a layer that makes things.
    pub fn witnessed(witness: Witness) -> Ledger {
        Ledger { witness: Some(witness), ..Ledger::default() }
    }

    pub fn made(&self) -> Vec<Made> {
        self.made.lock().unwrap().clone()
    }

    pub fn faults(&self) -> Vec<String> {
        self.faults.lock().unwrap().clone()
    }

    /// True when an entry names this object.
    pub fn names(&self, object: &str) -> bool {
        self.makes_nothing || self.made.lock().unwrap().iter().any(|made| names(made, object))
    }
}

/// True when an entry names this object.
pub fn names(made: &Made, object: &str) -> bool {
    match made {
        Made::Pool { .. } => false,
        Made::Object { name, .. } => name == object,
        Made::Objects { prefix, until, .. } => object
            .strip_prefix(prefix.as_str())
            .filter(|digits| *digits == "0" || !digits.starts_with('0'))
            .and_then(|digits| digits.parse::<u64>().ok())
            .is_some_and(|n| n < *until),
    }
}

impl Cx for Ledger {
    fn ledger(&self, made: &Made) -> Result<(), LoadError> {
        let before = self.made();
        if let Some(fault) = self.witness.as_ref().and_then(|witness| witness(&before, made)) {
            self.faults.lock().unwrap().push(fault);
        }
        self.made.lock().unwrap().push(made.clone());
        Ok(())
    }
    fn progress(&self, _: u64, _: u64, _: &str) {}
    fn note(&self, _: &str) {}
    fn cancelled(&self) -> bool {
        let Some(after) = self.cancel_after else { return false };
        let over = self.started.get().is_some_and(|at| at.elapsed() >= after);
        if over {
            std::thread::sleep(self.cancel_takes);
        }
        over
    }
}
