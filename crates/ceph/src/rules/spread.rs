//! Repeats that differ more than repeats should.
use super::finding;
use crate::Facts;
use fathom_model::{Attempt, Finding, Phase, Severity, Step};

/// Distance between the best and the worst repeat, as a share of the median, from which on a figure is called unstable.
const WIDE: f64 = 0.20;

pub(super) fn wide(facts: &Facts<'_>) -> Vec<Finding> {
    facts.steps.iter().enumerate().filter_map(|(i, step)| of_step(facts, i, step)).collect()
}

fn of_step(facts: &Facts<'_>, index: usize, step: &Step) -> Option<Finding> {
    // Hosts of one repeat work together: their rates add up.
    let mut repeats: Vec<(u32, f64)> = Vec::new();
    for attempt in facts.attempts.iter().filter(|a| a.step as usize == index) {
        let Some(rate) = rate_per_s(attempt) else { continue };
        match repeats.iter_mut().find(|(r, _)| *r == attempt.repeat) {
            Some((_, sum)) => *sum += rate,
            None => repeats.push((attempt.repeat, rate)),
        }
    }
    let mut rates: Vec<f64> = repeats.into_iter().map(|(_, rate)| rate).collect();
    if rates.len() < 2 {
        return None;
    }
    rates.sort_by(f64::total_cmp);
    let (least, most) = (rates[0], rates[rates.len() - 1]);
    let median = f64::midpoint(rates[(rates.len() - 1) / 2], rates[rates.len() / 2]);
    if median <= 0.0 || (most - least) / median <= WIDE {
        return None;
    }
    let texts: Vec<String> = rates.iter().map(|r| fathom_model::count_text(*r)).collect();
    let mut out = finding(
        "unstable",
        Severity::Warn,
        format!(
            "`{}` is unstable: its repeats differ by {:.0} % of their median",
            step.name,
            (most - least) / median * 100.0
        ),
        format!("operations per second, sorted: {}", texts.join(", ")),
        "look for what was different (findings with a time, the series), make the runs longer, repeat more often; quote the range, not one number",
        "range of the repeats above 20 % of their median",
    );
    out.step = Some(step.name.clone());
    Some(out)
}

/// Operations per second in the measured window; `None` when nothing was measured.
fn rate_per_s(attempt: &Attempt) -> Option<f64> {
    let measured = attempt.samples.iter().filter(|s| s.phase == Phase::Measure);
    let (ops, from, to) = measured.fold((0u64, u64::MAX, 0u64), |(ops, from, to), s| {
        (ops.saturating_add(s.ops), from.min(s.start_ns), to.max(s.end_ns))
    });
    (to > from).then(|| ops as f64 / ((to - from) as f64 / 1e9))
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;

    #[test]
    fn a_fifth_of_the_median_is_the_line() {
        let with = |ops: [u64; 3]| {
            let mut case = Case::healthy();
            for (attempt, ops) in case.run.attempts.iter_mut().zip(ops) {
                attempt.samples.truncate(1);
                attempt.samples[0].ops = ops;
            }
            case.all("unstable")
        };
        assert!(with([1000, 1100, 1200]).is_empty());
        let found = with([1000, 1100, 1230]);
        assert_eq!(found[0].step.as_deref(), Some("rados write 4 KiB T=64"));
        assert!(found[0].title.contains("21 %"), "{}", found[0].title);
        assert!(with([0, 0, 0]).is_empty());
    }
}
