//! The control plane: connecting, commands, single objects. Nothing here is measured.
//!
//! Connecting fails in few ways that people meet every day; each gets a sentence that says what is wrong and what to
//! do. Which errno means what was found out on real clusters and is written where it is told apart.
use crate::layer::LoadError;
use crate::sys::{Cluster, Errno, IoCtx};
pub use crate::sys::{CommandFailed as CommandError, Target};
use fathom_model::{Connect, errno_name};
use std::path::Path;
use std::sync::Arc;

/// A handle for commands. It may be used from several threads at once.
pub struct ControlHandle {
    cluster: Arc<Cluster>,
    fsid: String,
}

impl ControlHandle {
    /// Connects, within `connect.timeout_ns`.
    ///
    /// # Errors
    /// [`LoadError::Unreachable`] with what is wrong and what to do.
    pub fn connect(connect: &Connect) -> Result<ControlHandle, LoadError> {
        let cluster = open(connect, &deadlines(connect))?;
        let fsid =
            cluster.fsid().map_err(|e| unreachable(format!("the cluster did not tell its id: {}", errno_name(e))))?;
        Ok(ControlHandle { cluster, fsid })
    }

    /// The cluster's id.
    #[must_use]
    pub fn fsid(&self) -> &str {
        &self.fsid
    }

    /// An option of the client's configuration as it is in force; `None` when it has no such option.
    #[must_use]
    pub fn option(&self, key: &str) -> Option<String> {
        self.cluster.get(key)
    }

    /// Sends a command, a JSON object with at least a `prefix`, and returns the text it answers with.
    ///
    /// # Errors
    /// The daemon's errno and status text. `ETIMEDOUT` when no answer came within the deadline.
    pub fn command(&self, target: &Target, json: &str) -> Result<String, CommandError> {
        self.cluster.command(target, json).map(|bytes| match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(e) => String::from_utf8_lossy(e.as_bytes()).into_owned(),
        })
    }

    /// A pool's number; `None` when there is no pool of that name.
    ///
    /// # Errors
    /// When the cluster doesn't answer.
    pub fn pool_id(&self, pool: &str) -> Result<Option<i64>, LoadError> {
        // The map this handle has may be older than the pool.
        self.cluster.wait_for_latest_map().map_err(|e| unreachable(format!("no OSD map: {}", errno_name(e))))?;
        match self.cluster.pool_id(pool) {
            Ok(id) => Ok(Some(id)),
            Err(libc::ENOENT) => Ok(None),
            Err(e) => Err(unreachable(format!("pool {pool}: {}", errno_name(e)))),
        }
    }

    /// Reads up to `max` bytes of an object; `None` when there is no such object.
    ///
    /// # Errors
    /// When the pool is missing or the read fails.
    pub fn read_object(
        &self,
        pool: &str,
        namespace: &str,
        name: &str,
        max: usize,
    ) -> Result<Option<Vec<u8>>, LoadError> {
        match self.pool(pool, namespace)?.read(name, max) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(libc::ENOENT) => Ok(None),
            Err(e) => Err(object_failed("read", pool, name, e)),
        }
    }

    /// Makes `data` the whole content of an object.
    ///
    /// # Errors
    /// When the pool is missing or the write fails.
    pub fn write_object(&self, pool: &str, namespace: &str, name: &str, data: &[u8]) -> Result<(), LoadError> {
        self.pool(pool, namespace)?.write(name, data).map_err(|e| object_failed("write", pool, name, e))
    }

    /// Removes an object; false when there was none.
    ///
    /// # Errors
    /// When the pool is missing or the removal fails.
    pub fn remove_object(&self, pool: &str, namespace: &str, name: &str) -> Result<bool, LoadError> {
        match self.pool(pool, namespace)?.remove(name) {
            Ok(()) => Ok(true),
            Err(libc::ENOENT) => Ok(false),
            Err(e) => Err(object_failed("remove", pool, name, e)),
        }
    }

    /// Names of up to `limit` objects in a namespace. Reads through the whole pool: meant for pools of our own.
    ///
    /// # Errors
    /// When the pool is missing or the listing fails.
    pub fn list_objects(&self, pool: &str, namespace: &str, limit: usize) -> Result<Vec<String>, LoadError> {
        let failed = |e| LoadError::Failed(format!("listing pool {pool}: {}", errno_name(e)));
        self.pool(pool, namespace)?.list(limit).map_err(failed)
    }

    /// Opens a pool with this handle.
    ///
    /// # Errors
    /// [`LoadError::Unreachable`] when there is no such pool.
    pub fn pool(&self, pool: &str, namespace: &str) -> Result<IoCtx, LoadError> {
        open_pool(&self.cluster, pool, namespace)
    }
}

/// Opens a pool, waiting for a newer map when the one at hand does not know it.
pub(crate) fn open_pool(cluster: &Arc<Cluster>, pool: &str, namespace: &str) -> Result<IoCtx, LoadError> {
    let first = IoCtx::open(cluster, pool, namespace);
    let opened = match first {
        Err(libc::ENOENT) if cluster.wait_for_latest_map().is_ok() => IoCtx::open(cluster, pool, namespace),
        other => other,
    };
    opened.map_err(|e| match e {
        libc::ENOENT => {
            let known = match cluster.pools() {
                Ok(names) if names.is_empty() => "there are no pools".to_owned(),
                Ok(names) => format!("pools that exist: {}", names.join(", ")),
                Err(_) => "`ceph osd pool ls` lists those that exist".to_owned(),
            };
            unreachable(format!("there is no pool named {pool}; {known}"))
        }
        e => unreachable(format!("pool {pool} can't be opened: {}", errno_name(e))),
    })
}

/// Options that bound every wait of a control handle by `connect.timeout_ns`.
///
/// Data handles must not set `rados_osd_op_timeout`: it starts a timer per operation, which costs CPU in every one,
/// and their operations have the driver's own deadline.
pub(crate) fn deadlines(connect: &Connect) -> Vec<(&'static str, String)> {
    let seconds = seconds(connect).to_string();
    vec![("rados_mon_op_timeout", seconds.clone()), ("rados_osd_op_timeout", seconds)]
}

/// The deadline in whole seconds, the unit of these options; at least one, because 0 means for ever.
fn seconds(connect: &Connect) -> u64 {
    connect.timeout_ns.div_ceil(1_000_000_000).max(1)
}

/// What every handle of ours sets: a library inside a tool prints nothing, writes no log and listens nowhere.
const SILENT: [(&str, &str); 9] = [
    ("log_file", ""),
    ("log_to_stderr", "false"),
    ("err_to_stderr", "false"),
    ("log_to_syslog", "false"),
    ("err_to_syslog", "false"),
    ("clog_to_monitors", "false"),
    ("mon_cluster_log_to_file", "false"),
    // A path without `$pid` in it collides with that of another client of the same name.
    ("admin_socket", ""),
    ("log_flush_on_exit", "false"),
];

/// Makes a handle, configures it and connects it.
pub(crate) fn open(connect: &Connect, options: &[(&'static str, String)]) -> Result<Arc<Cluster>, LoadError> {
    let user = full_name(&connect.user);
    let cluster = Cluster::create(&user).map_err(|e| match e {
        Err(absent) => unreachable(absent.to_string()),
        Ok(libc::EINVAL) => LoadError::Usage(format!("`{user}` is not a user: write client.NAME")),
        Ok(errno) => unreachable(format!("librados refuses to start: {}", errno_name(errno))),
    })?;
    read_conf(&cluster, connect)?;
    // Broken CEPH_ARGS are no reason to refuse: Ceph's own tools ignore what they don't know there.
    let _ = cluster.read_env();
    if let Some(keyring) = &connect.keyring {
        readable(keyring, "keyring", "give the path of one with --keyring")?;
        set(&cluster, "keyring", keyring)?;
    }
    for (key, value) in SILENT {
        // An option another release doesn't have is not needed there.
        let _ = cluster.set(key, value);
    }
    set(&cluster, "client_mount_timeout", &seconds(connect).to_string())?;
    for (key, value) in options {
        // As above; what was really in force is read back for the report.
        let _ = cluster.set(key, value);
    }
    cluster.connect().map_err(|errno| unreachable(why_not(&cluster, connect, &user, errno)))?;
    Ok(Arc::new(cluster))
}

/// `admin` and `client.admin` are the same user, as for `ceph --id` and `ceph --name`.
fn full_name(user: &str) -> String {
    match user {
        "" => "client.admin".to_owned(),
        name if name.contains('.') => name.to_owned(),
        id => format!("client.{id}"),
    }
}

fn read_conf(cluster: &Cluster, connect: &Connect) -> Result<(), LoadError> {
    if let Some(path) = &connect.conf {
        readable(path, "configuration file", "give the path of the cluster's ceph.conf with --conf")?;
    }
    cluster.read_conf(connect.conf.as_deref()).map_err(|errno| {
        let path = connect.conf.clone().unwrap_or_else(searched);
        unreachable(match errno {
            libc::ENOENT if connect.conf.is_none() => {
                format!("no configuration file found ({path}): give the path of the cluster's ceph.conf with --conf")
            }
            libc::EINVAL => {
                format!("configuration file {path} does not parse: check its syntax (the last line must end too)")
            }
            other => format!("configuration file {path} can't be read: {}", errno_name(other)),
        })
    })
}

/// Where librados looks for a configuration when none is named.
fn searched() -> String {
    std::env::var("CEPH_CONF").unwrap_or_else(|_| "/etc/ceph/ceph.conf, ~/.ceph/ceph.conf, ./ceph.conf".to_owned())
}

/// Tells a missing file from an unreadable one before librados reduces both to an errno.
fn readable(path: &str, what: &str, advice: &str) -> Result<(), LoadError> {
    match std::fs::File::open(Path::new(path)) {
        Ok(_) => Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            Err(unreachable(format!("{what} {path} does not exist: {advice}")))
        }
        Err(e) => Err(unreachable(format!("{what} {path} can't be read ({e}): {advice}"))),
    }
}

fn set(cluster: &Cluster, key: &str, value: &str) -> Result<(), LoadError> {
    cluster
        .set(key, value)
        .map_err(|e| LoadError::Failed(format!("option {key} can't be set to `{value}`: {}", errno_name(e))))
}

/// What a failed `rados_connect` means. Found on 16.2.15: the monitors answer `EACCES` to a wrong key and to an unknown
/// user and to one without monitor caps alike, and librados says the same when the keyring has no key of that name; `ENOENT` when there is no readable
/// keyring, or no monitor is named; `EINVAL` when a monitor's name does not resolve; `ETIMEDOUT` when none answers.
fn why_not(cluster: &Cluster, connect: &Connect, user: &str, errno: Errno) -> String {
    let mons = cluster.get("mon_host").unwrap_or_default();
    let keyring = cluster.get("keyring").unwrap_or_default();
    let files: Vec<&str> = keyring.split([',', ';', ' ']).filter(|file| !file.is_empty()).collect();
    match errno {
        libc::ETIMEDOUT => {
            let seconds = seconds(connect);
            format!(
                "no monitor answered within {seconds} s ({mons}): are they running, and can this machine reach them?"
            )
        }
        libc::ENOENT if mons.is_empty() => {
            let conf = connect.conf.as_deref().unwrap_or("ceph.conf");
            format!("the configuration names no monitor: add `mon host = …` to {conf}")
        }
        libc::EINVAL if !mons.is_empty() => {
            format!("monitor address {mons} can't be used (does the name resolve?): check `mon host` in ceph.conf")
        }
        libc::EACCES | libc::EPERM => match files.iter().find(|file| Path::new(file).exists()) {
            Some(file) if !has_section(file, user) => {
                format!("keyring {file} has no key for {user}: give one that has it with --keyring")
            }
            _ => format!(
                "the cluster refuses {user} with the key in {keyring}: it is another key, there is no such user, or it \
                 lacks the caps mon 'allow r'; `ceph auth get {user}` shows which ({})",
                errno_name(errno)
            ),
        },
        libc::ENOENT => match files.iter().find(|file| Path::new(file).exists()) {
            Some(file) => {
                format!("keyring {file} can't be read: run as a user who may, or give another with --keyring")
            }
            None => format!("no keyring for {user} in {}: give the path of one with --keyring", files.join(", ")),
        },
        libc::EIO | libc::EISDIR => format!("{keyring} is not a keyring: give the path of one with --keyring"),
        other => format!("connecting to {mons} as {user} failed: {}", errno_name(other)),
    }
}

/// True when a keyring has a section for `user`, or can't be read to tell. Keys are neither kept nor shown.
fn has_section(file: &str, user: &str) -> bool {
    let Ok(text) = std::fs::read_to_string(file) else { return true };
    text.lines().any(|line| line.trim() == format!("[{user}]"))
}

fn object_failed(verb: &str, pool: &str, name: &str, errno: Errno) -> LoadError {
    LoadError::Failed(format!("{verb} of object {name} in pool {pool}: {}", explained(errno)))
}

/// An errno an OSD answers an object operation with, and what it means to whoever runs this.
pub(crate) fn explained(errno: Errno) -> String {
    let advice = match errno {
        libc::EPERM | libc::EACCES => "the user's caps don't allow it: `ceph auth get` shows them",
        libc::ENOSPC | libc::EDQUOT => "cluster, pool or quota is full: `ceph health detail` tells which",
        libc::ETIMEDOUT => "an OSD did not answer in time: `ceph health detail`, `ceph osd tree`",
        libc::ESHUTDOWN => "`ceph osd blocklist ls` shows it",
        libc::EOPNOTSUPP => "erasure-coded without allow_ec_overwrites?",
        _ => return errno_name(errno).to_owned(),
    };
    format!("{}; {advice}", errno_name(errno))
}

fn unreachable(text: String) -> LoadError {
    LoadError::Unreachable(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_user_name_is_a_client() {
        assert_eq!(full_name(""), "client.admin");
        assert_eq!(full_name("bench"), "client.bench");
        assert_eq!(full_name("client.bench"), "client.bench");
        assert_eq!(full_name("mgr.x"), "mgr.x");
    }

    #[test]
    fn deadlines_are_whole_seconds_and_never_for_ever() {
        let with = |timeout_ns| seconds(&Connect { timeout_ns, ..Connect::default() });
        assert_eq!(with(0), 1);
        assert_eq!(with(1), 1);
        assert_eq!(with(1_000_000_000), 1);
        assert_eq!(with(2_500_000_000), 3);
    }

    #[test]
    fn a_missing_file_is_named_with_what_to_do() {
        let connect = Connect { conf: Some("/nonexistent/ceph.conf".into()), timeout_ns: 1, ..Connect::default() };
        match ControlHandle::connect(&connect).err() {
            // Where librados is not installed that is what is reported, and first.
            Some(LoadError::Unreachable(text)) => assert!(
                text == "configuration file /nonexistent/ceph.conf does not exist: give the path of the cluster's \
                         ceph.conf with --conf"
                    || text.contains("apt install librados2"),
                "{text}"
            ),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_keyring_is_searched_for_a_name() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("keyring");
        std::fs::write(&file, "[client.admin]\n\tkey = AQ==\n").unwrap();
        let file = file.to_str().unwrap();
        assert!(has_section(file, "client.admin"));
        assert!(!has_section(file, "client.adm"));
        assert!(has_section("/nonexistent", "client.admin"));
    }
}
