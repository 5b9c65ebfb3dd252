//! Why a lab could not be made, looked at or removed.
use fathom_model::ExitCode;
use std::{io, path::Path};

/// Every failure of this crate. Each text says what failed, on what, and what to do next.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// What was asked for makes no sense; nothing was started.
    #[error("{0}")]
    Usage(String),
    /// A program or directory that is needed is not there.
    #[error("{0}")]
    Unreachable(String),
    /// It would touch what this tool did not make.
    #[error("{0}")]
    Refused(String),
    /// It was tried and did not work.
    #[error("{0}")]
    Failed(String),
}

impl LabError {
    /// What the process returns to the shell for it.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            LabError::Usage(_) => ExitCode::Usage,
            LabError::Unreachable(_) => ExitCode::Unreachable,
            LabError::Refused(_) => ExitCode::Refused,
            LabError::Failed(_) => ExitCode::Failed,
        }
    }

    /// An I/O error with the thing it happened on.
    pub(crate) fn io(what: &str, path: &Path, error: &io::Error) -> LabError {
        let next = match error.kind() {
            io::ErrorKind::PermissionDenied => "; run as the user who owns it or choose another directory",
            io::ErrorKind::StorageFull => "; free some space or choose another directory",
            _ => "",
        };
        LabError::Failed(format!("cannot {what} {}: {error}{next}", path.display()))
    }
}

/// The result of everything here.
pub type Result<T> = std::result::Result<T, LabError>;
