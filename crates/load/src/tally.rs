//! Counters of one lane over one interval, and their merge over lanes into samples.
use fathom_model::{ErrorClass, Latency, Load, Phase, Sample, Verb};
use fathom_stats::Hist;

/// Verbs in the order of the arrays below.
pub(crate) const VERBS: [Verb; 2] = [Verb::Read, Verb::Write];

/// Index of a verb in arrays over [`VERBS`].
#[inline]
pub(crate) fn index_of(verb: Verb) -> usize {
    match verb {
        Verb::Read => 0,
        Verb::Write => 1,
    }
}

/// One verb's counters.
pub(crate) struct VerbTally {
    pub ops: u64,
    pub bytes: u64,
    pub errors: Vec<(ErrorClass, u64)>,
    pub timeouts: u64,
    pub unsent: u64,
    pub response: Hist,
    pub service: Hist,
}

impl VerbTally {
    fn new() -> VerbTally {
        VerbTally {
            ops: 0,
            bytes: 0,
            errors: Vec::with_capacity(8),
            timeouts: 0,
            unsent: 0,
            response: Hist::new(),
            service: Hist::new(),
        }
    }

    pub(crate) fn fail(&mut self, class: ErrorClass, times: u64) {
        match self.errors.iter_mut().find(|(c, _)| *c == class) {
            Some((_, n)) => *n += times,
            None => self.errors.push((class, times)),
        }
    }

    fn is_empty(&self) -> bool {
        self.ops == 0 && self.timeouts == 0 && self.unsent == 0 && self.errors.is_empty()
    }

    fn merge(&mut self, other: &VerbTally) {
        self.ops += other.ops;
        self.bytes += other.bytes;
        self.timeouts += other.timeouts;
        self.unsent += other.unsent;
        for (class, n) in &other.errors {
            self.fail(*class, *n);
        }
        self.response.merge(&other.response);
        self.service.merge(&other.service);
    }

    fn reset(&mut self) {
        self.ops = 0;
        self.bytes = 0;
        self.timeouts = 0;
        self.unsent = 0;
        self.errors.clear();
        self.response.reset();
        self.service.reset();
    }
}

/// One lane's counters over one interval. Allocated before load begins and recycled.
pub(crate) struct Tally {
    pub phase: Phase,
    pub start_ns: u64,
    pub end_ns: u64,
    pub verbs: [VerbTally; VERBS.len()],
}

impl Tally {
    pub(crate) fn new() -> Tally {
        Tally { phase: Phase::Ramp, start_ns: 0, end_ns: 0, verbs: std::array::from_fn(|_| VerbTally::new()) }
    }

    pub(crate) fn begin(&mut self, phase: Phase, start_ns: u64) {
        self.phase = phase;
        self.start_ns = start_ns;
        self.verbs.iter_mut().for_each(VerbTally::reset);
    }

    /// Adds another lane's counters over the same interval.
    pub(crate) fn merge(&mut self, other: &Tally) {
        self.end_ns = self.end_ns.max(other.end_ns);
        for (mine, theirs) in self.verbs.iter_mut().zip(&other.verbs) {
            mine.merge(theirs);
        }
    }

    /// Completed operations, all verbs.
    pub(crate) fn ops(&self) -> u64 {
        self.verbs.iter().map(|v| v.ops).sum()
    }

    /// One sample per verb of the mix, with zeros where nothing happened: an interval without progress is a
    /// measurement too. A drain in which nothing happened is none.
    pub(crate) fn samples(&self, load: &Load) -> Vec<Sample> {
        let mut samples = Vec::new();
        for (verb, tally) in VERBS.into_iter().zip(&self.verbs) {
            if !load.has(verb) || (self.phase == Phase::Drain && tally.is_empty()) {
                continue;
            }
            samples.push(Sample {
                phase: self.phase,
                start_ns: self.start_ns,
                end_ns: self.end_ns,
                verb,
                ops: tally.ops,
                bytes: tally.bytes,
                errors: tally.errors.clone(),
                timeouts: tally.timeouts,
                unsent: tally.unsent,
                response: latency(&tally.response),
                service: latency(&tally.service),
            });
        }
        samples
    }
}

fn latency(hist: &Hist) -> Latency {
    Latency {
        count: hist.count(),
        sum_ns: hist.sum_ns(),
        min_ns: hist.min_ns(),
        max_ns: hist.max_ns(),
        hdr: hist.encode(),
    }
}
