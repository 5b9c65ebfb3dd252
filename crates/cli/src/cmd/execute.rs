//! Running a campaign from the command line: signals, screen, report, messages.
use crate::{cmd::report, fail::Fail, live, out};
use fathom_model::ExitCode;
use fathom_report::analyse;
use fathom_run::{Campaign, Control};
use std::sync::Arc;

/// Runs a campaign and prints its report.
pub fn execute(m: &clap::ArgMatches, campaign: Campaign, control: Option<Arc<Control>>) -> Result<ExitCode, Fail> {
    let dir = campaign.dir.clone();
    let cancel = live::on_signals()?;
    let observers = live::observers(&campaign, m.get_flag("quiet"));
    let outcome = fathom_run::run(campaign, control, observers, &cancel)?;
    // Said first: what follows may fail to read what could not be written.
    for message in &outcome.messages {
        out::say(format!("fathom: {message}"));
    }
    let analysis = analyse(&report::read(&dir)?);
    let html = dir.join("report.html");
    let written = std::fs::write(&html, report::html(&analysis)?);
    if m.get_flag("json") {
        let text = fathom_report::to_json(&analysis).map_err(|e| Fail::new(ExitCode::Internal, e.to_string()))?;
        out::print(&text)?;
    } else {
        report::print_text(&analysis)?;
    }
    if outcome.exit == ExitCode::Interrupted {
        out::say("fathom: stopped; what was measured is stored, what was made is removed as told above");
    }
    match written {
        Ok(()) => out::say(format!("results: {}\nreport:  {}", dir.display(), html.display())),
        Err(e) => out::say(format!("results: {}\nfathom: cannot write {}: {e}", dir.display(), html.display())),
    }
    Ok(outcome.exit)
}
