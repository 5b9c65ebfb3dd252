//! Client and daemons on the same machine.
use super::finding;
use crate::Facts;
use fathom_model::{Finding, Severity};

pub(super) fn shared(facts: &Facts<'_>) -> Vec<Finding> {
    let client = facts.client_name.as_str();
    let Some(osds) = &facts.before.osd_metadata else { return Vec::new() };
    let hosts = osds.hosts();
    // One side may have the domain and the other not.
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    if client.is_empty() || !hosts.iter().any(|h| short(h) == short(client)) {
        return Vec::new();
    }
    let here = osds.osds.iter().filter(|o| short(&o.daemon.hostname) == short(client)).count();
    let mons = facts.before.mon_metadata.as_ref().map_or(&[][..], |m| &m.daemons);
    let mons_here = mons.iter().filter(|m| short(&m.hostname) == short(client)).count();
    let cpus = if facts.client.cpus > 0 { format!("{} CPUs", facts.client.cpus) } else { "CPUs".to_owned() };
    let (id, title) = if hosts.len() == 1 {
        ("one-machine", format!("client and OSDs share this machine's {cpus}"))
    } else {
        ("client-on-osd-host", format!("the client runs on a machine with OSDs and shares its {cpus}"))
    };
    vec![finding(
        id,
        Severity::Note,
        title,
        format!(
            "client {client}: {here} of {} OSDs and {mons_here} of {} monitors run there",
            osds.osds.len(),
            mons.len()
        ),
        "fine for learning and for comparing two runs here; these numbers say nothing about a cluster on several machines",
        "host names of ceph osd metadata and ceph mon metadata",
    )]
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;

    #[test]
    fn the_same_host_name() {
        let with = |host: &str| {
            let mut case = Case::healthy();
            case.text("before", "/proc/cpuinfo", "processor: 0\nprocessor: 1\n");
            case.run.attempts.iter_mut().for_each(|a| a.host = host.to_owned());
            case.all("one-machine")
        };
        assert_eq!(with("node1.example.org")[0].title, "client and OSDs share this machine's 2 CPUs");
        assert!(with("node2").is_empty());
    }

    #[test]
    fn one_of_several_hosts() {
        let mut case = Case::healthy();
        case.run.attempts.iter_mut().for_each(|a| a.host = "node1".to_owned());
        case.replace_first("ceph osd metadata", "\"hostname\":\"node1\"", "\"hostname\":\"node9\"");
        assert!(case.one("client-on-osd-host").evidence.contains("2 of 3 OSDs"));
    }
}
