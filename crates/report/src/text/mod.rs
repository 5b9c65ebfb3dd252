//! The report for a terminal or a mail: verdict first, then findings, numbers, cost, account, context, and how to
//! repeat it. It only prints what the analysis says.
mod account;
mod context;
mod findings;
mod page;
mod results;

pub use page::TextOptions;

use crate::Analysis;
use crate::words;
use page::{Ink, Page};

/// The whole report. Lines end in `\n`; without colour it is plain UTF-8.
#[must_use]
pub fn render_text(analysis: &Analysis, options: TextOptions) -> String {
    let mut page = Page::new(options);
    head(&mut page, analysis);
    page.heading("VERDICT");
    verdict(&mut page, analysis);
    findings::write(&mut page, analysis);
    results::write(&mut page, analysis);
    results::concurrency(&mut page, analysis);
    account::cost(&mut page, analysis);
    account::reconciliation(&mut page, analysis);
    account::cluster_counts(&mut page, analysis);
    findings::timeline(&mut page, analysis);
    context::write(&mut page, analysis);
    context::repeat(&mut page, analysis);
    page.finish()
}

/// The figures, a line each with its conditions below, then what limits them.
fn verdict(page: &mut Page, analysis: &Analysis) {
    for h in &analysis.highlights {
        page.paragraph(
            "  ",
            &format!("{}: {} ({}), {}; {}", h.step, h.figure, h.also, h.latency, h.certainty),
            Some(Ink::Bold),
        );
        page.paragraph("      ", &h.conditions, Some(Ink::Dim));
    }
    for caveat in &analysis.caveats {
        page.paragraph("  ", caveat, None);
    }
}

fn head(page: &mut Page, analysis: &Analysis) {
    let run = &analysis.run;
    let title = page.ink(&format!("Fathom report: {}", words::plain(&run.name)), Ink::Bold);
    page.line(&title);
    let length = match run.seconds {
        Some(s) => format!("took {}", words::seconds(s)),
        None => "did not end".to_owned(),
    };
    let cluster = if run.fsid.is_empty() { "no cluster".to_owned() } else { format!("cluster {}", run.fsid) };
    page.paragraph("", &format!("{}, {length}, {cluster}, run {}", run.started_utc, run.id), Some(Ink::Dim));
}
