//! Foreign code: the only place with `unsafe` besides the io_uring layer.
//!
//! What leaves this module is safe to use whatever the caller does: handles close themselves, buffers live as long
//! as the library may touch them, and a callback has a valid context even when its lane is gone. It knows no step,
//! no payload and no policy.
#![allow(unsafe_code)]

mod cluster;
mod dylib;
mod ioctx;
mod librados;
mod ring;

pub use cluster::{Cluster, CommandFailed, Target};
pub use dylib::OpenError;
pub use ioctx::{IoCtx, PoolUse};
pub use ring::{Finished, Hint, Request, Ring};

/// A positive Linux errno.
pub type Errno = i32;

/// The C convention of Ceph's libraries: negative is an errno, anything else is the answer.
fn checked(code: std::ffi::c_int) -> Result<u32, Errno> {
    u32::try_from(code).map_err(|_| code.saturating_neg())
}

/// A C string from text that may come from a plan: an embedded NUL is the caller's mistake and reads as `EINVAL`.
fn c_text(text: &str) -> Result<std::ffi::CString, Errno> {
    std::ffi::CString::new(text).map_err(|_| libc::EINVAL)
}
