//! Pools and settings that are not at their default.
use super::{ContextLine, Facts, known, member};
use fathom_model::RunData;
use serde_json::Value;

/// Settings listed at most; the rest is counted.
const LIMIT: usize = 40;

pub(super) fn lines(facts: &Facts<'_>, run: &RunData) -> Vec<ContextLine> {
    // Pools that the plan names come first; without any every pool is shown.
    let used: Vec<&str> = run.steps.iter().filter_map(|s| s.params.get("pool")?.as_str()).collect();
    let mut lines = facts.json("Pools", "osd pool ls detail", |pools| pool_lines(pools, &used));
    lines.extend(facts.json("Settings", "config dump", settings));
    let connect = &run.info.connect;
    let conf = connect.conf.as_deref().unwrap_or("the library's own search");
    lines.push(known("Client", &format!("user {}, configuration {conf}", connect.user), ""));
    lines
}

/// The pool a step works on, in a few words: `pool bench, size 3`.
pub(crate) fn pool_words(run: &RunData, step: &fathom_model::Step) -> Option<String> {
    let name = step.params.get("pool")?.as_str()?;
    let facts = Facts { facts: &run.facts };
    let pools = facts.find("osd pool ls detail").and_then(|fact| super::json(&fact.text));
    let pool = pools
        .as_ref()
        .and_then(Value::as_array)
        .and_then(|pools| pools.iter().find(|pool| member(pool, "pool_name").as_deref() == Some(name)));
    let Some(pool) = pool else { return Some(format!("pool {name}, size unknown")) };
    let size = member(pool, "size").unwrap_or_else(|| "unknown".to_owned());
    Some(match member(pool, "type").as_deref() {
        Some("3") => {
            let profile = member(pool, "erasure_code_profile").unwrap_or_default();
            format!("pool {name}, erasure-coded {profile} of size {size}")
        }
        _ => format!("pool {name}, size {size}"),
    })
}

fn pool_lines(pools: &Value, used: &[&str]) -> Vec<(String, String)> {
    let empty = Vec::new();
    let pools = pools.as_array().unwrap_or(&empty);
    let name = |pool: &Value| member(pool, "pool_name").unwrap_or_default();
    let any_used = pools.iter().any(|p| used.contains(&name(p).as_str()));
    pools
        .iter()
        .filter(|p| !any_used || used.contains(&name(p).as_str()))
        .map(|pool| {
            let get = |key: &str| member(pool, key).unwrap_or_else(|| "?".to_owned());
            let kind = match get("type").as_str() {
                "1" => format!("replicated, size {}, min_size {}", get("size"), get("min_size")),
                "3" => format!(
                    "erasure-coded, profile {}, size {}, min_size {}, stripe {} bytes",
                    get("erasure_code_profile"),
                    get("size"),
                    get("min_size"),
                    get("stripe_width")
                ),
                other => format!("type {other}"),
            };
            let text = format!(
                "{kind}, {} PGs (target {}), autoscaler {}, rule {}",
                get("pg_num"),
                get("pg_num_target"),
                get("pg_autoscale_mode"),
                get("crush_rule")
            );
            (format!("Pool {}", name(pool)), text)
        })
        .collect()
}

fn settings(dump: &Value) -> Vec<(String, String)> {
    let Some(list) = dump.as_array() else { return Vec::new() };
    if list.is_empty() {
        return vec![("Settings".to_owned(), "none in the monitors' configuration database".to_owned())];
    }
    let mut lines: Vec<(String, String)> = list
        .iter()
        .take(LIMIT)
        .filter_map(|entry| {
            let mask = member(entry, "mask").map(|m| format!(" ({m})")).unwrap_or_default();
            let value = entry.get("value").and_then(Value::as_str).unwrap_or_default().to_owned();
            Some((format!("{} {}{mask}", member(entry, "section")?, member(entry, "name")?), value))
        })
        .collect();
    if list.len() > LIMIT {
        lines.push(("More settings".to_owned(), format!("{} not listed here", list.len() - LIMIT)));
    }
    lines
}
