//! What the process returns to the shell. One table, printed by `fathom --help` and in the README.

/// Exit codes of the `fathom` program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// All done; for a run: every step measured, clean-up complete.
    Ok = 0,
    /// A defect in fathom itself.
    Internal = 1,
    /// The command line or the plan is wrong; nothing was started.
    Usage = 2,
    /// A cluster, host, library, pool or file that is needed could not be reached or opened.
    Unreachable = 3,
    /// Refused for safety: it would touch what fathom did not make or was not pointed at.
    Refused = 4,
    /// The run ended, but some step failed: all operations failed, or its worker died. Results are stored.
    Failed = 5,
    /// The run is measured, but something it made could not be removed; `fathom clean DIR` tells what.
    NotClean = 6,
    /// The results could not be written (full disk, no permission).
    Store = 7,
    /// Stopped by a signal; what was measured is stored and cleaned up.
    Interrupted = 130,
}

impl ExitCode {
    /// Every code with its meaning, in order, for help texts.
    pub const TABLE: [(ExitCode, &'static str); 9] = [
        (ExitCode::Ok, "done"),
        (ExitCode::Internal, "a defect in fathom itself"),
        (ExitCode::Usage, "the command line or the plan is wrong; nothing was started"),
        (ExitCode::Unreachable, "a cluster, host, library, pool or file could not be reached or opened"),
        (ExitCode::Refused, "refused for safety; the message names the flag that would allow it"),
        (ExitCode::Failed, "the run ended but a step failed; results are stored"),
        (ExitCode::NotClean, "measured, but something the run made could not be removed"),
        (ExitCode::Store, "the results could not be written"),
        (ExitCode::Interrupted, "stopped by a signal; what was measured is stored and cleaned up"),
    ];
}
