//! `fathom worker`: serves one controller. Started by the program itself; a person can start it by hand and type.
use crate::fail::Fail;
use fathom_model::ExitCode;

pub fn run() -> Result<ExitCode, Fail> {
    // A controller on this host that is killed takes its workers with it at once; elsewhere the closed pipe does it.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    fathom_run::serve(crate::BUILD);
    Ok(ExitCode::Ok)
}
