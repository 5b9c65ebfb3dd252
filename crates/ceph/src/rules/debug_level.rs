//! Debug levels that cost time.
use super::finding;
use crate::Facts;
use fathom_model::{Finding, Severity};
use std::collections::BTreeMap;

/// Up to here the defaults of 16 to 20 go (`debug_osd 1/5`, `debug_bluestore 1/5`); gathering at 5 is their price.
const LEVEL_MAX: u32 = 5;

pub(super) fn up(facts: &Facts<'_>) -> Vec<Finding> {
    let shown = facts.before.config_show.iter().flat_map(|(osd, show)| {
        show.values.iter().map(move |(name, (value, _))| (name.as_str(), value.as_str(), format!("osd.{osd}")))
    });
    let dumped = facts.before.config.iter().flat_map(|c| &c.entries);
    let dumped = dumped.map(|e| (e.name.as_str(), e.value.as_str(), e.section.clone()));
    let mut high: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for (name, value, section) in shown.chain(dumped).filter(|(name, value, _)| is_high(name, value)) {
        high.entry((name, value)).or_default().push(section);
    }
    if high.is_empty() {
        return Vec::new();
    }
    let settings: Vec<String> =
        high.iter().map(|((name, value), at)| format!("{name}={value} ({})", super::listed(at))).collect();
    vec![finding(
        "debug-levels",
        Severity::Warn,
        "daemons write or gather a lot of debug messages".to_owned(),
        settings.join("; "),
        "set them back to their defaults (`ceph config rm WHO NAME`): each message costs CPU in the I/O path",
        "ceph config dump, ceph config show; defaults of 16 to 20 stay at 5 or below",
    )]
}

fn is_high(name: &str, value: &str) -> bool {
    // `debug_asserts_on_shutdown` and the like are no levels; debug_civetweb is 1/10 by default and concerns the
    // gateway's old front end alone (seen in `config show` of an untouched 16.2.15 OSD).
    if !name.starts_with("debug_") || name == "debug_civetweb" {
        return false;
    }
    let mut levels = value.split('/').map(|l| l.trim().parse::<u32>());
    let Some(Ok(log)) = levels.next() else { return false };
    let gather = levels.next().and_then(Result::ok).unwrap_or(log);
    // Each message on the wire is logged from debug_ms 1 on.
    log > LEVEL_MAX || gather > LEVEL_MAX || (name == "debug_ms" && log > 0)
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;

    #[test]
    fn levels_above_the_defaults() {
        let with = |name: &str, value: &str| {
            let mut case = Case::healthy();
            case.text(
                "before",
                "ceph config dump",
                &format!(r#"[{{"section":"osd","name":"{name}","value":"{value}","mask":""}}]"#),
            );
            case.severity("debug-levels").is_some()
        };
        assert!(
            with("debug_osd", "20/20")
                && with("debug_osd", "10")
                && with("debug_ms", "1/5")
                && with("debug_bluestore", "1/20")
        );
        assert!(
            !with("debug_osd", "1/5")
                && !with("debug_osd", "5/5")
                && !with("debug_ms", "0/5")
                && !with("debug_x", "true")
                && !with("osd_debug", "20")
        );
    }
}
