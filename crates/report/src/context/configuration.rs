//! Pools, settings that are not at their default, and settings of the load host that change latencies.
use super::{ContextLine, Texts, known};
use crate::words;
use fathom_ceph::dump::{Pool, PoolKind};
use fathom_ceph::{ClusterFacts, Facts};
use fathom_model::{RunData, Step};

/// Settings listed at most; the rest is counted.
const LIMIT: usize = 40;
/// Running values worth a line even at their default: they decide how client and background operations share an OSD.
const RUNNING: [&str; 4] =
    ["osd_op_queue", "osd_mclock_profile", "osd_mclock_max_capacity_iops_ssd", "osd_mclock_max_capacity_iops_hdd"];

pub(super) fn lines(texts: &Texts<'_>, facts: &Facts<'_>, run: &RunData) -> Vec<ContextLine> {
    let mut lines = pools(texts, facts);
    lines.extend(running(&facts.before));
    lines.extend(texts.lines("Settings", "config dump", settings(&facts.before)));
    let host = &facts.client;
    for (name, value, source) in [
        ("Load host CPU governor", &host.governor, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        ("Load host idle driver", &host.idle_driver, "/sys/devices/system/cpu/cpuidle/current_driver"),
        (
            "Load host clock source",
            &host.clock_source,
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        ),
    ] {
        if !value.is_empty() {
            lines.push(known(name, value, source));
        }
    }
    let mut shown: Vec<(&str, &str)> = Vec::new();
    for fact in run.facts.iter().filter(|f| f.error.is_none() && f.source.ends_with(" client settings")) {
        // Every attempt tells its settings; only those that differ are worth a line.
        let pair = (fact.source.as_str(), fact.text.as_str());
        if !shown.contains(&pair) {
            shown.push(pair);
            lines.push(known("Client settings", &fact.text.replace('\n', ", "), &fact.source));
        }
    }
    let connect = &run.info.connect;
    let conf = connect.conf.as_deref().unwrap_or("found by the library's own search");
    lines.push(known("Client", &format!("user {}, configuration {conf}", connect.user), ""));
    lines
}

/// The pool a step works on, in a few words: `pool bench, size 3`.
pub(crate) fn pool_words(facts: &Facts<'_>, step: &Step) -> Option<String> {
    let name = step.params.get("pool")?.as_str()?;
    Some(match facts.before.pool(name).or_else(|| facts.after.pool(name)) {
        None => format!("pool {name}, size unknown"),
        Some(pool) => format!("pool {name}, {}", copies(pool)),
    })
}

fn copies(pool: &Pool) -> String {
    match pool.kind {
        PoolKind::Erasure => format!("erasure-coded {} of size {}", pool.erasure_code_profile, pool.size),
        PoolKind::Replicated | PoolKind::Other(_) => format!("size {}", pool.size),
    }
}

fn pools(texts: &Texts<'_>, facts: &Facts<'_>) -> Vec<ContextLine> {
    // The pools of the plan; without any in it, all there are.
    let used = facts.pools();
    let all: Vec<&Pool> = if used.is_empty() { facts.before.pools().iter().collect() } else { used };
    let values = all
        .into_iter()
        .map(|pool| {
            let kind = match pool.kind {
                PoolKind::Replicated => format!("replicated, size {}", pool.size),
                PoolKind::Erasure => format!(
                    "erasure-coded, profile {}, size {}, stripe {}",
                    pool.erasure_code_profile,
                    pool.size,
                    words::bytes(pool.stripe_width_bytes as f64)
                ),
                PoolKind::Other(number) => format!("type {number}, size {}", pool.size),
            };
            let mut text = format!(
                "{kind}, min_size {}, {} PGs (target {}), autoscaler {}, rule {}",
                pool.min_size, pool.pg_num, pool.pg_num_target, pool.autoscale_mode, pool.crush_rule
            );
            if let Some(mode) = pool.compression() {
                text.push_str(&format!(", compression {mode}"));
            }
            if facts.is_own_pool(&pool.name) {
                text.push_str("; made for this run");
            }
            (format!("Pool {}", pool.name), text)
        })
        .collect();
    let after_only = texts.at("osd pool ls detail", "before").is_none() && texts.find("osd pool ls detail").is_none();
    let source = if after_only { "osd dump" } else { "osd pool ls detail" };
    texts.lines("Pools", source, values)
}

fn running(facts: &ClusterFacts) -> Vec<ContextLine> {
    let shown = facts.config_show.first();
    RUNNING
        .iter()
        .filter_map(|name| {
            let value = facts.setting(name)?;
            let source = match shown {
                Some((osd, show)) if show.get(name).is_some() => format!("config show osd.{osd}"),
                _ => "config dump".to_owned(),
            };
            Some(known(name, value, &source))
        })
        .collect()
}

fn settings(facts: &ClusterFacts) -> Vec<(String, String)> {
    let Some(dump) = &facts.config else { return Vec::new() };
    if dump.entries.is_empty() {
        return vec![("Settings".to_owned(), "none in the monitors' configuration database".to_owned())];
    }
    let mut lines: Vec<(String, String)> = dump
        .entries
        .iter()
        .take(LIMIT)
        .map(|e| {
            let mask = if e.mask.is_empty() { String::new() } else { format!(" ({})", e.mask) };
            (format!("{} {}{mask}", e.section, e.name), e.value.clone())
        })
        .collect();
    if dump.entries.len() > LIMIT {
        lines.push(("More settings".to_owned(), format!("{} not listed here", dump.entries.len() - LIMIT)));
    }
    lines
}
