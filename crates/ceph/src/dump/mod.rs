//! The dumps captured before and after a run: one type per command, the same for all releases.
//!
//! Shapes measured on 16.2.15, 18.2.7 and 20.2.4; where a release adds or lacks a field, the type says so. Unknown
//! fields are ignored, missing ones are empty or `None`. A text that is not the dump at all is a [`crate::ParseError`].

mod config;
mod crush;
mod df;
mod metadata;
mod osd_map;
mod osd_tree;
mod pgs;
mod pool;
mod status;
mod versions;

pub use config::{ConfigChange, ConfigDump, ConfigEntry, ConfigShow};
pub use crush::{CrushDump, CrushRule};
pub use df::{Df, PoolUse};
pub use metadata::{DaemonMetadata, DaemonMetadataList, OsdMetadata, OsdMetadataList};
pub use osd_map::{MapReply, OsdDump, OsdEntry};
pub use osd_tree::{OsdDf, OsdTree, OsdUse, TreeNode};
pub use pgs::{PgBrief, PgsBrief};
pub use pool::{EcProfile, Pool, PoolAutoscale, PoolIo, PoolIoList, PoolKind, PoolList};
pub use status::{Check, Health, Status};
pub use versions::Versions;
