//! OSDs that did not answer a probe, and what stuck operations have in common.
//!
//! A probe that got no answer names its OSD: that is an observation. Stuck operations name only acting sets: the OSD they
//! share is an inference, as good as its share is surprising, and is called one.
use super::episode::{attempts_text, only_step, since_first_load, touched};
use super::{finding, osd_down};
use crate::Facts;
use fathom_model::{Finding, Severity, Span, StuckOp, duration_text};

/// Of the stuck operations this share must go to one OSD before it is named.
const NEARLY_ALL: f64 = 0.9;
/// Largest probability of that happening by chance before it is named.
const CHANCE_MAX: f64 = 0.01;
/// Fewer stuck operations than this say nothing.
const STUCK_MIN: usize = 3;

/// What stuck operations say about one OSD.
struct Suspect {
    osd: i32,
    with: usize,
    of: usize,
    expected: f64,
    chance: f64,
    span: Span,
}

pub(super) fn during(facts: &Facts<'_>) -> Vec<Finding> {
    let stuck: Vec<(i64, &StuckOp)> =
        facts.attempts.iter().flat_map(|a| a.stuck.iter().map(|(at, op)| (*at, op))).collect();
    let suspect = suspect(facts, &stuck);
    let mut silent: Vec<i32> = facts.probes.iter().filter(|(_, p)| p.answer_ns.is_none()).map(|(_, p)| p.osd).collect();
    silent.sort_unstable();
    silent.dedup();
    let mut out: Vec<Finding> = silent.iter().map(|osd| probed(facts, *osd, suspect.as_ref())).collect();
    match suspect {
        Some(s) if !silent.contains(&s.osd) => out.push(inferred(facts, &s)),
        None if silent.is_empty() && stuck.len() >= STUCK_MIN => out.push(scattered(facts, &stuck)),
        _ => {}
    }
    out
}

fn probed(facts: &Facts<'_>, osd: i32, suspect: Option<&Suspect>) -> Finding {
    let asked: Vec<_> = facts.probes.iter().filter(|(_, p)| p.osd == osd).collect();
    let silent: Vec<_> = asked.iter().filter(|(_, p)| p.answer_ns.is_none()).collect();
    // A probe carries the time it was sent; without an answer the OSD was silent from then to its deadline.
    let ended = |at: i64, ns: u64| at.saturating_add(i64::try_from(ns).unwrap_or(i64::MAX));
    let from = silent.iter().map(|(at, _)| *at).min().unwrap_or(0);
    let to = silent.iter().map(|(at, p)| ended(*at, p.deadline_ns)).max().unwrap_or(0);
    let mut span = Span { from_unix_ns: from, to_unix_ns: to };
    let mut shared = String::new();
    if let Some(s) = suspect.filter(|s| s.osd == osd) {
        span.from_unix_ns = span.from_unix_ns.min(s.span.from_unix_ns);
        span.to_unix_ns = span.to_unix_ns.max(s.span.to_unix_ns);
        shared = format!("; {}", share_text(s));
    }
    let deadline = silent.iter().map(|(_, p)| p.deadline_ns).max().unwrap_or(0);
    let last = silent.iter().map(|(at, _)| *at).max().unwrap_or(0);
    let answered = asked.iter().filter(|(at, _)| *at > last).filter_map(|(at, p)| Some(ended(*at, p.answer_ns?))).min();
    let back = match answered {
        // An answer within the last deadline ends the silence earlier than that deadline.
        Some(at) => {
            span.to_unix_ns = span.to_unix_ns.min(at.max(last));
            "; a later probe was answered".to_owned()
        }
        None => "; no later probe was answered".to_owned(),
    };
    built(
        facts,
        osd,
        span,
        format!("osd.{osd} did not answer"),
        format!(
            "{} of {} probes got no answer within {}{back}{shared}",
            silent.len(),
            asked.len(),
            duration_text(deadline as f64)
        ),
    )
}

fn inferred(facts: &Facts<'_>, s: &Suspect) -> Finding {
    let probed = facts.probes.iter().any(|(_, p)| p.osd == s.osd);
    let why = if probed {
        "its probes were answered, so its disk or one of its threads, and not its network, may hang"
    } else {
        "no OSD was probed"
    };
    let title = format!("osd.{} probably held up operations (inferred)", s.osd);
    built(facts, s.osd, s.span, title, format!("inference from placement: {}; {why}", share_text(s)))
}

fn share_text(s: &Suspect) -> String {
    format!(
        "{} of {} stuck operations go to osd.{}, expected {:.0} % of them (chance {:.1e})",
        s.with,
        s.of,
        s.osd,
        s.expected * 100.0,
        s.chance
    )
}

fn built(facts: &Facts<'_>, osd: i32, span: Span, title: String, evidence: String) -> Finding {
    let attempts = touched(facts, span);
    let touched_text = if attempts.is_empty() { "no attempt".to_owned() } else { attempts_text(facts, &attempts) };
    let down = osd_down::seen_down(facts).map_or_else(
        || "; the OSD map never had an OSD down".to_owned(),
        |names| format!("; the OSD map had {names} down at some time"),
    );
    let mut out = finding(
        "osd-unresponsive",
        Severity::Warn,
        format!("{title} for at least {}", duration_text(span.to_unix_ns.saturating_sub(span.from_unix_ns) as f64)),
        format!("from {} on: {evidence}; touched {touched_text}{down}", since_first_load(facts, span)),
        &format!(
            "look at the log and the host of osd.{osd} for that time (`dmesg`, load, disk errors, `ceph tell osd.{osd} dump_historic_slow_ops`); leave these attempts out of comparisons"
        ),
        "probes of the OSDs (`ceph tell osd.N version` within a deadline) and acting sets of stuck operations",
    );
    out.span = Some(span);
    out.step = only_step(facts, &attempts);
    out
}

/// Stuck operations without an OSD in common.
fn scattered(facts: &Facts<'_>, stuck: &[(i64, &StuckOp)]) -> Finding {
    let span = span_of(stuck);
    let attempts: Vec<&fathom_model::Attempt> = facts.attempts.iter().filter(|a| !a.stuck.is_empty()).collect();
    let mut out = finding(
        "operations-stuck",
        Severity::Note,
        "operations were in flight for longer than a second".to_owned(),
        format!(
            "{} of them to {} objects (at most 64 per attempt are looked at) in {}, no OSD in common",
            stuck.len(),
            distinct(stuck).len(),
            attempts_text(facts, &attempts)
        ),
        "at this depth the cluster may simply be slow; the share of operations above a second is in the histogram",
        "operations in flight for more than a second, and the acting sets of their placement groups",
    );
    out.span = Some(span);
    out.step = only_step(facts, &attempts);
    out
}

fn span_of(stuck: &[(i64, &StuckOp)]) -> Span {
    let begun = |(at, op): &(i64, &StuckOp)| at.saturating_sub(i64::try_from(op.age_ns).unwrap_or(i64::MAX));
    Span {
        from_unix_ns: stuck.iter().map(begun).min().unwrap_or(0),
        to_unix_ns: stuck.iter().map(|(at, _)| *at).max().unwrap_or(0),
    }
}

/// Each object once: an operation that stays stuck is seen again and again.
fn distinct<'s>(stuck: &[(i64, &'s StuckOp)]) -> Vec<&'s StuckOp> {
    let mut seen = std::collections::BTreeSet::new();
    stuck.iter().map(|(_, op)| *op).filter(|op| seen.insert(op.target.as_str())).collect()
}

/// The OSD that all or nearly all stuck operations share, if that is surprising.
fn suspect(facts: &Facts<'_>, stuck: &[(i64, &StuckOp)]) -> Option<Suspect> {
    let placed: Vec<(i64, &StuckOp)> = stuck.iter().filter(|(_, op)| !op.acting.is_empty()).copied().collect();
    let ops = distinct(&placed);
    if ops.len() < STUCK_MIN {
        return None;
    }
    let mut osds: Vec<i32> = ops.iter().flat_map(|op| op.acting.iter().copied()).collect();
    osds.sort_unstable();
    osds.dedup();
    let candidates = osds.into_iter().filter_map(|osd| {
        let with = ops.iter().filter(|op| op.acting.contains(&osd)).count();
        let expected = expected_share(facts, osd, &ops);
        let chance = binomial_tail(with, ops.len(), expected);
        let named = with as f64 >= NEARLY_ALL * ops.len() as f64 && chance <= CHANCE_MAX;
        named.then_some((osd, with, expected, chance))
    });
    let (osd, with, expected, chance) = candidates.min_by(|a, b| a.3.total_cmp(&b.3))?;
    let there: Vec<(i64, &StuckOp)> = placed.iter().filter(|(_, op)| op.acting.contains(&osd)).copied().collect();
    Some(Suspect { osd, with, of: ops.len(), expected, chance, span: span_of(&there) })
}

/// Share of the pool's placement groups that this OSD serves; without the PG dump, size ÷ OSDs.
fn expected_share(facts: &Facts<'_>, osd: i32, ops: &[&StuckOp]) -> f64 {
    let pools = facts.pool_names();
    let shares = pools.iter().filter_map(|name| {
        let of = |side: &crate::ClusterFacts| side.pgs.as_ref()?.share_of_osd(side.pool(name)?.id, osd);
        of(&facts.after).or_else(|| of(&facts.before))
    });
    // Of several pools the largest share: it makes the finding the least surprising.
    if let Some(share) = shares.max_by(f64::total_cmp) {
        return share;
    }
    let size = ops.iter().map(|op| op.acting.len()).max().unwrap_or(1) as f64;
    let known = facts.before.osds_in().max(facts.after.osds_in()) as f64;
    if known > 0.0 { (size / known).min(1.0) } else { 1.0 }
}

/// Probability that at least `k` of `n` independent draws of probability `p` come out.
fn binomial_tail(k: usize, n: usize, p: f64) -> f64 {
    if k == 0 || p >= 1.0 {
        return 1.0;
    }
    if p <= 0.0 {
        return 0.0;
    }
    // In logarithms: n may be in the thousands.
    let (ln_p, ln_q) = (p.ln(), (1.0 - p).ln());
    let mut ln_choose = 0.0;
    let mut sum = 0.0;
    for i in 0..=n {
        if i >= k {
            sum += (ln_choose + i as f64 * ln_p + (n - i) as f64 * ln_q).exp();
        }
        ln_choose += ((n - i) as f64).ln() - ((i + 1) as f64).ln();
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::case::{Case, SECOND};
    use super::binomial_tail;
    use fathom_model::{Probe, StuckOp};

    fn probe(case: &mut Case, at: i64, osd: i32, answer_ns: Option<u64>) {
        let at = case.start + at * SECOND;
        case.run.probes.push((at, Probe { osd, answer_ns, deadline_ns: 2_000_000_000 }));
    }

    fn stuck(case: &mut Case, n: usize, acting: impl Fn(usize) -> Vec<i32>) {
        for i in 0..n {
            let op = StuckOp { target: format!("o{i}"), age_ns: 1_500_000_000, acting: acting(i) };
            let at = case.start + 5 * SECOND;
            case.run.attempts[0].stuck.push((at, op.clone()));
            case.run.attempts[0].stuck.push((at + SECOND, StuckOp { age_ns: 2_500_000_000, ..op }));
        }
    }

    #[test]
    fn a_probe_without_an_answer_is_an_observation() {
        let mut case = Case::healthy();
        for at in 0..4 {
            probe(&mut case, at, 1, Some(1_000_000));
            probe(&mut case, at, 2, Some(1_000_000));
        }
        probe(&mut case, 6, 2, None);
        probe(&mut case, 8, 2, None);
        probe(&mut case, 9, 2, Some(1_000_000));
        stuck(&mut case, 12, |i| vec![(i % 2) as i32, 2]);
        let found = case.one("osd-unresponsive");
        assert!(found.title.starts_with("osd.2 did not answer for "), "{}", found.title);
        assert!(!found.title.contains("inferred"));
        let span = found.span.unwrap();
        assert_eq!(
            (span.from_unix_ns, span.to_unix_ns),
            (case.start + 7 * SECOND / 2, case.start + 9 * SECOND + 1_000_000)
        );
        assert!(
            found.evidence.contains("2 of 7 probes")
                && found.evidence.contains("12 of 12 stuck operations")
                && found.evidence.contains("a later probe was answered"),
            "{}",
            found.evidence
        );
    }

    #[test]
    fn what_stuck_operations_share_is_an_inference() {
        let mut case = Case::healthy();
        stuck(&mut case, 16, |i| vec![2, (i % 2) as i32]);
        let found = case.one("osd-unresponsive");
        assert!(found.title.contains("osd.2 probably") && found.title.contains("inferred"));
        assert!(
            found.evidence.contains("inference")
                && found.evidence.contains("16 of 16")
                && found.evidence.contains("no OSD was probed")
        );
        let span = found.span.unwrap();
        assert_eq!((span.from_unix_ns, span.to_unix_ns), (case.start + 7 * SECOND / 2, case.start + 6 * SECOND));
    }

    #[test]
    fn what_is_no_surprise_is_not_named() {
        // Every PG has all three OSDs: sharing one says nothing.
        let mut case = Case::healthy();
        case.text("after", "ceph pg dump pgs_brief", r#"{"pg_stats":[{"pgid":"1.0","acting":[0,1,2]}]}"#);
        stuck(&mut case, 16, |_| vec![2, 1, 0]);
        assert!(case.all("osd-unresponsive").is_empty());
        assert_eq!(case.all("operations-stuck").len(), 1);
        // Three operations on a third of the PGs each are chance enough.
        let mut case = Case::healthy();
        stuck(&mut case, 2, |_| vec![2, 1]);
        assert!(case.all("osd-unresponsive").is_empty());
        // Spread evenly.
        let mut case = Case::healthy();
        stuck(&mut case, 30, |i| vec![(i % 3) as i32, ((i + 1) % 3) as i32]);
        assert!(case.all("osd-unresponsive").is_empty());
    }

    #[test]
    fn tails() {
        assert!((binomial_tail(2, 2, 0.5) - 0.25).abs() < 1e-12);
        assert!((binomial_tail(1, 3, 0.5) - 0.875).abs() < 1e-12);
        assert_eq!((binomial_tail(0, 5, 0.1), binomial_tail(3, 5, 1.0), binomial_tail(1, 5, 0.0)), (1.0, 1.0, 0.0));
        assert!(binomial_tail(3000, 3000, 0.66) < 1e-100);
    }
}
