//! The data handles: how many, and with which client options.
use super::params::Params;
use crate::control::{open, open_pool};
use crate::layer::LoadError;
use crate::sys::IoCtx;
use fathom_model::{Connect, Load};
use std::sync::Arc;

/// Log levels of the subsystems a client runs through. 0/0 keeps them from composing lines that nobody reads.
const QUIET: [&str; 12] = [
    "debug_ms",
    "debug_objecter",
    "debug_rados",
    "debug_monc",
    "debug_auth",
    "debug_client",
    "debug_crush",
    "debug_throttle",
    "debug_finisher",
    "debug_timer",
    "debug_context",
    "debug_mgrc",
];

/// Options of every data handle.
fn options(load: &Load) -> Vec<(&'static str, String)> {
    let depth = u64::from(load.depth.max(1));
    let bytes = depth * u64::from(load.block_bytes);
    let mut options = vec![
        // The client's own throttle is 1024 operations and 100 MiB (25 operations of 4 MiB!), and a submit beyond it
        // blocks. It must never be the limit that is measured.
        ("objecter_inflight_ops", (depth * 8).max(16_384).to_string()),
        ("objecter_inflight_op_bytes", (bytes * 8).max(4 << 30).to_string()),
        // More load than one thread can carry is for more handles; extra threads in one only wake each other up.
        ("ms_async_op_threads", "1".to_owned()),
        ("librados_thread_count", "1".to_owned()),
        // A reply of 4 KiB and its frame come out of the socket in one read instead of three: measured on 16.2.15 with
        // 4 KiB reads, a sixth less CPU per operation. (Fewer log lines and counters are within the noise.)
        ("ms_tcp_prefetch_max_size", "16384".to_owned()),
        // Counters nobody reads.
        ("perf", "false".to_owned()),
        ("throttler_perf_counter", "false".to_owned()),
    ];
    options.extend(QUIET.iter().map(|key| (*key, "0/0".to_owned())));
    options
}

/// The handles of a job, open.
pub(super) struct Handles {
    pub(super) io: Vec<Arc<IoCtx>>,
    pub(super) fsid: String,
    /// Options that matter to a result, as the library has them in force.
    pub(super) settings: Vec<(String, String)>,
}

/// Connects them. They share nothing: each has its own sockets and threads.
pub(super) fn open_handles(params: &Params, load: &Load, connect: &Connect) -> Result<Handles, LoadError> {
    let options = options(load);
    let mut io = Vec::new();
    for _ in 0..params.handles {
        let cluster = open(connect, &options)?;
        io.push(Arc::new(open_pool(&cluster, &params.pool, &params.namespace)?));
    }
    let Some(first) = io.first() else { return Err(LoadError::Usage("handles must be at least 1".into())) };
    let cluster = first.cluster();
    let fsid = cluster.fsid().map_err(|_| LoadError::Unreachable("the cluster did not tell its id".into()))?;
    let mut settings = vec![("handles".to_owned(), params.handles.to_string())];
    for (key, _) in options.iter().filter(|(key, _)| !key.starts_with("debug_")) {
        if let Some(value) = cluster.get(key) {
            settings.push(((*key).to_owned(), value));
        }
    }
    settings.push(("debug levels".to_owned(), "0/0".to_owned()));
    Ok(Handles { io, fsid, settings })
}
