//! Hardware of the cluster's hosts, as their OSDs report it, and of the host that made the load.
use super::{ContextLine, Facts, known, member, tally};
use crate::words;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) fn lines(facts: &Facts<'_>) -> Vec<ContextLine> {
    let mut lines = facts.json("OSD hosts", "osd metadata", osds);
    lines.extend(facts.text("Load host CPU", "/proc/cpuinfo", cpu));
    lines.extend(facts.text("Load host memory", "/proc/meminfo", memory));
    lines.extend(network(facts));
    lines
}

fn osds(metadata: &Value) -> Vec<(String, String)> {
    let empty = Vec::new();
    let osds = metadata.as_array().unwrap_or(&empty);
    let mut hosts: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for osd in osds {
        hosts.entry(member(osd, "hostname").unwrap_or_else(|| "unknown host".to_owned())).or_default().push(osd);
    }
    let mut lines = vec![(
        "OSDs".to_owned(),
        format!("{} on {}", words::plural(osds.len() as u64, "OSD"), words::plural(hosts.len() as u64, "host")),
    )];
    let mut alike: Vec<(Vec<String>, String)> = Vec::new();
    for (host, osds) in hosts {
        // Hosts that are built alike share a line: a hundred equal lines hide the one that differs.
        let text = host_text(&osds);
        match alike.iter_mut().find(|(_, t)| *t == text) {
            Some((names, _)) => names.push(host),
            None => alike.push((vec![host], text)),
        }
    }
    for (names, text) in alike {
        let name = match names.as_slice() {
            [first, _, _, .., last] => format!("{} hosts, {first} … {last}", names.len()),
            few => format!("Host {}", few.join(", ")),
        };
        lines.push((name, text));
    }
    lines.retain(|(_, value)| !value.is_empty());
    if osds.is_empty() { Vec::new() } else { lines }
}

fn host_text(osds: &[&Value]) -> String {
    let Some(first) = osds.first() else { return String::new() };
    let mut parts = Vec::new();
    parts.extend(member(first, "cpu"));
    if let Some(kb) = member(first, "mem_total_kb").and_then(|kb| kb.parse::<f64>().ok()) {
        parts.push(format!("{} memory", words::bytes(kb * 1024.0)));
    }
    parts.push(tally(osds.iter().map(|osd| device(osd))));
    parts.join(", ")
}

fn device(osd: &Value) -> String {
    let kind = member(osd, "bluestore_bdev_type").unwrap_or_else(|| "device".to_owned());
    let size = member(osd, "bluestore_bdev_size").and_then(|b| b.parse::<f64>().ok()).map(words::bytes);
    // `sda=ATA_MODEL_SERIAL`: the serial number makes equal disks look different.
    let model = member(osd, "device_ids").and_then(|ids| {
        let id = ids.split(',').next()?.split('=').nth(1)?.to_owned();
        Some(id.rsplit_once('_').map_or(id.clone(), |(model, _)| model.to_owned()))
    });
    let own =
        |flag: &str, what: &str| (member(osd, flag).as_deref() == Some("1")).then(|| format!("own {what} device"));
    let parts = [Some(kind), size, model, own("bluefs_dedicated_db", "DB"), own("bluefs_dedicated_wal", "WAL")];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn cpu(text: &str) -> Vec<(String, String)> {
    let models = text.lines().filter_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let list = tally(models.map(|(_, model)| model.trim().to_owned()));
    if list.is_empty() { Vec::new() } else { vec![("Load host CPU".to_owned(), list)] }
}

fn memory(text: &str) -> Vec<(String, String)> {
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB"));
    let kib = total.and_then(|kib| kib.trim().parse::<f64>().ok());
    kib.map(|kib| ("Load host memory".to_owned(), words::bytes(kib * 1024.0))).into_iter().collect()
}

/// Interfaces of the load host: one fact per file under `/sys/class/net`.
fn network(facts: &Facts<'_>) -> Vec<ContextLine> {
    let mut lines = Vec::new();
    for fact in facts.facts.iter().filter(|f| f.error.is_none() && f.source.contains("/sys/class/net/")) {
        let mut path = fact.source.split("/sys/class/net/").nth(1).unwrap_or_default().split('/');
        let (Some(interface), Some(what)) = (path.next(), path.next()) else { continue };
        let value = fact.text.trim();
        let value = match what {
            "speed" => format!("{value} Mbit/s"),
            "mtu" => format!("MTU {value} bytes"),
            _ => continue,
        };
        lines.push(known(&format!("Load host NIC {interface}"), &value, &fact.source));
    }
    if lines.is_empty() {
        lines = facts.text("Load host NIC", "ip -j", |_| Vec::new());
    }
    lines
}
