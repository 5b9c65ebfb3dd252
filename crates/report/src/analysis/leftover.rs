//! What the run made, and what is left of it.
use crate::words;
use fathom_model::{LedgerEntry, Made};
use serde::Serialize;

/// One thing that is still there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MadeView {
    /// Number in the ledger.
    pub id: u64,
    /// What it is.
    pub what: String,
    /// True when it was kept on request.
    pub kept: bool,
}

/// Summary of the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Leftovers {
    /// Entries: things made, or about to be made.
    pub made: u64,
    /// Entries removed, their absence verified.
    pub removed: u64,
    /// Entries kept on request.
    pub kept: u64,
    /// Entries neither removed nor meant to be kept.
    pub left: u64,
    /// Everything not removed.
    pub remaining: Vec<MadeView>,
    /// All of it in one sentence.
    pub summary: String,
}

pub(crate) fn leftovers(ledger: &[LedgerEntry]) -> Leftovers {
    let there = || ledger.iter().filter(|e| e.removed_unix_ns.is_none());
    let made = ledger.len() as u64;
    let kept = there().filter(|e| e.keep).count() as u64;
    let left = there().filter(|e| !e.keep).count() as u64;
    let removed = made - kept - left;
    let summary = match (made, kept, left) {
        (0, _, _) => "The run made nothing in the cluster.".to_owned(),
        (_, 0, 0) => {
            format!("Everything the run made ({}) was removed and verified gone.", words::plural(made, "entry"))
        }
        (_, _, 0) => format!("{made} made, {removed} removed and verified gone, {kept} kept on request."),
        _ => format!(
            "{made} made, {removed} removed and verified gone, {kept} kept on request, {left} LEFT BEHIND: run `fathom \
             clean` on the results directory."
        ),
    };
    let summary = summary.replace("entrys", "entries");
    let remaining = there().map(|e| MadeView { id: e.id, what: what(&e.made), kept: e.keep }).collect();
    Leftovers { made, removed, kept, left, remaining, summary }
}

fn what(made: &Made) -> String {
    let place = |pool: &str, namespace: &str| {
        if namespace.is_empty() { format!("pool {pool}") } else { format!("pool {pool}, namespace {namespace}") }
    };
    match made {
        Made::Pool { pool, .. } => format!("pool {pool} with everything in it"),
        Made::Objects { pool, namespace, prefix, until, .. } => {
            format!("objects {prefix}0 to {prefix}{} in {}", until.saturating_sub(1), place(pool, namespace))
        }
        Made::Object { pool, namespace, name, .. } => format!("object {name} in {}", place(pool, namespace)),
    }
}
