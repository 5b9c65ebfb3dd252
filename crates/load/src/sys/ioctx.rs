//! A pool and a namespace in it, opened.
use super::librados::{Librados, PoolStat};
use super::{Cluster, Errno, c_text, checked};
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// What a pool holds, as the manager last counted it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolUse {
    /// Objects.
    pub objects: u64,
    /// Bytes in them, before replication.
    pub bytes: u64,
}

/// `rados_ioctx_t`. Its settings never change after it was made, so several threads may use it at once.
pub struct IoCtx {
    handle: NonNull<c_void>,
    cluster: Arc<Cluster>,
}

// SAFETY: librados.h allows I/O on one context from many threads; only changing its settings is not safe, and that
// happens in `open` alone.
unsafe impl Send for IoCtx {}
// SAFETY: as above.
unsafe impl Sync for IoCtx {}

impl IoCtx {
    /// Opens `pool`, with `namespace` (empty: the default one). A full pool answers operations with an error
    /// instead of keeping them until there is space.
    ///
    /// # Errors
    /// `ENOENT` when there is no such pool.
    pub fn open(cluster: &Arc<Cluster>, pool: &str, namespace: &str) -> Result<IoCtx, Errno> {
        let (pool, namespace) = (c_text(pool)?, c_text(namespace)?);
        let api = cluster.api();
        let mut handle = ptr::null_mut();
        // SAFETY: the cluster handle is alive, kept so by the `Arc` stored below; the name is a C string.
        checked(unsafe { (api.rados_ioctx_create)(cluster.raw(), pool.as_ptr(), &mut handle) })?;
        let handle = NonNull::new(handle).ok_or(libc::ENOMEM)?;
        let io = IoCtx { handle, cluster: Arc::clone(cluster) };
        // SAFETY: the context is alive and nobody else has it yet.
        unsafe { (api.rados_ioctx_set_namespace)(io.raw(), namespace.as_ptr()) };
        if let Some(full_try) = api.rados_set_pool_full_try.or(api.rados_set_osdmap_full_try) {
            // SAFETY: as above.
            unsafe { full_try(io.raw()) };
        }
        Ok(io)
    }

    /// The pool's number.
    #[must_use]
    pub fn pool_id(&self) -> i64 {
        // SAFETY: the context is alive.
        unsafe { (self.api().rados_ioctx_get_id)(self.raw()) }
    }

    /// What the pool holds. Some seconds old.
    ///
    /// # Errors
    /// The errno librados answers with.
    pub fn pool_use(&self) -> Result<PoolUse, Errno> {
        let mut stat = PoolStat::default();
        // SAFETY: the context is alive and `stat` has the layout of the header.
        checked(unsafe { (self.api().rados_ioctx_pool_stat)(self.raw(), &mut stat) })?;
        Ok(PoolUse { objects: stat.num_objects, bytes: stat.num_bytes })
    }

    /// Reads up to `max` bytes from an object's start and waits for them.
    ///
    /// # Errors
    /// `ENOENT` when there is no such object.
    pub fn read(&self, name: &str, max: usize) -> Result<Vec<u8>, Errno> {
        let name = c_text(name)?;
        let mut buf = vec![0u8; max];
        // SAFETY: the context is alive; librados writes at most `max` bytes before it returns.
        let code =
            unsafe { (self.api().rados_read)(self.raw(), name.as_ptr(), buf.as_mut_ptr().cast::<c_char>(), max, 0) };
        buf.truncate(checked(code)? as usize);
        Ok(buf)
    }

    /// Makes `data` the whole content of an object and waits until it is stored.
    ///
    /// # Errors
    /// The errno the OSD or librados answers with.
    pub fn write(&self, name: &str, data: &[u8]) -> Result<(), Errno> {
        let name = c_text(name)?;
        // SAFETY: the context is alive; librados copies the bytes before it returns.
        let code = unsafe {
            (self.api().rados_write_full)(self.raw(), name.as_ptr(), data.as_ptr().cast::<c_char>(), data.len())
        };
        checked(code).map(drop)
    }

    /// Removes an object.
    ///
    /// # Errors
    /// `ENOENT` when there is none.
    pub fn remove(&self, name: &str) -> Result<(), Errno> {
        let name = c_text(name)?;
        // SAFETY: the context is alive and the name is a C string.
        checked(unsafe { (self.api().rados_remove)(self.raw(), name.as_ptr()) }).map(drop)
    }

    /// Names of the objects in this namespace, up to `limit`. Reads through the whole pool: for pools of our own.
    ///
    /// # Errors
    /// The errno librados answers with.
    pub fn list(&self, limit: usize) -> Result<Vec<String>, Errno> {
        let mut names = Vec::new();
        let mut list = ptr::null_mut();
        // SAFETY: the context is alive and `list` is a place for the result.
        checked(unsafe { (self.api().rados_nobjects_list_open)(self.raw(), &mut list) })?;
        let end = loop {
            if names.len() >= limit {
                break Ok(());
            }
            let mut name = ptr::null();
            // SAFETY: the list is open; key and namespace may be null; the name stays valid until the next call.
            let code =
                unsafe { (self.api().rados_nobjects_list_next)(list, &mut name, ptr::null_mut(), ptr::null_mut()) };
            match checked(code) {
                // SAFETY: as above.
                Ok(_) => names.push(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()),
                Err(libc::ENOENT) => break Ok(()),
                Err(errno) => break Err(errno),
            }
        };
        // SAFETY: opened above, closed once.
        unsafe { (self.api().rados_nobjects_list_close)(list) };
        end.map(|()| names)
    }

    /// The handle it belongs to.
    #[must_use]
    pub fn cluster(&self) -> &Arc<Cluster> {
        &self.cluster
    }

    pub(super) fn api(&self) -> &'static Librados {
        self.cluster.api()
    }

    pub(super) fn raw(&self) -> *mut c_void {
        self.handle.as_ptr()
    }
}

impl Drop for IoCtx {
    fn drop(&mut self) {
        // SAFETY: the last use of the context; the cluster handle is closed after it.
        unsafe { (self.api().rados_ioctx_destroy)(self.raw()) }
    }
}
