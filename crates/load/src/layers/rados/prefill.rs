//! Writing a data set before load, once: reads of what was never written are fake, and first writes are not
//! overwrites.
use super::batch;
use super::content::Content;
use super::names::Names;
use super::params::Params;
use crate::control::explained;
use crate::layer::{Cx, LoadError};
use crate::sys::{IoCtx, Request, Ring};
use fathom_model::{Load, Made};
use serde::{Deserialize, Serialize};
use std::ffi::CString;
use std::sync::Arc;
use std::time::Duration;

/// Operations in flight while filling: enough to keep a cluster busy that needs many.
const DEPTH: u64 = 128;
/// Bytes in flight while filling, all buffers together.
const IN_FLIGHT_BYTES: u64 = 256 << 20;
/// The largest single write: well below `osd_max_write_size` (90 MiB).
const PIECE_BYTES: u64 = 16 << 20;

/// What the marker object says about the data set it closes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Marker {
    object_size: u64,
    objects: u64,
    payload: String,
    compressible_pct: u8,
    /// Length of what is stamped separately.
    unit: u32,
}

impl Marker {
    fn of(params: &Params, load: &Load, content: &Content) -> Marker {
        Marker {
            object_size: params.object_bytes,
            objects: params.objects,
            payload: params.payload.word().to_owned(),
            compressible_pct: load.compressible_pct,
            unit: content.unit_bytes(load.block_bytes),
        }
    }

    /// True when a data set with this marker has everything `wanted` asks for. It may have more objects.
    fn serves(&self, wanted: &Marker) -> bool {
        self.objects >= wanted.objects && Marker { objects: wanted.objects, ..self.clone() } == *wanted
    }
}

/// How objects are cut into writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    piece_bytes: u64,
    pieces: u64,
}

impl Cut {
    fn of(object_bytes: u64, block_bytes: u64) -> Cut {
        let piece_bytes =
            if object_bytes <= PIECE_BYTES { object_bytes } else { (PIECE_BYTES / block_bytes).max(1) * block_bytes };
        Cut { piece_bytes, pieces: object_bytes.div_ceil(piece_bytes) }
    }

    /// Bytes of piece `n` of an object; the last may be shorter.
    fn len(self, object_bytes: u64, n: u64) -> u64 {
        self.piece_bytes.min(object_bytes - n * self.piece_bytes)
    }
}

/// Everything filling needs.
pub(super) struct Prefill<'a> {
    pub(super) params: &'a Params,
    pub(super) load: &'a Load,
    pub(super) content: &'a Content,
    pub(super) io: &'a [Arc<IoCtx>],
    pub(super) fsid: &'a str,
    pub(super) deadline: Duration,
}

impl Prefill<'_> {
    /// Makes sure the data set is there. The marker is removed first and written last, so a marker proves that all of
    /// the data set was written after it.
    pub(super) fn run(&self, cx: &dyn Cx) -> Result<(), LoadError> {
        let name = CString::new(format!("{}filled", self.params.prefix))
            .map_err(|_| LoadError::Usage("prefix contains a NUL byte".into()))?;
        let wanted = Marker::of(self.params, self.load, self.content);
        let found = self.read_marker(&name)?;
        if found.as_ref().is_some_and(|marker| marker.serves(&wanted)) {
            return Ok(());
        }
        self.ledger(cx, &name)?;
        if found.is_some() {
            self.marker(&name, Request::Remove, &mut [])?;
        }
        self.write_objects(cx)?;
        let mut text = serde_json::to_vec(&wanted).map_err(|e| LoadError::Failed(format!("marker: {e}")))?;
        let len = text.len();
        self.marker(&name, Request::WriteFull { len, hint: None }, &mut text).map(drop)
    }

    fn ledger(&self, cx: &dyn Cx, marker: &CString) -> Result<(), LoadError> {
        let p = self.params;
        let (fsid, pool, namespace) = (self.fsid.to_owned(), p.pool.clone(), p.namespace.clone());
        cx.ledger(&Made::Objects {
            fsid: fsid.clone(),
            pool: pool.clone(),
            namespace: namespace.clone(),
            prefix: p.prefix.clone(),
            until: p.objects,
        })?;
        let name = marker.to_string_lossy().into_owned();
        cx.ledger(&Made::Object { fsid, pool, namespace, name })
    }

    /// The marker; `None` when there is none or it isn't one of ours.
    fn read_marker(&self, name: &CString) -> Result<Option<Marker>, LoadError> {
        let mut text = [0; 1024];
        let len = text.len();
        let got = self.marker(name, Request::Read { len, offset: 0 }, &mut text)?;
        Ok(serde_json::from_slice(&text[..(got as usize).min(len)]).ok())
    }

    /// One operation on the marker; one that isn't there reads as empty.
    fn marker(&self, name: &CString, request: Request, data: &mut [u8]) -> Result<u32, LoadError> {
        match batch::single(&self.io[0], name, request, data, self.deadline) {
            Err(libc::ENOENT) => Ok(0),
            other => other.map_err(|errno| {
                let (pool, name) = (&self.params.pool, name.to_string_lossy());
                LoadError::Failed(format!("marker object {name} in pool {pool}: {}", explained(errno)))
            }),
        }
    }

    fn write_objects(&self, cx: &dyn Cx) -> Result<(), LoadError> {
        let (p, block) = (self.params, u64::from(self.load.block_bytes));
        let cut = Cut::of(p.object_bytes, block);
        let count = p.objects * cut.pieces;
        let slots = (IN_FLIGHT_BYTES / cut.piece_bytes).clamp(1, DEPTH).min(count) as u32;
        let blocks_per_object = p.object_bytes / block;
        let blocks_per_piece = cut.piece_bytes / block;
        let mut ring = Ring::new(self.io.to_vec(), slots, cut.piece_bytes as usize);
        let pattern = |slot: u32, n: usize| slot.wrapping_mul(blocks_per_piece as u32).wrapping_add(n as u32);
        for slot in 0..slots {
            for (n, bytes) in ring.buffer(slot).chunks_mut(block as usize).enumerate() {
                self.content.fill(pattern(slot, n), bytes);
            }
        }
        let mut names = Names::new(&p.prefix);
        let mut written = 0;
        let progress = std::cell::Cell::new(0);
        batch::run(
            &mut ring,
            slots,
            count,
            self.deadline,
            |ring, slot, n| {
                let (object, piece) = (n / cut.pieces, n % cut.pieces);
                let len = cut.len(p.object_bytes, piece) as usize;
                let at = object * blocks_per_object + piece * blocks_per_piece;
                for (n, bytes) in ring.buffer(slot)[..len].chunks_mut(block as usize).enumerate() {
                    self.content.stamp(pattern(slot, n), at + n as u64, bytes);
                }
                let request = if cut.pieces == 1 {
                    Request::WriteFull { len, hint: None }
                } else {
                    Request::Write { len, offset: piece * cut.piece_bytes, hint: None }
                };
                // One handle per object keeps its pieces in order: erasure-coded pools take appends only.
                let handle = (object % self.io.len() as u64) as usize;
                ring.submit(slot, handle, names.of(object), request);
            },
            |n, result| {
                result.map_err(|errno| {
                    let (object, pool) = (n / cut.pieces, &p.pool);
                    LoadError::Failed(format!(
                        "filling: object {}{object} in pool {pool}: {}",
                        p.prefix,
                        explained(errno)
                    ))
                })?;
                written += 1;
                progress.set(written / cut.pieces);
                Ok(())
            },
            || {
                cx.progress(progress.get(), p.objects, "objects");
                if cx.cancelled() { Err(LoadError::Failed("cancelled while filling".into())) } else { Ok(()) }
            },
        )?;
        cx.progress(p.objects, p.objects, "objects");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_cut_into_writes_an_osd_takes() {
        assert_eq!(Cut::of(4096, 4096), Cut { piece_bytes: 4096, pieces: 1 });
        assert_eq!(Cut::of(4 << 20, 4096), Cut { piece_bytes: 4 << 20, pieces: 1 });
        let large = Cut::of(100 << 20, 1 << 20);
        assert_eq!(large, Cut { piece_bytes: 16 << 20, pieces: 7 });
        assert_eq!((large.len(100 << 20, 0), large.len(100 << 20, 6)), (16 << 20, 4 << 20));
        assert_eq!(Cut::of(64 << 20, 32 << 20), Cut { piece_bytes: 32 << 20, pieces: 2 });
    }

    #[test]
    fn a_larger_data_set_serves_a_smaller_step_and_no_other_kind() {
        let marker =
            Marker { object_size: 4096, objects: 100, payload: "random".into(), compressible_pct: 0, unit: 4096 };
        assert!(marker.serves(&Marker { objects: 50, ..marker.clone() }));
        assert!(!marker.serves(&Marker { objects: 101, ..marker.clone() }));
        assert!(!marker.serves(&Marker { object_size: 8192, ..marker.clone() }));
        assert!(!marker.serves(&Marker { payload: "rados-bench".into(), ..marker.clone() }));
        assert!(!marker.serves(&Marker { compressible_pct: 50, ..marker.clone() }));
        assert!(!marker.serves(&Marker { unit: 512, ..marker.clone() }));
    }
}
