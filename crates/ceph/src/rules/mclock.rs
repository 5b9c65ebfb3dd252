//! mClock: capacities that cannot be true, the profile, settings it ignores.
use super::finding;
use crate::Facts;
use crate::dump::ConfigEntry;
use fathom_model::{Finding, Severity};

/// Thresholds of the OSD's own check of its boot benchmark: `osd_mclock_iops_capacity_{low_,}threshold_{hdd,ssd}`
/// (defaults; the upper ones since 17.2.6, the lower ones since 18.2.5, 19.2.1 and 20). Earlier releases stored any
/// value silently, and a stored value is never measured again.
const CAPACITY: [(&str, f64, f64); 2] =
    [("osd_mclock_max_capacity_iops_hdd", 50.0, 500.0), ("osd_mclock_max_capacity_iops_ssd", 1000.0, 80_000.0)];
/// Distance from the median of a class that makes an OSD an outlier.
const OUTLIER: f64 = 2.0;
/// Settings that have no effect under mClock unless osd_mclock_override_recovery_settings is true.
const IGNORED: [&str; 5] = [
    "osd_max_backfills",
    "osd_recovery_max_active",
    "osd_recovery_max_active_hdd",
    "osd_recovery_max_active_ssd",
    "osd_recovery_sleep",
];

pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let Some(scheduler) = scheduler(facts) else { return Vec::new() };
    let mut out = Vec::new();
    if scheduler == "mclock_scheduler" {
        out.extend(capacities(facts));
        out.extend(ignored(facts));
    }
    out.extend(profile(facts, scheduler));
    out
}

/// The scheduler that runs: as set, else the release's default (`wpq` in 16, mClock from 17 on; not for filestore).
fn scheduler<'f>(facts: &'f Facts<'_>) -> Option<&'f str> {
    if let Some(set) = facts.before.setting("osd_op_queue") {
        return Some(set);
    }
    let version = facts.before.osd_version()?;
    Some(if version.at_least(17, 0, 0) { "mclock_scheduler" } else { "wpq" })
}

fn capacities(facts: &Facts<'_>) -> Vec<Finding> {
    let Some(config) = &facts.before.config else { return Vec::new() };
    let mut out = Vec::new();
    for (name, low, high) in CAPACITY {
        let set: Vec<(&ConfigEntry, f64)> =
            config.of(name).filter_map(|e| Some((e, e.value.parse::<f64>().ok().filter(|v| v.is_finite())?))).collect();
        let beyond: Vec<String> =
            set.iter().filter(|(_, v)| *v < low || *v > high).map(|(e, v)| format!("{} {v:.0}", e.section)).collect();
        if !beyond.is_empty() {
            out.push(finding(
                "mclock-capacity",
                Severity::Warn,
                format!("mClock works with an IOPS capacity that is out of range: {}", super::listed(&beyond)),
                format!("{name} should lie within {low:.0} and {high:.0}"),
                "measure the device itself, set the value by hand (`ceph config set osd.N …`) or remove it and restart the OSD so that it measures again: too low a value throttles recovery and distorts the cost of small operations",
                "osd_mclock_iops_capacity_threshold_*, osd_mclock_iops_capacity_low_threshold_* (defaults of 18.2.7 and 20.2.4)",
            ));
        }
        out.extend(outliers(name, &set));
    }
    out
}

/// OSDs of one class should be alike. Checked only among values the OSDs stored for themselves.
fn outliers(name: &str, set: &[(&ConfigEntry, f64)]) -> Option<Finding> {
    let own: Vec<&(&ConfigEntry, f64)> = set.iter().filter(|(e, _)| e.section.starts_with("osd.")).collect();
    if own.len() < 3 {
        return None;
    }
    let mut values: Vec<f64> = own.iter().map(|(_, v)| *v).collect();
    values.sort_by(f64::total_cmp);
    let median = values[values.len() / 2];
    let far = own.iter().filter(|(_, v)| *v * OUTLIER < median || *v > median * OUTLIER);
    let far: Vec<String> = far.map(|(e, v)| format!("{} {v:.0}", e.section)).collect();
    (!far.is_empty()).then(|| {
        finding(
            "mclock-capacity-outlier",
            Severity::Warn,
            format!("mClock takes some OSDs for much slower or faster than their like: {}", super::listed(&far)),
            format!("{name}: median of {} OSDs {median:.0}, these are more than {OUTLIER:.0} times away", own.len()),
            "measure these OSDs (`fathom osd`): either a device differs, or its boot benchmark ran while it was busy and was stored for ever",
            "ceph config dump",
        )
    })
}

fn ignored(facts: &Facts<'_>) -> Option<Finding> {
    if facts.before.setting("osd_mclock_override_recovery_settings") == Some("true") {
        return None;
    }
    let config = facts.before.config.as_ref()?;
    let set: Vec<String> = config
        .entries
        .iter()
        .filter(|e| IGNORED.contains(&e.name.as_str()))
        .map(|e| format!("{}={}", e.name, e.value))
        .collect();
    (!set.is_empty()).then(|| {
        finding(
            "mclock-ignores-settings",
            Severity::Note,
            "settings of recovery are ignored under mClock".to_owned(),
            format!("{}; osd_mclock_override_recovery_settings is not true", set.join(", ")),
            "choose an mClock profile instead, or set osd_mclock_override_recovery_settings",
            "read in the source of 17.2.7 and later",
        )
    })
}

/// How client operations are scheduled: part of what a number means.
fn profile(facts: &Facts<'_>, scheduler: &str) -> Option<Finding> {
    let version = facts.before.osd_version()?;
    if scheduler != "mclock_scheduler" {
        // wpq is what 16 does anyway; from 17 on somebody chose it.
        return version.at_least(17, 0, 0).then(|| {
            finding(
                "scheduler",
                Severity::Note,
                format!("the OSDs schedule with {scheduler}, not with mClock"),
                format!("{version}, osd_op_queue {scheduler}"),
                "say so when you compare with clusters that run mClock",
                "ceph config show; default mclock_scheduler from 17 on",
            )
        });
    }
    // 16.2.x to 17.2.6 had other profiles, two of which limit clients.
    let old = !version.at_least(17, 2, 7);
    let default = if old { "high_client_ops" } else { "balanced" };
    let profile = facts.before.setting("osd_mclock_profile").unwrap_or(default);
    let limited = old && matches!(profile, "balanced" | "high_recovery_ops");
    Some(finding(
        if limited { "mclock-limits-clients" } else { "scheduler" },
        if limited { Severity::Warn } else { Severity::Note },
        if limited {
            format!("mClock profile {profile} limits client operations in this release")
        } else {
            format!("the OSDs schedule with mClock, profile {profile}")
        },
        format!(
            "{version}: clients {}",
            if limited {
                "get at most 100 % (balanced) or 80 % of the configured capacity"
            } else {
                "are not limited by the profile"
            }
        ),
        if limited {
            "use high_client_ops, or check that the configured capacity is true"
        } else {
            "quote the profile with numbers taken while recovery or scrubs ran"
        },
        "profile tables read in the source of 17.2.6 and 17.2.7, and from running 18.2.7 and 20.2.4",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;
    use fathom_model::Severity;

    fn config(entries: &[(&str, &str, &str)]) -> Case {
        let mut case = Case::healthy();
        let texts: Vec<String> = entries
            .iter()
            .map(|(s, n, v)| format!(r#"{{"section":"{s}","name":"{n}","value":"{v}","mask":""}}"#))
            .collect();
        case.text("before", "ceph config dump", &format!("[{}]", texts.join(",")));
        case
    }

    #[test]
    fn capacities_out_of_range() {
        let hdd = |v| config(&[("osd.1", "osd_mclock_max_capacity_iops_hdd", v)]).severity("mclock-capacity");
        assert_eq!(
            (hdd("49"), hdd("50"), hdd("500"), hdd("501")),
            (Some(Severity::Warn), None, None, Some(Severity::Warn))
        );
        let ssd = |v| config(&[("osd.1", "osd_mclock_max_capacity_iops_ssd", v)]).severity("mclock-capacity");
        assert_eq!(
            (ssd("300.5"), ssd("1000"), ssd("80000"), ssd("250000")),
            (Some(Severity::Warn), None, None, Some(Severity::Warn))
        );
    }

    #[test]
    fn outliers_of_a_class() {
        let with = |v| {
            let name = "osd_mclock_max_capacity_iops_ssd";
            config(&[("osd.0", name, "40000"), ("osd.1", name, "42000"), ("osd.2", name, v)])
                .severity("mclock-capacity-outlier")
        };
        assert_eq!((with("19000"), with("21000")), (Some(Severity::Warn), None));
    }

    #[test]
    fn settings_without_effect() {
        let set = ("osd", "osd_max_backfills", "8");
        assert_eq!(config(&[set]).severity("mclock-ignores-settings"), Some(Severity::Note));
        let forced = ("osd", "osd_mclock_override_recovery_settings", "true");
        assert_eq!(config(&[set, forced]).severity("mclock-ignores-settings"), None);
    }

    #[test]
    fn the_profile_by_release() {
        let with = |from: &str, to: &str, profile: &str| {
            let mut case = config(&[("osd", "osd_mclock_profile", profile)]);
            case.replace("ceph versions", from, to);
            (case.severity("mclock-limits-clients").is_some(), case.severity("scheduler").is_some())
        };
        assert_eq!(with("18.2.7", "17.2.6", "balanced"), (true, false));
        assert_eq!(with("18.2.7", "17.2.6", "high_client_ops"), (false, true));
        assert_eq!(with("18.2.7", "17.2.7", "balanced"), (false, true));
    }
}
