//! The six context sections, what is left in the cluster, and how to repeat the run.
use super::page::{Ink, Page};
use crate::Analysis;
use crate::words;

pub(super) fn write(page: &mut Page, analysis: &Analysis) {
    for section in &analysis.context {
        page.heading(&section.title.to_uppercase());
        for line in &section.lines {
            let source = if line.source.is_empty() { String::new() } else { format!("  [{}]", line.source) };
            let ink = if line.known { None } else { Some(Ink::Yellow) };
            page.paragraph("  ", &format!("{}: {}{source}", line.name, line.value), ink);
        }
    }
    page.heading("WHAT IS LEFT IN THE CLUSTER");
    let ink = if analysis.ledger.left > 0 { Ink::Red } else { Ink::Green };
    page.paragraph("  ", &analysis.ledger.summary, Some(ink));
    for made in &analysis.ledger.remaining {
        let why = if made.kept { "kept" } else { "left" };
        page.paragraph("    - ", &format!("{why}: {}", made.what), None);
    }
}

pub(super) fn repeat(page: &mut Page, analysis: &Analysis) {
    page.heading("TO REPEAT IT");
    let run = &analysis.run;
    page.line(&format!("  command  {}", words::plain(&run.command)));
    page.line(&format!("  seed     {}", run.seed));
    page.line(&format!("  build    {}", words::plain(&run.build)));
}
