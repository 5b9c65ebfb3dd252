//! Watches the cluster once a second while a run goes on, and looks closer when operations are stuck: where they go,
//! and whether the OSDs there answer.
use crate::{control::Control, protocol::CommandTarget, recorder::Recorder, worker::unix_ns};
use fathom_model::{ClusterTick, Event, EventKind, Probe, StuckOp};
use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

const TICK: Duration = Duration::from_secs(1);
/// A status that takes longer is itself an answer.
const STATUS_WAIT: Duration = Duration::from_secs(5);
/// How long an OSD gets to answer a probe.
const PROBE_WAIT: Duration = Duration::from_secs(2);
/// Probed at one time, at most.
const PROBES_MAX: usize = 16;
/// Rounds of probes after the last stuck operation was seen.
const PROBE_ROUNDS: u32 = 3;

/// A stuck operation as a worker reported it, with where to look it up.
pub struct StuckReport {
    /// Attempt.
    pub attempt: u32,
    /// Worker's host.
    pub host: String,
    /// Unix time it was seen.
    pub at_unix_ns: i64,
    /// The operation.
    pub op: StuckOp,
    /// Pool and namespace of its object; `None` when it is no object.
    pub place: Option<(String, String)>,
}

/// The watching thread.
pub struct Watch {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
    /// Where workers' stuck operations go.
    pub stuck: mpsc::Sender<StuckReport>,
}

impl Watch {
    /// Starts watching.
    #[must_use]
    pub fn start(control: Arc<Control>, recorder: Recorder) -> Watch {
        let stop = Arc::new(AtomicBool::new(false));
        let (stuck, reports) = mpsc::channel();
        let mine = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            Watcher {
                control,
                recorder,
                reports,
                acting: HashMap::new(),
                suspects: BTreeSet::new(),
                rounds: 0,
                epoch: 0,
                map: None,
            }
            .run(&mine);
        });
        Watch { stop, thread, stuck }
    }

    /// Ends it, after a last look.
    pub fn finish(self) {
        self.stop.store(true, Relaxed);
        drop(self.stuck);
        let _ = self.thread.join();
    }
}

struct Watcher {
    control: Arc<Control>,
    recorder: Recorder,
    reports: mpsc::Receiver<StuckReport>,
    acting: HashMap<String, Vec<i32>>,
    suspects: BTreeSet<i32>,
    rounds: u32,
    epoch: u64,
    map: Option<String>,
}

impl Watcher {
    fn run(mut self, stop: &AtomicBool) {
        let mut next = Instant::now();
        loop {
            let ending = stop.load(Relaxed);
            self.tick();
            self.look_up();
            self.probe();
            if ending {
                return;
            }
            next = (next + TICK).max(Instant::now());
            while Instant::now() < next && !stop.load(Relaxed) {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }

    fn tick(&mut self) {
        let json = serde_json::json!({"prefix": "status", "format": "json"}).to_string();
        let tick = match self.control.command(CommandTarget::Mon, &json, Some(STATUS_WAIT)) {
            Ok(status) => self.read(&status),
            Err(failure) => ClusterTick { error: Some(failure.text), ..ClusterTick::default() },
        };
        self.recorder.own(None, EventKind::Cluster(tick));
    }

    /// The OSD map is only asked for when the status shows that it changed.
    fn read(&mut self, status: &str) -> ClusterTick {
        let tick = fathom_ceph::cluster_tick(status, self.map.as_deref());
        if tick.osd_epoch == self.epoch && self.map.is_some() {
            return tick;
        }
        self.epoch = tick.osd_epoch;
        let json = serde_json::json!({"prefix": "osd dump", "format": "json"}).to_string();
        self.map = self.control.command(CommandTarget::Mon, &json, Some(STATUS_WAIT)).ok();
        fathom_ceph::cluster_tick(status, self.map.as_deref())
    }

    /// Where stuck operations go.
    fn look_up(&mut self) {
        while let Ok(mut report) = self.reports.try_recv() {
            if let Some((pool, namespace)) = &report.place {
                report.op.acting = self.acting_of(pool, namespace, &report.op.target);
                self.suspects.extend(&report.op.acting);
                self.rounds = PROBE_ROUNDS;
            }
            self.recorder.event(Event {
                at_unix_ns: report.at_unix_ns,
                host: report.host,
                attempt: Some(report.attempt),
                kind: EventKind::Stuck(report.op),
            });
        }
    }

    fn acting_of(&mut self, pool: &str, namespace: &str, object: &str) -> Vec<i32> {
        let key = format!("{}/{pool}/{namespace}/{object}", self.epoch);
        if let Some(known) = self.acting.get(&key) {
            return known.clone();
        }
        let json = serde_json::json!({
            "prefix": "osd map", "pool": pool, "object": object, "nspace": namespace, "format": "json",
        });
        let acting = self
            .control
            .command(CommandTarget::Mon, &json.to_string(), Some(STATUS_WAIT))
            .ok()
            .and_then(|text| fathom_ceph::dump::MapReply::parse(&text).ok())
            .map(|m| m.acting)
            .unwrap_or_default();
        self.acting.insert(key, acting.clone());
        acting
    }

    /// Asks the OSDs that stuck operations go to whether they are there. All at once: one that is dead costs no more
    /// than its own deadline.
    fn probe(&mut self) {
        if self.rounds == 0 {
            self.suspects.clear();
            return;
        }
        self.rounds -= 1;
        let control = &self.control;
        std::thread::scope(|scope| {
            for osd in self.suspects.iter().copied().take(PROBES_MAX) {
                let recorder = &self.recorder;
                scope.spawn(move || {
                    let asked = Instant::now();
                    let at_unix_ns = unix_ns();
                    let json = r#"{"prefix":"version","format":"json"}"#;
                    let answer = control.command(CommandTarget::Osd(osd), json, Some(PROBE_WAIT));
                    // Refused for lack of rights is an answer, too; only silence is not.
                    let silent = matches!(&answer, Err(failure) if matches!(failure.errno, 6 | 107 | 110));
                    let probe = Probe {
                        osd,
                        answer_ns: (!silent).then(|| asked.elapsed().as_nanos() as u64),
                        deadline_ns: PROBE_WAIT.as_nanos() as u64,
                    };
                    let kind = EventKind::Probe(probe);
                    recorder.event(Event { at_unix_ns, host: "controller".into(), attempt: None, kind });
                });
            }
        });
    }
}
