//! Flags of the OSD map that somebody set.
use super::finding;
use crate::Facts;
use fathom_model::{Finding, Severity};

/// Flags and what they do to a measurement; permanent ones such as `sortbitwise` are not among them.
const FLAGS: [(&str, Severity); 14] = [
    ("pauserd", Severity::Invalid),
    ("pausewr", Severity::Invalid),
    ("full", Severity::Invalid),
    ("nodown", Severity::Warn),
    ("noup", Severity::Warn),
    ("noin", Severity::Warn),
    ("norecover", Severity::Warn),
    ("nobackfill", Severity::Warn),
    ("noout", Severity::Note),
    ("norebalance", Severity::Note),
    ("noscrub", Severity::Note),
    ("nodeep-scrub", Severity::Note),
    ("nosnaptrim", Severity::Note),
    ("notieragent", Severity::Note),
];

pub(super) fn set(facts: &Facts<'_>) -> Vec<Finding> {
    let Some(map) = facts.before.osd_dump.as_ref().or(facts.after.osd_dump.as_ref()) else { return Vec::new() };
    let seen: Vec<&(&str, Severity)> = FLAGS.iter().filter(|(flag, _)| map.flags.iter().any(|f| f == flag)).collect();
    let Some(severity) = seen.iter().map(|(_, s)| *s).max() else { return Vec::new() };
    let names: Vec<String> = seen.iter().map(|(flag, _)| (*flag).to_owned()).collect();
    vec![finding(
        "osdmap-flags",
        severity,
        format!("flags are set on the cluster: {}", super::listed(&names)),
        format!("flags of epoch {}: {}", map.epoch, map.flags.join(",")),
        "unset what was not set on purpose (`ceph osd unset FLAG`); without scrubs numbers are better than in daily life, say so when you quote them",
        "ceph osd dump",
    )]
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;
    use fathom_model::Severity;

    #[test]
    fn the_gravest_flag_decides() {
        let with = |flags: &str| {
            let mut case = Case::healthy();
            case.replace(
                "ceph osd dump",
                "\"flags\":\"noscrub,sortbitwise",
                &format!("\"flags\":\"{flags}sortbitwise"),
            );
            case.severity("osdmap-flags")
        };
        assert_eq!(with(""), None);
        assert_eq!(with("noscrub,nodeep-scrub,"), Some(Severity::Note));
        assert_eq!(with("noscrub,nodown,"), Some(Severity::Warn));
        assert_eq!(with("pausewr,"), Some(Severity::Invalid));
    }
}
