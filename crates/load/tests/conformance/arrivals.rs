//! Open loop: everything that is due is counted, sent or not.
use crate::delay::Delay;
use crate::drive::{MS, drive, load};
use fathom_model::{Load, Pace, Phase, StopReason};
use std::time::Duration;

#[test]
fn fixed_arrivals_are_rate_times_time() {
    let job = Delay::of(Duration::from_millis(1));
    for lanes in [1, 3] {
        for ramp_ns in [0, 200 * MS] {
            let mut load = Load { depth: 64, lanes, ramp_ns, pace: Pace::Fixed { per_s: 1000.0 }, ..load() };
            load.stop.duration_ns = 500 * MS;
            let outcome = drive(&job, &load);
            let end = &outcome.account.end;
            let due = (ramp_ns / MS + 500) as i64;
            assert!((end.issued + end.unsent) as i64 - due <= 1, "{end:?}");
            assert!(due - (end.issued + end.unsent) as i64 <= 1, "{end:?}");
            // The lanes' clocks are one: the first interval has its share and no more.
            let first = &outcome.samples[0];
            assert!(first.ops <= 101, "{} in the first 100 ms", first.ops);
        }
    }
}

#[test]
fn poisson_arrivals_are_rate_times_time_within_chance() {
    let job = Delay::of(Duration::from_millis(1));
    for lanes in [1, 4] {
        let mut load = Load { depth: 64, lanes, pace: Pace::Poisson { per_s: 2000.0 }, ..load() };
        load.stop.duration_ns = 1000 * MS;
        let end = drive(&job, &load).account.end;
        let due = end.issued + end.unsent;
        // Five standard deviations of a Poisson count of 2000; the seed is fixed, so this passes always or never.
        assert!((2000 - 224..=2000 + 224).contains(&due), "{due}");
    }
}

#[test]
fn what_an_overload_left_unsent_is_counted_with_the_time_it_waited() {
    // 2 slots of 10 ms: 200 a second, of 2000.
    let job = Delay::of(Duration::from_millis(10));
    for lanes in [1, 2] {
        let mut load = Load { depth: 2, lanes, pace: Pace::Fixed { per_s: 2000.0 }, ..load() };
        load.stop.duration_ns = 500 * MS;
        let outcome = drive(&job, &load);
        let end = &outcome.account.end;
        assert!((999..=1001).contains(&(end.issued + end.unsent)), "{end:?}");
        assert!(end.issued <= 102 && end.unsent >= 898, "{end:?}");
        let response = outcome.response();
        // The last one sent had waited nearly to the end, and so had the first one unsent.
        assert!(response.max_ns() > 350 * MS && response.quantile_ns(0.5).unwrap() > 150 * MS, "{response:?}");
        assert!(outcome.service().quantile_ns(0.5).unwrap() < 100 * MS);
        assert!(end.generator_lag_ns < end.issued * 20 * MS, "waiting for a slot is not the generator's delay");
    }
}

#[test]
fn a_load_that_is_cut_short_by_its_number_leaves_nothing_unsent() {
    let mut load = Load { pace: Pace::Fixed { per_s: 1000.0 }, ..load() };
    (load.stop.ops, load.stop.duration_ns) = (Some(100), 60_000 * MS);
    let outcome = drive(&Delay::of(Duration::from_millis(1)), &load);
    let end = &outcome.account.end;
    assert_eq!((&end.stop, end.issued, end.unsent), (&StopReason::Ops, 100, 0));
    // The hundredth is due at 99 ms.
    assert!(outcome.took >= Duration::from_millis(99));
}

#[test]
fn many_more_arrivals_than_can_be_sent_are_counted_at_once() {
    // 100 million a second are due, which nothing can send: counting them must not take longer than the load.
    let mut load = Load { depth: 4, pace: Pace::Fixed { per_s: 1e8 }, ..load() };
    load.stop.duration_ns = 1000 * MS;
    let outcome = drive(&Delay::of(Duration::from_millis(10)), &load);
    let end = &outcome.account.end;
    let due = end.issued + end.unsent;
    assert!((99_999_999..=100_000_001).contains(&due), "{due}");
    assert!(outcome.took < Duration::from_secs(30), "{:?}", outcome.took);
    assert!(outcome.samples.iter().filter(|s| s.phase != Phase::Drain).count() >= 10);
}
