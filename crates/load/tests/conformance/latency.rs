//! Latency is what was injected: never less, and in closed loop not much more.
use crate::delay::Delay;
use crate::drive::{MS, above, drive, half_and_half, load};
use fathom_model::{Load, Pace, Pattern};
use std::time::Duration;

/// What threads and locks of a busy test machine may add to a median.
const SLACK_NS: u64 = 20 * MS;

#[test]
fn never_below_an_injected_delay_and_close_above_it() {
    for (delay_ms, depth, lanes) in [(2, 1, 1), (10, 8, 1), (10, 8, 4)] {
        let job = Delay::of(Duration::from_millis(delay_ms));
        let load = Load { depth, lanes, mix: half_and_half(), pattern: Pattern::Uniform, ..load() };
        let outcome = drive(&job, &load);
        for hist in [outcome.service(), outcome.response()] {
            let least_ns = delay_ms * MS;
            assert!(hist.min_ns() >= least_ns, "{hist:?}");
            for (q, ns) in hist.spectrum() {
                assert!(ns >= least_ns, "{ns} ns at {q}");
            }
            let median_ns = hist.quantile_ns(0.5).unwrap();
            assert!(median_ns < least_ns + SLACK_NS, "{median_ns} ns");
        }
    }
}

#[test]
fn a_later_operation_that_overtakes_keeps_its_own_time() {
    let job = Delay { disorder: true, ..Delay::of(Duration::from_millis(50)) };
    let mut load = Load { depth: 2, ..load() };
    (load.stop.ops, load.stop.duration_ns) = (Some(10), 60_000 * MS);
    let service = drive(&job, &load).service();
    // Every second one takes twice as long.
    assert_eq!((service.count(), above(&service, 99 * MS)), (10, 5), "{service:?}");
    assert!(service.min_ns() >= 50 * MS);
}

#[test]
fn open_loop_response_has_the_stall_that_service_hides() {
    let stall = (Duration::from_millis(300), Duration::from_millis(800));
    let job = Delay { stall: Some(stall), ..Delay::of(Duration::from_millis(1)) };
    let mut load = Load { depth: 4, pace: Pace::Fixed { per_s: 500.0 }, ..load() };
    load.stop.duration_ns = 1500 * MS;
    let outcome = drive(&job, &load);
    let (response, service) = (outcome.response(), outcome.service());
    // 250 operations were due while nothing ended; only those that were in flight noticed it.
    let (waited, served) = (above(&response, 100 * MS), above(&service, 100 * MS));
    assert!((150..=300).contains(&waited), "{waited} waited");
    assert!((1..=4).contains(&served), "{served} were in flight for long");
    assert!(response.max_ns() > 400 * MS && response.quantile_ns(0.9).unwrap() > 200 * MS, "{response:?}");
    assert!(service.quantile_ns(0.9).unwrap() < 100 * MS, "{service:?}");
}

#[test]
fn closed_loop_sees_the_same_stall_depth_times() {
    let stall = (Duration::from_millis(100), Duration::from_millis(500));
    let job = Delay { stall: Some(stall), ..Delay::of(Duration::from_millis(1)) };
    let mut load = Load { depth: 4, ..load() };
    load.stop.duration_ns = 700 * MS;
    let outcome = drive(&job, &load);
    assert_eq!(above(&outcome.service(), 200 * MS), 4);
    // Two intervals and more without a completion are there, as zeros.
    assert!(outcome.samples.iter().filter(|s| s.ops == 0).count() >= 2);
}
