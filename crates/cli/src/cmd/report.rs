//! `fathom report DIR`: text, JSON, HTML and CSV of a stored run.
use crate::{fail::Fail, out};
use fathom_model::{ExitCode, RunData};
use fathom_report::{Analysis, TextOptions, analyse, render_html, render_text, series_csv, to_json};
use fathom_run::Store;
use std::path::{Path, PathBuf};

pub fn run(m: &clap::ArgMatches) -> Result<ExitCode, Fail> {
    let dir = m.get_one::<PathBuf>("dir").ok_or_else(|| Fail::usage("name the results directory"))?;
    let analysis = analyse(&read(dir)?);
    let mut asked = false;
    if let Some(to) = m.get_one::<String>("html") {
        write(to, &html(&analysis)?)?;
        asked = true;
    }
    if let Some(to) = m.get_one::<String>("csv") {
        write(to, &series_csv(&analysis))?;
        asked = true;
    }
    if m.get_flag("json") {
        out::print(&to_json(&analysis).map_err(|e| Fail::new(ExitCode::Internal, e.to_string()))?)?;
    } else if !asked {
        print_text(&analysis)?;
    }
    Ok(ExitCode::Ok)
}

/// Reads a run.
pub fn read(dir: &Path) -> Result<RunData, Fail> {
    Ok(Store::open_to_read(dir)?.read_with_findings()?)
}

/// The text report on stdout.
pub fn print_text(analysis: &Analysis) -> Result<(), Fail> {
    out::print(&render_text(analysis, TextOptions { width: out::width(), color: out::colour() }))
}

/// The HTML report.
pub fn html(analysis: &Analysis) -> Result<String, Fail> {
    render_html(analysis).map_err(|e| Fail::new(ExitCode::Internal, e.to_string()))
}

fn write(to: &str, text: &str) -> Result<(), Fail> {
    if to == "-" {
        return out::print(text);
    }
    std::fs::write(to, text)
        .map_err(|e| Fail::new(ExitCode::Store, format!("cannot write {to}: {e}; name a file that can be written")))
}
