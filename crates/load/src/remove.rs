//! Removing exactly what a ledger entry names, and proving that it is gone.
//!
//! An entry of objects is a bound: names below it may or may not exist. Every name is asked for (30 000 a second on a
//! small cluster) and those that are there are removed (3 000 a second): removing a name that isn't there costs an OSD
//! as much as one that is, because it logs the failure on all replicas.
//!
//! One round is not enough after a crash: operations of a client that was killed may still be queued in an OSD and be
//! carried out after the removal. An OSD drops queued operations of a connection that is gone, and what it had begun is
//! done within moments; so, after a pause, every name is asked for again, and what turned up is removed, until a whole
//! round finds nothing. That round is also the proof of absence. What stays possible is a write that an OSD took from a
//! client whose host died without closing its connection and that waits there for longer than all rounds together;
//! only blocklisting that client would exclude it.
use crate::control::{ControlHandle, Target, explained};
use crate::layer::LoadError;
use crate::layers::rados::{batch, names::Names};
use crate::sys::{Errno, IoCtx, Request, Ring};
use fathom_model::{Connect, Made, errno_name};
use std::ffi::CString;
use std::sync::Arc;
use std::time::Duration;

/// Operations in flight.
const DEPTH: u64 = 128;
/// Time an OSD gets to finish what it had begun for a client that is gone.
const SETTLE: Duration = Duration::from_secs(1);
/// Rounds of looking again; each of them finding something means that somebody is still writing.
const ROUNDS: u32 = 5;
/// Looks at a pool that isn't there, `SETTLE` apart.
const POOL_LOOKS: u32 = 4;
/// Only pools named like this are ours to delete.
pub const POOL_PREFIX: &str = "fathom-";

/// What a removal found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Things that were there and are gone now.
    pub removed: u64,
    /// Things that were not there.
    pub absent: u64,
}

/// Removes what `entry` names, all of it and nothing else. `progress` gets things done and things in all.
///
/// # Errors
/// [`LoadError::Unreachable`] when the cluster can't be reached, [`LoadError::Refused`] when it is another one or the
/// thing can't be ours, [`LoadError::Failed`] when something could not be removed: it is still there then.
pub fn remove(entry: &Made, connect: &Connect, progress: &mut dyn FnMut(u64, u64)) -> Result<Removed, LoadError> {
    let handle = ControlHandle::connect(connect)?;
    let (Made::Pool { fsid, .. } | Made::Objects { fsid, .. } | Made::Object { fsid, .. }) = entry;
    if fsid != handle.fsid() {
        return Err(LoadError::Refused(format!(
            "this was made in cluster {fsid}, and {} is another one: use the configuration it was made with",
            handle.fsid()
        )));
    }
    match entry {
        Made::Pool { pool, .. } => remove_pool(&handle, pool),
        Made::Objects { pool, namespace, prefix, until, .. } => {
            let absent = Removed { removed: 0, absent: *until };
            let Some(io) = pool_of(&handle, pool, namespace)? else { return Ok(absent) };
            let objects = Objects { io, pool, prefix, until: *until, deadline: deadline(connect) };
            objects.remove(progress)
        }
        Made::Object { pool, namespace, name, .. } => {
            let Some(io) = pool_of(&handle, pool, namespace)? else { return Ok(Removed { removed: 0, absent: 1 }) };
            remove_one(&io, pool, name, deadline(connect))
        }
    }
}

fn deadline(connect: &Connect) -> Duration {
    Duration::from_nanos(connect.timeout_ns.max(1_000_000_000))
}

/// The pool, or `None` when it is gone and everything in it with it.
fn pool_of(handle: &ControlHandle, pool: &str, namespace: &str) -> Result<Option<Arc<IoCtx>>, LoadError> {
    match handle.pool_id(pool)? {
        None => Ok(None),
        Some(_) => Ok(Some(Arc::new(handle.pool(pool, namespace)?))),
    }
}

fn remove_pool(handle: &ControlHandle, pool: &str) -> Result<Removed, LoadError> {
    if !pool.starts_with(POOL_PREFIX) {
        return Err(LoadError::Refused(format!(
            "pool {pool} is not named {POOL_PREFIX}…: it can't be one of ours and is left alone"
        )));
    }
    // A client that was killed just after it asked for the pool may still get it: a monitor carries out what it has
    // received. So a pool that isn't there is looked for again, for longer than a monitor takes to decide.
    let mut removed = 0;
    for round in 0..POOL_LOOKS {
        if handle.pool_id(pool)?.is_some() {
            delete_pool(handle, pool)?;
            removed = 1;
            if round == 0 {
                break;
            }
        }
        if round + 1 < POOL_LOOKS {
            std::thread::sleep(SETTLE);
        }
    }
    match handle.pool_id(pool)? {
        None => Ok(Removed { removed, absent: 1 - removed }),
        Some(_) => Err(LoadError::Failed(format!("pool {pool} was deleted and is there again"))),
    }
}

fn delete_pool(handle: &ControlHandle, pool: &str) -> Result<(), LoadError> {
    let command = serde_json::json!({
        "prefix": "osd pool delete", "pool": pool, "pool2": pool, "yes_i_really_really_mean_it": true,
    });
    match handle.command(&Target::Mon, &command.to_string()) {
        Ok(_) => Ok(()),
        Err(e) if e.errno == libc::EPERM => Err(LoadError::Failed(format!(
            "the monitors don't allow deleting pool {pool}: `ceph config set mon mon_allow_pool_delete true`, \
             and `false` again afterwards ({})",
            e.status
        ))),
        Err(e) => Err(LoadError::Failed(format!("deleting pool {pool}: {} {}", errno_name(e.errno), e.status))),
    }
}

fn remove_one(io: &Arc<IoCtx>, pool: &str, name: &str, deadline: Duration) -> Result<Removed, LoadError> {
    let c_name = CString::new(name).map_err(|_| LoadError::Usage("the object's name contains a NUL byte".into()))?;
    match batch::single(io, &c_name, Request::Remove, &mut [], deadline) {
        Ok(_) => Ok(Removed { removed: 1, absent: 0 }),
        Err(libc::ENOENT) => Ok(Removed { removed: 0, absent: 1 }),
        Err(errno) => Err(failed(pool, name, errno)),
    }
}

/// Objects `prefix` + index.
struct Objects<'a> {
    io: Arc<IoCtx>,
    pool: &'a str,
    prefix: &'a str,
    until: u64,
    deadline: Duration,
}

impl Objects<'_> {
    fn remove(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Removed, LoadError> {
        // Looking, removing and proving count as a third each, whatever is found.
        let (all, total) = (self.until, self.until.saturating_mul(3));
        let mut left = self.present(&mut |done| progress(done, total))?;
        let mut removed = 0;
        for _ in 0..ROUNDS {
            let count = left.len() as u64;
            let see = |_, there| removed += u64::from(there);
            let share = |done: u64| (done as f64 / count.max(1) as f64 * all as f64) as u64;
            self.each(count, |n| left[n as usize], Request::Remove, see, &mut |done| {
                progress(all + share(done), total);
            })?;
            progress(2 * all, total);
            std::thread::sleep(SETTLE);
            left = self.present(&mut |done| progress(2 * all + done, total))?;
            if left.is_empty() {
                return Ok(Removed { removed, absent: all.saturating_sub(removed) });
            }
        }
        Err(LoadError::Failed(format!(
            "objects {}… in pool {} appear as fast as they are removed: something is still writing them; stop it and \
             clean again",
            self.prefix, self.pool
        )))
    }

    /// Numbers of the objects that are there.
    fn present(&self, progress: &mut dyn FnMut(u64)) -> Result<Vec<u64>, LoadError> {
        let mut present = Vec::new();
        let see = |n, there: bool| {
            if there {
                present.push(n);
            }
        };
        self.each(self.until, |n| n, Request::Stat, see, progress)?;
        Ok(present)
    }

    /// Does `request` to `count` objects, the `n`-th being object `index(n)`; tells for each whether it was there.
    fn each(
        &self,
        count: u64,
        index: impl Fn(u64) -> u64,
        request: Request,
        mut see: impl FnMut(u64, bool),
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), LoadError> {
        if count == 0 {
            return Ok(());
        }
        let slots = DEPTH.min(count) as u32;
        let mut ring = Ring::new(vec![Arc::clone(&self.io)], slots, 0);
        let mut names = Names::new(self.prefix);
        let done = std::cell::Cell::new(0);
        batch::run(
            &mut ring,
            slots,
            count,
            self.deadline,
            |ring, slot, n| ring.submit(slot, 0, names.of(index(n)), request),
            |n, result| {
                done.set(done.get() + 1);
                match result {
                    Ok(_) => see(index(n), true),
                    Err(libc::ENOENT) => see(index(n), false),
                    Err(errno) => return Err(failed(self.pool, &format!("{}{}", self.prefix, index(n)), errno)),
                }
                Ok(())
            },
            || {
                progress(done.get());
                Ok(())
            },
        )?;
        progress(count);
        Ok(())
    }
}

fn failed(pool: &str, name: &str, errno: Errno) -> LoadError {
    LoadError::Failed(format!("removing object {name} in pool {pool}: {}; it may still be there", explained(errno)))
}
