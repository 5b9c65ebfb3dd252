//! `fathom clean DIR`: removes what a run made, from this host or another.
use crate::{fail::Fail, out, plan};
use fathom_model::ExitCode;
use fathom_run::{Control, RunLock, Store, Transport, clean};
use std::path::PathBuf;

pub fn run(m: &clap::ArgMatches) -> Result<ExitCode, Fail> {
    let dir = m.get_one::<PathBuf>("dir").ok_or_else(|| Fail::usage("name the results directory"))?;
    let mut store = Store::open(dir)?;
    let _lock = RunLock::take(dir)?;
    let mut connect = store.info()?.connect;
    let asked = plan::connect(m);
    connect.conf = asked.conf.or(connect.conf);
    connect.keyring = asked.keyring.or(connect.keyring);
    connect.timeout_ns = asked.timeout_ns;
    if m.get_one::<String>("id").is_some() {
        connect.user = asked.user;
    }
    let control = || Control::open(Transport::local()?, connect);
    let cleaned = clean(&mut store, m.get_flag("kept"), control, |what| out::say(format!("removing {what}")))?;
    if m.get_flag("json") {
        out::json(&serde_json::json!({
            "entries": cleaned.entries,
            "removed": cleaned.removed,
            "kept": cleaned.kept.iter().map(|e| &e.made).collect::<Vec<_>>(),
            "left": cleaned.left.iter().map(|(e, f)| serde_json::json!({"made": e.made, "error": f.text})).collect::<Vec<_>>(),
        }))?;
    } else if cleaned.entries == 0 && cleaned.left.is_empty() {
        out::print("nothing to remove")?;
    } else {
        out::print(&format!("removed {} objects and pools of {} ledger entries", cleaned.removed, cleaned.entries))?;
    }
    if !cleaned.kept.is_empty() {
        out::say(format!("{} entries were kept on purpose: --kept removes them", cleaned.kept.len()));
    }
    match cleaned.left.first() {
        None => Ok(ExitCode::Ok),
        Some((_, failure)) => {
            Err(Fail::new(ExitCode::NotClean, format!("{} entries are left: {}", cleaned.left.len(), failure.text)))
        }
    }
}
