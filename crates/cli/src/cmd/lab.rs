//! `fathom lab up | status | down`.
use crate::{fail::Fail, out};
use fathom_lab::LabSpec;
use fathom_model::{ExitCode, Size};
use std::path::PathBuf;

pub fn run(m: &clap::ArgMatches) -> Result<ExitCode, Fail> {
    match m.subcommand() {
        Some(("up", m)) => up(m),
        Some(("status", m)) => status(m),
        Some(("down", m)) => down(m),
        _ => Err(Fail::usage("say what to do with the lab: up, status or down")),
    }
}

fn dir(m: &clap::ArgMatches) -> PathBuf {
    let named = m.get_one::<PathBuf>("at").or_else(|| m.get_one::<PathBuf>("dir"));
    named.cloned().unwrap_or_else(|| PathBuf::from("lab"))
}

fn up(m: &clap::ArgMatches) -> Result<ExitCode, Fail> {
    let mut spec = LabSpec::new(dir(m));
    let asked = ["osds", "size", "osd-memory", "conf"];
    if asked.iter().all(|a| m.value_source(a) != Some(clap::parser::ValueSource::CommandLine))
        && let Some(made) = as_made(&spec.dir)
    {
        return show(m, &fathom_lab::up(&LabSpec { dir: spec.dir, ..made }, &mut |line| out::say(line))?);
    }
    let get = |name: &str| m.get_one::<Size>(name).map(|s| s.0);
    spec.osds = m.get_one::<u32>("osds").copied().unwrap_or(spec.osds);
    spec.size_bytes = get("size").unwrap_or(spec.size_bytes);
    spec.osd_memory_bytes = get("osd-memory").unwrap_or(spec.osd_memory_bytes);
    for pair in m.get_many::<String>("conf").into_iter().flatten() {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| Fail::usage(format!("--conf {pair}: write KEY=VALUE, as in ceph.conf")))?;
        spec.conf.push((key.trim().to_owned(), value.trim().to_owned()));
    }
    let info = fathom_lab::up(&spec, &mut |line| out::say(line))?;
    show(m, &info)
}

/// What the lab in this directory was made with: `up` without flags starts it again as it was.
fn as_made(dir: &std::path::Path) -> Option<LabSpec> {
    let text = std::fs::read_to_string(dir.join(fathom_lab::MARKER)).ok()?;
    let marker: serde_json::Value = serde_json::from_str(&text).ok()?;
    serde_json::from_value(marker.get("spec")?.clone()).ok()
}

fn show(m: &clap::ArgMatches, info: &fathom_lab::LabInfo) -> Result<ExitCode, Fail> {
    if m.get_flag("json") {
        out::json(info)?;
    } else {
        out::print(&info.shell())?;
    }
    Ok(ExitCode::Ok)
}

fn status(m: &clap::ArgMatches) -> Result<ExitCode, Fail> {
    let status = fathom_lab::status(&dir(m))?;
    if m.get_flag("json") {
        out::json(&status)?;
        return Ok(ExitCode::Ok);
    }
    out::print(&status.to_string())?;
    Ok(ExitCode::Ok)
}

fn down(m: &clap::ArgMatches) -> Result<ExitCode, Fail> {
    let report = fathom_lab::down(&dir(m), &mut |line| out::say(line))?;
    if m.get_flag("json") {
        out::json(&report)?
    } else {
        out::print(&report.to_string())?
    }
    Ok(ExitCode::Ok)
}
