//! A handle on a cluster: configuration, connection, commands.
use super::librados::Librados;
use super::{Errno, OpenError, c_text, checked};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{self, NonNull};

/// Who answers a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Any monitor.
    Mon,
    /// The monitor of this name (`a` for `mon.a`).
    MonNamed(String),
    /// The active manager.
    Mgr,
    /// One OSD.
    Osd(i32),
}

/// How a command failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFailed {
    /// Positive.
    pub errno: Errno,
    /// The daemon's status text; often empty.
    pub status: String,
}

/// `rados_t`. Closed when dropped; whoever needs it open holds it in an [`std::sync::Arc`].
pub struct Cluster {
    api: &'static Librados,
    handle: NonNull<c_void>,
}

// SAFETY: librados.h documents `rados_t` as usable from several threads at once; the only calls that are not
// (create, shutdown) happen with exclusive access: in `create` and in `drop`.
unsafe impl Send for Cluster {}
// SAFETY: as above.
unsafe impl Sync for Cluster {}

impl Cluster {
    /// A handle for `user` (`client.admin`), not connected and without configuration.
    ///
    /// # Errors
    /// When librados can't be loaded. Should librados itself refuse, `Err(Ok(errno))` tells its errno.
    pub fn create(user: &str) -> Result<Cluster, Result<Errno, OpenError>> {
        let api = Librados::get().map_err(Err)?;
        let user = c_text(user).map_err(Ok)?;
        let mut handle = ptr::null_mut();
        // SAFETY: both strings end with NUL and `handle` is a place for the result.
        let code = unsafe { (api.rados_create2)(&mut handle, c"ceph".as_ptr(), user.as_ptr(), 0) };
        checked(code).map_err(Ok)?;
        let handle = NonNull::new(handle).ok_or(Ok(libc::ENOMEM))?;
        Ok(Cluster { api, handle })
    }

    /// Reads a configuration file; `None`: where Ceph's own tools look.
    ///
    /// # Errors
    /// `ENOENT`, `EACCES`, or `EINVAL` for one that doesn't parse.
    pub fn read_conf(&self, path: Option<&str>) -> Result<(), Errno> {
        let path = path.map(c_text).transpose()?;
        let path = path.as_ref().map_or(ptr::null(), |p| p.as_ptr());
        // SAFETY: the handle is alive; the path is a C string or null, which the header allows.
        checked(unsafe { (self.api.rados_conf_read_file)(self.handle.as_ptr(), path) }).map(drop)
    }

    /// Takes options from the environment (`CEPH_ARGS`), as Ceph's own tools do.
    ///
    /// # Errors
    /// When they don't parse.
    pub fn read_env(&self) -> Result<(), Errno> {
        // SAFETY: the handle is alive; null asks for the default variable.
        checked(unsafe { (self.api.rados_conf_parse_env)(self.handle.as_ptr(), ptr::null()) }).map(drop)
    }

    /// Sets an option; most have an effect only before [`Cluster::connect`].
    ///
    /// # Errors
    /// `ENOENT` for an unknown option, `EINVAL` for a bad value.
    pub fn set(&self, key: &str, value: &str) -> Result<(), Errno> {
        let (key, value) = (c_text(key)?, c_text(value)?);
        // SAFETY: the handle is alive and both are C strings, which librados copies.
        checked(unsafe { (self.api.rados_conf_set)(self.handle.as_ptr(), key.as_ptr(), value.as_ptr()) }).map(drop)
    }

    /// An option's value; `None` when there is no such option.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<String> {
        let key = c_text(key).ok()?;
        // Long enough for any value a person writes; a longer one reads as "no value", never as a cut one.
        let mut buf = vec![0u8; 4096];
        // SAFETY: the handle is alive and librados writes at most `len` bytes, with the closing NUL.
        let code = unsafe {
            (self.api.rados_conf_get)(self.handle.as_ptr(), key.as_ptr(), buf.as_mut_ptr().cast::<c_char>(), buf.len())
        };
        checked(code).ok()?;
        Some(CStr::from_bytes_until_nul(&buf).ok()?.to_string_lossy().into_owned())
    }

    /// Connects. Waits at most `client_mount_timeout`.
    ///
    /// # Errors
    /// The errno librados answers with.
    pub fn connect(&self) -> Result<(), Errno> {
        // SAFETY: the handle is alive; librados refuses a second connect by itself.
        checked(unsafe { (self.api.rados_connect)(self.handle.as_ptr()) }).map(drop)
    }

    /// The cluster's id.
    ///
    /// # Errors
    /// When not connected.
    pub fn fsid(&self) -> Result<String, Errno> {
        let mut buf = [0u8; 64];
        // SAFETY: the handle is alive and librados writes at most `len` bytes.
        let code = unsafe {
            (self.api.rados_cluster_fsid)(self.handle.as_ptr(), buf.as_mut_ptr().cast::<c_char>(), buf.len())
        };
        let len = checked(code)? as usize;
        Ok(String::from_utf8_lossy(&buf[..len.min(buf.len())]).trim_end_matches('\0').to_owned())
    }

    /// This client's number, as OSDs name it (`client.4123`).
    #[must_use]
    pub fn instance(&self) -> u64 {
        // SAFETY: the handle is alive.
        unsafe { (self.api.rados_get_instance_id)(self.handle.as_ptr()) }
    }

    /// Waits until this client has the newest OSD map: a pool made a moment ago is known afterwards.
    ///
    /// # Errors
    /// The errno librados answers with.
    pub fn wait_for_latest_map(&self) -> Result<(), Errno> {
        // SAFETY: the handle is alive.
        checked(unsafe { (self.api.rados_wait_for_latest_osdmap)(self.handle.as_ptr()) }).map(drop)
    }

    /// A pool's number.
    ///
    /// # Errors
    /// `ENOENT` when there is none of this name.
    pub fn pool_id(&self, pool: &str) -> Result<i64, Errno> {
        let pool = c_text(pool)?;
        // SAFETY: the handle is alive and the name is a C string.
        let id = unsafe { (self.api.rados_pool_lookup)(self.handle.as_ptr(), pool.as_ptr()) };
        if id < 0 { Err(Errno::try_from(id.saturating_neg()).unwrap_or(libc::EINVAL)) } else { Ok(id) }
    }

    /// Names of all pools.
    ///
    /// # Errors
    /// The errno librados answers with.
    pub fn pools(&self) -> Result<Vec<String>, Errno> {
        let mut buf: Vec<u8> = vec![0; 4096];
        loop {
            // SAFETY: the handle is alive and librados writes at most `len` bytes; it answers with the length needed.
            let code = unsafe {
                (self.api.rados_pool_list)(self.handle.as_ptr(), buf.as_mut_ptr().cast::<c_char>(), buf.len())
            };
            let need = checked(code)? as usize;
            if need <= buf.len() {
                return Ok(buf[..need]
                    .split(|b| *b == 0)
                    .take_while(|name| !name.is_empty())
                    .map(|name| String::from_utf8_lossy(name).into_owned())
                    .collect());
            }
            buf.resize(need + 4096, 0);
        }
    }

    /// Sends one command, a JSON object, and waits for its answer: `rados_mon_op_timeout` (monitors, manager) or
    /// `rados_osd_op_timeout` (OSDs) at most.
    ///
    /// # Errors
    /// What the daemon or librados answered.
    pub fn command(&self, target: &Target, json: &str) -> Result<Vec<u8>, CommandFailed> {
        let plain = |errno| CommandFailed { errno, status: String::new() };
        let json = c_text(json).map_err(plain)?;
        let mut cmd = [json.as_ptr()];
        let (cmd, n) = (cmd.as_mut_ptr(), cmd.len());
        let (mut out, mut status) = (Buffer::new(self.api), Buffer::new(self.api));
        let (api, handle) = (self.api, self.handle.as_ptr());
        let (o, ol, s, sl) = (&raw mut out.data, &raw mut out.len, &raw mut status.data, &raw mut status.len);
        let none = ptr::null();
        let name = match target {
            Target::MonNamed(name) => c_text(name).map_err(plain)?,
            _ => Default::default(),
        };
        // SAFETY: the handle is alive; command and name are C strings; the four places receive buffers that
        // `Buffer` gives back to librados.
        let code: c_int = unsafe {
            match target {
                Target::Mon => (api.rados_mon_command)(handle, cmd, n, none, 0, o, ol, s, sl),
                Target::MonNamed(_) => {
                    (api.rados_mon_command_target)(handle, name.as_ptr(), cmd, n, none, 0, o, ol, s, sl)
                }
                Target::Mgr => (api.rados_mgr_command)(handle, cmd, n, none, 0, o, ol, s, sl),
                Target::Osd(id) => (api.rados_osd_command)(handle, *id, cmd, n, none, 0, o, ol, s, sl),
            }
        };
        match checked(code) {
            Ok(_) => Ok(out.bytes().to_vec()),
            Err(errno) => {
                let status = String::from_utf8_lossy(status.bytes()).trim().to_owned();
                Err(CommandFailed { errno, status })
            }
        }
    }

    pub(super) fn api(&self) -> &'static Librados {
        self.api
    }

    pub(super) fn raw(&self) -> *mut c_void {
        self.handle.as_ptr()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // SAFETY: the last use of the handle. librados allows it on one that never connected.
        unsafe { (self.api.rados_shutdown)(self.handle.as_ptr()) }
    }
}

/// A buffer librados allocated.
struct Buffer {
    api: &'static Librados,
    data: *mut c_char,
    len: usize,
}

impl Buffer {
    fn new(api: &'static Librados) -> Buffer {
        Buffer { api, data: ptr::null_mut(), len: 0 }
    }

    fn bytes(&self) -> &[u8] {
        if self.data.is_null() {
            return &[];
        }
        // SAFETY: librados allocated `len` bytes at `data`, and they stay until `drop`.
        unsafe { std::slice::from_raw_parts(self.data.cast::<u8>(), self.len) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if !self.data.is_null() {
            // SAFETY: allocated by librados, freed once.
            unsafe { (self.api.rados_buffer_free)(self.data) }
        }
    }
}
