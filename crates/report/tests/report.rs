//! What a report must do for any stored run.
#![allow(clippy::unwrap_used)]
mod support;

use fathom_model::*;
use fathom_report::{TextOptions, analyse, render_text, series_csv, to_json};
use support::*;

const PLAIN: TextOptions = TextOptions { width: 100, color: false };

fn empty_run() -> RunData {
    let mut run = sample_run();
    run.steps.clear();
    run.attempts.clear();
    run.facts.clear();
    run.ticks.clear();
    run.findings.clear();
    run.ledger.clear();
    run
}

#[test]
fn text_of_the_sample_run() {
    insta::assert_snapshot!(render_text(&analyse(&sample_run()), PLAIN));
}

#[test]
fn text_of_a_run_without_steps() {
    insta::assert_snapshot!(render_text(&analyse(&empty_run()), PLAIN));
}

#[test]
fn no_line_is_wider_than_asked_and_none_ends_in_a_space() {
    for width in [60, 80, 100, 140] {
        let text = render_text(&analyse(&sample_run()), TextOptions { width, color: false });
        for line in text.lines().filter(|l| !l.starts_with("  command")) {
            assert!(line.chars().count() <= width.max(88), "{width}: {line}");
            assert_eq!(line, line.trim_end());
        }
    }
}

#[test]
fn colour_only_adds_escapes() {
    let analysis = analyse(&sample_run());
    let colored = render_text(&analysis, TextOptions { width: 100, color: true });
    let mut plain = String::new();
    let mut rest = colored.as_str();
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = &rest[rest.find('m').unwrap() + 1..];
    }
    plain.push_str(rest);
    assert_eq!(plain, render_text(&analysis, PLAIN));
}

#[test]
fn same_run_same_bytes() {
    let (a, b) = (analyse(&sample_run()), analyse(&sample_run()));
    assert_eq!(to_json(&a).unwrap(), to_json(&b).unwrap());
    assert_eq!(render_text(&a, PLAIN), render_text(&b, PLAIN));
    assert_eq!(series_csv(&a), series_csv(&b));
}

#[test]
fn a_stored_run_gives_the_report_of_the_live_one() {
    let run = sample_run();
    let stored: RunData = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();
    assert_eq!(analyse(&run), analyse(&stored));
}

#[test]
fn json_reads_back_and_names_its_schema() {
    let json: serde_json::Value = serde_json::from_str(&to_json(&analyse(&sample_run())).unwrap()).unwrap();
    assert_eq!(json["schema"], "fathom-analysis/1");
    assert_eq!(json["steps"][0]["repeats"].as_array().unwrap().len(), 3);
    let documented = |name: &str| {
        fathom_report::SCHEMA_DOC.contains(&format!("`{name}`"))
            || fathom_report::SCHEMA_DOC.contains(&format!("`{name}[]`"))
    };
    for name in json.as_object().unwrap().keys().chain(json["steps"][0].as_object().unwrap().keys()) {
        assert!(documented(name), "`{name}` is not in the schema document");
    }
}

#[test]
fn percentiles_come_from_merged_histograms() {
    let mut run = sample_run();
    run.findings.clear();
    let fast = latency((0..1000).map(|_| 1_000_000));
    let slow = latency((0..3000).map(|_| 9_000_000));
    for (attempt, values) in run.attempts.iter_mut().filter(|a| a.step == 0).zip([&fast, &slow, &slow]) {
        attempt.samples.truncate(3);
        for sample in &mut attempt.samples {
            sample.response = values.clone();
        }
    }
    let step = &analyse(&run).steps[0];
    assert_eq!(step.merged.response.count, 7000);
    // The average of the three medians is 6.3 ms; the median of the merged operations is 9 ms.
    assert_eq!(step.merged.response.p50_ns, Some(9_000_000));
    assert_eq!(step.merged.response.mean_ns, Some((1e9 + 6000.0 * 9e6) / 7000.0));
}

#[test]
fn rates_are_of_the_window_latencies_of_window_and_drain() {
    let run = sample_run();
    let failing = &analyse(&run).steps[3].repeats[1];
    let of = |phase| run.attempts[7].samples.iter().filter(move |s| s.phase == phase);
    assert_eq!(failing.total.ops, of(Phase::Measure).map(|s| s.ops).sum::<u64>());
    assert_eq!(failing.total.response.max_ns, Some(30 * SECOND));
    let counted: u64 = of(Phase::Measure).chain(of(Phase::Drain)).map(|s| s.response.count).sum();
    assert_eq!(failing.total.response.count, counted);
    assert_eq!(failing.total.ops_per_s, Some(failing.total.ops as f64 / 10.0));
}

#[test]
fn a_percentile_of_too_few_operations_does_not_exist() {
    let mut run = sample_run();
    run.attempts.truncate(1);
    for sample in &mut run.attempts[0].samples {
        sample.response = latency((0..15).map(|n| 1_000_000 + n));
        sample.ops = 15;
    }
    let latency = &analyse(&run).steps[0].merged.response;
    assert_eq!(latency.count, 150);
    assert!(latency.p99_ns.is_some());
    assert_eq!(latency.p999_ns, None);
    assert!(render_text(&analyse(&run), PLAIN).contains("n<1000"));
}

#[test]
fn a_lost_operation_is_a_defect_said_loudly() {
    let mut run = sample_run();
    run.attempts[0].end.as_mut().unwrap().issued += 1;
    run.attempts[1].samples[4].ops -= 2;
    let analysis = analyse(&run);
    assert_eq!(analysis.defects.len(), 2, "{:?}", analysis.defects);
    let text = render_text(&analysis, PLAIN);
    assert!(analysis.defects.iter().any(|d| d.contains("1 unaccounted for")), "{:?}", analysis.defects);
    assert!(text.contains("DEFECTS"));
    assert!(analysis.verdict.contains("contradict"));
}

#[test]
fn a_damaged_histogram_is_left_out_and_said() {
    let mut run = sample_run();
    run.attempts[0].samples[5].response.hdr = "HISTFAAA".to_owned();
    let analysis = analyse(&run);
    assert!(analysis.defects.iter().any(|d| d.contains("left out of the percentiles")), "{:?}", analysis.defects);
}

#[test]
fn a_step_without_completions_has_no_rate_but_an_account() {
    let mut run = sample_run();
    for attempt in run.attempts.iter_mut().filter(|a| a.step == 0) {
        for sample in &mut attempt.samples {
            sample.errors = vec![(ErrorClass::Errno(13), sample.ops)];
            (sample.ops, sample.bytes) = (0, 0);
            (sample.response, sample.service) = (Latency::default(), Latency::default());
        }
        close(attempt, StopReason::AllFailed { class: ErrorClass::Errno(13) });
    }
    let analysis = analyse(&run);
    assert_eq!(analysis.steps[0].ops_per_s, None);
    assert!(analysis.steps[0].account.failed > 0);
    assert!(analysis.defects.is_empty(), "{:?}", analysis.defects);
    let text = render_text(&analysis, PLAIN);
    assert!(text.contains("EACCES (permission denied)") && text.contains("no rate can be given"), "{text}");
}

#[test]
fn hosts_that_ran_together_are_one_repeat() {
    let mut run = sample_run();
    let mut other = run.attempts[0].clone();
    (other.id, other.host) = (99, "client2".to_owned());
    run.attempts.push(other);
    let step = &analyse(&run).steps[0];
    assert_eq!(step.repeats.len(), 3);
    let (one, two) = (step.repeats[1].total.ops_per_s.unwrap(), step.repeats[0].total.ops_per_s.unwrap());
    assert!((two / one - 2.0).abs() < 0.05, "{one} {two}");
    let little = step.repeats[0].little.as_ref().unwrap();
    assert!(little.holds && little.depth == 2.0, "{little:?}");
}

#[test]
fn steps_that_were_not_run_are_said_and_not_tabled() {
    let mut run = sample_run();
    run.attempts.truncate(1);
    let analysis = analyse(&run);
    assert!(analysis.concurrency.is_empty());
    assert!(
        analysis.caveats.iter().any(|c| c.replace('\u{a0}', " ") == "4 of 5 steps not run."),
        "{:?}",
        analysis.caveats
    );
    let text = render_text(&analysis, PLAIN);
    assert!(text.lines().any(|l| l.contains("T=64") && l.contains("not run")), "{text}");
    let account = text.split("ACCOUNT OF OPERATIONS").nth(1).unwrap().split("CLIENT AGAINST").next().unwrap();
    assert!(!account.contains("T=64"), "{account}");
}

#[test]
fn hostile_names_do_not_reach_the_terminal() {
    let mut run = sample_run();
    run.steps[0].name = "evil\u{1b}[2Jname".to_owned();
    run.findings[0].title = "a\u{1b}]0;title\u{7}b".to_owned();
    run.info.command = "fathom\u{1b}[31m".to_owned();
    let text = render_text(&analyse(&run), PLAIN);
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
}
