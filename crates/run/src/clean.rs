//! Removing what a run made: what its ledger names, all of it and nothing else.
use crate::{control::Control, protocol::Failure, recorder::Recorder, store::Store, worker::unix_ns};
use fathom_model::{EventKind, LedgerEntry, Made, OwnIo};

/// What a clean-up did.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// Things that were there and are gone.
    pub removed: u64,
    /// Entries done.
    pub entries: u64,
    /// Entries that could not be removed, with why.
    pub left: Vec<(LedgerEntry, Failure)>,
    /// Entries that were made to be kept.
    pub kept: Vec<LedgerEntry>,
}

/// Pools first: with a pool everything in it is gone, and what it held is then absent at once.
fn in_order(mut entries: Vec<LedgerEntry>) -> Vec<LedgerEntry> {
    entries.sort_by_key(|e| (!matches!(e.made, Made::Pool { .. }), e.id));
    entries
}

/// Removes entries of a run that is going on.
pub(crate) fn remove(
    control: &Control,
    recorder: &Recorder,
    entries: Vec<LedgerEntry>,
    attempt: Option<u32>,
) -> Cleaned {
    let mut cleaned = Cleaned::default();
    for entry in in_order(entries) {
        match control.remove(&entry.made) {
            Ok(found) => {
                recorder.removed(entry.id);
                cleaned.entries += 1;
                cleaned.removed += found.removed;
                if let Made::Objects { pool, .. } | Made::Object { pool, .. } = &entry.made {
                    // Objects are looked for first, and each that is there counts as a read.
                    let looked = matches!(entry.made, Made::Objects { .. });
                    let reads = if looked { found.removed } else { 0 };
                    let io = OwnIo { pool: pool.clone(), writes: 0, removes: found.removed, reads };
                    recorder.own(attempt, EventKind::OwnIo(io));
                }
            }
            Err(failure) => {
                recorder.note(attempt, format!("not removed: {}: {failure}", describe(&entry.made)));
                cleaned.left.push((entry, failure));
            }
        }
    }
    cleaned
}

/// Removes what the ledger of a stored run names. `kept`: also what was made to be kept. `control` is called once there
/// is something to remove.
///
/// # Errors
/// When the cluster can't be reached or the store can't be written; single entries that fail are in [`Cleaned::left`].
pub fn clean(
    store: &mut Store,
    kept: bool,
    control: impl FnOnce() -> Result<Control, Failure>,
    mut progress: impl FnMut(&str),
) -> Result<Cleaned, Failure> {
    let fail = |e: crate::store::StoreError| Failure::new(crate::protocol::FailureClass::Failed, e.to_string());
    let open = store.ledger_entries().map_err(fail)?.into_iter().filter(|e| e.removed_unix_ns.is_none());
    let (keep, open): (Vec<_>, Vec<_>) = open.partition(|e| e.keep && !kept);
    let mut cleaned = Cleaned { kept: keep, ..Cleaned::default() };
    if open.is_empty() {
        return Ok(cleaned);
    }
    let control = control()?;
    for entry in in_order(open) {
        progress(&describe(&entry.made));
        match control.remove(&entry.made) {
            Ok(found) => {
                store.removed(entry.id, unix_ns()).map_err(fail)?;
                cleaned.entries += 1;
                cleaned.removed += found.removed;
            }
            Err(failure) => cleaned.left.push((entry, failure)),
        }
    }
    Ok(cleaned)
}

/// A ledger entry in words.
#[must_use]
pub(crate) fn describe(made: &Made) -> String {
    let place = |pool: &str, namespace: &str| match namespace {
        "" => format!("pool {pool}"),
        ns => format!("pool {pool}, namespace {ns}"),
    };
    match made {
        Made::Pool { pool, .. } => format!("pool {pool}"),
        Made::Objects { pool, namespace, prefix, until, .. } => {
            format!("objects {prefix}0 to {prefix}{} in {}", until.saturating_sub(1), place(pool, namespace))
        }
        Made::Object { pool, namespace, name, .. } => format!("object {name} in {}", place(pool, namespace)),
    }
}
