//! `ceph df detail`: how full the cluster and its pools are.
use crate::ParseError;
use crate::json::{self, Look};

/// One pool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoolUse {
    /// Number.
    pub id: i64,
    /// Name.
    pub name: String,
    /// Bytes that clients stored, without copies.
    pub stored_bytes: u64,
    /// Objects.
    pub objects: u64,
    /// Raw bytes.
    pub used_bytes: u64,
    /// Used share of what the pool could hold, 0 to 1 (not percent, in spite of its name `percent_used`).
    pub used_share: f64,
    /// Bytes that clients can still write.
    pub max_avail_bytes: u64,
    /// Client reads since the pool was created.
    pub read_ops: u64,
    /// Their bytes.
    pub read_bytes: u64,
    /// Client writes since the pool was created.
    pub write_ops: u64,
    /// Their bytes.
    pub write_bytes: u64,
    /// Bytes that were compressed, before compression.
    pub compress_under_bytes: u64,
}

/// `ceph df detail`, the same on 16.2.15, 18.2.7 and 20.2.4.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Df {
    /// Raw bytes.
    pub total_bytes: u64,
    /// Raw bytes in use.
    pub used_bytes: u64,
    /// Raw bytes free.
    pub avail_bytes: u64,
    /// Pools.
    pub pools: Vec<PoolUse>,
}

impl Df {
    /// Reads the dump.
    ///
    /// # Errors
    /// When the text is not a JSON object with `stats`.
    pub fn parse(text: &str) -> Result<Df, ParseError> {
        let value = json::object("ceph df detail", text)?;
        let look = Look::of(&value);
        let stats = look.at("stats");
        if !stats.is_there() {
            return Err(ParseError::new("ceph df detail", "it has no `stats`"));
        }
        let pools = look.at("pools").items().filter_map(|p| {
            let number = |key: &str| p.at("stats").at(key).u64().unwrap_or(0);
            Some(PoolUse {
                id: p.at("id").i64()?,
                name: p.at("name").text(),
                stored_bytes: number("stored"),
                objects: number("objects"),
                used_bytes: number("bytes_used"),
                used_share: p.at("stats").at("percent_used").f64().unwrap_or(0.0),
                max_avail_bytes: number("max_avail"),
                read_ops: number("rd"),
                read_bytes: number("rd_bytes"),
                write_ops: number("wr"),
                write_bytes: number("wr_bytes"),
                compress_under_bytes: number("compress_under_bytes"),
            })
        });
        let number = |key: &str| stats.at(key).u64().unwrap_or(0);
        Ok(Df {
            total_bytes: number("total_bytes"),
            used_bytes: number("total_used_raw_bytes"),
            avail_bytes: number("total_avail_bytes"),
            pools: pools.collect(),
        })
    }

    /// The pool of this name.
    #[must_use]
    pub fn pool(&self, name: &str) -> Option<&PoolUse> {
        self.pools.iter().find(|p| p.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::{RELEASES, dump};

    #[test]
    fn use_of_all_releases() {
        for release in RELEASES {
            let df = Df::parse(&dump(release, "ceph-df_detail.json")).unwrap();
            assert_eq!(df.total_bytes, 32_212_254_720);
            let fx = df.pool("fx").unwrap();
            assert!(fx.objects > 300 && fx.write_ops > 19_000 && (0.1..0.2).contains(&fx.used_share));
        }
    }
}
