//! A healthy run to break in one place: what every rule's tests start from.
use crate::testdata::healthy_texts;
use fathom_model::{
    Attempt, AttemptEnd, ClusterTick, Connect, Fact, Finding, Latency, LedgerEntry, Load, Made, Pace, Pattern, Phase,
    RunData, RunInfo, Sample, Severity, Share, Step, Stop, StopReason, Verb,
};

pub(super) const SECOND: i64 = 1_000_000_000;

/// Three attempts of ten seconds each, one after the other, on a healthy cluster of 18.2.7.
pub(super) struct Case {
    pub(super) run: RunData,
    /// When the first load began, Unix nanoseconds.
    pub(super) start: i64,
}

impl Case {
    pub(super) fn healthy() -> Case {
        Case::of("reef-18.2.7")
    }

    pub(super) fn of(release: &str) -> Case {
        let start = 1_796_128_000 * SECOND;
        let ok = ClusterTick {
            health: "HEALTH_OK".into(),
            pg_states: vec![("active+clean".into(), 49)],
            osd_epoch: 22,
            ..ClusterTick::default()
        };
        let run = RunData {
            info: info(start),
            steps: vec![step()],
            attempts: (0..3).map(|i| attempt(i, start + i64::from(i) * 10 * SECOND)).collect(),
            facts: healthy_texts(release),
            ticks: (0..30).map(|s| (start + s * SECOND, ok.clone())).collect(),
            probes: Vec::new(),
            own_io: Vec::new(),
            notes: Vec::new(),
            findings: Vec::new(),
            ledger: vec![LedgerEntry {
                id: 1,
                at_unix_ns: start,
                keep: false,
                removed_unix_ns: None,
                made: Made::Pool { fsid: "f".into(), pool: "fx".into() },
            }],
        };
        let mut case = Case { run, start };
        case.count_writes(30_000);
        case
    }

    /// Lets the cluster count so many more writes on the pool by the end of the run.
    pub(super) fn count_writes(&mut self, writes: u64) {
        let source = "ceph pg dump pools";
        let before = self.run.facts.iter().find(|f| f.moment == "before" && f.source == source).unwrap();
        let mut dump: serde_json::Value = serde_json::from_str(&before.text).unwrap();
        let facts = crate::Facts::of_run(&self.run);
        let id = facts.before.pool("fx").unwrap().id;
        let pools = dump["pool_stats"].as_array_mut().unwrap();
        let stats = &mut pools.iter_mut().find(|p| p["poolid"] == id).unwrap()["stat_sum"];
        stats["num_write"] = (stats["num_write"].as_u64().unwrap() + writes).into();
        let text = dump.to_string();
        self.text("after", source, &text);
    }

    /// Sets a text, in place of the one that is there.
    pub(super) fn text(&mut self, moment: &str, source: &str, text: &str) {
        self.run.facts.retain(|f| f.moment != moment || f.source != source);
        self.run.facts.push(Fact { moment: moment.into(), source: source.into(), text: text.into(), error: None });
    }

    /// Replaces in a text before and after; the text must have it.
    pub(super) fn replace(&mut self, source: &str, from: &str, to: &str) {
        let texts = self.run.facts.iter_mut().filter(|f| f.source == source);
        let mut changed = false;
        for fact in texts {
            changed |= fact.text.contains(from);
            fact.text = fact.text.replace(from, to);
        }
        assert!(changed, "{source} does not have {from}");
    }

    /// Replaces the first occurrence before and after.
    pub(super) fn replace_first(&mut self, source: &str, from: &str, to: &str) {
        for fact in self.run.facts.iter_mut().filter(|f| f.source == source) {
            assert!(fact.text.contains(from));
            fact.text = fact.text.replacen(from, to, 1);
        }
    }

    /// Replaces in the text of one moment.
    pub(super) fn replace_at(&mut self, moment: &str, source: &str, from: &str, to: &str) {
        let fact = self.run.facts.iter_mut().find(|f| f.moment == moment && f.source == source).unwrap();
        assert!(fact.text.contains(from), "{source} does not have {from}");
        fact.text = fact.text.replace(from, to);
    }

    /// Changes the tick at so many seconds.
    pub(super) fn tick(&mut self, at: i64, change: impl Fn(&mut ClusterTick)) {
        let at = self.start + at * SECOND;
        change(&mut self.run.ticks.iter_mut().find(|(t, _)| *t == at).unwrap().1);
    }

    /// All findings of one rule.
    pub(super) fn all(&self, id: &str) -> Vec<Finding> {
        super::of_run(&self.run).into_iter().filter(|f| f.id == id).collect()
    }

    /// The one finding of a rule.
    pub(super) fn one(&self, id: &str) -> Finding {
        let mut found = self.all(id);
        assert_eq!(found.len(), 1, "{id}: {:#?}", super::of_run(&self.run));
        found.remove(0)
    }

    /// Its severity, when there is one.
    pub(super) fn severity(&self, id: &str) -> Option<Severity> {
        self.all(id).iter().map(|f| f.severity).max()
    }
}

fn info(start: i64) -> RunInfo {
    RunInfo {
        id: "0123456789ab".into(),
        name: "test".into(),
        command: "fathom".into(),
        build: "test".into(),
        seed: 1,
        started_unix_ns: start,
        ended_unix_ns: None,
        connect: Connect::default(),
        fsid: "f".into(),
    }
}

fn step() -> Step {
    Step {
        name: "rados write 4 KiB T=64".into(),
        layer: "rados".into(),
        params: [("pool".to_owned(), serde_json::json!("fx"))].into_iter().collect(),
        load: Load {
            mix: vec![Share { verb: Verb::Write, weight: 1 }],
            pattern: Pattern::Sequential { wrap: false },
            block_bytes: 4096,
            depth: 64,
            lanes: 1,
            pace: Pace::Closed,
            ramp_ns: 0,
            stop: Stop { duration_ns: 10_000_000_000, ops: None, tight: None },
            op_timeout_ns: 30_000_000_000,
            seed: 1,
            compressible_pct: 0,
            verify: false,
            tick_ns: 1_000_000_000,
        },
    }
}

fn attempt(id: u32, start: i64) -> Attempt {
    let sample = |second: u64| Sample {
        phase: Phase::Measure,
        start_ns: second * 1_000_000_000,
        end_ns: (second + 1) * 1_000_000_000,
        verb: Verb::Write,
        ops: 1000,
        bytes: 4_096_000,
        errors: Vec::new(),
        timeouts: 0,
        unsent: 0,
        response: Latency::default(),
        service: Latency::default(),
    };
    Attempt {
        id,
        step: 0,
        repeat: id,
        host: "client1".into(),
        load_started_unix_ns: Some(start),
        end: Some(AttemptEnd {
            stop: StopReason::Duration,
            issued: 10_000,
            completed: 10_000,
            failed: 0,
            timed_out: 0,
            unsent: 0,
            cpu_ns: 1_000_000_000,
            window_ns: 10_000_000_000,
            generator_lag_ns: 0,
            host_cpu_busy: Some(0.3),
        }),
        samples: (0..10).map(sample).collect(),
        stuck: Vec::new(),
    }
}
