//! What making the load cost, and whether every operation is accounted for.
use super::page::{Grid, Ink, Page};
use crate::words;
use crate::{Analysis, Over, StepResult};

pub(super) fn cost(page: &mut Page, analysis: &Analysis) {
    if analysis.steps.iter().all(|s| s.repeats_found == 0) {
        return;
    }
    page.heading("COST OF THE LOAD GENERATOR (median of the repeats; lag: its own delay per operation)");
    let cell = |over: Option<Over>, text: fn(f64) -> String| over.map_or_else(|| "–".to_owned(), |o| text(o.median));
    let rows = analysis
        .steps
        .iter()
        .filter(|step| step.repeats_found > 0)
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
    if analysis.steps.iter().all(|s| s.repeats_found == 0) {
        return;
    }
    page.heading("ACCOUNT OF OPERATIONS (ramp and drain included; issued = completed + failed + timed out)");
    let rows = analysis
        .steps
        .iter()
        .filter(|step| step.repeats_found > 0)
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

/// The cluster's own counts, and where reads came from.
pub(super) fn cluster_counts(page: &mut Page, analysis: &Analysis) {
    if analysis.steps.iter().all(|s| s.repeats_found == 0) {
        return;
    }
    page.heading("CLIENT AGAINST CLUSTER (operations counted on both sides)");
    if analysis.reconciled.is_empty() {
        page.line("  unknown: the pool's own counters were not captured before and after");
    } else {
        let rows = analysis.reconciled.iter().map(|r| {
            vec![
                words::plain(&r.scope),
                r.verb.word().to_owned(),
                words::count(r.client_ops as f64),
                words::count(r.cluster_ops as f64),
                format!("{:+.2}{}%", r.diff_pct, words::GAP),
                if r.agrees { "agree".to_owned() } else { "DIFFER".to_owned() },
            ]
        });
        let head = ["where", "verb", "client", "cluster", "difference", ""].map(str::to_owned).to_vec();
        page.table(Grid { head, rows: rows.collect(), left: 2 });
        for r in analysis.reconciled.iter().filter(|r| !r.agrees && !r.note.is_empty()) {
            page.paragraph("  ", &format!("{}, {}: {}", r.scope, r.verb.word(), r.note), Some(Ink::Yellow));
        }
    }
    for origin in &analysis.read_origins {
        let text = format!(
            "{} #{}: {} of the bytes read came from the OSDs' cache, {} from their devices ({} OSDs asked)",
            origin.step,
            u64::from(origin.repeat) + 1,
            words::percent(origin.cache_share),
            words::bytes(origin.device_bytes as f64),
            origin.osds
        );
        page.paragraph("  ", &text, None);
    }
    if let Some(origin) = analysis.read_origins.first() {
        page.paragraph("  ", &format!("Limits: {}.", origin.limits.trim_end_matches('.')), Some(Ink::Dim));
    }
}
