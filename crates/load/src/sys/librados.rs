//! The functions of librados that Fathom calls, as its header `rados/librados.h` declares them in Ceph 16 to 20.
use std::ffi::{c_char, c_int, c_void};

/// What librados calls when an operation has finished: the completion, then the argument it was created with.
pub(super) type Callback = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// `struct rados_pool_stat_t`.
#[repr(C)]
#[derive(Default)]
pub(super) struct PoolStat {
    pub num_bytes: u64,
    pub num_kb: u64,
    pub num_objects: u64,
    pub num_object_clones: u64,
    pub num_object_copies: u64,
    pub num_objects_missing_on_primary: u64,
    pub num_objects_unfound: u64,
    pub num_objects_degraded: u64,
    pub num_rd: u64,
    pub num_rd_kb: u64,
    pub num_wr: u64,
    pub num_wr_kb: u64,
    pub num_user_bytes: u64,
    pub compressed_bytes_orig: u64,
    pub compressed_bytes: u64,
    pub compressed_bytes_alloc: u64,
}

super::dylib::dylib! {
/// The function table.
Librados: "librados" from "librados2", "librados.so.2" | "librados.so" {
    fn rados_create2(cluster: *mut *mut c_void, name: *const c_char, user: *const c_char, flags: u64) -> c_int;
    fn rados_conf_read_file(cluster: *mut c_void, path: *const c_char) -> c_int;
    fn rados_conf_parse_env(cluster: *mut c_void, var: *const c_char) -> c_int;
    fn rados_conf_set(cluster: *mut c_void, key: *const c_char, value: *const c_char) -> c_int;
    fn rados_conf_get(cluster: *mut c_void, key: *const c_char, buf: *mut c_char, len: usize) -> c_int;
    fn rados_connect(cluster: *mut c_void) -> c_int;
    fn rados_shutdown(cluster: *mut c_void);
    fn rados_cluster_fsid(cluster: *mut c_void, buf: *mut c_char, len: usize) -> c_int;
    fn rados_get_instance_id(cluster: *mut c_void) -> u64;
    fn rados_wait_for_latest_osdmap(cluster: *mut c_void) -> c_int;
    fn rados_pool_lookup(cluster: *mut c_void, name: *const c_char) -> i64;
    fn rados_pool_list(cluster: *mut c_void, buf: *mut c_char, len: usize) -> c_int;
    fn rados_mon_command(cluster: *mut c_void, cmd: *mut *const c_char, cmdlen: usize, inbuf: *const c_char,
        inlen: usize, out: *mut *mut c_char, outlen: *mut usize, status: *mut *mut c_char,
        statuslen: *mut usize) -> c_int;
    fn rados_mon_command_target(cluster: *mut c_void, name: *const c_char, cmd: *mut *const c_char, cmdlen: usize,
        inbuf: *const c_char, inlen: usize, out: *mut *mut c_char, outlen: *mut usize, status: *mut *mut c_char,
        statuslen: *mut usize) -> c_int;
    fn rados_mgr_command(cluster: *mut c_void, cmd: *mut *const c_char, cmdlen: usize, inbuf: *const c_char,
        inlen: usize, out: *mut *mut c_char, outlen: *mut usize, status: *mut *mut c_char,
        statuslen: *mut usize) -> c_int;
    fn rados_osd_command(cluster: *mut c_void, osd: c_int, cmd: *mut *const c_char, cmdlen: usize,
        inbuf: *const c_char, inlen: usize, out: *mut *mut c_char, outlen: *mut usize, status: *mut *mut c_char,
        statuslen: *mut usize) -> c_int;
    fn rados_buffer_free(buf: *mut c_char);
    fn rados_ioctx_create(cluster: *mut c_void, pool: *const c_char, io: *mut *mut c_void) -> c_int;
    fn rados_ioctx_destroy(io: *mut c_void);
    fn rados_ioctx_set_namespace(io: *mut c_void, namespace: *const c_char);
    fn rados_ioctx_get_id(io: *mut c_void) -> i64;
    fn rados_ioctx_pool_stat(io: *mut c_void, stat: *mut PoolStat) -> c_int;
    fn rados_read(io: *mut c_void, name: *const c_char, buf: *mut c_char, len: usize, offset: u64) -> c_int;
    fn rados_write_full(io: *mut c_void, name: *const c_char, buf: *const c_char, len: usize) -> c_int;
    fn rados_remove(io: *mut c_void, name: *const c_char) -> c_int;
    fn rados_nobjects_list_open(io: *mut c_void, list: *mut *mut c_void) -> c_int;
    fn rados_nobjects_list_next(list: *mut c_void, name: *mut *const c_char, key: *mut *const c_char,
        namespace: *mut *const c_char) -> c_int;
    fn rados_nobjects_list_close(list: *mut c_void);
    fn rados_aio_create_completion2(arg: *mut c_void, done: Option<Callback>, made: *mut *mut c_void) -> c_int;
    fn rados_aio_release(completion: *mut c_void);
    fn rados_aio_get_return_value(completion: *mut c_void) -> c_int;
    fn rados_aio_cancel(io: *mut c_void, completion: *mut c_void) -> c_int;
    fn rados_aio_read(io: *mut c_void, name: *const c_char, completion: *mut c_void, buf: *mut c_char, len: usize,
        offset: u64) -> c_int;
    fn rados_aio_write(io: *mut c_void, name: *const c_char, completion: *mut c_void, buf: *const c_char,
        len: usize, offset: u64) -> c_int;
    fn rados_aio_write_full(io: *mut c_void, name: *const c_char, completion: *mut c_void, buf: *const c_char,
        len: usize) -> c_int;
    fn rados_aio_remove(io: *mut c_void, name: *const c_char, completion: *mut c_void) -> c_int;
    fn rados_aio_stat(io: *mut c_void, name: *const c_char, completion: *mut c_void, size: *mut u64,
        mtime: *mut libc::time_t) -> c_int;
    fn rados_create_write_op() -> *mut c_void;
    fn rados_release_write_op(op: *mut c_void);
    fn rados_write_op_set_alloc_hint2(op: *mut c_void, object: u64, write: u64, flags: u32);
    fn rados_write_op_write(op: *mut c_void, buf: *const c_char, len: usize, offset: u64);
    fn rados_write_op_write_full(op: *mut c_void, buf: *const c_char, len: usize);
    fn rados_aio_write_op_operate(op: *mut c_void, io: *mut c_void, completion: *mut c_void, name: *const c_char,
        mtime: *mut libc::time_t, flags: c_int) -> c_int;
    optional {
        fn rados_set_pool_full_try(io: *mut c_void);
        fn rados_set_osdmap_full_try(io: *mut c_void);
    }
}
}
