//! The lab's `ceph.conf` and keyring: what differs from a production cluster, and why.
use crate::{
    error::{LabError, Result},
    marker::Marker,
    program,
    spec::normal_key,
};
use std::{fs::OpenOptions, io::Write, os::unix::fs::OpenOptionsExt, path::Path, time::Duration};

/// Subsystems on the path of an operation. At their default level they gather five levels of text in memory for every
/// message, which on a small machine costs more than it tells; errors are logged at level -1 all the same.
const SILENT: &[&str] = &[
    "asok",
    "auth",
    "bdev",
    "bluefs",
    "bluestore",
    "buffer",
    "compressor",
    "context",
    "crush",
    "finisher",
    "heartbeatmap",
    "mgrc",
    "monc",
    "ms",
    "objclass",
    "objecter",
    "optracker",
    "osd",
    "perfcounter",
    "rados",
    "rbd",
    "reserver",
    "rocksdb",
    "striper",
    "throttle",
    "timer",
    "tp",
];

/// Manager modules nobody needs for a bench: loading all of them takes three seconds of CPU and 100 MB. The always-on
/// ones, `prometheus` and `stats` stay. A name a release does not have does no harm.
const NO_MODULES: &str = "alerts cephadm cli_api dashboard diskprediction_local feedback hello influx insights k8sevents \
    localpool mds_autoscaler mirroring nfs osd_perf_query restful rgw rook selftest smb snap_schedule telegraf \
    test_orchestrator zabbix";

/// The text of `ceph.conf`.
pub(crate) fn text(marker: &Marker) -> String {
    let (spec, dir, run) = (&marker.spec, marker.spec.dir.display(), marker.run_dir().display().to_string());
    let mut global: Vec<(String, String)> = Vec::new();
    let mut set = |key: &str, value: &dyn std::fmt::Display| global.push((key.to_owned(), value.to_string()));
    // Who and where.
    set("fsid", &marker.fsid);
    set("mon_host", &marker.mon_host);
    set("keyring", &marker.keyring().display());
    set("run_dir", &run);
    set("crash_dir", &format_args!("{dir}/crash"));
    set("mon_data", &format_args!("{dir}/$name"));
    set("mgr_data", &format_args!("{dir}/$name"));
    set("osd_data", &format_args!("{dir}/$name"));
    set("mds_data", &format_args!("{dir}/$name"));
    set("rgw_data", &format_args!("{dir}/$name"));
    set("mon_cluster_log_file", &format_args!("{dir}/log/cluster.log"));
    // Loopback only: a lab's keys are not meant to keep a network out.
    set("public_addr", &"127.0.0.1");
    set("public_network", &"127.0.0.0/8");
    set("ms_bind_ipv6", &"false");
    // As on a real cluster.
    set("auth_cluster_required", &"cephx");
    set("auth_service_required", &"cephx");
    set("auth_client_required", &"cephx");
    set("auth_allow_insecure_global_id_reclaim", &"false");
    // One machine is the only failure domain there is; with fewer OSDs than copies no PG would become clean.
    set("osd_crush_chooseleaf_type", &"0");
    set("osd_pool_default_size", &spec.osds.min(2));
    set("osd_pool_default_min_size", &"1");
    set("mon_allow_pool_size_one", &"true");
    set("mon_allow_pool_delete", &"true");
    set("mon_warn_on_pool_no_redundancy", &"false");
    // A pool keeps the PGs it was made with: a split in the middle of a measurement would spoil it.
    set("osd_pool_default_pg_autoscale_mode", &"off");
    // Thirty percent of the disk free, Ceph's default, is no matter on a laptop.
    set("mon_data_avail_warn", &"3");
    set("mon_data_avail_crit", &"1");
    set("osd_memory_target", &spec.osd_memory_bytes);
    set("bluestore_block_size", &spec.size_bytes);
    set("mgr_initial_modules", &"");
    set("mgr_disabled_modules", &NO_MODULES);
    for name in SILENT {
        set(&format!("debug_{name}"), &"0/0");
    }
    global.retain(|(key, _)| !spec.conf.iter().any(|(other, _)| normal_key(other) == *key));
    global.extend(spec.conf.iter().map(|(key, value)| (normal_key(key), value.trim().to_owned())));

    let mut text =
        format!("# Made by fathom for lab {}. Remove the lab with: fathom lab down {dir}\n[global]\n", marker.id);
    for (key, value) in &global {
        text += &format!("{key} = {value}\n");
    }
    for kind in ["mon", "mgr", "osd", "mds"] {
        text += &format!(
            "[{kind}]\nadmin_socket = {run}/$name.asok\npid_file = {run}/$name.pid\nlog_file = {dir}/log/$name.log\n"
        );
    }
    // Two clients of one name, or two handles of one process, must not meet on a socket. Clients write no log file.
    text += &format!("[client]\nadmin_socket = {run}/$name.$pid.$cctid.asok\n");
    text
}

/// Makes the keyring: every key the cluster starts with, so that the monitor knows the daemons from its first moment
/// and no `ceph auth` call is needed.
///
/// Ceph's own tool makes the keys, because their kind differs by release: from 20.2.4 on monitors turn away the AES-128
/// keys that all releases before knew (`auth_allowed_ciphers` is `aes256k`).
pub(crate) fn make_keyring(marker: &Marker) -> Result<()> {
    let path = marker.keyring();
    let file = path.display().to_string();
    // It exists before the first key is in it, so that nobody else can ever open it.
    write(&path, "", 0o600)?;
    let add = |name: &str, caps: &[(&str, &str)]| -> Result<()> {
        let mut args = vec![file.as_str(), "--gen-key", "-n", name];
        for (service, cap) in caps {
            args.extend(["--cap", service, cap]);
        }
        program::start(marker, "keyring", "ceph-authtool", &args, Duration::from_secs(20))?.wait()
    };
    add("mon.", &[("mon", "allow *")])?;
    add("client.admin", &[("mon", "allow *"), ("osd", "allow *"), ("mds", "allow *"), ("mgr", "allow *")])?;
    add("mgr.x", &[("mon", "allow profile mgr"), ("osd", "allow *"), ("mds", "allow *")])?;
    for n in 0..marker.spec.osds {
        let caps = [("mon", "allow profile osd"), ("mgr", "allow profile osd"), ("osd", "allow *")];
        add(&format!("osd.{n}"), &caps)?;
    }
    Ok(())
}

/// Writes a file with these permissions from its first byte on.
pub(crate) fn write(path: &Path, text: &str, mode: u32) -> Result<()> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(mode)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| LabError::io("write", path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::LabSpec;

    #[test]
    fn a_setting_of_the_user_replaces_the_labs() {
        let mut spec = LabSpec::new("/tmp/lab");
        spec.conf = vec![("osd pool default size".into(), "3".into()), ("debug-osd".into(), "20".into())];
        let text = text(&Marker::new(spec, false).unwrap());
        assert_eq!(text.matches("osd_pool_default_size").count(), 1);
        assert!(text.contains("\nosd_pool_default_size = 3\n") && text.contains("\ndebug_osd = 20\n"));
        assert!(!text.contains("debug_osd = 0/0"));
        let client = text.split_once("[client]").unwrap().1;
        assert!(client.contains("$pid") && !client.contains("log_file"), "{client}");
    }
}
