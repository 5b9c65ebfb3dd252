//! What a lab is to be like.
use crate::error::{LabError, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// What a lab is to be like. [`LabSpec::new`] gives the defaults.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabSpec {
    /// The directory the lab lives in. It must not exist yet, be empty, or hold an earlier lab; its parent must exist.
    pub dir: PathBuf,
    /// How many OSDs, 1 to 32.
    pub osds: u32,
    /// Size of each OSD's disk in bytes, at least 1 GiB. The file is sparse: it takes what is written to it.
    pub size_bytes: u64,
    /// `osd_memory_target` in bytes, at least 896 MiB (Ceph's own lower limit).
    pub osd_memory_bytes: u64,
    /// More settings for the `[global]` section of `ceph.conf`; one of the lab's own settings is replaced by them.
    pub conf: Vec<(String, String)>,
    /// How many monitors, 1 to 5.
    pub mon_count: u32,
}

/// Settings that say where the lab is and whose it is (another value would let it touch what is not its own), and
/// those that are fields of [`LabSpec`].
const OWN: &[&str] = &[
    "fsid",
    "mon_host",
    "run_dir",
    "admin_socket",
    "pid_file",
    "log_file",
    "keyring",
    "key",
    "keyfile",
    "mon_data",
    "mgr_data",
    "osd_data",
    "mds_data",
    "rgw_data",
    "crash_dir",
    "mon_cluster_log_file",
    "public_addr",
    "public_network",
    "cluster_network",
    "auth_cluster_required",
    "auth_service_required",
    "auth_client_required",
    "bluestore_block_path",
    "bluestore_block_size",
    "osd_memory_target",
    "setuser",
    "setgroup",
    "chdir",
    "daemonize",
];

impl LabSpec {
    /// Three OSDs of 10 GiB with a memory target of 1 GiB each, one monitor, nothing else set.
    #[must_use]
    pub fn new(dir: impl Into<PathBuf>) -> LabSpec {
        LabSpec {
            dir: dir.into(),
            osds: 3,
            size_bytes: 10 * GIB,
            osd_memory_bytes: GIB,
            conf: Vec::new(),
            mon_count: 1,
        }
    }

    /// The specification with an absolute directory, or what is wrong with it.
    pub(crate) fn resolved(&self) -> Result<LabSpec> {
        let usage = |text: String| Err(LabError::Usage(text));
        if !(1..=32).contains(&self.osds) {
            return usage(format!("{} OSDs asked for: a lab on one machine has 1 to 32", self.osds));
        }
        if !(1..=5).contains(&self.mon_count) {
            return usage(format!("{} monitors asked for: a lab on one machine has 1 to 5", self.mon_count));
        }
        if self.size_bytes < GIB {
            return usage(format!(
                "an OSD of {} bytes is too small: BlueStore needs at least 1 GiB here (the file is sparse)",
                self.size_bytes
            ));
        }
        if self.osd_memory_bytes < 896 * MIB {
            return usage(format!(
                "an OSD memory target of {} bytes is too small: Ceph's lower limit is 896 MiB",
                self.osd_memory_bytes
            ));
        }
        for (key, value) in &self.conf {
            check_setting(key, value)?;
        }
        Ok(LabSpec { dir: absolute(&self.dir)?, ..self.clone() })
    }
}

/// A configuration key as Ceph compares them: `osd pool-default size` is `osd_pool_default_size`.
pub(crate) fn normal_key(key: &str) -> String {
    key.trim().replace([' ', '-'], "_").to_ascii_lowercase()
}

fn check_setting(key: &str, value: &str) -> Result<()> {
    let name = normal_key(key);
    let named = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_/.".contains(c));
    if !named || value.contains(['\n', '\r', '\0']) {
        return Err(LabError::Usage(format!(
            "`{} = {}` is not a Ceph setting: write KEY=VALUE on one line, as in osd_pool_default_size=3",
            key.escape_debug(),
            value.escape_debug()
        )));
    }
    if OWN.contains(&name.as_str()) {
        return Err(LabError::Usage(format!(
            "`{name}` is set by the lab itself, because it keeps labs apart or has an option of its own: leave it out"
        )));
    }
    Ok(())
}

/// The directory with all symbolic links of its parent resolved. Ceph's configuration file gives blanks, quotes, `$`,
/// `#` and the like a meaning, so a path with one of them is turned away before anything is made.
pub(crate) fn absolute(dir: &Path) -> Result<PathBuf> {
    let full = if let Ok(found) = dir.canonicalize() {
        found
    } else {
        let name = dir.file_name().ok_or_else(|| {
            LabError::Usage(format!("`{}` names no directory: give one such as ./lab", dir.display()))
        })?;
        let parent = match dir.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let parent = parent.canonicalize().map_err(|error| {
            LabError::Usage(format!("cannot use {} for a lab: {error}; make the directory first", parent.display()))
        })?;
        parent.join(name)
    };
    let plain = full.to_str().is_some_and(|text| {
        text.chars().all(|c| c.is_alphanumeric() || "/._-+@:~".contains(c)) && full.parent().is_some()
    });
    if !plain {
        return Err(LabError::Usage(format!(
            "{} cannot hold a lab: Ceph's configuration file gives some characters in it a meaning; use a path of \
             letters, digits and . _ - + only",
            full.display()
        )));
    }
    Ok(full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_a_usage_error() {
        let good = LabSpec::new("/tmp/fathom-no-such-lab");
        assert!(good.resolved().is_ok());
        let conf = |key: &str, value: &str| LabSpec { conf: vec![(key.into(), value.into())], ..good.clone() };
        for bad in [
            LabSpec { osds: 0, ..good.clone() },
            LabSpec { osds: 1000, ..good.clone() },
            LabSpec { mon_count: 0, ..good.clone() },
            LabSpec { size_bytes: 1 << 20, ..good.clone() },
            LabSpec { osd_memory_bytes: 1 << 20, ..good.clone() },
            LabSpec::new("/"),
            LabSpec::new("/tmp/a b"),
            LabSpec::new("/tmp/$pid"),
            LabSpec::new("/no/such/parent/lab"),
            conf("[osd]", "1"),
            conf("osd pool default size", "3\nfsid = 1"),
            conf("Mon-Host", "1.2.3.4"),
            conf("keyring", "/etc/ceph/keyring"),
        ] {
            assert!(matches!(bad.resolved(), Err(LabError::Usage(_))), "{bad:?}");
        }
        assert!(conf("osd pool default size", "3").resolved().is_ok());
    }
}
