//! `ceph osd dump`, and the reply of `ceph osd map` for one object.
use super::pool::Pool;
use crate::json::{self, Look};
use crate::{ParseError, Release};
use fathom_model::OsdState;

/// One OSD in the map.
#[derive(Clone, Debug, PartialEq)]
pub struct OsdEntry {
    /// Number.
    pub id: i32,
    /// Up.
    pub up: bool,
    /// In.
    pub is_in: bool,
    /// Weight 0 to 1 (the "reweight", not the CRUSH weight).
    pub weight: f64,
    /// Public address, `host:port/nonce`.
    pub public_addr: String,
    /// Cluster address.
    pub cluster_addr: String,
    /// `exists`, `up`, `nearfull`, `new`, `destroyed`, …
    pub state: Vec<String>,
}

/// `ceph osd dump`. 18 adds allow_crimson, pg_upmap_primaries and range_blocklist, which are not looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OsdDump {
    /// Map epoch.
    pub epoch: u64,
    /// Cluster id.
    pub fsid: String,
    /// `noscrub`, `noout`, …, and the permanent ones such as `sortbitwise`.
    pub flags: Vec<String>,
    /// Share at which writes are refused, 0 to 1.
    pub full_ratio: f64,
    /// Share at which backfill stops.
    pub backfillfull_ratio: f64,
    /// Share at which the cluster warns.
    pub nearfull_ratio: f64,
    /// The lowest release an OSD may have, where it is known here.
    pub require_osd_release: Option<Release>,
    /// Pools.
    pub pools: Vec<Pool>,
    /// OSDs.
    pub osds: Vec<OsdEntry>,
}

impl OsdDump {
    /// Reads `ceph osd dump`.
    ///
    /// # Errors
    /// When the text is not a JSON object with `osds`.
    pub fn parse(text: &str) -> Result<OsdDump, ParseError> {
        let value = json::object("ceph osd dump", text)?;
        let look = Look::of(&value);
        if !look.at("osds").is_there() {
            return Err(ParseError::new("ceph osd dump", "it has no `osds`"));
        }
        let ratio = |key: &str| look.at(key).f64().unwrap_or(0.0);
        let osds = look.at("osds").items().filter_map(|o| {
            Some(OsdEntry {
                id: o.at("osd").i32()?,
                up: o.at("up").bool().unwrap_or(false),
                is_in: o.at("in").bool().unwrap_or(false),
                weight: o.at("weight").f64().unwrap_or(0.0),
                public_addr: o.at("public_addr").text(),
                cluster_addr: o.at("cluster_addr").text(),
                state: o.at("state").items().map(Look::text).collect(),
            })
        });
        Ok(OsdDump {
            epoch: look.at("epoch").u64().unwrap_or(0),
            fsid: look.at("fsid").text(),
            flags: look.at("flags").text().split(',').filter(|f| !f.is_empty()).map(str::to_owned).collect(),
            full_ratio: ratio("full_ratio"),
            backfillfull_ratio: ratio("backfillfull_ratio"),
            nearfull_ratio: ratio("nearfull_ratio"),
            require_osd_release: look.at("require_osd_release").str().and_then(Release::of_name),
            pools: look.at("pools").items().filter_map(Pool::from_look).collect(),
            osds: osds.collect(),
        })
    }

    /// The OSDs that are not both up and in.
    #[must_use]
    pub fn not_up_in(&self) -> Vec<OsdState> {
        let not = self.osds.iter().filter(|o| !o.up || !o.is_in);
        not.map(|o| OsdState { id: o.id, up: o.up, is_in: o.is_in }).collect()
    }
}

/// Where one object is: the reply of `ceph osd map POOL OBJECT` (field names read in the source of 16 to main).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapReply {
    /// Map epoch the answer is of.
    pub epoch: u64,
    /// Pool name.
    pub pool: String,
    /// Pool number.
    pub pool_id: i64,
    /// Object name; `namespace/name` when it has a namespace.
    pub objname: String,
    /// PG before the hash is folded into `pg_num`.
    pub raw_pgid: String,
    /// PG.
    pub pgid: String,
    /// OSDs that should have it.
    pub up: Vec<i32>,
    /// Primary of these.
    pub up_primary: i32,
    /// OSDs that serve it now, in order; 2147483647 stands for none (EC pools).
    pub acting: Vec<i32>,
    /// Primary of these, -1 when there is none.
    pub acting_primary: i32,
}

/// `CRUSH_ITEM_NONE`: a hole in the acting set of an EC placement group.
const NO_OSD: i32 = 0x7fff_ffff;

impl MapReply {
    /// Reads the reply.
    ///
    /// # Errors
    /// When the text is not a JSON object with `acting`.
    pub fn parse(text: &str) -> Result<MapReply, ParseError> {
        let value = json::object("ceph osd map", text)?;
        let look = Look::of(&value);
        if !look.at("acting").is_there() {
            return Err(ParseError::new("ceph osd map", "it has no `acting`"));
        }
        Ok(MapReply {
            epoch: look.at("epoch").u64().unwrap_or(0),
            pool: look.at("pool").text(),
            pool_id: look.at("pool_id").i64().unwrap_or(-1),
            objname: look.at("objname").text(),
            raw_pgid: look.at("raw_pgid").text(),
            pgid: look.at("pgid").text(),
            up: look.at("up").ids(),
            up_primary: look.at("up_primary").i32().unwrap_or(-1),
            acting: look.at("acting").ids(),
            acting_primary: look.at("acting_primary").i32().unwrap_or(-1),
        })
    }

    /// The acting set as [`fathom_model::StuckOp`] wants it: primary first, holes left out.
    #[must_use]
    pub fn acting_primary_first(&self) -> Vec<i32> {
        let mut acting: Vec<i32> = self.acting.iter().copied().filter(|&o| o >= 0 && o != NO_OSD).collect();
        if let Some(at) = acting.iter().position(|&o| o == self.acting_primary) {
            acting[..=at].rotate_right(1);
        }
        acting
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::{RELEASES, dump};

    #[test]
    fn osd_dump_of_all_releases() {
        for (release, known) in RELEASES.into_iter().zip([Release::Pacific, Release::Reef, Release::Tentacle]) {
            let map = OsdDump::parse(&dump(release, "ceph-osd_dump.json")).unwrap();
            assert_eq!(map.osds.len(), 3);
            assert!(map.not_up_in().is_empty());
            assert!(map.flags.contains(&"noscrub".to_owned()));
            assert_eq!(map.require_osd_release, Some(known));
            assert!((map.nearfull_ratio - 0.85).abs() < 1e-6);
            assert!(map.pools.iter().any(|p| p.name == "fx" && p.id > 0));
        }
    }

    #[test]
    fn an_osd_that_is_down_is_listed() {
        let text = dump("pacific-16.2.15", "ceph-osd_dump.json").replacen("\"up\":1,\"in\":1", "\"up\":0,\"in\":1", 1);
        assert_eq!(OsdDump::parse(&text).unwrap().not_up_in(), [OsdState { id: 0, up: false, is_in: true }]);
    }

    #[test]
    fn where_an_object_is() {
        let reply = "\n{\"epoch\":35,\"pool\":\"fx\",\"pool_id\":3,\"objname\":\"ns/o1\",\"raw_pgid\":\"3.8f3a2b1c\",\"pgid\":\"3.1c\",\"up\":[1,2,0],\"up_primary\":1,\"acting\":[2147483647,2,0],\"acting_primary\":0}";
        let map = MapReply::parse(reply).unwrap();
        assert_eq!((map.epoch, map.pgid.as_str(), map.acting_primary), (35, "3.1c", 0));
        assert_eq!(map.acting_primary_first(), [0, 2]);
        assert!(MapReply::parse("{}").is_err());
    }
}
