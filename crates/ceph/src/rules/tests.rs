//! What holds for all rules together.
use super::case::Case;
use super::*;
use crate::testdata::{RELEASES, mutated};
use proptest::prelude::*;

#[test]
fn a_healthy_run_has_nothing_above_a_note() {
    for release in RELEASES {
        let case = Case::of(release);
        let findings = of_run(&case.run);
        let grave: Vec<&Finding> = findings.iter().filter(|f| f.severity > Severity::Note).collect();
        assert!(grave.is_empty(), "{release}: {grave:#?}");
        let ids: Vec<&str> = findings.iter().map(|f| f.id.as_str()).collect();
        assert!(ids.contains(&"osdmap-flags") && ids.contains(&"pool-few-pgs"), "{ids:?}");
    }
}

#[test]
fn nothing_known_is_nothing_found() {
    assert_eq!(preflight(&[], &[]), []);
    let mut case = Case::healthy();
    case.run.facts.clear();
    assert_eq!(of_run(&case.run), []);
}

#[test]
fn before_a_run_the_texts_are_enough() {
    let case = Case::healthy();
    let ids: Vec<String> = preflight(&case.run.facts, &case.run.steps).into_iter().map(|f| f.id).collect();
    assert!(ids.contains(&"production-pool".to_owned()), "no ledger yet, so the objects are others': {ids:?}");
    assert!(ids.contains(&"osdmap-flags".to_owned()));
}

#[test]
fn findings_are_whole_sentences_with_numbers_and_the_gravest_come_first() {
    let mut case = Case::healthy();
    case.tick(3, |t| t.pg_states = vec![("active+clean+scrubbing".into(), 9)]);
    case.replace("ceph osd dump", "\"flags\":\"noscrub", "\"flags\":\"pauserd,noscrub");
    let findings = of_run(&case.run);
    assert!(findings.is_sorted_by_key(|f| std::cmp::Reverse(f.severity)));
    for f in &findings {
        assert!(f.evidence.bytes().any(|b| b.is_ascii_digit()), "{}: evidence without a number: {}", f.id, f.evidence);
        assert!(!f.advice.is_empty() && !f.source.is_empty() && !f.title.ends_with('.'), "{}", f.id);
        assert!(f.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'), "{}", f.id);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn damaged_texts_never_panic(which in 0usize..40, at in 0usize..8000, with in "[\\[\\]{}\",:a-z0-9\\-. ]{0,8}", nonsense in ".{0,200}") {
        let mut case = Case::of("tentacle-20.2.4");
        let i = which % case.run.facts.len();
        case.run.facts[i].text = mutated(&case.run.facts[i].text, at, &with);
        let _ = of_run(&case.run);
        case.run.facts[i].text = nonsense;
        let _ = of_run(&case.run);
    }

    #[test]
    fn odd_times_never_panic(a: i64, b: i64, age: u64, deadline: u64) {
        let mut case = Case::healthy();
        let op = fathom_model::StuckOp { target: "x".into(), age_ns: age, acting: vec![1] };
        case.run.attempts[0].stuck = vec![(a, op.clone()), (b, op)];
        case.run.attempts[1].load_started_unix_ns = Some(a);
        case.run.probes = vec![(a, fathom_model::Probe { osd: 1, answer_ns: None, deadline_ns: deadline }), (b, fathom_model::Probe { osd: 1, answer_ns: Some(1), deadline_ns: 1 })];
        case.run.ticks[3].0 = a;
        case.run.ticks[4].1.pg_states = vec![("peering".into(), u64::MAX), ("active+clean+scrubbing".into(), u64::MAX)];
        let _ = of_run(&case.run);
    }
}
