//! The cluster's own count of client I/O on a pool, to hold against what the client says it did.
//!
//! Which dump: `ceph pg dump pools` (`stat_sum.num_read`, `num_read_kb`, `num_write`, `num_write_kb`). `ceph df detail`
//! gives the same numbers (`rd`, `rd_bytes` = `num_read_kb` × 1024, …; checked in the dumps of 16.2.15, 18.2.7 and
//! 20.2.4), so either will do. What they count, from the same dumps, where `rados bench` wrote N objects of 64 KiB and
//! deleted them: `num_write` = 2 × (N + 1), `num_write_kb` = 64 × N + 1. So **operations are exact**, an operation's
//! bytes are rounded up to a KiB each, a deletion is a write of no bytes, and the allocation hint is not counted.
//!
//! When: OSDs report to the manager every 5 s (`mgr_stats_period`). Capture the second dump when two in a row agree, and
//! before anything is cleaned up.
use crate::ParseError;
use crate::dump::Df;
use crate::json::{self, Look};
use fathom_model::Verb;

/// Client I/O on one pool since the pool was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolCounters {
    /// Pool number. A pool that was deleted and made again has another.
    pub pool_id: i64,
    /// Reads.
    pub read_ops: u64,
    /// Their bytes, each read rounded up to a KiB.
    pub read_bytes: u64,
    /// Writes and deletions.
    pub write_ops: u64,
    /// Their bytes, each write rounded up to a KiB.
    pub write_bytes: u64,
    /// Objects in the pool.
    pub objects: u64,
}

impl PoolCounters {
    /// All pools of `ceph pg dump pools`.
    ///
    /// # Errors
    /// When the text is not a JSON object with `pool_stats` (nor a bare list of them).
    pub fn parse_pg_dump(text: &str) -> Result<Vec<PoolCounters>, ParseError> {
        let value = json::document("ceph pg dump pools", text)?;
        let list = if value.is_array() { Look::of(&value) } else { Look::of(&value).at("pool_stats") };
        if !list.0.is_some_and(serde_json::Value::is_array) {
            return Err(ParseError::new("ceph pg dump pools", "it has no list `pool_stats`"));
        }
        let pools = list.items().filter_map(|p| {
            let number = |key: &str| p.at("stat_sum").at(key).u64().unwrap_or(0);
            Some(PoolCounters {
                pool_id: p.at("poolid").i64()?,
                read_ops: number("num_read"),
                read_bytes: number("num_read_kb").saturating_mul(1024),
                write_ops: number("num_write"),
                write_bytes: number("num_write_kb").saturating_mul(1024),
                objects: number("num_objects"),
            })
        });
        Ok(pools.collect())
    }

    /// The same from `ceph df detail`.
    #[must_use]
    pub fn from_df(df: &Df) -> Vec<PoolCounters> {
        let pools = df.pools.iter().map(|p| PoolCounters {
            pool_id: p.id,
            read_ops: p.read_ops,
            read_bytes: p.read_bytes,
            write_ops: p.write_ops,
            write_bytes: p.write_bytes,
            objects: p.objects,
        });
        pools.collect()
    }

    /// What happened since `earlier`; `None` when a counter went backwards or the pool is another one.
    #[must_use]
    pub fn since(&self, earlier: &PoolCounters) -> Option<PoolCounters> {
        if self.pool_id != earlier.pool_id {
            return None;
        }
        Some(PoolCounters {
            pool_id: self.pool_id,
            read_ops: self.read_ops.checked_sub(earlier.read_ops)?,
            read_bytes: self.read_bytes.checked_sub(earlier.read_bytes)?,
            write_ops: self.write_ops.checked_sub(earlier.write_ops)?,
            write_bytes: self.write_bytes.checked_sub(earlier.write_bytes)?,
            objects: self.objects.saturating_sub(earlier.objects),
        })
    }
}

/// What the client says it did between two captures: every operation that completed, in every phase, preparation
/// included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCount {
    /// Reads completed.
    pub read_ops: u64,
    /// Writes completed.
    pub write_ops: u64,
    /// Operations that failed or timed out: the cluster may or may not have counted them.
    pub uncertain_ops: u64,
}

/// One verb, client against cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Reconciliation {
    /// The operation.
    pub verb: Verb,
    /// What the client counted.
    pub client_ops: u64,
    /// What the cluster counted.
    pub cluster_ops: u64,
    /// Bytes the cluster counted, each operation rounded up to a KiB.
    pub cluster_bytes: u64,
    /// (cluster − client) ÷ client in percent; 0 when both are 0, 100 when only the client's is.
    pub diff_pct: f64,
    /// True when they agree within [`AGREEMENT_PCT`] and the client's uncertain operations.
    pub agrees: bool,
    /// One sentence: what the difference means and what to do.
    pub note: String,
}

/// Client and cluster agree when they differ by no more than this, in percent. The counters themselves are exact: the
/// allowance is for the few operations other tools (a `ceph df`, a scrubbing manager module) may add.
pub const AGREEMENT_PCT: f64 = 0.1;

/// Compares the client's count with two captures of the cluster's. One entry for each verb that either side saw.
/// A pool whose counters went backwards gives entries that do not agree and say so.
#[must_use]
pub fn reconcile(client: &ClientCount, before: &PoolCounters, after: &PoolCounters) -> Vec<Reconciliation> {
    let delta = after.since(before);
    let cluster = delta.unwrap_or_default();
    let verbs = [
        (Verb::Read, client.read_ops, cluster.read_ops, cluster.read_bytes),
        (Verb::Write, client.write_ops, cluster.write_ops, cluster.write_bytes),
    ];
    let seen = verbs.into_iter().filter(|v| v.1 > 0 || v.2 > 0);
    seen.map(|(verb, client_ops, cluster_ops, cluster_bytes)| {
        let diff = cluster_ops as f64 - client_ops as f64;
        let diff_pct = if client_ops > 0 { diff / client_ops as f64 * 100.0 } else { 100.0 };
        let allowed = client_ops as f64 * AGREEMENT_PCT / 100.0 + client.uncertain_ops as f64;
        let agrees = delta.is_some() && diff.abs() <= allowed;
        let note = if delta.is_none() {
            "the pool's counters went backwards: the pool was made again or its statistics were reset".to_owned()
        } else {
            note(verb, diff, agrees, client.uncertain_ops)
        };
        Reconciliation { verb, client_ops, cluster_ops, cluster_bytes, diff_pct, agrees, note }
    })
    .collect()
}

fn note(verb: Verb, diff: f64, agrees: bool, uncertain_ops: u64) -> String {
    let word = verb.word();
    if agrees && diff == 0.0 {
        return format!("client and cluster counted the same {word}s");
    }
    if agrees {
        return format!(
            "within {AGREEMENT_PCT} % and the {uncertain_ops} operations whose result the client does not know"
        );
    }
    match (diff > 0.0, verb) {
        (true, Verb::Write) => format!(
            "the cluster counted {diff:.0} more writes: somebody else wrote to the pool, or objects were deleted in it (a deletion counts as a write)"
        ),
        (true, Verb::Read) => format!("the cluster counted {diff:.0} more reads: somebody else reads from the pool"),
        (false, _) => format!(
            "the cluster counted {:.0} fewer {word}s: its statistics had not arrived (OSDs report every 5 s), or the client's count is wrong",
            -diff
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::{RELEASES, dump, mutated};
    use proptest::prelude::*;

    #[test]
    fn operations_are_exact_and_a_deletion_is_a_write() {
        // rados bench wrote this many objects of 64 KiB to the EC pool and deleted them, on each cluster, once.
        for (release, pool) in RELEASES.into_iter().zip([4, 2, 3]) {
            let bench =
                crate::radosbench_output::BenchOutput::parse(&dump(release, "rados-bench-write-ec-64k.txt")).unwrap();
            let counters = PoolCounters::parse_pg_dump(&dump(release, "ceph-pg_dump_pools.json")).unwrap();
            let ec = counters.iter().find(|c| c.pool_id == pool).unwrap();
            assert_eq!(ec.write_ops, 2 * (bench.ops + 1), "{release}");
            assert_eq!(ec.write_bytes, (64 * bench.ops + 1) * 1024, "{release}");
            assert_eq!((ec.read_ops, ec.objects), (1, 0), "{release}: the metadata object was read once");
        }
    }

    #[test]
    fn both_dumps_give_the_same() {
        for release in RELEASES {
            let mut of_pg = PoolCounters::parse_pg_dump(&dump(release, "ceph-pg_dump_pools.json")).unwrap();
            let mut of_df = PoolCounters::from_df(&Df::parse(&dump(release, "ceph-df_detail.json")).unwrap());
            of_pg.sort_by_key(|c| c.pool_id);
            of_df.sort_by_key(|c| c.pool_id);
            assert_eq!(of_pg, of_df, "{release}");
        }
    }

    #[test]
    fn client_against_cluster() {
        let before = PoolCounters { pool_id: 1, write_ops: 10, ..PoolCounters::default() };
        let after = PoolCounters { pool_id: 1, write_ops: 10_010, write_bytes: 40_960_000, ..before };
        let count = |write_ops, uncertain_ops| ClientCount { read_ops: 0, write_ops, uncertain_ops };
        let exact = reconcile(&count(10_000, 0), &before, &after);
        assert_eq!((exact.len(), exact[0].agrees, exact[0].diff_pct), (1, true, 0.0));
        assert!(reconcile(&count(9_991, 0), &before, &after)[0].agrees, "0.1 %");
        let more = &reconcile(&count(9_980, 0), &before, &after)[0];
        assert!(!more.agrees && more.note.contains("20 more writes") && (more.diff_pct - 0.2004).abs() < 1e-3);
        let fewer = &reconcile(&count(11_000, 0), &before, &after)[0];
        assert!(!fewer.agrees && fewer.note.contains("1000 fewer writes"));
        assert!(
            reconcile(&count(11_000, 1_000), &before, &after)[0].agrees,
            "timed out operations may not have been done"
        );
        let back = &reconcile(&count(10_000, 0), &after, &before)[0];
        assert!(!back.agrees && back.note.contains("backwards"));
        assert!(reconcile(&ClientCount::default(), &before, &before).is_empty());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,200}", at in 0usize..5000, with in "[\\[\\]{}\",:0-9\\-.]{0,8}") {
            let _ = PoolCounters::parse_pg_dump(&text);
            let _ = PoolCounters::parse_pg_dump(&mutated(&dump("reef-18.2.7", "ceph-pg_dump_pools.json"), at, &with));
        }
        #[test]
        fn any_numbers_reconcile(a: u64, b: u64, c: u64, d: u64) {
            let client = ClientCount { read_ops: a, write_ops: b, uncertain_ops: c };
            let (before, after) = (PoolCounters::default(), PoolCounters { read_ops: d, write_ops: a, ..PoolCounters::default() });
            for r in reconcile(&client, &before, &after) {
                prop_assert!(r.diff_pct.is_finite());
            }
        }
    }
}
