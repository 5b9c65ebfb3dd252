//! Exact versions: Ceph of every daemon, operating system, kernel, this program.
use super::{ContextLine, Facts, known, member, tally};
use crate::words;
use fathom_model::RunData;
use serde_json::Value;

pub(super) fn lines(facts: &Facts<'_>, run: &RunData) -> Vec<ContextLine> {
    let mut lines = facts.json("Ceph daemons", "ceph versions", versions);
    lines.extend(facts.json("OSD hosts' system", "osd metadata", |metadata| {
        let empty = Vec::new();
        let osds = metadata.as_array().unwrap_or(&empty);
        let of = |name: &str, key: &str| {
            let list = tally(osds.iter().filter_map(|osd| member(osd, key)));
            (!list.is_empty()).then(|| (name.to_owned(), list))
        };
        [of("OSD hosts' system", "distro_description"), of("OSD hosts' kernel", "kernel_version")]
            .into_iter()
            .flatten()
            .collect()
    }));
    lines.extend(facts.text("Load host system", "/etc/os-release", |text| {
        let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
        name.map(|n| ("Load host system".to_owned(), n.trim_matches('"').to_owned())).into_iter().collect()
    }));
    let kernel = if facts.find("osrelease").is_some() { "osrelease" } else { "/proc/version" };
    lines.extend(facts.text("Load host kernel", kernel, |text| {
        let first = text.lines().next().unwrap_or_default().trim();
        if first.is_empty() { Vec::new() } else { vec![("Load host kernel".to_owned(), words::plain(first))] }
    }));
    lines.push(known("Tool", &run.info.build, ""));
    lines
}

fn versions(versions: &Value) -> Vec<(String, String)> {
    let Some(types) = versions.as_object() else { return Vec::new() };
    types
        .iter()
        .filter(|(kind, _)| kind.as_str() != "overall")
        .filter_map(|(kind, list)| {
            let list = list.as_object().filter(|l| !l.is_empty())?;
            let texts: Vec<String> = list.iter().map(|(version, n)| format!("{n} × {version}")).collect();
            Some((format!("Ceph {kind}"), texts.join(", ")))
        })
        .collect()
}
