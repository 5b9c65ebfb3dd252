//! Does nothing, at once. It measures the driver itself, and it is the template for a new layer.
use crate::layer::{Cx, Done, Job, Lane, LaneSpec, Layer, LoadError, Op, Param, Space};
use fathom_model::{Connect, Step};
use std::time::{Duration, Instant};

/// The layer: a name, its parameters, and how to get a job. One `static` in [`super::LAYERS`].
pub struct Null;
impl Layer for Null {
    fn name(&self) -> &'static str {
        "null"
    }
    fn about(&self) -> &'static str {
        "nothing at all: what the load generator itself costs and how fast it can go at best"
    }
    fn params(&self) -> &'static [Param] {
        &[]
    }
    fn job(&self, _: &Step, _: &Connect) -> Result<Box<dyn Job>, LoadError> {
        Ok(Box::new(NullJob))
    }
}

/// One step's work. A real layer keeps its checked parameters here.
struct NullJob;
impl Job for NullJob {
    /// A million addresses, so that patterns have something to choose from.
    fn space(&self) -> Space {
        Space { blocks: 1 << 20 }
    }
    /// Nothing has to exist. A real layer calls `cx.ledger` and then creates.
    fn prepare(&self, _: &dyn Cx) -> Result<(), LoadError> {
        Ok(())
    }
    /// Called on the load thread. A real layer opens its connection or ring here.
    fn lane<'a>(&'a self, spec: LaneSpec, _: &'a dyn Cx) -> Result<Box<dyn Lane + 'a>, LoadError> {
        Ok(Box::new(NullLane(Vec::with_capacity(spec.depth as usize))))
    }
    fn target(&self, at: u64) -> String {
        at.to_string()
    }
}

/// The slots in flight. A real lane has a connection, a ring, a queue of completions.
struct NullLane(Vec<Op>);
impl Lane for NullLane {
    fn submit(&mut self, op: Op) -> Result<(), LoadError> {
        self.0.push(op);
        Ok(())
    }
    /// Everything submitted is done. A real lane waits up to `wait` when nothing is.
    fn reap(&mut self, _: Duration, done: &mut Vec<Done>) -> Result<(), LoadError> {
        let at = Instant::now();
        done.extend(self.0.drain(..).map(|op| Done { slot: op.slot, at, result: Ok(op.len) }));
        Ok(())
    }
    fn cancel(&mut self, _: u32) {}
}
