//! Running: controller, workers, protocol, store, ledger.
//!
//! The controller never makes load and never opens a storage library: workers do, in processes of their own. It
//! prints nothing: it emits events, and store, screen and exporter consume them.
#![forbid(unsafe_code)]

mod attempt;
mod campaign;
mod capture;
mod clean;
mod conn;
mod control;
mod host_facts;
mod own_pool;
mod protocol;
mod recorder;
mod settle;
mod store;
mod watch;
mod worker;

pub use attempt::Ended;
pub use campaign::{Campaign, Outcome, new_run_id, run};
pub use clean::{Cleaned, clean};
pub use conn::Transport;
pub use control::{Control, Removed};
pub use own_pool::OwnPool;
pub use protocol::{CommandTarget, Failure, FailureClass, PROTOCOL};
pub use recorder::Observer;
pub use store::{FILE as STORE_FILE, RunLock, Store, StoreError};
pub use worker::serve;
