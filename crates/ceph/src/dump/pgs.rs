//! `ceph pg dump pgs_brief`: which OSDs serve which placement group.
use crate::ParseError;
use crate::json::{self, Look};

/// One placement group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PgBrief {
    /// `3.1a`: pool and number in hexadecimal.
    pub pgid: String,
    /// `active+clean`, …
    pub state: String,
    /// OSDs that should have it.
    pub up: Vec<i32>,
    /// OSDs that serve it, in order.
    pub acting: Vec<i32>,
    /// Primary, -1 for none.
    pub acting_primary: i32,
}

impl PgBrief {
    /// Number of its pool.
    #[must_use]
    pub fn pool_id(&self) -> Option<i64> {
        self.pgid.split('.').next()?.parse().ok()
    }
}

/// `ceph pg dump pgs_brief`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PgsBrief {
    /// Placement groups.
    pub pgs: Vec<PgBrief>,
}

impl PgsBrief {
    /// Reads the dump: `{pg_ready, pg_stats: [...]}` on 16 to 20, a bare list before.
    ///
    /// # Errors
    /// When the text is neither.
    pub fn parse(text: &str) -> Result<PgsBrief, ParseError> {
        let value = json::document("ceph pg dump pgs_brief", text)?;
        let list = if value.is_array() { Look::of(&value) } else { Look::of(&value).at("pg_stats") };
        if !list.0.is_some_and(serde_json::Value::is_array) {
            return Err(ParseError::new("ceph pg dump pgs_brief", "it has no list `pg_stats`"));
        }
        let pgs = list.items().filter_map(|p| {
            Some(PgBrief {
                pgid: p.at("pgid").str()?.to_owned(),
                state: p.at("state").text(),
                up: p.at("up").ids(),
                acting: p.at("acting").ids(),
                acting_primary: p.at("acting_primary").i32().unwrap_or(-1),
            })
        });
        Ok(PgsBrief { pgs: pgs.collect() })
    }

    /// Share of a pool's placement groups whose acting set has this OSD, 0 to 1; `None` when the pool has none.
    #[must_use]
    pub fn share_of_osd(&self, pool_id: i64, osd: i32) -> Option<f64> {
        let of_pool = self.pgs.iter().filter(|p| p.pool_id() == Some(pool_id));
        let (with, all) =
            of_pool.fold((0u32, 0u32), |(with, all), p| (with + u32::from(p.acting.contains(&osd)), all + 1));
        (all > 0).then(|| f64::from(with) / f64::from(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::{RELEASES, dump};

    #[test]
    fn pgs_of_all_releases() {
        for (release, fx) in RELEASES.into_iter().zip([3, 1, 2]) {
            let brief = PgsBrief::parse(&dump(release, "ceph-pg_dump_pgs_brief.json")).unwrap();
            assert!(brief.pgs.iter().all(|p| p.state == "active+clean" && p.acting.contains(&p.acting_primary)));
            let shares: f64 = (0..3).filter_map(|osd| brief.share_of_osd(fx, osd)).sum();
            assert!((shares - 2.0).abs() < 1e-9, "{release}: a pool of size 2 has two OSDs per PG, got {shares}");
        }
        assert!(PgsBrief::parse("{}").is_err());
        assert_eq!(PgsBrief::parse("[]").unwrap().share_of_osd(1, 0), None);
    }
}
