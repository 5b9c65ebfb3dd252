//! Daemons of different versions.
use super::finding;
use crate::{Facts, Version};
use fathom_model::{Finding, Severity};

pub(super) fn differ(facts: &Facts<'_>) -> Vec<Finding> {
    let Some(versions) = &facts.before.versions else { return Vec::new() };
    let distinct = versions.distinct();
    if distinct.len() < 2 {
        return Vec::new();
    }
    let short = |text: &str| Version::parse(text).map_or_else(|| text.to_owned(), |v| v.to_string());
    let counts: Vec<String> =
        versions.daemons.iter().map(|(kind, v, n)| format!("{n} {kind} on {}", short(v))).collect();
    vec![finding(
        "versions-differ",
        Severity::Warn,
        format!("the daemons run {} different versions", distinct.len()),
        counts.join(", "),
        "finish the upgrade before measuring: numbers of a mixed cluster belong to neither version",
        "ceph versions",
    )]
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;

    #[test]
    fn one_daemon_of_another_version() {
        let mut case = Case::healthy();
        case.replace("ceph versions", "\"mgr\":{\"ceph version 18.2.7", "\"mgr\":{\"ceph version 18.2.4");
        assert!(case.one("versions-differ").evidence.contains("1 mgr on 18.2.4 reef"));
        assert!(Case::healthy().all("versions-differ").is_empty());
    }
}
