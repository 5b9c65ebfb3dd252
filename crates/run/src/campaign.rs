//! A campaign: steps, repeats, order; what happens before, between and after.
use crate::{
    attempt::{Attempt, Ended},
    capture,
    clean::{self, Cleaned, describe},
    conn::Transport,
    control::{Control, host_facts},
    own_pool::OwnPool,
    protocol::Failure,
    recorder::{Observer, Recorder},
    settle::Done,
    store::{Store, StoreError},
    watch::Watch,
    worker::unix_ns,
};
use fathom_ceph::{ClusterFacts, rules};
use fathom_model::{EventKind, ExitCode, Fact, RunInfo, Severity, Step, Verb};
use rand::{RngExt as _, SeedableRng as _, seq::SliceRandom as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::{
    collections::{BTreeSet, HashSet},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

/// What is to be run.
pub struct Campaign {
    /// Who, when, with what. Its `fsid` is filled in when the cluster is reached.
    pub info: RunInfo,
    /// The resolved steps.
    pub steps: Vec<Step>,
    /// How often each.
    pub repeats: u32,
    /// Shuffle the steps within each round of repeats, by the seed.
    pub shuffle: bool,
    /// A pool to make for this run.
    pub own_pool: Option<OwnPool>,
    /// Keep what is made.
    pub keep: bool,
    /// Where the results go; must not hold a run yet.
    pub dir: PathBuf,
    /// How to start workers.
    pub transport: Transport,
}

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    /// For the shell.
    pub exit: ExitCode,
    /// What a person must be told beyond the report, each a sentence.
    pub messages: Vec<String>,
}

/// A new run's id: 12 hexadecimal digits of randomness.
#[must_use]
pub fn new_run_id() -> String {
    format!("{:012x}", rand::rng().random::<u64>() >> 16)
}

/// Why nothing was run.
fn store_failure(error: &StoreError) -> (ExitCode, String) {
    (ExitCode::Store, error.to_string())
}

/// Runs a campaign. `control`: a connection to the cluster, `None` when no step needs one.
///
/// # Errors
/// When nothing could be begun, with the exit code and one sentence. Once the store is open there is an outcome.
pub fn run(
    mut campaign: Campaign,
    control: Option<Arc<Control>>,
    observers: Vec<Observer>,
    cancel: &AtomicBool,
) -> Result<Outcome, (ExitCode, String)> {
    if let Some(control) = &control {
        campaign.info.fsid = control.fsid();
    }
    campaign.info.started_unix_ns = unix_ns();
    let store = Store::create(&campaign.dir, &campaign.info, &campaign.steps).map_err(|e| store_failure(&e))?;
    let lock = crate::store::RunLock::take(&campaign.dir).map_err(|e| store_failure(&e))?;
    let done = Done::default();
    let mut observers = observers;
    observers.push(done.observer(&campaign.steps));
    let (recorder, recording) = Recorder::start(store, observers);
    let mut runner =
        Runner { campaign: &campaign, control, recorder, done, cancel, messages: Vec::new(), worst: ExitCode::Ok };
    runner.run();
    let Runner { recorder, messages, worst, .. } = runner;
    let failed = recorder.failed();
    drop(recorder);
    let _ = recording.finish();
    drop(lock);
    let mut outcome = Outcome { exit: worst, messages };
    if let Some(error) = failed {
        outcome.messages.push(error);
        outcome.exit = ExitCode::Store;
    } else if cancel.load(Relaxed) {
        outcome.exit = ExitCode::Interrupted;
    }
    Ok(outcome)
}

struct Runner<'a> {
    campaign: &'a Campaign,
    control: Option<Arc<Control>>,
    recorder: Recorder,
    done: Done,
    cancel: &'a AtomicBool,
    messages: Vec<String>,
    worst: ExitCode,
}

impl Runner<'_> {
    fn stopping(&self) -> bool {
        self.cancel.load(Relaxed) || self.recorder.failed().is_some()
    }

    /// The gravest exit code wins; clean-up comes after failure, because what is left behind must be said.
    fn worse(&mut self, code: ExitCode) {
        if self.worst == ExitCode::Ok || code == ExitCode::NotClean {
            self.worst = code;
        }
    }

    fn run(&mut self) {
        let mut before = self.before();
        match self.make_pool(&mut before) {
            Err(failure) => {
                self.worse(failure.exit());
                self.messages.push(failure.text);
            }
            Ok(()) => self.measure(&before),
        }
        self.clean_up();
        self.recorder.end();
        self.recorder.sync();
    }

    fn before(&self) -> Vec<Fact> {
        let mut facts = match &self.control {
            Some(control) => {
                let mut facts = capture::capture(control, "before");
                let osds = up_osds(&facts);
                // One OSD's running configuration stands for all; which differ is `fathom check`'s business.
                facts.extend(capture::config_show(control, "before", osds.first().copied()));
                facts.extend(control.host_facts().unwrap_or_default());
                facts
            }
            None => crate::conn::Conn::open(&self.campaign.transport, |_, _| {})
                .and_then(|conn| host_facts(&conn))
                .unwrap_or_default(),
        };
        facts.iter_mut().for_each(|f| f.moment = "before".into());
        self.record(&facts);
        for finding in rules::preflight(&facts, &self.campaign.steps) {
            if finding.severity >= Severity::Warn {
                self.recorder.note(None, format!("before the run: {} ({})", finding.title, finding.evidence));
            }
        }
        facts
    }

    fn record(&self, facts: &[Fact]) {
        facts.iter().for_each(|f| self.recorder.own(None, EventKind::Fact(f.clone())));
    }

    fn make_pool(&mut self, before: &mut Vec<Fact>) -> Result<(), Failure> {
        let (Some(own), Some(control)) = (&self.campaign.own_pool, &self.control) else { return Ok(()) };
        own.make(control, &self.recorder, before, self.campaign.keep, self.cancel)?;
        // The pool's own rows, for the context and as the start of the reconciliation.
        let facts = capture::pools(control, "before");
        self.record(&facts);
        before.extend(facts);
        Ok(())
    }

    fn measure(&mut self, before: &[Fact]) {
        let watch = self.control.as_ref().map(|c| Watch::start(Arc::clone(c), self.recorder.clone()));
        let osds = up_osds(before);
        let mut given_up = HashSet::new();
        for (id, (step_index, repeat)) in self.order().into_iter().enumerate() {
            if self.stopping() {
                break;
            }
            if given_up.contains(&step_index) {
                continue;
            }
            let stuck = watch.as_ref().map(|w| w.stuck.clone());
            let ended = self.attempt(id as u32, step_index, repeat, stuck, &osds);
            if !ended.measured() {
                given_up.insert(step_index);
                let step = &self.campaign.steps[step_index as usize];
                let why = ended.failure.as_ref().map_or_else(|| words_of(&ended), |f| f.text.clone());
                self.messages.push(format!("{}: {why}", step.name));
                self.worse(ended.failure.as_ref().map_or(ExitCode::Failed, Failure::exit));
            }
        }
        if let Some(watch) = watch {
            watch.finish();
        }
        if let Some(control) = self.control.clone() {
            self.after(&control, before, &osds);
        }
    }

    /// Rounds of repeats, each step once in every round: a slow drift then touches all steps alike.
    fn order(&self) -> Vec<(u32, u32)> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.campaign.info.seed);
        let mut order = Vec::new();
        for repeat in 0..self.campaign.repeats {
            let mut round: Vec<u32> = (0..self.campaign.steps.len() as u32).collect();
            if self.campaign.shuffle {
                round.shuffle(&mut rng);
            }
            order.extend(round.into_iter().map(|step| (step, repeat)));
        }
        order
    }

    fn attempt(
        &mut self,
        id: u32,
        step_index: u32,
        repeat: u32,
        stuck: Option<std::sync::mpsc::Sender<crate::watch::StuckReport>>,
        osds: &[i32],
    ) -> Ended {
        let step = &self.campaign.steps[step_index as usize];
        let known: BTreeSet<u64> = self.recorder.open_entries().iter().map(|e| e.id).collect();
        // Where reads came from is told by the OSDs' own cache counters around the attempt.
        let counted = self.control.clone().filter(|_| step.load.has(Verb::Read) && osds.len() <= capture::OSDS_MAX);
        let counters = |side: &str| {
            if let Some(control) = &counted {
                let moment = format!("attempt-{id}-{side}");
                for fact in capture::osd_counters(control, &moment, osds) {
                    self.recorder.own(Some(id), EventKind::Fact(fact));
                }
            }
        };
        counters("before");
        let ended = Attempt {
            id,
            step_index,
            repeat,
            step,
            connect: &self.campaign.info.connect,
            transport: &self.campaign.transport,
            recorder: &self.recorder,
            stuck,
            keep: self.campaign.keep,
        }
        .run(self.cancel);
        counters("after");
        let last = repeat + 1 == self.campaign.repeats;
        if let Some(control) = &self.control
            && !fills(step)
            && !(self.campaign.keep && last)
        {
            // The next attempt shall find the pool as this one did.
            let new = self.recorder.open_entries().into_iter().filter(|e| !known.contains(&e.id)).collect();
            clean::remove(control, &self.recorder, new, Some(id));
        }
        ended
    }

    fn after(&self, control: &Control, before: &[Fact], osds: &[i32]) {
        self.recorder.sync();
        self.done.wait(control, before, || self.stopping());
        let mut facts = capture::capture(control, "after");
        facts.extend(capture::config_show(control, "after", osds.first().copied()));
        self.record(&facts);
    }

    fn clean_up(&mut self) {
        let Some(control) = self.control.clone() else { return };
        let (keep, open): (Vec<_>, Vec<_>) = self.recorder.open_entries().into_iter().partition(|e| e.keep);
        if !keep.is_empty() {
            let what: Vec<String> = keep.iter().map(|e| describe(&e.made)).collect();
            self.messages.push(format!(
                "kept, as asked: {}; `fathom clean --kept {}` removes it",
                what.join("; "),
                self.campaign.dir.display()
            ));
        }
        let Cleaned { left, .. } = clean::remove(&control, &self.recorder, open, None);
        if let Some((entry, failure)) = left.first() {
            self.worse(ExitCode::NotClean);
            self.messages.push(format!(
                "{} of this run could not be removed ({}: {failure}): run `fathom clean {}` later",
                if left.len() == 1 { "one thing".to_owned() } else { format!("{} things", left.len()) },
                describe(&entry.made),
                self.campaign.dir.display()
            ));
        }
    }
}

/// True when the step's objects are a data set that later attempts use again.
fn fills(step: &Step) -> bool {
    step.params.get("fill").and_then(|v| v.as_str()) == Some("true")
}

fn words_of(ended: &Ended) -> String {
    use fathom_model::StopReason;
    match &ended.stop {
        StopReason::AllFailed { class } => format!("every operation failed: {class}"),
        StopReason::NoProgress => "no operation completed: all timed out".to_owned(),
        StopReason::NotStarted { error } | StopReason::WorkerLost { error } => error.clone(),
        other => format!("{other:?}"),
    }
}

fn up_osds(facts: &[Fact]) -> Vec<i32> {
    let cluster = ClusterFacts::read(facts);
    cluster.osd_dump.map(|map| map.osds.iter().filter(|o| o.up).map(|o| o.id).collect()).unwrap_or_default()
}
