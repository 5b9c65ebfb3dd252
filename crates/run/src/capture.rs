//! What is captured of the cluster before and after a run: raw texts, stripped of secrets, interpreted elsewhere.
use crate::{control::Control, protocol::CommandTarget};
use fathom_model::Fact;

/// OSDs whose counters are read around an attempt, at most: in a larger cluster this would be load of its own.
pub(crate) const OSDS_MAX: usize = 64;

/// Monitor commands, in the order of the report.
const MON: &[&str] = &[
    "versions",
    "status",
    "health detail",
    "osd tree",
    "osd df",
    "osd dump",
    "osd metadata",
    "mon metadata",
    "mgr metadata",
    "df detail",
    "osd pool ls detail",
    "osd crush dump",
    "config dump",
    "mon dump",
    "osd erasure-code-profile ls",
];

/// Commands the manager answers.
const MGR: &[&str] =
    &["pg dump pgs_brief", "pg dump pools", "osd pool stats", "osd pool autoscale-status", "balancer status"];

/// Captures everything once. A command that fails is a fact with an error: a reader must see what is not known.
pub(crate) fn capture(control: &Control, moment: &str) -> Vec<Fact> {
    // In parallel: without a manager some of them wait for their deadline.
    std::thread::scope(|scope| {
        let asked: Vec<_> = MON
            .iter()
            .chain(MGR)
            .map(|words| scope.spawn(move || ask(control, moment, words, CommandTarget::Mon, &json_of(words))))
            .collect();
        asked.into_iter().filter_map(|t| t.join().ok()).collect()
    })
}

/// The running configuration of one OSD.
pub(crate) fn config_show(control: &Control, moment: &str, osd: Option<i32>) -> Option<Fact> {
    let osd = osd?;
    Some(ask(control, moment, &format!("tell osd.{osd} config show"), CommandTarget::Osd(osd), &json_of("config show")))
}

/// What describes pools, read again after one was made.
pub(crate) fn pools(control: &Control, moment: &str) -> Vec<Fact> {
    ["osd dump", "df detail", "osd pool ls detail", "pg dump pools", "pg dump pgs_brief"]
        .iter()
        .map(|words| ask(control, moment, words, CommandTarget::Mon, &json_of(words)))
        .collect()
}

/// Captures the pool counters alone.
pub(crate) fn pool_counters(control: &Control, moment: &str) -> Fact {
    ask(control, moment, "pg dump pools", CommandTarget::Mon, &json_of("pg dump pools"))
}

/// Captures the counters of every OSD given, for a before-after difference around one attempt.
pub(crate) fn osd_counters(control: &Control, moment: &str, osds: &[i32]) -> Vec<Fact> {
    std::thread::scope(|scope| {
        let asked: Vec<_> = osds
            .iter()
            .take(OSDS_MAX)
            .map(|osd| {
                scope.spawn(move || {
                    let words = format!("tell osd.{osd} perf dump");
                    ask(control, moment, &words, CommandTarget::Osd(*osd), &json_of("perf dump"))
                })
            })
            .collect();
        asked.into_iter().filter_map(|t| t.join().ok()).collect()
    })
}

/// `pg dump` takes what to dump as an argument; everything else is a prefix.
fn json_of(words: &str) -> String {
    match words.strip_prefix("pg dump ") {
        Some(what) => serde_json::json!({"prefix": "pg dump", "dumpcontents": [what], "format": "json"}),
        None if words == "osd pool ls detail" => {
            serde_json::json!({"prefix": "osd pool ls", "detail": "detail", "format": "json"})
        }
        None if words == "df detail" => serde_json::json!({"prefix": "df", "detail": "detail", "format": "json"}),
        None if words == "health detail" => {
            serde_json::json!({"prefix": "health", "detail": "detail", "format": "json"})
        }
        None => serde_json::json!({"prefix": words, "format": "json"}),
    }
    .to_string()
}

fn ask(control: &Control, moment: &str, words: &str, target: CommandTarget, json: &str) -> Fact {
    let (text, error) = match control.command(target, json, None) {
        Ok(text) => (fathom_ceph::strip_secrets(&text), None),
        Err(failure) => (String::new(), Some(failure.text)),
    };
    Fact { moment: moment.to_owned(), source: format!("ceph {words}"), text, error }
}
