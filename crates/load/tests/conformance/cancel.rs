//! Asked to stop, a load stops, whatever its operations do.
use crate::delay::Delay;
use crate::drive::{ECANCELED, MS, Outcome, drive_with, load};
use crate::record::Ledger;
use fathom_model::{Load, Pace, StopReason};
use std::time::Duration;

fn cancelled(job: &Delay, load: &Load) -> Outcome {
    cancelled_by(Ledger::of_nothing(), job, load)
}

fn cancelled_by(mut ledger: Ledger, job: &Delay, load: &Load) -> Outcome {
    // Not where an interval ends.
    ledger.cancel_after = Some(Duration::from_millis(230));
    let outcome = drive_with(job, load, &ledger, Duration::from_secs(6));
    assert_eq!(outcome.account.end.stop, StopReason::Cancelled);
    outcome
}

fn long() -> Load {
    let mut load = Load { op_timeout_ns: 600_000 * MS, ..load() };
    load.stop.duration_ns = 600_000 * MS;
    load
}

#[test]
fn operations_that_end_soon_are_let_end() {
    let outcome = cancelled(&Delay::of(Duration::from_millis(20)), &long());
    let end = &outcome.account.end;
    assert_eq!((end.failed, end.timed_out, outcome.account.abandoned), (0, 0, false), "{end:?}");
    assert!(outcome.took < Duration::from_secs(2), "{:?}", outcome.took);
}

#[test]
fn operations_that_never_end_are_cancelled() {
    for lanes in [1, 3] {
        let outcome = cancelled(&Delay { lose_every: 1, ..Delay::of(Duration::ZERO) }, &Load { lanes, ..long() });
        assert!(outcome.errors().into_iter().eq([(ECANCELED, 8)]), "{:?}", outcome.errors());
        assert!(outcome.took < Duration::from_secs(2), "{:?}", outcome.took);
        assert!(!outcome.account.abandoned);
    }
}

#[test]
fn operations_that_hear_no_cancel_are_left() {
    let outcome = cancelled(&Delay { lose_every: 1, deaf: true, ..Delay::of(Duration::ZERO) }, &long());
    assert!(outcome.account.abandoned);
    assert_eq!(outcome.account.end.timed_out, 8);
    // A third of a second for them to end, a second to hear the cancel, and the slack of a busy machine.
    assert!(outcome.took < Duration::from_secs(4), "{:?}", outcome.took);
}

#[test]
fn in_open_loop_with_nothing_to_do_for_long() {
    let outcome = cancelled(&Delay::of(Duration::ZERO), &Load { pace: Pace::Fixed { per_s: 0.01 }, ..long() });
    assert!(outcome.took < Duration::from_secs(2), "{:?}", outcome.took);
    assert_eq!(outcome.account.end.issued, 1);
}

#[test]
fn in_the_ramp_no_less_than_later() {
    let outcome = cancelled(&Delay::of(Duration::from_millis(1)), &Load { ramp_ns: 600_000 * MS, ..long() });
    assert!(outcome.took < Duration::from_secs(2), "{:?}", outcome.took);
    assert_eq!(outcome.account.end.window_ns, 0, "nothing was measured");
}

#[test]
fn told_late_when_a_lane_has_begun_another_interval() {
    let mut ledger = Ledger::of_nothing();
    // Longer than an interval, as when the thread that asks loses its CPU in between.
    ledger.cancel_takes = Duration::from_millis(130);
    let outcome = cancelled_by(ledger, &Delay::of(Duration::from_millis(1)), &long());
    assert!(outcome.took < Duration::from_secs(2), "{:?}", outcome.took);
}
