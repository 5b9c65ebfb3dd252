//! `ceph status` and `ceph health detail`.
use crate::ParseError;
use crate::json::{self, Look};

/// One health check that is raised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// `OSD_DOWN`, `PG_DEGRADED`, …
    pub code: String,
    /// `HEALTH_WARN` or `HEALTH_ERR`.
    pub severity: String,
    /// The summary line.
    pub message: String,
    /// True when an operator muted it.
    pub muted: bool,
    /// Lines of `health detail`; empty from `status`.
    pub detail: Vec<String>,
}

/// Health as in `ceph health detail` and in `ceph status`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// `HEALTH_OK`, `HEALTH_WARN`, `HEALTH_ERR`.
    pub status: String,
    /// Checks raised, by code.
    pub checks: Vec<Check>,
}

impl Health {
    /// Reads `ceph health detail`.
    ///
    /// # Errors
    /// When the text is not a JSON object.
    pub fn parse(text: &str) -> Result<Health, ParseError> {
        Ok(Health::from_look(Look::of(&json::object("ceph health detail", text)?)))
    }

    fn from_look(look: Look<'_>) -> Health {
        let checks = look.at("checks").entries().map(|(code, c)| Check {
            code: code.to_owned(),
            severity: c.at("severity").text(),
            message: c.at("summary").at("message").text(),
            muted: c.at("muted").bool().unwrap_or(false),
            detail: c.at("detail").items().map(|d| d.at("message").text()).collect(),
        });
        Health { status: look.at("status").text(), checks: checks.collect() }
    }

    /// The check of this code.
    #[must_use]
    pub fn check(&self, code: &str) -> Option<&Check> {
        self.checks.iter().find(|c| c.code == code)
    }
}

/// `ceph status`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// Cluster id.
    pub fsid: String,
    /// Health, without details.
    pub health: Health,
    /// Names of the monitors in quorum.
    pub quorum_names: Vec<String>,
    /// Monitors in the map.
    pub num_mons: u64,
    /// Epoch of the OSD map.
    pub osd_epoch: u64,
    /// OSDs in the map.
    pub num_osds: u64,
    /// OSDs up.
    pub num_up_osds: u64,
    /// OSDs in.
    pub num_in_osds: u64,
    /// PGs that are not where they should be.
    pub num_remapped_pgs: u64,
    /// PG states with their counts.
    pub pg_states: Vec<(String, u64)>,
    /// PGs in all.
    pub num_pgs: u64,
    /// Pools.
    pub num_pools: u64,
    /// Objects.
    pub num_objects: u64,
    /// Raw bytes in use.
    pub bytes_used: u64,
    /// Raw bytes in all.
    pub bytes_total: u64,
    /// Raw bytes free.
    pub bytes_avail: u64,
    /// Objects recovered per second; the field is only there when it is not 0.
    pub recovering_objects_per_s: f64,
    /// Bytes recovered per second, likewise.
    pub recovering_bytes_per_s: f64,
    /// Client operations per second, reads and writes, as the manager averages them.
    pub client_ops_per_s: f64,
    /// Object copies that are missing.
    pub degraded_objects: u64,
    /// Object copies that are in the wrong place.
    pub misplaced_objects: u64,
}

impl Status {
    /// Reads `ceph status`.
    ///
    /// # Errors
    /// When the text is not a JSON object, or has neither health nor a PG map.
    pub fn parse(text: &str) -> Result<Status, ParseError> {
        let value = json::object("ceph status", text)?;
        let look = Look::of(&value);
        let (osdmap, pgmap) = (look.at("osdmap"), look.at("pgmap"));
        if !look.at("health").is_there() && !pgmap.is_there() {
            return Err(ParseError::new("ceph status", "it has neither `health` nor `pgmap`"));
        }
        let number = |of: Look<'_>, key: &str| of.at(key).u64().unwrap_or(0);
        let rate = |key: &str| pgmap.at(key).f64().unwrap_or(0.0);
        let states = pgmap.at("pgs_by_state").items();
        Ok(Status {
            fsid: look.at("fsid").text(),
            health: Health::from_look(look.at("health")),
            quorum_names: look.at("quorum_names").items().map(Look::text).collect(),
            num_mons: number(look.at("monmap"), "num_mons"),
            osd_epoch: number(osdmap, "epoch"),
            num_osds: number(osdmap, "num_osds"),
            num_up_osds: number(osdmap, "num_up_osds"),
            num_in_osds: number(osdmap, "num_in_osds"),
            num_remapped_pgs: number(osdmap, "num_remapped_pgs"),
            pg_states: states.map(|s| (s.at("state_name").text(), number(s, "count"))).collect(),
            num_pgs: number(pgmap, "num_pgs"),
            num_pools: number(pgmap, "num_pools"),
            num_objects: number(pgmap, "num_objects"),
            bytes_used: number(pgmap, "bytes_used"),
            bytes_total: number(pgmap, "bytes_total"),
            bytes_avail: number(pgmap, "bytes_avail"),
            recovering_objects_per_s: rate("recovering_objects_per_sec"),
            recovering_bytes_per_s: rate("recovering_bytes_per_sec"),
            client_ops_per_s: rate("read_op_per_sec") + rate("write_op_per_sec"),
            degraded_objects: number(pgmap, "degraded_objects"),
            misplaced_objects: number(pgmap, "misplaced_objects"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::{RELEASES, dump};

    #[test]
    fn status_of_all_releases() {
        for release in RELEASES {
            let status = Status::parse(&dump(release, "ceph-status.json")).unwrap();
            assert_eq!((status.num_osds, status.num_up_osds, status.num_in_osds), (3, 3, 3));
            assert_eq!(status.pg_states, [("active+clean".to_owned(), status.num_pgs)]);
            assert_eq!(status.health.status, "HEALTH_WARN");
            assert_eq!(status.health.check("OSDMAP_FLAGS").unwrap().message, "noscrub flag(s) set");
            assert_eq!(status.fsid.len(), 36);
            assert!(status.osd_epoch > 0 && status.bytes_total > status.bytes_used);
        }
    }

    #[test]
    fn details_of_health() {
        let health = Health::parse(&dump("reef-18.2.7", "ceph-health_detail.json")).unwrap();
        assert_eq!(health.check("MON_DISK_LOW").unwrap().detail, ["mon.a has 20% avail"]);
        assert_eq!(health.check("MGR_MODULE_DEPENDENCY").unwrap().detail.len(), 13);
        assert!(Status::parse("{}").is_err());
    }
}
