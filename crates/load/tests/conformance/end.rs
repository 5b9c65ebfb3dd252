//! Why and when a load ends.
use crate::delay::{Delay, EIO};
use crate::drive::{MS, drive, drive_with, load};
use crate::record::Ledger;
use fathom_model::{Load, Phase, StopReason, Tight};
use std::time::Duration;

#[test]
fn a_constant_rate_is_known_early() {
    for lanes in [1, 2] {
        let mut load = Load { lanes, ..load() };
        load.stop.duration_ns = 120_000 * MS;
        load.stop.tight = Some(Tight { rel_half_width: 0.1, floor_ns: 500 * MS });
        let outcome = drive(&Delay::of(Duration::from_millis(5)), &load);
        let end = &outcome.account.end;
        assert_eq!(end.stop, StopReason::Tight);
        assert!(end.window_ns >= 500 * MS && end.window_ns < 100_000 * MS, "{end:?}");
        // All lanes end at one boundary: whole intervals, so that rates compare.
        let measured: Vec<_> = outcome.samples.iter().filter(|s| s.phase == Phase::Measure).collect();
        assert!(measured.iter().all(|s| s.end_ns - s.start_ns == 100 * MS));
        assert_eq!(measured.len() as u64 * 100 * MS, end.window_ns);
    }
}

#[test]
fn nothing_but_errors_ends_early_and_some_errors_do_not() {
    let mut load = load();
    load.stop.duration_ns = 600_000 * MS;
    let failing = Delay { fail_every: 1, ..Delay::of(Duration::from_millis(1)) };
    let patience = Duration::from_secs(30);
    for (depth, lanes) in [(1, 1), (8, 1), (8, 3)] {
        let outcome = drive_with(&failing, &Load { depth, lanes, ..load.clone() }, &Ledger::of_nothing(), patience);
        let end = &outcome.account.end;
        assert_eq!(end.stop, StopReason::AllFailed { class: EIO });
        assert_eq!((end.failed, end.completed, end.timed_out), (end.issued, 0, 0));
    }
    load.stop.duration_ns = 2500 * MS;
    let outcome = drive_with(&Delay { fail_every: 2, ..failing }, &load, &Ledger::of_nothing(), patience);
    assert_eq!(outcome.account.end.stop, StopReason::Duration);
    let end = &outcome.account.end;
    assert_eq!(end.failed, end.issued / 2);
}

#[test]
fn a_layer_that_fails_at_once_is_given_up() {
    let mut load = load();
    load.stop.duration_ns = 600_000 * MS;
    let failing = Delay { fail_every: 1, ..Delay::of(Duration::ZERO) };
    let outcome = drive(&failing, &load);
    assert_eq!(outcome.account.end.stop, StopReason::AllFailed { class: EIO });
    // Nothing but errors for a second.
    assert!(outcome.took >= Duration::from_secs(1) && outcome.took < Duration::from_secs(20), "{:?}", outcome.took);
}

#[test]
fn the_window_is_the_time_asked_for() {
    let mut load = Load { ramp_ns: 130 * MS, ..load() };
    load.stop.duration_ns = 350 * MS;
    let outcome = drive(&Delay::of(Duration::from_millis(1)), &load);
    assert_eq!((&outcome.account.end.stop, outcome.account.end.window_ns), (&StopReason::Duration, 350 * MS));
    let of = |phase| outcome.samples.iter().filter(move |s| s.phase == phase);
    // Ticks are counted from the end of the ramp; the last interval of each phase is shorter.
    let bounds: Vec<u64> = of(Phase::Ramp).chain(of(Phase::Measure)).map(|s| s.end_ns / MS).collect();
    assert_eq!(bounds, [100, 130, 230, 330, 430, 480]);
    assert!(of(Phase::Drain).map(|s| s.ops).sum::<u64>() <= 8);
}
