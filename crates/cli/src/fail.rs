//! A failure of the whole command: one sentence and an exit code.
use fathom_model::ExitCode;
use fathom_run::{Failure, StoreError};

/// What, on what, what to do next; and the code that stands for it.
#[derive(Debug)]
pub struct Fail {
    pub exit: ExitCode,
    pub text: String,
}

impl Fail {
    pub fn new(exit: ExitCode, text: impl Into<String>) -> Fail {
        Fail { exit, text: text.into() }
    }

    pub fn usage(text: impl Into<String>) -> Fail {
        Fail::new(ExitCode::Usage, text)
    }
}

impl From<Failure> for Fail {
    fn from(failure: Failure) -> Fail {
        Fail::new(failure.exit(), failure.text)
    }
}

impl From<StoreError> for Fail {
    fn from(error: StoreError) -> Fail {
        let exit = match &error {
            StoreError::Missing(_) | StoreError::Newer { .. } => ExitCode::Unreachable,
            StoreError::Busy(_) => ExitCode::Refused,
            _ => ExitCode::Store,
        };
        Fail::new(exit, error.to_string())
    }
}

impl From<(ExitCode, String)> for Fail {
    fn from((exit, text): (ExitCode, String)) -> Fail {
        Fail { exit, text }
    }
}

impl From<fathom_lab::LabError> for Fail {
    fn from(error: fathom_lab::LabError) -> Fail {
        Fail::new(error.exit_code(), error.to_string())
    }
}

impl From<fathom_load::layer::LoadError> for Fail {
    fn from(error: fathom_load::layer::LoadError) -> Fail {
        Failure::from(error).into()
    }
}
