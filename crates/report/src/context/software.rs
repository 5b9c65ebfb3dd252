//! Exact versions: Ceph of every daemon, operating system, kernel, this program.
use super::{ContextLine, Texts, known, tally};
use fathom_ceph::Facts;
use fathom_model::RunData;

pub(super) fn lines(texts: &Texts<'_>, facts: &Facts<'_>, run: &RunData) -> Vec<ContextLine> {
    let versions = facts.before.versions.iter().flat_map(|v| &v.daemons).filter(|(_, _, n)| *n > 0);
    let daemons = versions.map(|(kind, version, n)| (format!("Ceph {kind}"), format!("{n} × {version}"))).collect();
    let mut lines = texts.lines("Ceph daemons", "versions", daemons);
    let osds = facts.before.osd_metadata.as_ref().map(|m| m.osds.as_slice()).unwrap_or_default();
    let mut systems = Vec::new();
    for (name, list) in [
        ("OSD hosts' system", tally(osds.iter().map(|o| o.daemon.distro.as_str()))),
        ("OSD hosts' kernel", tally(osds.iter().map(|o| o.daemon.kernel_version.as_str()))),
        ("Object store", tally(osds.iter().map(|o| o.objectstore.as_str()))),
    ] {
        if !list.is_empty() {
            systems.push((name.to_owned(), list));
        }
    }
    lines.extend(texts.lines("OSD hosts' system", "osd metadata", systems));
    let host = &facts.client;
    let kernel = if texts.find("/proc/version").is_some() { "/proc/version" } else { "/proc/sys/kernel/osrelease" };
    for (name, source, value) in
        [("Load host system", "/etc/os-release", &host.os), ("Load host kernel", kernel, &host.kernel)]
    {
        let values = if value.is_empty() { Vec::new() } else { vec![(name.to_owned(), value.clone())] };
        lines.extend(texts.lines(name, source, values));
    }
    lines.push(known("Tool", &run.info.build, ""));
    lines
}
