//! Operations that are late, and operations that never end.
use crate::delay::{Delay, EIO};
use crate::drive::{MS, above, drive, drive_with, load};
use crate::record::Ledger;
use fathom_model::{Load, StopReason};
use std::time::Duration;

fn fast() -> Delay {
    Delay::of(Duration::from_millis(1))
}

#[test]
fn a_late_operation_is_cancelled_and_counted_at_its_age() {
    let mut load = Load { op_timeout_ns: 300 * MS, depth: 16, ..load() };
    load.stop.duration_ns = 1000 * MS;
    let outcome = drive(&Delay { lose_every: 20, ..fast() }, &load);
    let end = &outcome.account.end;
    assert_eq!((&end.stop, outcome.account.abandoned), (&StopReason::Duration, false));
    assert!(end.timed_out >= 16 && end.completed > end.timed_out && end.failed == 0, "{end:?}");
    assert_eq!(outcome.lanes[0].cancels, end.timed_out);
    for hist in [outcome.service(), outcome.response()] {
        assert_eq!(above(&hist, 299 * MS), end.timed_out, "{hist:?}");
        assert!(hist.max_ns() < 2000 * MS, "{hist:?}");
    }
}

#[test]
fn a_failure_and_a_time_out_are_told_apart() {
    let mut load = Load { op_timeout_ns: 200 * MS, depth: 16, ..load() };
    load.stop.ops = Some(120);
    load.stop.duration_ns = 60_000 * MS;
    let outcome = drive(&Delay { lose_every: 10, fail_every: 4, ..fast() }, &load);
    let end = &outcome.account.end;
    // Of 120: 12 are lost, 30 fail, and 6 of those would be both: an operation that is lost is not reported failed.
    assert_eq!((end.issued, end.timed_out, end.failed, end.completed), (120, 12, 24, 84), "{end:?}");
    assert!(outcome.errors().into_iter().eq([(EIO, 24)]));
}

#[test]
fn nothing_ever_completes_and_it_ends_for_want_of_progress() {
    for lanes in [1, 2] {
        let mut load = Load { op_timeout_ns: 200 * MS, depth: 4, lanes, ..load() };
        load.stop.duration_ns = 600_000 * MS;
        let outcome =
            drive_with(&Delay { lose_every: 1, ..fast() }, &load, &Ledger::of_nothing(), Duration::from_secs(30));
        let end = &outcome.account.end;
        assert_eq!((&end.stop, end.timed_out, end.completed), (&StopReason::NoProgress, end.issued, 0), "{end:?}");
        assert!(end.issued >= 8 && !outcome.account.abandoned);
        assert!(outcome.service().min_ns() >= 200 * MS);
    }
}

#[test]
fn a_short_load_of_which_nothing_completes_ends_with_its_deadlines() {
    let load = Load { op_timeout_ns: 1500 * MS, depth: 4, ..load() };
    let outcome = drive_with(&Delay { lose_every: 1, ..fast() }, &load, &Ledger::of_nothing(), Duration::from_secs(20));
    let end = &outcome.account.end;
    assert_eq!((&end.stop, end.issued, end.timed_out), (&StopReason::Duration, 4, 4), "{end:?}");
    assert!(outcome.took >= Duration::from_millis(1500) && outcome.took < Duration::from_secs(5), "{:?}", outcome.took);
    assert!(outcome.service().min_ns() >= 1500 * MS);
    // Older than a second: each is told once.
    assert_eq!(outcome.stuck.len(), 4);
    assert!(outcome.stuck.iter().all(|s| s.age_ns >= 1000 * MS && s.target.starts_with("block ")));
}

#[test]
fn a_lane_that_hears_nothing_is_abandoned() {
    let mut load = Load { op_timeout_ns: 200 * MS, depth: 4, ..load() };
    load.stop.duration_ns = 600_000 * MS;
    let deaf = Delay { lose_every: 1, deaf: true, ..fast() };
    let outcome = drive_with(&deaf, &load, &Ledger::of_nothing(), Duration::from_secs(20));
    let end = &outcome.account.end;
    assert_eq!((&end.stop, end.issued, end.timed_out), (&StopReason::NoProgress, 4, 4), "{end:?}");
    assert!(outcome.account.abandoned);
    assert_eq!(outcome.lanes[0].in_flight(), 4);
}

#[test]
fn what_comes_back_after_it_was_given_up_is_not_counted_again() {
    // Some take longer than deadline and patience together, and hear no cancel.
    let slow = (100, Duration::from_millis(1700));
    let late = Delay { deaf: true, slow, ..Delay::of(Duration::from_millis(10)) };
    let mut load = Load { op_timeout_ns: 200 * MS, depth: 4, ..load() };
    load.stop.duration_ns = 5000 * MS;
    let outcome = drive_with(&late, &load, &Ledger::of_nothing(), Duration::from_secs(20));
    let end = &outcome.account.end;
    assert_eq!(end.stop, StopReason::Duration, "{end:?}");
    assert!(outcome.account.abandoned);
    assert!(end.timed_out > 4, "slots that came back late are used again: {end:?}");
    let late = outcome.lanes[0].completed - end.completed;
    assert!((1..=end.timed_out).contains(&late), "{late} came late: {end:?}");
}
