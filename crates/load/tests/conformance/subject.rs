//! The layers of the table: how to get a job from each, and what it can be made to do.
use crate::delay::{Delay, EIO};
use crate::ledger::Place;
use crate::record::Ledger;
use fathom_load::layer::Job;
use fathom_load::layers;
use fathom_model::{Connect, ErrorClass, Load, Step};
use serde_json::{Map, json};
use std::time::Duration;

/// A layer under test.
pub trait Subject {
    /// A job that completes everything, in a space of `blocks` addresses (where the layer lets one choose).
    fn job(&self, load: &Load, blocks: u64) -> Box<dyn Job>;
    /// A job of which every so many-th operation fails with this class; `None` for a layer that can't fail.
    fn failing(&self, load: &Load) -> Option<(Box<dyn Job>, u64, ErrorClass)>;
    /// A ledger for its jobs.
    fn ledger(&self) -> Ledger;
    /// Operations that take it some tenths of a second.
    fn ops(&self) -> u64;
    /// The number of addresses a job really has when asked for `blocks`.
    fn blocks(&self, blocks: u64) -> u64 {
        blocks
    }
    /// A load whose operations take longer than its deadline; `None` when no operation of the layer takes any time.
    fn too_slow(&self, load: Load) -> Option<(Box<dyn Job>, Load)>;
}

fn step(layer: &str, params: Map<String, serde_json::Value>, load: &Load) -> Step {
    Step { name: "conformance".into(), layer: layer.into(), params, load: load.clone() }
}

pub struct Null;

impl Subject for Null {
    fn job(&self, load: &Load, _: u64) -> Box<dyn Job> {
        layers::find("null").unwrap().job(&step("null", Map::new(), load), &Connect::default()).unwrap()
    }
    fn failing(&self, _: &Load) -> Option<(Box<dyn Job>, u64, ErrorClass)> {
        None
    }
    fn ledger(&self) -> Ledger {
        Ledger::of_nothing()
    }
    fn ops(&self) -> u64 {
        100_003
    }
    fn blocks(&self, _: u64) -> u64 {
        1 << 20
    }
    fn too_slow(&self, _: Load) -> Option<(Box<dyn Job>, Load)> {
        None
    }
}

pub struct Delayed;

impl Subject for Delayed {
    fn job(&self, _: &Load, blocks: u64) -> Box<dyn Job> {
        Box::new(Delay { blocks, disorder: true, ..Delay::of(Duration::from_millis(1)) })
    }
    fn failing(&self, _: &Load) -> Option<(Box<dyn Job>, u64, ErrorClass)> {
        Some((Box::new(Delay { fail_every: 5, ..Delay::of(Duration::from_millis(1)) }), 5, EIO))
    }
    fn ledger(&self) -> Ledger {
        Null.ledger()
    }
    fn ops(&self) -> u64 {
        1003
    }
    fn too_slow(&self, mut load: Load) -> Option<(Box<dyn Job>, Load)> {
        load.op_timeout_ns = 100_000_000;
        Some((Box::new(Delay::of(Duration::from_secs(3600))), load))
    }
}

/// A namespace-free pool of its own for each test.
pub struct Rados {
    place: Place,
}

impl Rados {
    pub fn new() -> Rados {
        Rados { place: Place::new() }
    }

    /// A job over `objects` objects of one block each.
    fn objects(&self, load: &Load, objects: u64, fill: bool) -> Box<dyn Job> {
        self.place.job(load, json!({"objects": objects, "fill": fill}))
    }
}

impl Subject for Rados {
    fn job(&self, load: &Load, blocks: u64) -> Box<dyn Job> {
        // Reads need something to read, and so do writes that come again: a data set. Others make new objects.
        let fill = load.has(fathom_model::Verb::Read);
        self.objects(load, blocks, fill)
    }
    fn failing(&self, load: &Load) -> Option<(Box<dyn Job>, u64, ErrorClass)> {
        // Reads of what was never written.
        let mut reads = load.clone();
        reads.mix = vec![fathom_model::Share { verb: fathom_model::Verb::Read, weight: 1 }];
        Some((self.objects(&reads, 1000, false), 1, ErrorClass::Errno(2)))
    }
    fn ledger(&self) -> Ledger {
        self.place.ledger()
    }
    fn ops(&self) -> u64 {
        203
    }
    fn too_slow(&self, mut load: Load) -> Option<(Box<dyn Job>, Load)> {
        // Nothing on a cluster of this size writes 64 MiB within the 50 ms in which the driver looks at ages.
        (load.block_bytes, load.depth, load.op_timeout_ns) = (4 << 20, 16, 1_000_000);
        Some((self.objects(&load, 1000, false), load))
    }
}
