//! RADOS: whole objects and parts of them, through librados.
//!
//! Object `i` is named `prefix` + `i`. Block `at` lies in object `at / n` where `n` is blocks per object. Nothing is
//! made that the ledger doesn't name first.
use crate::control::explained;
use crate::layer::{Cx, Job, Lane, LaneSpec, Layer, LoadError, Param, Space};
use fathom_model::{Connect, Load, Made, Pattern, Step, Verb};
use std::ffi::CString;
use std::sync::OnceLock;
use std::time::Duration;

pub(crate) mod batch;
mod client;
mod content;
mod lane;
mod lease;
pub(crate) mod names;
mod params;
mod prefill;

use client::Handles;
use content::Content;
use lease::Lease;
use params::Params;

/// The layer.
pub struct Rados;

impl Layer for Rados {
    fn name(&self) -> &'static str {
        "rados"
    }
    fn about(&self) -> &'static str {
        "objects in a pool, through librados: what every Ceph interface is built on"
    }
    fn params(&self) -> &'static [Param] {
        params::PARAMS
    }
    fn job(&self, step: &Step, connect: &Connect) -> Result<Box<dyn Job>, LoadError> {
        let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        Ok(Box::new(RadosJob::new(step, connect, Params::of(step, cpus)?)))
    }
}

/// One step's work.
struct RadosJob {
    params: Params,
    load: Load,
    connect: Connect,
    content: Content,
    blocks_per_object: u64,
    /// Present when the load makes objects that did not exist.
    lease: Option<Lease>,
    handles: OnceLock<Handles>,
}

impl RadosJob {
    fn new(step: &Step, connect: &Connect, params: Params) -> RadosJob {
        let load = step.load.clone();
        let makes = load.has(Verb::Write) && !params.fill;
        RadosJob {
            content: Content::new(params.payload, &params.prefix, load.block_bytes, load.compressible_pct),
            blocks_per_object: params.object_bytes / u64::from(load.block_bytes),
            lease: makes.then(|| Lease::new(params.objects)),
            connect: connect.clone(),
            handles: OnceLock::new(),
            params,
            load,
        }
    }

    /// Object number and offset of a block.
    #[inline]
    fn place(&self, at: u64) -> (u64, u64) {
        let n = self.blocks_per_object;
        if n == 1 { (at, 0) } else { (at / n, (at % n) * u64::from(self.load.block_bytes)) }
    }

    fn handles(&self) -> Result<&Handles, LoadError> {
        self.handles.get().ok_or_else(|| LoadError::Failed("the job was not prepared".into()))
    }

    fn made_objects(&self, until: u64) -> Made {
        Made::Objects {
            fsid: self.handles.get().map(|h| h.fsid.clone()).unwrap_or_default(),
            pool: self.params.pool.clone(),
            namespace: self.params.namespace.clone(),
            prefix: self.params.prefix.clone(),
            until,
        }
    }

    /// Deadline of operations that are not measured. Filling keeps a cluster busier than most loads, so the
    /// operation deadline alone would be too strict where it is short.
    fn patience(&self) -> Duration {
        Duration::from_nanos(self.load.op_timeout_ns.max(self.connect.timeout_ns).max(1_000_000_000))
    }
}

impl Job for RadosJob {
    fn space(&self) -> Space {
        Space { blocks: self.params.objects * self.blocks_per_object }
    }

    fn prepare(&self, cx: &dyn Cx) -> Result<(), LoadError> {
        if self.handles.get().is_none() {
            let opened = client::open_handles(&self.params, &self.load, &self.connect)?;
            let _ = self.handles.set(opened);
        }
        let handles = self.handles()?;
        if self.params.fill {
            let fill = prefill::Prefill {
                params: &self.params,
                load: &self.load,
                content: &self.content,
                io: &handles.io,
                fsid: &handles.fsid,
                deadline: self.patience(),
            };
            return fill.run(cx);
        }
        match &self.lease {
            None => Ok(()),
            Some(lease) if matches!(self.load.pattern, Pattern::Sequential { .. }) => {
                lease.cover(0, cx, |until| self.made_objects(until))
            }
            // A random address may be the last one.
            Some(lease) => lease.whole(cx, |until| self.made_objects(until)),
        }
    }

    fn lane<'a>(&'a self, spec: LaneSpec, cx: &'a dyn Cx) -> Result<Box<dyn Lane + 'a>, LoadError> {
        Ok(Box::new(lane::RadosLane::new(self, self.handles()?, spec, cx)))
    }

    fn finish(&self, completed: u64, cx: &dyn Cx) -> Result<(), LoadError> {
        let (Some((name, pid)), handles) = (&self.params.metadata, self.handles()?) else { return Ok(()) };
        let (pool, namespace) = (self.params.pool.clone(), self.params.namespace.clone());
        cx.ledger(&Made::Object { fsid: handles.fsid.clone(), pool, namespace, name: name.clone() })?;
        let c_name =
            CString::new(name.as_str()).map_err(|_| LoadError::Usage("metadata contains a NUL byte".into()))?;
        let block = u64::from(self.load.block_bytes);
        let mut data = content::bench_metadata(self.params.object_bytes, completed, *pid, block);
        let request = crate::sys::Request::WriteFull { len: data.len(), hint: None };
        batch::single(&handles.io[0], &c_name, request, &mut data, self.patience()).map(drop).map_err(|errno| {
            LoadError::Failed(format!("metadata object {name} in pool {}: {}", self.params.pool, explained(errno)))
        })
    }

    fn target(&self, at: u64) -> String {
        format!("{}{}", self.params.prefix, self.place(at).0)
    }

    fn settings(&self) -> Vec<(String, String)> {
        let mut settings = self.handles.get().map(|h| h.settings.clone()).unwrap_or_default();
        settings.push(("payload".to_owned(), self.params.payload.word().to_owned()));
        settings.push(("hints".to_owned(), self.params.hints.to_string()));
        settings
    }
}

#[cfg(test)]
mod tests;
