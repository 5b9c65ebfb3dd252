//! What making the load cost, and whether every operation is accounted for.
use super::page::{Grid, Ink, Page};
use crate::words;
use crate::{Analysis, Over, StepResult};

pub(super) fn cost(page: &mut Page, analysis: &Analysis) {
    if analysis.steps.is_empty() {
        return;
    }
    page.heading("COST OF THE LOAD GENERATOR (median of the repeats; lag: its own delay per operation)");
    let cell = |over: Option<Over>, text: fn(f64) -> String| over.map_or_else(|| "–".to_owned(), |o| text(o.median));
    let rows = analysis
        .steps
        .iter()
        .map(|step| {
            vec![
                words::plain(&step.name),
                cell(step.cpu_ns_per_op, words::duration),
                cell(step.generator_lag_ns_per_op, words::duration),
                lag_share(step).map_or_else(|| "–".to_owned(), words::percent),
                cell(step.host_cpu_busy, words::percent),
                step.little.as_ref().map_or_else(|| "–".to_owned(), |l| format!("{:.2}", l.ratio)),
            ]
        })
        .collect();
    let head =
        ["step", "CPU per\u{a0}op", "lag per\u{a0}op", "lag ÷\u{a0}mean", "host\u{a0}CPU busy", "mean×IOPS ÷\u{a0}T"];
    let head = head.iter().map(|h| h.replace(' ', "\n")).collect();
    page.table(Grid { head, rows, left: 1 });
}

/// The generator's delay as a share of what an operation takes.
pub(crate) fn lag_share(step: &StepResult) -> Option<f64> {
    let lag = step.generator_lag_ns_per_op?.median;
    let mean = step.merged.response.mean_ns.filter(|m| *m > 0.0)?;
    Some(lag / mean)
}

pub(super) fn reconciliation(page: &mut Page, analysis: &Analysis) {
    if analysis.steps.is_empty() {
        return;
    }
    page.heading("ACCOUNT OF OPERATIONS (ramp and drain included; issued = completed + failed + timed out)");
    let rows = analysis
        .steps
        .iter()
        .map(|step| {
            let account = &step.account;
            let count = |n: u64| words::count(n as f64);
            vec![
                words::plain(&step.name),
                account.issued.map_or_else(|| "cut off".to_owned(), count),
                count(account.completed),
                count(account.failed),
                count(account.timed_out),
                count(account.unsent),
                if account.mismatches.is_empty() { "adds up".to_owned() } else { "DEFECT".to_owned() },
            ]
        })
        .collect();
    let head = ["step", "issued", "completed", "failed", "timed out", "unsent", ""];
    let head = head.iter().map(|h| h.replace(' ', "\n")).collect();
    page.table(Grid { head, rows, left: 1 });
    for step in analysis.steps.iter().filter(|s| !s.account.errors.is_empty()) {
        let list: Vec<String> =
            step.account.errors.iter().map(|e| format!("{} {}", words::count(e.ops as f64), e.class)).collect();
        page.paragraph("  ", &format!("{}: {}", step.name, list.join(", ")), Some(Ink::Yellow));
    }
}
