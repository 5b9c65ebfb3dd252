//! What is shown while a run goes on, and what Ctrl-C does.
use crate::fail::Fail;
use fathom_model::{Event, EventKind, ExitCode, Phase, count_text, duration_text, rate_text};
use fathom_run::{Campaign, Observer};
use std::sync::{Arc, atomic::AtomicBool};

/// The first SIGINT or SIGTERM asks the run to end in order; a second one ends the process at once. What is left behind
/// then is in the ledger.
pub fn on_signals() -> Result<Arc<AtomicBool>, Fail> {
    let cancel = Arc::new(AtomicBool::new(false));
    let fail = |e: std::io::Error| Fail::new(ExitCode::Internal, format!("cannot handle signals: {e}"));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, ExitCode::Interrupted as i32, Arc::clone(&cancel))
            .map_err(fail)?;
        signal_hook::flag::register(signal, Arc::clone(&cancel)).map_err(fail)?;
    }
    Ok(cancel)
}

/// Ends the screen when dropped.
pub struct Screen;

/// Who watches the run.
pub fn observers(campaign: &Campaign, quiet: bool) -> (Vec<Observer>, Screen) {
    if quiet {
        return (Vec::new(), Screen);
    }
    let names: Vec<String> = campaign.steps.iter().map(|s| s.name.clone()).collect();
    let total = names.len() as u32 * campaign.repeats;
    let mut current = String::new();
    (
        vec![Box::new(move |event: &Event| match &event.kind {
            EventKind::AttemptStarted { step, repeat } => {
                current = format!(
                    "[{}/{total}] {} #{}",
                    event.attempt.unwrap_or(0) + 1,
                    names.get(*step as usize).map_or("", String::as_str),
                    repeat + 1
                );
            }
            EventKind::Sample(s) if s.phase != Phase::Drain => {
                eprintln!(
                    "{current} {:.0}s {} IOPS {} mean {}",
                    s.end_ns as f64 / 1e9,
                    count_text(s.ops as f64 / s.seconds()),
                    rate_text(s.bytes as f64 / s.seconds()),
                    duration_text(s.response.sum_ns as f64 / s.response.count.max(1) as f64)
                );
            }
            EventKind::Note { text } => eprintln!("note: {text}"),
            _ => {}
        })],
        Screen,
    )
}
