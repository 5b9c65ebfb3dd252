//! The `fathom` program: arguments in, one of the commands out, an exit code from one table.
#![forbid(unsafe_code)]

mod args;
mod cmd;
mod fail;
mod live;
mod out;
mod plan;

use fathom_model::ExitCode;

/// Version and commit, stored with every run.
const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("FATHOM_COMMIT"), ")");

fn main() -> std::process::ExitCode {
    let matches = match args::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            // Help and version go to stdout and are no error; the rest is one usage error.
            let _ = error.print();
            return code(if error.use_stderr() { ExitCode::Usage } else { ExitCode::Ok });
        }
    };
    log(&matches);
    let result = match matches.subcommand() {
        Some(("survey", m)) => cmd::survey::run(m),
        Some(("bench", m)) => cmd::bench::run(m),
        Some(("report", m)) => cmd::report::run(m),
        Some(("clean", m)) => cmd::clean::run(m),
        Some(("lab", m)) => cmd::lab::run(m),
        Some(("layers", m)) => cmd::layers::run(m),
        Some(("worker", _)) => cmd::worker::run(),
        _ => Ok(ExitCode::Usage),
    };
    match result {
        Ok(exit) => code(exit),
        Err(fail) => {
            out::say(format!("fathom: {}", fail.text));
            code(fail.exit)
        }
    }
}

fn code(exit: ExitCode) -> std::process::ExitCode {
    std::process::ExitCode::from(exit as u8)
}

/// `-v` shows what the program does, on stderr; results are on stdout alone.
fn log(matches: &clap::ArgMatches) {
    use tracing_subscriber::{filter::Targets, prelude::*};
    let level = if matches.get_flag("verbose") { tracing::Level::DEBUG } else { tracing::Level::ERROR };
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false);
    tracing_subscriber::registry().with(layer.with_filter(Targets::new().with_default(level))).init();
}
