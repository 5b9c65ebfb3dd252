//! Findings with their evidence and advice, and what happened when.
use super::page::{Ink, Page};
use crate::words;
use crate::{Analysis, FindingView};
use fathom_model::Severity;

/// Lines of the timeline at most; a flapping OSD makes hundreds.
const TIMELINE_LIMIT: usize = 40;

fn ink(severity: Severity) -> Option<Ink> {
    match severity {
        Severity::Invalid => Some(Ink::Red),
        Severity::Warn => Some(Ink::Yellow),
        Severity::Note => None,
    }
}

pub(super) fn write(page: &mut Page, analysis: &Analysis) {
    if !analysis.defects.is_empty() {
        page.heading("DEFECTS: THE STORED DATA CONTRADICT THEMSELVES");
        for defect in &analysis.defects {
            page.paragraph("  !! ", defect, Some(Ink::Red));
        }
    }
    page.heading("FINDINGS");
    if analysis.findings.is_empty() {
        page.line("  none");
    }
    for view in &analysis.findings {
        finding(page, view);
    }
}

fn finding(page: &mut Page, view: &FindingView) {
    let finding = &view.finding;
    let lead = format!("  {:<8} ", words::severity(finding.severity));
    page.paragraph(&lead, &finding.title, ink(finding.severity));
    let indent = " ".repeat(lead.chars().count());
    let mut place = Vec::new();
    if let (Some(from), Some(to)) = (view.from_s, view.to_s) {
        place.push(format!("from {} to {} after the start", words::offset(from), words::offset(to)));
    }
    place.extend(finding.step.as_ref().map(|step| format!("step {step}")));
    if !place.is_empty() {
        page.paragraph(&indent, &place.join(", "), None);
    }
    for (label, text) in [("", &finding.evidence), ("-> ", &finding.advice)] {
        if !text.is_empty() {
            page.paragraph(&format!("{indent}{label}"), text, None);
        }
    }
    let source = if finding.source.is_empty() { String::new() } else { format!(": {}", finding.source) };
    page.paragraph(&indent, &format!("[{}]{source}", finding.id), Some(Ink::Dim));
}

/// Events of the cluster and notes of the run, in order of time.
pub(super) fn timeline(page: &mut Page, analysis: &Analysis) {
    let events = analysis.events.iter().map(|e| (e.at_s, e.text.as_str(), e.severity));
    let notes = analysis.notes.iter().map(|n| (n.at_s, n.text.as_str(), Severity::Note));
    let mut lines: Vec<(f64, &str, Severity)> = events.chain(notes).collect();
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    let probes: Vec<_> = analysis.probes.iter().filter(|p| p.unanswered > 0).collect();
    if lines.is_empty() && probes.is_empty() {
        return;
    }
    page.heading("WHAT HAPPENED (time after the start of the run)");
    for (at_s, text, severity) in lines.iter().take(TIMELINE_LIMIT) {
        page.paragraph(&format!("  {:>10}  ", words::offset(*at_s)), text, ink(*severity));
    }
    if lines.len() > TIMELINE_LIMIT {
        page.line(&format!("  … {} more, see --json", lines.len() - TIMELINE_LIMIT));
    }
    for probe in probes {
        let text = format!("osd.{} gave no answer to {} of {} probes", probe.osd, probe.unanswered, probe.asked);
        page.paragraph("  ", &text, Some(Ink::Yellow));
    }
}
