//! What `ceph status` says, cut down to what a lab's user asks.
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Health, OSDs and placement groups of a cluster at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// `HEALTH_OK`, `HEALTH_WARN` or `HEALTH_ERR`.
    pub status: String,
    /// Health checks raised, code and message, by code.
    pub checks: Vec<(String, String)>,
    /// OSDs there are.
    pub osds: u64,
    /// OSDs that are up.
    pub osds_up: u64,
    /// OSDs that are in.
    pub osds_in: u64,
    /// Pools.
    pub pools: u64,
    /// Capacity of those OSDs that have reported it to the manager, in bytes.
    pub capacity_bytes: u64,
    /// Placement groups by state.
    pub pgs: Vec<(String, u64)>,
    /// A manager is active.
    pub mgr_available: bool,
    /// Name of the oldest release the monitors allow to join, in a new cluster their own: `pacific`.
    pub release: String,
}

impl Health {
    /// From the JSON of `ceph status`, of releases 14 to 20.
    pub(crate) fn parse(status: &Value) -> Option<Health> {
        // Before release 15 there was one more level.
        let osdmap = status.pointer("/osdmap/osdmap").or_else(|| status.get("osdmap"))?;
        let count = |from: &Value, key: &str| from.get(key).and_then(Value::as_u64).unwrap_or(0);
        let checks = status.pointer("/health/checks").and_then(Value::as_object);
        let pgs = status.pointer("/pgmap/pgs_by_state").and_then(Value::as_array);
        Some(Health {
            status: status.pointer("/health/status")?.as_str()?.to_owned(),
            checks: checks
                .into_iter()
                .flatten()
                .map(|(code, check)| {
                    let message = check.pointer("/summary/message").and_then(Value::as_str).unwrap_or_default();
                    (code.clone(), message.to_owned())
                })
                .collect(),
            osds: count(osdmap, "num_osds"),
            osds_up: count(osdmap, "num_up_osds"),
            osds_in: count(osdmap, "num_in_osds"),
            pools: status.pointer("/pgmap/num_pools").and_then(Value::as_u64).unwrap_or(0),
            capacity_bytes: status.pointer("/pgmap/bytes_total").and_then(Value::as_u64).unwrap_or(0),
            pgs: pgs
                .into_iter()
                .flatten()
                .filter_map(|pg| Some((pg.get("state_name")?.as_str()?.to_owned(), count(pg, "count"))))
                .collect(),
            release: status
                .pointer("/monmap/min_mon_release_name")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            mgr_available: status.pointer("/mgrmap/available").and_then(Value::as_bool).unwrap_or(false),
        })
    }

    /// All OSDs up, in and known to the manager with their capacity, all placement groups active and clean, no error.
    /// There may be warnings.
    #[must_use]
    pub fn usable(&self, osds: u32, size_bytes: u64) -> bool {
        self.status != "HEALTH_ERR"
            && self.mgr_available
            && self.osds == u64::from(osds)
            && self.osds_up == self.osds
            && self.osds_in == self.osds
            && self.capacity_bytes >= size_bytes.saturating_mul(self.osds)
            && self.pgs.iter().all(|(state, _)| state.starts_with("active+clean"))
    }

    /// The manager could not load some of its modules. Debian 13's Ceph 18.2 always says so: its Python does not let
    /// them share a library (PyO3 and subinterpreters). Nothing that stores data depends on them.
    #[must_use]
    pub fn lacks_modules(&self) -> bool {
        self.checks.iter().any(|(code, _)| code == "MGR_MODULE_DEPENDENCY")
    }

    /// The health checks on one line: `CODE: message; CODE: message`.
    #[must_use]
    pub fn checks_line(&self) -> String {
        let texts: Vec<String> = self.checks.iter().map(|(code, text)| format!("{code}: {text}")).collect();
        texts.join("; ")
    }

    /// One line: `HEALTH_OK, 3 of 3 OSDs up, 3 in, 33 PGs active+clean`.
    #[must_use]
    pub fn line(&self) -> String {
        let mut parts =
            vec![self.status.clone(), format!("{} of {} OSDs up, {} in", self.osds_up, self.osds, self.osds_in)];
        parts.extend(self.pgs.iter().map(|(state, n)| format!("{n} {} {state}", if *n == 1 { "PG" } else { "PGs" })));
        if !self.mgr_available {
            parts.push("no manager".into());
        }
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_status_is_read() {
        let status = json!({
            "health": {"status": "HEALTH_OK", "checks": {}},
            "osdmap": {"num_osds": 3, "num_up_osds": 3, "num_in_osds": 3},
            "pgmap": {"num_pools": 1, "bytes_total": 3072, "pgs_by_state": [{"state_name": "active+clean", "count": 8}]},
            "mgrmap": {"available": true}
        });
        let health = Health::parse(&status).unwrap();
        assert!(health.usable(3, 1024) && !health.usable(4, 1) && !health.usable(3, 2048));
        assert_eq!(health.line(), "HEALTH_OK, 3 of 3 OSDs up, 3 in, 8 PGs active+clean");
        assert_eq!(Health::parse(&json!({"health": {}})), None);
    }
}
