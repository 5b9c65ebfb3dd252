//! Results on stdout. A reader that went away (`| head`) ends the program quietly; anything else is an error.
use crate::fail::Fail;
use fathom_model::ExitCode;
use std::io::{ErrorKind, Write as _};

/// Tells a person something, on stderr. A reader that went away must not end a run or a clean-up in the middle.
pub fn say(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Prints a whole result.
pub fn print(text: &str) -> Result<(), Fail> {
    let mut stdout = std::io::stdout().lock();
    let ended = if text.ends_with('\n') { "" } else { "\n" };
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.write_all(ended.as_bytes()))
        .and_then(|()| stdout.flush())
    {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(e) => Err(Fail::new(ExitCode::Store, format!("cannot write to standard output: {e}"))),
        Ok(()) => Ok(()),
    }
}

/// Prints a document as JSON.
pub fn json<T: serde::Serialize>(value: &T) -> Result<(), Fail> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Fail::new(ExitCode::Internal, e.to_string()))?;
    print(&text)
}

/// Width of the terminal, 100 without one.
pub fn width() -> usize {
    rustix::termios::tcgetwinsize(std::io::stdout()).map_or(100, |s| usize::from(s.ws_col)).clamp(60, 200)
}

/// True when colour is wanted: a terminal, and no `NO_COLOR`.
pub fn colour() -> bool {
    use std::io::IsTerminal as _;
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}
