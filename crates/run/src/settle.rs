//! Waiting until the cluster's own counters have arrived.
//!
//! OSDs report what happened on a pool to the manager about every 5 s. The run knows what it did itself, so it waits
//! until the pool's counters have come to at least that, and no longer; with operations whose fate it doesn't know
//! (time-outs) until they stop moving.
use crate::{capture, control::Control};
use fathom_ceph::{ClusterFacts, PoolCounters};
use fathom_model::{Event, EventKind, Fact, Step, Verb};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

const POLL: Duration = Duration::from_millis(500);
/// Counters that did not move for this long are taken for final: the OSDs' and the manager's period, 5 s each, add up.
const STILL: Duration = Duration::from_millis(10_500);
/// Longest wait: with other clients on the pool they never come to rest.
const LIMIT: Duration = Duration::from_secs(30);

/// Reads and writes this run knows it did, by pool.
type Counts = HashMap<String, (u64, u64)>;

/// Adds up what the run does, as an observer of its event stream.
#[derive(Clone, Default)]
pub(crate) struct Done(Arc<Mutex<Counts>>);

impl Done {
    /// The observer.
    pub(crate) fn observer(&self, steps: &[Step]) -> crate::recorder::Observer {
        let pools: Vec<Option<String>> =
            steps.iter().map(|s| s.params.get("pool").and_then(|v| v.as_str()).map(str::to_owned)).collect();
        let done = Arc::clone(&self.0);
        let mut pool_of: HashMap<u32, String> = HashMap::new();
        Box::new(move |event: &Event| {
            let add = |pool: &str, reads: u64, writes: u64| {
                let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                let counts = done.entry(pool.to_owned()).or_default();
                *counts = (counts.0 + reads, counts.1 + writes);
            };
            match (&event.kind, event.attempt) {
                (EventKind::AttemptStarted { step, .. }, Some(attempt)) => {
                    if let Some(Some(pool)) = pools.get(*step as usize) {
                        pool_of.insert(attempt, pool.clone());
                    }
                }
                (EventKind::Sample(s), Some(attempt)) => {
                    if let Some(pool) = pool_of.get(&attempt) {
                        let reads = if s.verb == Verb::Read { s.ops } else { 0 };
                        add(pool, reads, s.ops - reads);
                    }
                }
                (EventKind::OwnIo(io), _) => add(&io.pool, io.reads, io.writes + io.removes),
                _ => {}
            }
        })
    }

    /// Waits until the counters of every pool used have come to what the run did. `before`: the captured texts that
    /// the difference starts from; of two of the same source the later counts.
    pub(crate) fn wait(&self, control: &Control, before: &[Fact], stopping: impl Fn() -> bool) {
        let done = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let facts = ClusterFacts::read(before);
        let base: HashMap<i64, PoolCounters> = facts.pool_counters.iter().map(|c| (c.pool_id, *c)).collect();
        let wanted: Vec<(i64, u64, u64)> = done
            .iter()
            .filter_map(|(pool, (reads, writes))| {
                let id = facts.pool(pool)?.id;
                let from = base.get(&id).copied().unwrap_or_default();
                Some((id, from.read_ops + reads, from.write_ops + writes))
            })
            .collect();
        let deadline = Instant::now() + LIMIT;
        let mut last: Option<(Instant, Vec<PoolCounters>)> = None;
        while Instant::now() < deadline && !stopping() {
            let fact = capture::pool_counters(control, "after");
            let Ok(now) = PoolCounters::parse_pg_dump(&fact.text) else { return };
            let arrived = wanted.iter().all(|(id, reads, writes)| {
                now.iter().any(|c| c.pool_id == *id && c.read_ops >= *reads && c.write_ops >= *writes)
            });
            match &last {
                _ if arrived => return,
                Some((since, counters)) if *counters == now => {
                    if since.elapsed() >= STILL {
                        return;
                    }
                }
                _ => last = Some((Instant::now(), now)),
            }
            std::thread::sleep(POLL);
        }
    }
}
