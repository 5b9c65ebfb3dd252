//! The checks of the table. What is true of every load is checked by [`crate::drive`] in each of them.
use crate::drive::{MS, Outcome, drive_with, half_and_half, load};
use crate::subject::Subject;
use fathom_model::{Load, Pace, Pattern, Share, StopReason, Verb};
use std::time::Duration;

/// Longest a load of these checks may take beyond its own end: filling, slow CPUs, a cluster with other guests.
const PATIENCE: Duration = Duration::from_secs(60);

fn go(subject: &dyn Subject, load: &Load, blocks: u64) -> Outcome {
    drive_with(&*subject.job(load, blocks), load, &subject.ledger(), PATIENCE)
}

pub fn account(subject: &dyn Subject) {
    let mut load = load();
    (load.mix, load.pattern, load.ramp_ns) = (half_and_half(), Pattern::Uniform, 150 * MS);
    let outcome = go(subject, &load, 40);
    let end = &outcome.account.end;
    assert_eq!((&end.stop, end.failed, end.timed_out, end.unsent), (&StopReason::Duration, 0, 0, 0));
    assert!(end.completed > 0);
    assert_eq!(end.window_ns, load.stop.duration_ns);
    // The measured window, and no longer than it takes to let the rest end.
    assert!(outcome.took >= Duration::from_millis(450), "{:?}", outcome.took);
    let service = outcome.service();
    assert!(service.min_ns() > 0 && service.max_ns() < outcome.took.as_nanos() as u64);
    // Closed loop: an operation is due when it is sent.
    assert_eq!(outcome.response(), service);
}

pub fn depth(subject: &dyn Subject) {
    for depth in [1, 8] {
        let outcome = go(subject, &Load { depth, ..load() }, 1000);
        assert_eq!(outcome.lanes[0].peak, depth);
        // The time spent in flight by all operations together can't exceed that of the slots.
        let most_ns = outcome.took.as_nanos() as u64 * u64::from(depth);
        assert!(outcome.service().sum_ns() <= most_ns);
    }
}

pub fn ops(subject: &dyn Subject) {
    let mut load = load();
    (load.stop.ops, load.stop.duration_ns) = (Some(subject.ops()), 60_000 * MS);
    for lanes in [1, 3] {
        load.lanes = lanes;
        let end = go(subject, &load, subject.ops()).account.end;
        assert_eq!((end.stop, end.issued), (StopReason::Ops, subject.ops()));
        assert!(end.window_ns < load.stop.duration_ns);
    }
    // Fewer than slots, fewer than lanes.
    load.stop.ops = Some(2);
    assert_eq!(go(subject, &load, 10).account.end.issued, 2);
}

pub fn space(subject: &dyn Subject) {
    let mut load = load();
    (load.pattern, load.stop.duration_ns) = (Pattern::Sequential { wrap: false }, 60_000 * MS);
    for lanes in [1, 3] {
        load.lanes = lanes;
        let outcome = go(subject, &load, 100);
        let blocks = subject.blocks(100);
        assert_eq!((&outcome.account.end.stop, outcome.account.end.issued), (&StopReason::Space, blocks));
        let mut all: Vec<u64> = outcome.lanes.iter().flat_map(|l| &l.sequence).map(|(_, at)| *at).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..blocks), "every address once");
    }
}

/// Which operations, lane by lane.
fn sequences(subject: &dyn Subject, load: &Load) -> Vec<Vec<(Verb, u64)>> {
    go(subject, load, 64).lanes.into_iter().map(|l| l.sequence).collect()
}

pub fn seed(subject: &dyn Subject) {
    for (pattern, pace) in [
        (Pattern::Uniform, Pace::Closed),
        (Pattern::Zipf { theta: 1.2 }, Pace::Closed),
        (Pattern::Uniform, Pace::Poisson { per_s: 1000.0 }),
    ] {
        let mut load = load();
        (load.mix, load.pattern, load.pace, load.lanes) = (half_and_half(), pattern, pace, 2);
        (load.stop.ops, load.stop.duration_ns) = (Some(100), 30_000 * MS);
        let first = sequences(subject, &load);
        assert_eq!(first, sequences(subject, &load), "the same seed, {pattern:?} {pace:?}");
        assert_ne!(first[0], first[1], "lanes must not repeat each other");
        load.seed += 1;
        assert_ne!(first, sequences(subject, &load), "another seed, {pattern:?} {pace:?}");
        let verbs = |verb| first.iter().flatten().filter(|(v, _)| *v == verb).count();
        assert!(verbs(Verb::Read) > 20 && verbs(Verb::Write) > 20, "half and half: {} reads", verbs(Verb::Read));
    }
}

pub fn lanes(subject: &dyn Subject) {
    let mut load = load();
    (load.depth, load.lanes) = (7, 3);
    let outcome = go(subject, &load, 1000);
    assert_eq!(outcome.lanes.iter().map(|l| l.peak).collect::<Vec<_>>(), [3, 2, 2]);
    assert!(outcome.lanes.iter().all(|l| l.submitted > 0));
    // More lanes than slots: the rest is not opened.
    (load.depth, load.lanes) = (2, 5);
    assert_eq!(go(subject, &load, 1000).lanes.len(), 2);
}

fn reads() -> Load {
    Load { mix: vec![Share { verb: Verb::Read, weight: 1 }], ..load() }
}

pub fn errors(subject: &dyn Subject) {
    let mut load = reads();
    load.stop.ops = Some(103);
    let Some((job, every, class)) = subject.failing(&load) else { return };
    let outcome = drive_with(&*job, &load, &subject.ledger(), PATIENCE);
    let end = &outcome.account.end;
    assert_eq!((&end.stop, end.issued, end.failed), (&StopReason::Ops, 103, 103 / every));
    assert!(outcome.errors().into_iter().eq([(class, 103 / every)]));
    // What failed has no latency.
    assert_eq!(outcome.service().count(), end.completed);
}

pub fn all_failed(subject: &dyn Subject) {
    let mut load = reads();
    load.stop.duration_ns = 600_000 * MS;
    let Some((job, 1, class)) = subject.failing(&load) else { return };
    let outcome = drive_with(&*job, &load, &subject.ledger(), PATIENCE);
    assert_eq!(outcome.account.end.stop, StopReason::AllFailed { class });
    assert_eq!(outcome.account.end.completed, 0);
}

pub fn cancel(subject: &dyn Subject) {
    // In the measured window, and before it.
    for ramp_ns in [0, 60_000 * MS] {
        let mut load = load();
        (load.stop.duration_ns, load.ramp_ns, load.lanes) = (60_000 * MS, ramp_ns, 2);
        let mut ledger = subject.ledger();
        ledger.cancel_after = Some(Duration::from_millis(150));
        let outcome = drive_with(&*subject.job(&load, 1 << 20), &load, &ledger, Duration::from_secs(4));
        assert_eq!(outcome.account.end.stop, StopReason::Cancelled, "with a ramp of {ramp_ns} ns");
        assert!(outcome.took < Duration::from_secs(2), "{:?} until the end, with a ramp of {ramp_ns} ns", outcome.took);
        assert!(!outcome.account.abandoned);
    }
}

pub fn arrivals(subject: &dyn Subject) {
    let mut load = load();
    (load.pace, load.stop.duration_ns) = (Pace::Fixed { per_s: 200.0 }, 500 * MS);
    for lanes in [1, 2] {
        load.lanes = lanes;
        let outcome = go(subject, &load, 1000);
        let end = &outcome.account.end;
        assert!((99..=101).contains(&(end.issued + end.unsent)), "{} sent, {} not", end.issued, end.unsent);
        let (response, service) = (outcome.response(), outcome.service());
        // An operation is never sent before it is due.
        assert!(response.sum_ns() >= service.sum_ns() && response.max_ns() >= service.max_ns());
    }
}

pub fn overdue(subject: &dyn Subject) {
    let Some((job, load)) = subject.too_slow(load()) else { return };
    let outcome = drive_with(&*job, &load, &subject.ledger(), PATIENCE);
    let end = &outcome.account.end;
    assert!(end.timed_out > 0, "{end:?}");
    assert!(outcome.service().max_ns() >= load.op_timeout_ns);
    assert!(outcome.lanes.iter().map(|l| l.cancels).sum::<u64>() >= end.timed_out);
}
