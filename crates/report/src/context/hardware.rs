//! Hardware of the cluster's hosts, as their OSDs report it, and of the host that made the load.
use super::{ContextLine, Texts, known, tally};
use crate::words;
use fathom_ceph::Facts;
use fathom_ceph::dump::OsdMetadata;
use std::collections::BTreeMap;

pub(super) fn lines(texts: &Texts<'_>, facts: &Facts<'_>) -> Vec<ContextLine> {
    let osds = facts.before.osd_metadata.as_ref().map(|m| m.osds.as_slice()).unwrap_or_default();
    let mut lines = texts.lines("OSD hosts", "osd metadata", hosts(osds));
    lines.extend(load_host(texts, facts));
    lines
}

fn hosts(osds: &[OsdMetadata]) -> Vec<(String, String)> {
    if osds.is_empty() {
        return Vec::new();
    }
    let mut hosts: BTreeMap<&str, Vec<&OsdMetadata>> = BTreeMap::new();
    for osd in osds {
        hosts.entry(&osd.daemon.hostname).or_default().push(osd);
    }
    let mut lines = vec![(
        "OSDs".to_owned(),
        format!("{} on {}", words::plural(osds.len() as u64, "OSD"), words::plural(hosts.len() as u64, "host")),
    )];
    // Hosts that are built alike share a line: a hundred equal lines hide the one that differs.
    let mut alike: Vec<(Vec<&str>, String)> = Vec::new();
    for (host, osds) in hosts {
        let text = host_text(&osds);
        match alike.iter_mut().find(|(_, t)| *t == text) {
            Some((names, _)) => names.push(host),
            None => alike.push((vec![host], text)),
        }
    }
    lines.extend(alike.into_iter().map(|(names, text)| {
        let name = match names.as_slice() {
            [first, _, _, .., last] => format!("{} hosts, {first} … {last}", names.len()),
            few => format!("Host {}", few.join(", ")),
        };
        (name, text)
    }));
    lines
}

fn host_text(osds: &[&OsdMetadata]) -> String {
    let Some(first) = osds.first() else { return String::new() };
    let mut parts = vec![first.daemon.cpu.clone()];
    if first.daemon.mem_total_kib > 0 {
        parts.push(format!("{} memory", words::bytes(first.daemon.mem_total_kib as f64 * 1024.0)));
    }
    let devices: Vec<String> = osds.iter().map(|osd| device(osd)).collect();
    parts.push(tally(devices.iter().map(String::as_str)));
    parts.push(interfaces(first));
    parts.retain(|p| !p.is_empty());
    parts.join(", ")
}

fn device(osd: &OsdMetadata) -> String {
    let kind = match osd.rotational {
        Some(true) => "HDD",
        Some(false) => "SSD",
        None => "device",
    };
    let mut parts = vec![kind.to_owned()];
    if osd.size_bytes > 0 {
        parts.push(words::bytes(osd.size_bytes as f64));
    }
    // `sda=MODEL_SERIAL`: the serial number would make equal disks look different.
    let model = osd.device_ids.split(',').next().and_then(|id| id.split_once('=')).map(|(_, id)| id);
    parts.extend(model.map(|id| id.rsplit_once('_').map_or(id, |(model, _)| model).to_owned()));
    for (own, what) in [(osd.dedicated_db, "own DB device"), (osd.dedicated_wal, "own WAL device")] {
        parts.extend(own.then(|| what.to_owned()));
    }
    if osd.access_mode == "file" {
        parts.push("(a file, not a disk)".to_owned());
    }
    parts.join(" ")
}

fn interfaces(osd: &OsdMetadata) -> String {
    match (osd.front_iface.as_str(), osd.back_iface.as_str()) {
        ("", "") => String::new(),
        (front, back) if front == back => format!("network on {front}"),
        (front, back) => format!("public network on {front}, cluster network on {back}"),
    }
}

fn load_host(texts: &Texts<'_>, facts: &Facts<'_>) -> Vec<ContextLine> {
    let host = &facts.client;
    let one = |name: &str, source: &str, value: String| {
        let values = if value.is_empty() { Vec::new() } else { vec![(name.to_owned(), value)] };
        texts.lines(name, source, values)
    };
    let cpu = match (host.cpus, host.cpu_model.as_str()) {
        (0, model) => model.to_owned(),
        (n, model) => format!("{n} CPUs (hardware threads), {model}"),
    };
    let memory = if host.mem_total_bytes > 0 { words::bytes(host.mem_total_bytes as f64) } else { String::new() };
    let mut lines = one("Load host CPU", "/proc/cpuinfo", cpu);
    lines.extend(one("Load host memory", "/proc/meminfo", memory));
    // What carries no traffic (loopback, interfaces that are down) says nothing about the path to the cluster.
    let real = host.nics.iter().filter(|n| n.name != "lo" && n.operstate != "down");
    for nic in real {
        let speed = match nic.speed_mbit_per_s {
            Some(mbit) => format!("{} Gbit/s", words::factor(mbit as f64 / 1000.0)),
            None => "speed unknown".to_owned(),
        };
        let mtu = nic.mtu_bytes.map_or_else(|| "MTU unknown".to_owned(), |m| format!("MTU {m} bytes"));
        let state = if nic.operstate.is_empty() { String::new() } else { format!(", {}", nic.operstate) };
        let source = format!("/sys/class/net/{}/", nic.name);
        lines.push(known(&format!("Load host NIC {}", nic.name), &format!("{speed}, {mtu}{state}"), &source));
    }
    if host.nics.is_empty() {
        lines.push(super::unknown("Load host NIC", "not captured (/sys/class/net)", ""));
    }
    lines
}
