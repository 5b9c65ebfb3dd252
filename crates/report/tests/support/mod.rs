//! A synthetic run with everything a report must cope with: quiet, disturbed, failing, cut-off and overloaded
//! attempts. Deterministic, so that snapshots hold.
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

mod facts;

use fathom_model::*;
use fathom_stats::Hist;

pub const START: i64 = 1_772_366_400_000_000_000;
pub const SECOND: u64 = 1_000_000_000;

/// SplitMix64: enough randomness to look like latencies, the same on every machine.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A latency with mean about `mean_ns` and a long tail.
    pub fn latency(&mut self, mean_ns: f64) -> u64 {
        let body = 0.55 + 0.25 * (self.next() + self.next() + self.next() - 1.5).abs();
        let tail = if self.next() < 0.01 { 4.0 + 20.0 * self.next().powi(4) } else { 0.0 };
        (mean_ns * (body + 0.2 * -self.next().max(1e-9).ln() + tail) * 1.075).max(1000.0) as u64
    }
}

pub fn latency(values: impl Iterator<Item = u64>) -> Latency {
    let mut hist = Hist::new();
    values.for_each(|ns| hist.record(ns));
    Latency {
        count: hist.count(),
        sum_ns: hist.sum_ns(),
        min_ns: hist.min_ns(),
        max_ns: hist.max_ns(),
        hdr: hist.encode(),
    }
}

pub fn step(name: &str, verb: Verb, block_bytes: u32, depth: u32, pace: Pace) -> Step {
    let mut params = serde_json::Map::new();
    params.insert("pool".into(), "bench".into());
    params.insert("object_bytes".into(), 4_194_304.into());
    Step {
        name: name.to_owned(),
        layer: "rados".to_owned(),
        params,
        load: Load {
            mix: vec![Share { verb, weight: 1 }],
            pattern: Pattern::Uniform,
            block_bytes,
            depth,
            lanes: 1,
            pace,
            ramp_ns: 2 * SECOND,
            stop: Stop { duration_ns: 10 * SECOND, ops: None, tight: None },
            op_timeout_ns: 30 * SECOND,
            seed: 7,
            compressible_pct: 0,
            verify: false,
            tick_ns: SECOND,
        },
    }
}

/// One second of load: operations per second and the mean of their latencies come from the closed loop.
pub fn second(step: &Step, dice: &mut Dice, phase: Phase, at: u64, ops: u64) -> Sample {
    let mean = f64::from(step.load.depth) * 1e9 / ops.max(1) as f64;
    let service = latency((0..ops).map(|_| dice.latency(mean)));
    Sample {
        phase,
        start_ns: at * SECOND,
        end_ns: (at + 1) * SECOND,
        verb: step.load.mix[0].verb,
        ops,
        bytes: ops * u64::from(step.load.block_bytes),
        errors: Vec::new(),
        timeouts: 0,
        unsent: 0,
        response: service.clone(),
        service,
    }
}

/// An attempt of ramp + `rates.len() - 2` measured seconds, one rate per second.
pub fn attempt(id: u32, at_s: u64, index: u32, repeat: u32, step: &Step, rates: &[u64]) -> Attempt {
    let mut dice = Dice(u64::from(id) * 977 + 5);
    let phase = |s: usize| if s < 2 { Phase::Ramp } else { Phase::Measure };
    let samples: Vec<Sample> =
        rates.iter().enumerate().map(|(s, ops)| second(step, &mut dice, phase(s), s as u64, *ops)).collect();
    let mut attempt = Attempt {
        id,
        step: index,
        repeat,
        host: "client1".to_owned(),
        load_started_unix_ns: Some(START + (at_s * SECOND) as i64),
        end: None,
        samples,
        stuck: Vec::new(),
    };
    close(&mut attempt, StopReason::Duration);
    attempt
}

/// Gives an attempt the account that fits its samples.
pub fn close(attempt: &mut Attempt, stop: StopReason) {
    let sum = |of: fn(&Sample) -> u64| attempt.samples.iter().map(of).sum::<u64>();
    let (completed, failed, timed_out) = (sum(|s| s.ops), sum(Sample::failed), sum(|s| s.timeouts));
    let measured = attempt.samples.iter().filter(|s| s.phase == Phase::Measure);
    let issued = completed + failed + timed_out;
    attempt.end = Some(AttemptEnd {
        stop,
        issued,
        completed,
        failed,
        timed_out,
        unsent: sum(|s| s.unsent),
        cpu_ns: completed * 11_300,
        window_ns: measured.map(|s| s.end_ns - s.start_ns).sum(),
        generator_lag_ns: issued * 2_140,
        host_cpu_busy: Some(0.23),
    });
}

pub fn rates(base: u64, seed: u64) -> Vec<u64> {
    let mut dice = Dice(seed);
    (0..12).map(|_| (base as f64 * (0.97 + 0.06 * dice.next())) as u64).collect()
}

pub fn finding(id: &str, severity: Severity, title: &str, span_s: Option<(i64, i64)>, step: Option<&str>) -> Finding {
    let ns = SECOND as i64;
    Finding {
        id: id.to_owned(),
        severity,
        title: title.to_owned(),
        evidence: "osd.2 was down for 6 s (epoch 41 to 43), 12 of 33 PGs were degraded meanwhile".to_owned(),
        advice: "find out why the OSD went down (`ceph crash ls`, its log), then measure again".to_owned(),
        source: "ceph status, once a second".to_owned(),
        span: span_s.map(|(a, b)| Span { from_unix_ns: START + a * ns, to_unix_ns: START + b * ns }),
        step: step.map(str::to_owned),
    }
}

/// Three depths of one load (one attempt disturbed), a large-block read with errors, a torso and an open loop.
pub fn sample_run() -> RunData {
    static RUN: std::sync::LazyLock<RunData> = std::sync::LazyLock::new(make_sample_run);
    RUN.clone()
}

fn make_sample_run() -> RunData {
    let steps = vec![
        step("rados write 4 KiB T=1", Verb::Write, 4096, 1, Pace::Closed),
        step("rados write 4 KiB T=16", Verb::Write, 4096, 16, Pace::Closed),
        step("rados write 4 KiB T=64", Verb::Write, 4096, 64, Pace::Closed),
        step("rados read 4 MiB T=16", Verb::Read, 4_194_304, 16, Pace::Closed),
        step("rados write 4 KiB 2000/s", Verb::Write, 4096, 32, Pace::Poisson { per_s: 2000.0 }),
    ];
    let mut attempts = Vec::new();
    let base = [1595, 9516, 12_000, 310];
    for repeat in 0..3 {
        for (index, step) in steps.iter().take(4).enumerate() {
            let id = attempts.len() as u32;
            let rates = rates(base[index], u64::from(id) + 11);
            attempts.push(attempt(id, u64::from(id) * 15 + 5, index as u32, repeat, step, &rates));
        }
    }
    disturb(&mut attempts[5], &steps[1]);
    fail(&mut attempts[7]);
    attempts[11].samples.truncate(5);
    attempts[11].end = None;
    attempts.push(open_loop(12, 190, 4, &steps[4]));
    RunData {
        info: RunInfo {
            id: "5b1e0c77aa10".to_owned(),
            name: "bench-rados".to_owned(),
            command: "fathom bench rados -p bench -b 4k,4M -t 1,16,64 --repeats 3".to_owned(),
            build: "fathom 0.1.0 (1663a70)".to_owned(),
            seed: 7,
            started_unix_ns: START,
            ended_unix_ns: Some(START + 215 * SECOND as i64),
            connect: Connect { conf: None, user: "client.bench".to_owned(), keyring: None, timeout_ns: 10 * SECOND },
            fsid: "96c2c429-e509-475a-8ac7-53dddebaec10".to_owned(),
        },
        steps,
        attempts,
        facts: facts::facts(),
        ticks: ticks(),
        probes: vec![
            (START, probe(2, None)),
            (START + 1, probe(2, Some(900_000))),
            (START + 1, probe(1, Some(400_000))),
        ],
        own_io: vec![OwnIo { pool: "bench".to_owned(), writes: 256, removes: 4352, reads: 0 }],
        notes: vec![(START + 3 * SECOND as i64, "filled 256 objects of 4 MiB in pool bench".to_owned())],
        findings: vec![
            finding("ceph-noscrub", Severity::Note, "scrubbing is switched off (noscrub)", None, None),
            finding("osd-down-during-run", Severity::Warn, "osd.2 went down during the run", Some((84, 90)), None),
        ],
        ledger: ledger(),
    }
}

/// Four seconds with next to nothing, operations stuck meanwhile.
fn disturb(attempt: &mut Attempt, step: &Step) {
    let mut dice = Dice(3);
    for s in 4..8 {
        attempt.samples[s] = second(step, &mut dice, Phase::Measure, s as u64, if s == 4 { 900 } else { 0 });
    }
    attempt.samples[8].service = latency((0..9000).map(|n| if n < 16 { 4_100_000_000 } else { 1_600_000 + n * 100 }));
    attempt.samples[8].response = attempt.samples[8].service.clone();
    attempt.samples[8].ops = 9000;
    attempt.samples[8].bytes = 9000 * 4096;
    close(attempt, StopReason::Duration);
    let op = StuckOp { target: "bench_5b1e_17".to_owned(), age_ns: 3_100_000_000, acting: vec![2, 0, 1] };
    attempt.stuck.push((START + 87 * SECOND as i64, op));
}

/// A pool that runs full: some operations fail, some time out, one is still in flight at the end.
fn fail(attempt: &mut Attempt) {
    for sample in attempt.samples.iter_mut().skip(9) {
        sample.errors = vec![(ErrorClass::Errno(28), 40), (ErrorClass::Short, 1)];
        sample.ops -= 41;
        sample.bytes -= 41 * 4_194_304;
    }
    let last = attempt.samples.last().unwrap().clone();
    attempt.samples.push(Sample {
        phase: Phase::Drain,
        start_ns: last.end_ns,
        end_ns: last.end_ns + 29 * SECOND,
        ops: 1,
        bytes: 4_194_304,
        errors: Vec::new(),
        timeouts: 2,
        response: latency([30 * SECOND, 30 * SECOND, 12 * SECOND].into_iter()),
        service: latency([30 * SECOND, 30 * SECOND, 12 * SECOND].into_iter()),
        ..last
    });
    close(attempt, StopReason::Duration);
}

/// More offered than the cluster takes: the queue grows, response and service times part.
fn open_loop(id: u32, at_s: u64, index: u32, step: &Step) -> Attempt {
    let mut attempt = attempt(id, at_s, index, 0, step, &[1800; 12]);
    let mut dice = Dice(17);
    for (s, sample) in attempt.samples.iter_mut().enumerate() {
        let waited = s as u64 * 100_000_000;
        sample.service = latency((0..1800).map(|_| dice.latency(17_000_000.0)));
        sample.response = latency((0..1800).map(|n| waited + n * 55_000 + dice.latency(17_000_000.0)));
    }
    attempt.samples[11].unsent = 2388;
    close(&mut attempt, StopReason::Duration);
    attempt
}

fn probe(osd: i32, answer_ns: Option<u64>) -> Probe {
    Probe { osd, answer_ns, deadline_ns: 2 * SECOND }
}

fn ticks() -> Vec<(i64, ClusterTick)> {
    (0..215)
        .map(|s| {
            let down = (84..90).contains(&s);
            let tick = ClusterTick {
                health: if down { "HEALTH_WARN" } else { "HEALTH_OK" }.to_owned(),
                checks: if down { vec![("OSD_DOWN".to_owned(), "1 osds down".to_owned())] } else { Vec::new() },
                pg_states: vec![("active+clean".to_owned(), 33)],
                osd_epoch: 40,
                osds_not_up_in: if down { vec![OsdState { id: 2, up: false, is_in: true }] } else { Vec::new() },
                recovering_objects_per_s: 0.0,
                error: None,
            };
            (START + s * SECOND as i64, tick)
        })
        .collect()
}

fn ledger() -> Vec<LedgerEntry> {
    let entry = |id, until, removed: bool| LedgerEntry {
        id,
        at_unix_ns: START,
        keep: false,
        removed_unix_ns: removed.then_some(START + 214 * SECOND as i64),
        made: Made::Objects {
            fsid: "96c2c429-e509-475a-8ac7-53dddebaec10".to_owned(),
            pool: "bench".to_owned(),
            namespace: String::new(),
            prefix: format!("fathom_5b1e0c77aa10_{id}_"),
            until,
        },
    };
    vec![entry(1, 256, true), entry(2, 4096, true)]
}

/// A survey of `attempts` attempts of a minute each, as large as runs get.
pub fn survey(attempts: u32) -> RunData {
    let mut run = sample_run();
    let template = run.attempts[1].clone();
    run.attempts = (0..attempts)
        .map(|id| {
            let mut attempt = template.clone();
            attempt.id = id;
            attempt.repeat = id % 3;
            attempt.step = id / 3;
            attempt.load_started_unix_ns = Some(START + i64::from(id) * 70 * SECOND as i64);
            let measured = template.samples[3].clone();
            attempt.samples.extend((12..62).map(|s| Sample {
                start_ns: s * SECOND,
                end_ns: (s + 1) * SECOND,
                ..measured.clone()
            }));
            close(&mut attempt, StopReason::Duration);
            attempt
        })
        .collect();
    let template = run.steps[1].clone();
    run.steps = (0..attempts.div_ceil(3))
        .map(|i| {
            let mut step = template.clone();
            step.name = format!("rados write 4 KiB T={}", 1 << (i % 12));
            step.load.depth = 1 << (i % 12);
            step
        })
        .collect();
    run
}

/// The event stream that would have led to this run, samples in the order of time.
pub fn events(run: &RunData) -> Vec<Event> {
    let mut events = Vec::new();
    let mut push = |at_unix_ns, attempt, kind| {
        events.push(Event { at_unix_ns, host: "client1".to_owned(), attempt, kind });
    };
    for (at, tick) in &run.ticks {
        push(*at, None, EventKind::Cluster(tick.clone()));
    }
    for (at, text) in &run.notes {
        push(*at, None, EventKind::Note { text: text.clone() });
    }
    for a in &run.attempts {
        let start = a.load_started_unix_ns.unwrap();
        let id = Some(a.id);
        push(start - 2 * SECOND as i64, id, EventKind::AttemptStarted { step: a.step, repeat: a.repeat });
        push(start - SECOND as i64, id, EventKind::Preparing { done: 5, total: 10, unit: "objects".to_owned() });
        push(start, id, EventKind::LoadStarted);
        for sample in &a.samples {
            push(start + sample.end_ns as i64, id, EventKind::Sample(sample.clone()));
        }
        for (at, op) in &a.stuck {
            push(*at, id, EventKind::Stuck(op.clone()));
        }
        if let Some(end) = &a.end {
            let last = a.samples.last().map_or(0, |s| s.end_ns);
            push(start + last as i64 + 1, id, EventKind::AttemptEnded(end.clone()));
        }
    }
    events.sort_by_key(|e| e.at_unix_ns);
    events
}

/// The sample run without its attempts, for tests that make their own.
pub fn sample_run_without_load() -> RunData {
    RunData {
        info: RunInfo {
            id: "5b1e0c77aa10".to_owned(),
            name: "bench-rados".to_owned(),
            command: "fathom bench rados".to_owned(),
            build: "fathom 0.1.0".to_owned(),
            seed: 7,
            started_unix_ns: START,
            ended_unix_ns: Some(START + 215 * SECOND as i64),
            connect: Connect::default(),
            fsid: String::new(),
        },
        steps: vec![step("rados write 4 KiB T=1", Verb::Write, 4096, 1, Pace::Closed)],
        attempts: Vec::new(),
        facts: facts::facts(),
        ticks: Vec::new(),
        probes: Vec::new(),
        own_io: Vec::new(),
        notes: Vec::new(),
        findings: Vec::new(),
        ledger: ledger(),
    }
}
