//! What a layer is. A layer knows how to start one operation and how to collect finished ones.
//!
//! It must not know rates, histograms, warm-up, hosts, result files or screens: the driver knows the first three,
//! the run crate the rest.
use fathom_model::{Connect, ErrorClass, Made, Step, Verb};
use std::time::{Duration, Instant};

/// A parameter of a layer: the one source of plan checks, command-line flags and documentation.
#[derive(Debug)]
pub struct Param {
    /// Key in a plan and long flag on the command line (`_` becomes `-`).
    pub name: &'static str,
    /// Short flag, where tools people know have one.
    pub short: Option<char>,
    /// What values look like.
    pub kind: Kind,
    /// The default as text; `None`: no default (see help for what happens without).
    pub default: Option<&'static str>,
    /// One line.
    pub help: &'static str,
}

/// What values of a [`Param`] look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A whole number.
    Count,
    /// A size in bytes (`4k`).
    Size,
    /// Present or absent.
    Switch,
}

/// Why a layer can't do what it was asked. Each has its exit code; the text says what, on what, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The step is wrong; nothing was started.
    #[error("{0}")]
    Usage(String),
    /// Something needed could not be reached: library, cluster, pool.
    #[error("{0}")]
    Unreachable(String),
    /// It would touch what is not ours.
    #[error("{0}")]
    Refused(String),
    /// It began and failed.
    #[error("{0}")]
    Failed(String),
    /// The ledger or the event stream is gone: the controller died. Make nothing more.
    #[error("the controller is gone")]
    Orphaned,
}

/// Called when a ledger entry asked for ahead is stored, or isn't.
pub type Stored = Box<dyn FnOnce(Result<(), LoadError>) + Send>;

/// What a job may ask of the process it runs in.
pub trait Cx: Sync {
    /// Writes `made` into the ledger and returns when it is stored. Call it before making the thing. Naming the same
    /// [`Made::Objects`] prefix again with a larger `until` extends the entry.
    ///
    /// # Errors
    /// [`LoadError::Orphaned`] when there is no ledger any more: then the thing must not be made.
    fn ledger(&self, made: &Made) -> Result<(), LoadError>;
    /// The same without waiting: `stored` is called with the result, on whatever thread it arrives. For load threads,
    /// which ask ahead of their need. By default it waits.
    fn ledger_ahead(&self, made: &Made, stored: Stored) {
        stored(self.ledger(made));
    }
    /// Tells how far preparation is.
    fn progress(&self, done: u64, total: u64, unit: &str);
    /// Tells the reader of the report something about this attempt.
    fn note(&self, text: &str);
    /// True when the attempt should end; long loops in `prepare` ask this at least once a second.
    fn cancelled(&self) -> bool;
}

/// Control plane: one `static` per layer, listed in [`crate::layers::LAYERS`].
pub trait Layer: Sync {
    /// Its name in plans, commands and reports.
    fn name(&self) -> &'static str;
    /// One line for `fathom layers`.
    fn about(&self) -> &'static str;
    /// Its own parameters.
    fn params(&self) -> &'static [Param];
    /// Turns a resolved step into a job. Opens nothing: a wrong step is found without a cluster.
    ///
    /// # Errors
    /// [`LoadError::Usage`] with the parameter's name and what would be right.
    fn job(&self, step: &Step, connect: &Connect) -> Result<Box<dyn Job>, LoadError>;
}

/// What addresses exist: `0..blocks`, each naming one block of the step's `block_bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Number of blocks, at least 1.
    pub blocks: u64,
}

/// Which lane of how many, and how deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneSpec {
    /// From 0.
    pub index: u32,
    /// In all.
    pub lanes: u32,
    /// Operations in flight in this lane at most; slots are `0..depth`.
    pub depth: u32,
}

/// One fully resolved piece of work on one host.
pub trait Job: Send + Sync {
    /// What addresses exist.
    fn space(&self) -> Space;
    /// Makes whatever must exist before load, after writing it into the ledger. Idempotent: what is there already
    /// (by its own marker) is not made again.
    ///
    /// # Errors
    /// When it can't; there will be no load then.
    fn prepare(&self, cx: &dyn Cx) -> Result<(), LoadError>;
    /// Opens a lane, on the thread that will drive it.
    ///
    /// # Errors
    /// When it can't; there will be no load then.
    fn lane<'a>(&'a self, spec: LaneSpec, cx: &'a dyn Cx) -> Result<Box<dyn Lane + 'a>, LoadError>;
    /// Called once after the load ended without a cancel, with the number of operations that completed.
    ///
    /// # Errors
    /// When what it writes can't be written.
    fn finish(&self, _completed: u64, _cx: &dyn Cx) -> Result<(), LoadError> {
        Ok(())
    }
    /// How a reader should name the block at `at`: an object name, an offset.
    fn target(&self, at: u64) -> String;
    /// Settings that change what is measured, for the report: handles, threads, client options.
    fn settings(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// One operation, as the driver hands it to a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// What to do.
    pub verb: Verb,
    /// Which block, `0..space.blocks`.
    pub at: u64,
    /// Bytes, the step's `block_bytes`.
    pub len: u32,
    /// The slot it occupies until it is reaped; no other operation has it meanwhile.
    pub slot: u32,
}

/// A finished operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Its slot.
    pub slot: u32,
    /// When it finished: stamped as near to the event as the layer can.
    pub at: Instant,
    /// Bytes moved, or why not. A cancelled operation returns `Errno(ECANCELED)`.
    pub result: Result<u32, ErrorClass>,
}

/// Data plane: one per load thread, never shared.
pub trait Lane {
    /// Starts `op`. The driver never has more than `depth` in flight. A failure of the operation itself is reported
    /// through `reap`; an error here ends the attempt.
    ///
    /// # Errors
    /// When the lane as a whole is unusable.
    fn submit(&mut self, op: Op) -> Result<(), LoadError>;
    /// Moves every finished operation to `done`. When there is none, waits at most `wait` for the first.
    ///
    /// # Errors
    /// When the lane as a whole is unusable.
    fn reap(&mut self, wait: Duration, done: &mut Vec<Done>) -> Result<(), LoadError>;
    /// Asks that the operation in `slot` end now. It still comes back through `reap`, soon, with whatever result;
    /// one that doesn't within a second is abandoned and the process ends without closing the lane.
    fn cancel(&mut self, slot: u32);
}
