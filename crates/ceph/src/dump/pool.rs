//! Pools: `ceph osd pool ls detail`, `ceph osd pool stats`, `ceph osd erasure-code-profile get`.
use crate::ParseError;
use crate::json::{self, Look};
use std::collections::BTreeMap;

/// How a pool keeps its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PoolKind {
    /// Copies.
    #[default]
    Replicated,
    /// Data and coding chunks.
    Erasure,
    /// A number that is neither 1 nor 3.
    Other(u64),
}

/// One pool, as `osd pool ls detail` and `osd dump` have it (the first says `pool_id`, the second `pool`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pool {
    /// Number.
    pub id: i64,
    /// Name.
    pub name: String,
    /// Replicated or erasure coded.
    pub kind: PoolKind,
    /// Copies, or k+m.
    pub size: u64,
    /// Fewest copies or chunks with which it serves writes.
    pub min_size: u64,
    /// CRUSH rule number.
    pub crush_rule: i64,
    /// PGs.
    pub pg_num: u64,
    /// PGs as far as placement goes (`pgp_num`).
    pub pg_placement_num: u64,
    /// Where the number of PGs is going.
    pub pg_num_target: u64,
    /// `on`, `off`, `warn`; empty when unknown.
    pub autoscale_mode: String,
    /// `hashpspool`, `noscrub`, `ec_optimizations`, `full`, …
    pub flags: Vec<String>,
    /// Bytes of one stripe (EC), 0 for replicated pools.
    pub stripe_width_bytes: u64,
    /// Profile (EC), empty for replicated pools.
    pub erasure_code_profile: String,
    /// Options that were set: `compression_mode`, `compression_algorithm`, `pg_num_max`, …
    pub options: BTreeMap<String, String>,
    /// Applications: `rbd`, `rgw`, `cephfs`, …
    pub applications: Vec<String>,
    /// Limit in bytes, 0 for none.
    pub quota_max_bytes: u64,
}

impl Pool {
    pub(crate) fn from_look(look: Look<'_>) -> Option<Pool> {
        let number = |key: &str| look.at(key).u64().unwrap_or(0);
        let pg_num = number("pg_num");
        Some(Pool {
            id: look.any(&["pool_id", "pool"]).i64()?,
            name: look.at("pool_name").str()?.to_owned(),
            kind: match number("type") {
                1 => PoolKind::Replicated,
                3 => PoolKind::Erasure,
                other => PoolKind::Other(other),
            },
            size: number("size"),
            min_size: number("min_size"),
            crush_rule: look.at("crush_rule").i64().unwrap_or(-1),
            pg_num,
            pg_placement_num: look.at("pg_placement_num").u64().unwrap_or(pg_num),
            pg_num_target: look.at("pg_num_target").u64().unwrap_or(pg_num),
            autoscale_mode: look.at("pg_autoscale_mode").text(),
            flags: look.at("flags_names").text().split(',').filter(|f| !f.is_empty()).map(str::to_owned).collect(),
            stripe_width_bytes: number("stripe_width"),
            erasure_code_profile: look.at("erasure_code_profile").text(),
            options: look.at("options").entries().map(|(k, v)| (k.to_owned(), v.text())).collect(),
            applications: look.at("application_metadata").entries().map(|(k, _)| k.to_owned()).collect(),
            quota_max_bytes: number("quota_max_bytes"),
        })
    }

    /// The compression mode when it is one that compresses (`passive`, `aggressive`, `force`).
    #[must_use]
    pub fn compression(&self) -> Option<&str> {
        self.options.get("compression_mode").map(String::as_str).filter(|m| !m.is_empty() && *m != "none")
    }

    /// True for erasure coded pools, where `size` is k+m and a byte takes (k+m)/k bytes of raw space.
    #[must_use]
    pub fn is_erasure(&self) -> bool {
        self.kind == PoolKind::Erasure
    }
}

/// `ceph osd pool ls detail`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoolList {
    /// Pools in the order of the dump.
    pub pools: Vec<Pool>,
}

impl PoolList {
    /// Reads the dump.
    ///
    /// # Errors
    /// When the text is not a JSON list.
    pub fn parse(text: &str) -> Result<PoolList, ParseError> {
        let value = json::list("ceph osd pool ls detail", text)?;
        Ok(PoolList { pools: Look::of(&value).items().filter_map(Pool::from_look).collect() })
    }
}

/// What clients and recovery do in one pool at the moment, as the manager averages it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoolIo {
    /// Number.
    pub id: i64,
    /// Name.
    pub name: String,
    /// Client reads in bytes per second.
    pub read_bytes_per_s: f64,
    /// Client writes in bytes per second.
    pub write_bytes_per_s: f64,
    /// Client reads per second.
    pub read_ops_per_s: f64,
    /// Client writes per second.
    pub write_ops_per_s: f64,
    /// Objects recovered per second.
    pub recovering_objects_per_s: f64,
    /// Object copies that are missing.
    pub degraded_objects: u64,
    /// Object copies in the wrong place.
    pub misplaced_objects: u64,
}

/// `ceph osd pool stats`. Its rates are averages of a few seconds: good for "is somebody else using this pool?", not
/// for counting.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoolIoList {
    /// One entry per pool.
    pub pools: Vec<PoolIo>,
}

impl PoolIoList {
    /// Reads the dump. Idle pools have empty objects, fields that are 0 are left out.
    ///
    /// # Errors
    /// When the text is not a JSON list.
    pub fn parse(text: &str) -> Result<PoolIoList, ParseError> {
        let value = json::list("ceph osd pool stats", text)?;
        let pools = Look::of(&value).items().filter_map(|p| {
            let rate = |key: &str| p.at("client_io_rate").at(key).f64().unwrap_or(0.0);
            Some(PoolIo {
                id: p.at("pool_id").i64()?,
                name: p.at("pool_name").text(),
                read_bytes_per_s: rate("read_bytes_sec"),
                write_bytes_per_s: rate("write_bytes_sec"),
                read_ops_per_s: rate("read_op_per_sec"),
                write_ops_per_s: rate("write_op_per_sec"),
                recovering_objects_per_s: p.at("recovery_rate").at("recovering_objects_per_sec").f64().unwrap_or(0.0),
                degraded_objects: p.at("recovery").at("degraded_objects").u64().unwrap_or(0),
                misplaced_objects: p.at("recovery").at("misplaced_objects").u64().unwrap_or(0),
            })
        });
        Ok(PoolIoList { pools: pools.collect() })
    }
}

/// `ceph osd pool autoscale-status`: the pools the autoscaler is about to change. Answered by a manager module: with a
/// broken manager it is an error or the help text of another command (18.2.7), which is "not available".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolAutoscale {
    /// Pool name, PGs now and PGs it wants, for the pools with `would_adjust`.
    pub would_adjust: Vec<(String, u64, u64)>,
}

impl PoolAutoscale {
    /// Reads the reply.
    ///
    /// # Errors
    /// When the text is not a JSON list.
    pub fn parse(text: &str) -> Result<PoolAutoscale, ParseError> {
        let value = json::list("ceph osd pool autoscale-status", text)?;
        let pools = Look::of(&value).items().filter(|p| p.at("would_adjust").bool() == Some(true));
        let number = |p: Look<'_>, key: &str| p.at(key).u64().unwrap_or(0);
        Ok(PoolAutoscale {
            would_adjust: pools
                .map(|p| (p.at("pool_name").text(), number(p, "pg_num_target"), number(p, "pg_num_final")))
                .collect(),
        })
    }
}

/// `ceph osd erasure-code-profile get NAME`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EcProfile {
    /// Data chunks.
    pub k: u64,
    /// Coding chunks.
    pub m: u64,
    /// `jerasure` is the default in 16 and 18, `isa` in 20.
    pub plugin: String,
    /// `reed_sol_van`, …
    pub technique: String,
    /// `osd`, `host`, `rack`, …
    pub failure_domain: String,
    /// Device class it is bound to, empty for all.
    pub device_class: String,
}

impl EcProfile {
    /// Reads the reply; all its values are strings.
    ///
    /// # Errors
    /// When the text is not a JSON object.
    pub fn parse(text: &str) -> Result<EcProfile, ParseError> {
        let value = json::object("ceph osd erasure-code-profile get", text)?;
        let look = Look::of(&value);
        Ok(EcProfile {
            k: look.at("k").u64().unwrap_or(0),
            m: look.at("m").u64().unwrap_or(0),
            plugin: look.at("plugin").text(),
            technique: look.at("technique").text(),
            failure_domain: look.at("crush-failure-domain").text(),
            device_class: look.at("crush-device-class").text(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dump::OsdDump;
    use crate::testdata::{RELEASES, dump};

    #[test]
    fn pools_of_all_releases_and_of_both_commands() {
        for release in RELEASES {
            let pools = PoolList::parse(&dump(release, "ceph-osd_pool_ls_detail.json")).unwrap().pools;
            let fx = pools.iter().find(|p| p.name == "fx").unwrap();
            assert_eq!(
                (fx.kind, fx.size, fx.min_size, fx.pg_num, fx.pg_num_target),
                (PoolKind::Replicated, 2, 1, 32, 32)
            );
            assert_eq!((fx.autoscale_mode.as_str(), fx.compression()), ("off", None));
            let ec = pools.iter().find(|p| p.name == "fxec").unwrap();
            assert!(ec.is_erasure() && ec.stripe_width_bytes > 0 && ec.erasure_code_profile == "e21");
            assert_eq!(ec.applications, ["bench"]);
            let map = OsdDump::parse(&dump(release, "ceph-osd_dump.json")).unwrap();
            assert_eq!(map.pools, pools, "{release}: both commands give the same pools");
        }
    }

    #[test]
    fn rates_and_profiles_of_all_releases() {
        for release in RELEASES {
            let io = PoolIoList::parse(&dump(release, "ceph-osd_pool_stats.json")).unwrap();
            assert!(io.pools.iter().find(|p| p.name == "fxec").unwrap().write_ops_per_s > 100.0);
            let ec = EcProfile::parse(&dump(release, "ceph-osd_erasure-code-profile_get_e21.json")).unwrap();
            assert_eq!((ec.k, ec.m, ec.failure_domain.as_str()), (2, 1, "osd"));
            assert_eq!(ec.plugin, if release == "tentacle-20.2.4" { "isa" } else { "jerasure" });
        }
    }

    #[test]
    fn a_mode_that_compresses() {
        let text = r#"[{"pool_id":1,"pool_name":"p","options":{"compression_mode":"aggressive"}},{"pool_id":2,"pool_name":"q","options":{"compression_mode":"none"}}]"#;
        let pools = PoolList::parse(text).unwrap().pools;
        assert_eq!(pools[0].compression(), Some("aggressive"));
        assert_eq!(pools[1].compression(), None);
    }
}
