//! Was the cluster healthy to begin with?
use super::finding;
use crate::Facts;
use crate::dump::{Check, Health};
use fathom_model::{Finding, Severity};

/// Checks that leave a measurement alone; most have a rule of their own or concern other things than I/O.
const HARMLESS: [&str; 14] = [
    "MON_DISK_LOW",
    "MGR_MODULE_DEPENDENCY",
    "MGR_MODULE_ERROR",
    "OSDMAP_FLAGS",
    "OSD_FLAGS",
    "POOL_APP_NOT_ENABLED",
    "POOL_NO_REDUNDANCY",
    "AUTH_INSECURE_GLOBAL_ID_RECLAIM",
    "AUTH_INSECURE_GLOBAL_ID_RECLAIM_ALLOWED",
    "TELEMETRY_CHANGED",
    "RECENT_CRASH",
    "RECENT_MGR_MODULE_CRASH",
    "MON_MSGR2_NOT_ENABLED",
    "PG_NOT_SCRUBBED",
];

pub(super) fn before(facts: &Facts<'_>) -> Vec<Finding> {
    let detail = facts.before.health.as_ref();
    let Some(health) = detail.or(facts.before.status.as_ref().map(|s| &s.health)) else { return Vec::new() };
    if health.status.is_empty() || health.status == "HEALTH_OK" {
        return Vec::new();
    }
    let raised: Vec<&Check> = health.checks.iter().filter(|c| !c.muted).collect();
    let harmless = health.status != "HEALTH_ERR" && raised.iter().all(|c| HARMLESS.contains(&c.code.as_str()));
    let severity = if harmless { Severity::Note } else { Severity::Warn };
    let advice = if harmless {
        "none of these checks concerns I/O; nothing to do for the measurement"
    } else {
        "wait until the cluster is HEALTH_OK, or read the numbers as those of a cluster in this state"
    };
    vec![finding(
        "health-before-run",
        severity,
        format!("the cluster was {} before the run", health.status),
        text(health, &raised),
        advice,
        "ceph health detail",
    )]
}

fn text(health: &Health, raised: &[&Check]) -> String {
    if raised.is_empty() {
        return format!("{}, all its checks muted", health.status);
    }
    let texts: Vec<String> = raised.iter().map(|c| format!("{}: {}", c.code, c.message)).collect();
    texts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;
    use fathom_model::Severity;

    #[test]
    fn a_check_that_concerns_io_warns_and_others_are_noted() {
        let with = |status: &str, code: &str| {
            let mut case = Case::healthy();
            let check = format!(
                r#"{{"status":"{status}","checks":{{"{code}":{{"severity":"HEALTH_WARN","summary":{{"message":"m"}},"muted":false}}}}}}"#
            );
            case.text("before", "ceph health detail", &check);
            case.severity("health-before-run")
        };
        assert_eq!(with("HEALTH_WARN", "PG_DEGRADED"), Some(Severity::Warn));
        assert_eq!(with("HEALTH_WARN", "MON_DISK_LOW"), Some(Severity::Note));
        assert_eq!(with("HEALTH_ERR", "MON_DISK_LOW"), Some(Severity::Warn));
        assert_eq!(with("HEALTH_OK", "MON_DISK_LOW"), None);
        assert_eq!(Case::healthy().severity("health-before-run"), None);
    }
}
