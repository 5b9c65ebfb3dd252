//! Repeats that differ more than repeats should.
use super::finding;
use crate::Facts;
use fathom_model::{Attempt, Finding, Phase, Severity, Step};

/// Distance between the best and the worst repeat, as a share of the median, from which on a figure is called unstable.
/// Benchmarks of storage systems are commonly taken to repeat within a tenth; the same line is drawn in every table.
pub const WIDE: f64 = 0.10;
/// Steps listed in the evidence, at most.
const LISTED_MAX: usize = 8;

struct Wide<'a> {
    step: &'a Step,
    share: f64,
    rates: Vec<f64>,
}

pub(super) fn wide(facts: &Facts<'_>) -> Vec<Finding> {
    let mut wide: Vec<Wide<'_>> =
        facts.steps.iter().enumerate().filter_map(|(i, step)| of_step(facts, i, step)).collect();
    wide.sort_by(|a, b| b.share.total_cmp(&a.share));
    let Some(worst) = wide.first() else { return Vec::new() };
    let mut lines: Vec<String> = wide
        .iter()
        .take(LISTED_MAX)
        .map(|w| {
            let texts: Vec<String> = w.rates.iter().map(|r| fathom_model::count_text(*r)).collect();
            format!("{}: {:.0} % ({})", w.step.name, w.share * 100.0, texts.join(", "))
        })
        .collect();
    if wide.len() > LISTED_MAX {
        lines.push(format!("and {} more", wide.len() - LISTED_MAX));
    }
    let title = match wide.len() {
        1 => format!(
            "`{}` is unstable: its repeats differ by {:.0} % of their median",
            worst.step.name,
            worst.share * 100.0
        ),
        n => format!(
            "{n} of {} steps are unstable: their repeats differ by up to {:.0} % of the median",
            facts.steps.len(),
            worst.share * 100.0
        ),
    };
    let mut out = finding(
        "unstable",
        Severity::Warn,
        title,
        format!("distance of best and worst repeat, and the operations per second of each: {}", lines.join("; ")),
        "look for what was different (findings with a time, the series), make the runs longer, repeat more often; quote the range, not one number",
        "range of the repeats above 10 % of their median",
    );
    out.step = (wide.len() == 1).then(|| worst.step.name.clone());
    vec![out]
}

fn of_step<'a>(facts: &Facts<'_>, index: usize, step: &'a Step) -> Option<Wide<'a>> {
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
    let share = (most - least) / median;
    (median > 0.0 && share > WIDE).then_some(Wide { step, share, rates })
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
    fn a_tenth_of_the_median_is_the_line() {
        let with = |ops: [u64; 3]| {
            let mut case = Case::healthy();
            for (attempt, ops) in case.run.attempts.iter_mut().zip(ops) {
                attempt.samples.truncate(1);
                attempt.samples[0].ops = ops;
            }
            case.all("unstable")
        };
        assert!(with([1000, 1050, 1100]).is_empty());
        let found = with([1000, 1050, 1130]);
        assert_eq!(found[0].step.as_deref(), Some("rados write 4 KiB T=64"));
        assert!(found[0].title.contains("12 %"), "{}", found[0].title);
        assert!(with([0, 0, 0]).is_empty());
    }
}
