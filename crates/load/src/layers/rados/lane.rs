//! One load thread's object operations.
use super::names::Names;
use super::{RadosJob, client::Handles};
use crate::layer::{Cx, Done, Lane, LaneSpec, LoadError, Op};
use crate::sys::{Finished, Hint, Request, Ring};
use fathom_model::{ErrorClass, Verb};
use std::time::Duration;

/// `LIBRADOS_ALLOC_HINT_FLAG_` sequential write, sequential read, append only, immutable: what `rados bench` sends.
const BENCH_HINT_FLAGS: u32 = 1 | 4 | 16 | 32;

/// A lane: a ring of slots over the job's handles.
pub(super) struct RadosLane<'a> {
    job: &'a RadosJob,
    cx: &'a dyn Cx,
    ring: Ring,
    names: Names,
    slots: Vec<Slot>,
    back: Vec<Finished>,
    hint: Option<Hint>,
    /// Slots of different lanes must not share a pattern.
    first_pattern: u32,
}

#[derive(Clone, Copy)]
struct Slot {
    verb: Verb,
    at: u64,
    len: u32,
    /// A read went into the buffer: it must be filled again before it is written from.
    dirty: bool,
}

impl<'a> RadosLane<'a> {
    pub(super) fn new(job: &'a RadosJob, handles: &Handles, spec: LaneSpec, cx: &'a dyn Cx) -> RadosLane<'a> {
        let load = &job.load;
        let first_pattern = spec.index.wrapping_mul(spec.depth);
        let mut ring = Ring::new(handles.io.clone(), spec.depth, load.block_bytes as usize);
        if load.has(Verb::Write) {
            for slot in 0..spec.depth {
                job.content.fill(first_pattern.wrapping_add(slot), ring.buffer(slot));
            }
        }
        let hint = job.params.hints.then_some(Hint {
            object_bytes: job.params.object_bytes,
            write_bytes: u64::from(load.block_bytes),
            flags: BENCH_HINT_FLAGS,
        });
        RadosLane {
            job,
            cx,
            ring,
            names: Names::new(&job.params.prefix),
            slots: vec![Slot { verb: Verb::Read, at: 0, len: 0, dirty: false }; spec.depth as usize],
            back: Vec::with_capacity(spec.depth as usize),
            hint,
            first_pattern,
        }
    }

    /// Puts the content of the block at `at` into the slot's buffer.
    #[inline]
    fn compose(&mut self, slot: u32, at: u64) {
        let pattern = self.first_pattern.wrapping_add(slot);
        let buffer = self.ring.buffer(slot);
        if self.slots[slot as usize].dirty {
            self.job.content.fill(pattern, buffer);
        }
        self.job.content.stamp(pattern, at, buffer);
    }

    fn outcome(&mut self, finished: Finished) -> Result<u32, ErrorClass> {
        let slot = self.slots[finished.slot as usize];
        let moved = finished.result.map_err(ErrorClass::Errno)?;
        if slot.verb == Verb::Write {
            return Ok(slot.len);
        }
        if moved < slot.len {
            return Err(ErrorClass::Short);
        }
        let bytes = &self.ring.buffer(finished.slot)[..slot.len as usize];
        if self.job.load.verify && !self.job.content.check(slot.at, bytes) {
            return Err(ErrorClass::Corrupt);
        }
        Ok(slot.len)
    }
}

impl Lane for RadosLane<'_> {
    fn submit(&mut self, op: Op) -> Result<(), LoadError> {
        let job = self.job;
        let (object, offset) = job.place(op.at);
        let len = op.len as usize;
        let request = match op.verb {
            Verb::Read => Request::Read { len, offset },
            Verb::Write => {
                if let Some(lease) = &job.lease {
                    lease.cover(object, self.cx, |until| job.made_objects(until))?;
                }
                self.compose(op.slot, op.at);
                if job.blocks_per_object == 1 {
                    Request::WriteFull { len, hint: self.hint }
                } else {
                    Request::Write { len, offset, hint: self.hint }
                }
            }
        };
        self.slots[op.slot as usize] = Slot { verb: op.verb, at: op.at, len: op.len, dirty: op.verb == Verb::Read };
        let handle = op.slot as usize % self.ring.handles();
        self.ring.submit(op.slot, handle, self.names.of(object), request);
        Ok(())
    }

    fn reap(&mut self, wait: Duration, done: &mut Vec<Done>) -> Result<(), LoadError> {
        let mut back = std::mem::take(&mut self.back);
        self.ring.collect(wait, &mut back);
        for finished in back.drain(..) {
            let result = self.outcome(finished);
            done.push(Done { slot: finished.slot, at: finished.at, result });
        }
        self.back = back;
        Ok(())
    }

    fn cancel(&mut self, slot: u32) {
        self.ring.cancel(slot);
    }
}
