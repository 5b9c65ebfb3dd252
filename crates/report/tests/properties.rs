//! Whatever a store holds, there is a report, and no operation is lost on the way to it.
#![allow(clippy::unwrap_used)]
mod support;

use fathom_model::*;
use fathom_report::*;
use proptest::prelude::*;
use support::*;

/// Numbers as they are and as they should never be.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), 0..2000u64, 0..20 * SECOND, Just(u64::MAX), any::<u64>()]
}

fn instant() -> impl Strategy<Value = i64> {
    prop_oneof![(0..200i64).prop_map(|s| START + s * SECOND as i64), Just(i64::MIN), Just(i64::MAX), any::<i64>()]
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), Just("bench".to_owned()), "\\PC{0,12}", any::<String>()]
}

fn some_latency() -> impl Strategy<Value = Latency> {
    prop_oneof![
        proptest::collection::vec(0..40 * SECOND, 0..40).prop_map(|v| latency(v.into_iter())),
        (number(), number(), number(), number(), word()).prop_map(|(count, sum_ns, min_ns, max_ns, hdr)| Latency {
            count,
            sum_ns,
            min_ns,
            max_ns,
            hdr
        }),
    ]
}

fn some_errors() -> impl Strategy<Value = Vec<(ErrorClass, u64)>> {
    let class =
        prop_oneof![any::<i32>().prop_map(ErrorClass::Errno), Just(ErrorClass::Short), Just(ErrorClass::Corrupt)];
    // `Sample::failed` adds these up as they are.
    proptest::collection::vec((class, 0..1u64 << 40), 0..3)
}

fn some_sample() -> impl Strategy<Value = Sample> {
    let phase = prop_oneof![Just(Phase::Ramp), Just(Phase::Measure), Just(Phase::Drain)];
    let verb = prop_oneof![Just(Verb::Read), Just(Verb::Write)];
    let counts = (number(), number(), some_errors(), number(), number());
    (phase, verb, number(), number(), counts, some_latency(), some_latency()).prop_map(
        |(phase, verb, start_ns, end_ns, (ops, bytes, errors, timeouts, unsent), response, service)| Sample {
            phase,
            start_ns,
            end_ns,
            verb,
            ops,
            bytes,
            errors,
            timeouts,
            unsent,
            response,
            service,
        },
    )
}

fn some_stop() -> impl Strategy<Value = StopReason> {
    prop_oneof![
        Just(StopReason::Duration),
        Just(StopReason::Cancelled),
        Just(StopReason::NoProgress),
        any::<i32>().prop_map(|n| StopReason::AllFailed { class: ErrorClass::Errno(n) }),
        word().prop_map(|error| StopReason::WorkerLost { error }),
        word().prop_map(|error| StopReason::NotStarted { error }),
    ]
}

fn some_end() -> impl Strategy<Value = AttemptEnd> {
    let busy = prop_oneof![Just(None), any::<f64>().prop_map(Some)];
    (some_stop(), [number(), number(), number(), number(), number(), number(), number(), number()], busy).prop_map(
        |(stop, n, host_cpu_busy)| AttemptEnd {
            stop,
            issued: n[0],
            completed: n[1],
            failed: n[2],
            timed_out: n[3],
            unsent: n[4],
            cpu_ns: n[5],
            window_ns: n[6],
            generator_lag_ns: n[7],
            host_cpu_busy,
        },
    )
}

fn some_attempt() -> impl Strategy<Value = Attempt> {
    let samples = proptest::collection::vec(some_sample(), 0..6);
    let stuck =
        proptest::collection::vec((instant(), (word(), number(), proptest::collection::vec(any::<i32>(), 0..3))), 0..2);
    (
        (any::<u32>(), 0..3u32, 0..3u32, word()),
        proptest::option::of(instant()),
        proptest::option::of(some_end()),
        samples,
        stuck,
    )
        .prop_map(|((id, step, repeat, host), load_started_unix_ns, end, samples, stuck)| Attempt {
            id,
            step,
            repeat,
            host,
            load_started_unix_ns,
            end,
            samples,
            stuck: stuck
                .into_iter()
                .map(|(at, (target, age_ns, acting))| (at, StuckOp { target, age_ns, acting }))
                .collect(),
        })
}

fn some_step() -> impl Strategy<Value = Step> {
    let pace = prop_oneof![
        Just(Pace::Closed),
        any::<f64>().prop_map(|per_s| Pace::Fixed { per_s }),
        (0.0..1e6).prop_map(|per_s| Pace::Poisson { per_s })
    ];
    let mix = proptest::collection::vec((any::<bool>(), any::<u32>()), 0..3);
    (word(), any::<u32>(), any::<u32>(), pace, mix, [number(), number(), number(), number()]).prop_map(
        |(name, block, depth, pace, mix, n)| {
            let mut step = step(&name, Verb::Write, block, depth, pace);
            let verb = |read| if read { Verb::Read } else { Verb::Write };
            step.load.mix = mix.into_iter().map(|(read, weight)| Share { verb: verb(read), weight }).collect();
            step.load.tick_ns = n[0];
            step.load.ramp_ns = n[1];
            step.load.stop.duration_ns = n[2];
            step.load.op_timeout_ns = n[3];
            step
        },
    )
}

fn some_tick() -> impl Strategy<Value = (i64, ClusterTick)> {
    let osds = proptest::collection::vec((0..4i32, any::<bool>(), any::<bool>()), 0..3);
    (instant(), word(), osds, proptest::option::of(word()), any::<f64>()).prop_map(|(at, health, osds, error, rec)| {
        let osds_not_up_in = osds.into_iter().map(|(id, up, is_in)| OsdState { id, up, is_in }).collect();
        let checks = vec![(health.clone(), health.clone())];
        let pg_states = vec![("active+clean+scrubbing".to_owned(), 1)];
        let tick = ClusterTick {
            health,
            checks,
            pg_states,
            osd_epoch: 1,
            osds_not_up_in,
            recovering_objects_per_s: rec,
            error,
        };
        (at, tick)
    })
}

fn some_finding() -> impl Strategy<Value = Finding> {
    let severity = prop_oneof![Just(Severity::Note), Just(Severity::Warn), Just(Severity::Invalid)];
    (word(), severity, proptest::option::of((instant(), instant())), proptest::option::of(word())).prop_map(
        |(text, severity, span, step)| Finding {
            id: text.clone(),
            severity,
            title: text.clone(),
            evidence: text.clone(),
            advice: text.clone(),
            source: text,
            span: span.map(|(from_unix_ns, to_unix_ns)| Span { from_unix_ns, to_unix_ns }),
            step,
        },
    )
}

fn some_run() -> impl Strategy<Value = RunData> {
    (
        proptest::collection::vec(some_step(), 0..3),
        proptest::collection::vec(some_attempt(), 0..4),
        proptest::collection::vec(some_tick(), 0..4),
        proptest::collection::vec(some_finding(), 0..3),
        (instant(), proptest::option::of(instant()), word(), word()),
    )
        .prop_map(|(steps, attempts, ticks, findings, (started, ended, text, json))| {
            let mut run = sample_run_without_load();
            run.info.started_unix_ns = started;
            run.info.ended_unix_ns = ended;
            run.info.name.clone_from(&text);
            run.facts.iter_mut().step_by(2).for_each(|f| f.text.clone_from(&json));
            run.facts.push(Fact { moment: text.clone(), source: json, text, error: None });
            (run.steps, run.attempts, run.ticks, run.findings) = (steps, attempts, ticks, findings);
            run
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_run_has_every_report(run in some_run()) {
        let analysis = analyse(&run);
        for width in [0, 80, 200] {
            let _ = render_text(&analysis, TextOptions { width, color: width == 80 });
        }
        let json: serde_json::Value = serde_json::from_str(&to_json(&analysis).unwrap()).unwrap();
        prop_assert_eq!(&json["schema"], "fathom-analysis/1");
        let _ = series_csv(&analysis);
        let html = render_html(&analysis).unwrap();
        let stored = format!("{run:?}");
        prop_assert!(!html.contains("NaN") || stored.contains("NaN"));
        prop_assert_eq!(html.matches("<script").count(), 1);
    }

    #[test]
    fn no_event_stream_makes_the_screen_panic(run in some_run(), width in 1..120u16, height in 1..40u16) {
        let mut live = Live::new(&run.steps, 2);
        let mut plain = PlainProgress::new(&run.steps, 2);
        let with_load = |a: &Attempt| a.load_started_unix_ns.is_some_and(|at| at.unsigned_abs() < 1 << 61)
            && a.samples.iter().all(|s| s.end_ns < 1 << 60) && a.stuck.iter().all(|(at, _)| at.unsigned_abs() < 1 << 61);
        let mut run = run;
        run.attempts.retain(with_load);
        for event in events(&run) {
            live.apply(&event);
            for line in plain.lines(&event) {
                prop_assert!(!line.chars().any(char::is_control), "{:?}", line);
            }
        }
        let mut terminal = ratatui::Terminal::new(ratatui::backend::TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, &live, ScreenOptions { color: true })).unwrap();
    }

    #[test]
    fn no_operation_is_lost(rates in proptest::collection::vec(proptest::collection::vec(0..300u64, 12..13), 1..6)) {
        let mut run = sample_run_without_load();
        run.steps.truncate(1);
        run.attempts = rates
            .iter()
            .enumerate()
            .map(|(id, rates)| attempt(id as u32, id as u64 * 20, 0, id as u32, &run.steps[0], rates))
            .collect();
        let analysis = analyse(&run);
        let issued: u64 = run.attempts.iter().map(|a| a.end.as_ref().unwrap().issued).sum();
        let step = &analysis.steps[0];
        prop_assert_eq!(step.account.issued, Some(issued));
        prop_assert_eq!(step.account.completed + step.account.failed + step.account.timed_out, issued);
        prop_assert!(analysis.defects.is_empty(), "{:?}", analysis.defects);
        let in_series: u64 = step.repeats.iter().flat_map(|r| &r.series).map(|p| p.ops).sum();
        prop_assert_eq!(in_series, issued);
        let measured: u64 = rates.iter().filter(|r| r[2..].iter().sum::<u64>() > 0).flat_map(|r| &r[2..]).sum();
        prop_assert_eq!(step.merged.ops, measured);
        prop_assert_eq!(step.merged.response.count, measured);
    }
}
