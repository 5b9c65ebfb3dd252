//! Why an operation did not complete.
use serde::{Deserialize, Serialize};
use std::fmt;

/// The class under which a failed operation is counted. Every operation is counted once: completed, failed by class
/// or timed out (a time-out is not a class: it has a counter of its own).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The system or the cluster answered with this errno (positive).
    Errno(i32),
    /// The data read back was not the data written.
    Corrupt,
    /// Fewer bytes came back than were asked for.
    Short,
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorClass::Errno(n) => f.write_str(errno_name(*n)),
            ErrorClass::Corrupt => f.write_str("wrong data read back"),
            ErrorClass::Short => f.write_str("short read"),
        }
    }
}

/// The symbolic name of a Linux errno that Ceph or the kernel is known to answer with, with its meaning.
/// Source: Linux `errno(3)`; the Ceph meanings are those of the OSD and the Objecter.
#[must_use]
pub fn errno_name(errno: i32) -> &'static str {
    match errno {
        1 => "EPERM (not permitted)",
        2 => "ENOENT (no such object)",
        5 => "EIO (input/output error)",
        11 => "EAGAIN (try again)",
        12 => "ENOMEM (out of memory)",
        13 => "EACCES (permission denied)",
        16 => "EBUSY (busy)",
        17 => "EEXIST (exists)",
        22 => "EINVAL (invalid argument)",
        27 => "EFBIG (too large)",
        28 => "ENOSPC (no space left)",
        30 => "EROFS (read-only)",
        34 => "ERANGE (out of range)",
        61 => "ENODATA (no data)",
        95 => "EOPNOTSUPP (not supported by this pool)",
        104 => "ECONNRESET (connection reset)",
        107 => "ENOTCONN (not connected)",
        108 => "ESHUTDOWN (this client was blocklisted)",
        110 => "ETIMEDOUT (timed out)",
        111 => "ECONNREFUSED (connection refused)",
        122 => "EDQUOT (quota or full pool)",
        125 => "ECANCELED (cancelled)",
        _ => "another errno",
    }
}
