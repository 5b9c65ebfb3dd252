//! `ceph osd tree`, `ceph osd df` and `ceph osd df tree`.
use crate::ParseError;
use crate::json::{self, Look};

/// One node of the CRUSH tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeNode {
    /// Number: OSDs from 0, buckets negative.
    pub id: i32,
    /// Name.
    pub name: String,
    /// `osd`, `host`, `rack`, `root`, …
    pub kind: String,
    /// Device class of an OSD: `hdd`, `ssd`, `nvme`, …
    pub device_class: String,
    /// Children of a bucket.
    pub children: Vec<i32>,
    /// `up` or `down` (OSDs).
    pub status: String,
    /// CRUSH weight, about the size in TiB.
    pub crush_weight: f64,
}

/// `ceph osd tree`, the same on 16.2.15, 18.2.7 and 20.2.4.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OsdTree {
    /// All nodes.
    pub nodes: Vec<TreeNode>,
}

impl OsdTree {
    /// Reads the dump.
    ///
    /// # Errors
    /// When the text is not a JSON object with `nodes`.
    pub fn parse(text: &str) -> Result<OsdTree, ParseError> {
        let value = json::object("ceph osd tree", text)?;
        let look = Look::of(&value);
        if !look.at("nodes").is_there() {
            return Err(ParseError::new("ceph osd tree", "it has no `nodes`"));
        }
        let nodes = look.at("nodes").items().chain(look.at("stray").items()).filter_map(|n| {
            Some(TreeNode {
                id: n.at("id").i32()?,
                name: n.at("name").text(),
                kind: n.at("type").text(),
                device_class: n.at("device_class").text(),
                children: n.at("children").ids(),
                status: n.at("status").text(),
                crush_weight: n.at("crush_weight").f64().unwrap_or(0.0),
            })
        });
        Ok(OsdTree { nodes: nodes.collect() })
    }

    /// Name of the bucket of this kind (`host`, `rack`) that holds the OSD, however deep.
    #[must_use]
    pub fn bucket_of(&self, osd: i32, kind: &str) -> Option<&str> {
        let mut at = osd;
        // A tree has no more levels than nodes; the bound ends a loop in a damaged dump.
        for _ in 0..self.nodes.len() {
            let parent = self.nodes.iter().find(|n| n.children.contains(&at))?;
            if parent.kind == kind {
                return Some(&parent.name);
            }
            at = parent.id;
        }
        None
    }
}

/// How full one OSD is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OsdUse {
    /// Number.
    pub id: i32,
    /// Device class.
    pub device_class: String,
    /// Size in KiB.
    pub size_kib: u64,
    /// Used, in KiB.
    pub used_kib: u64,
    /// Free, in KiB.
    pub avail_kib: u64,
    /// Used share in percent, 0 to 100.
    pub utilization_pct: f64,
    /// PGs on it, as primary or not.
    pub pgs: u64,
    /// `up` or `down`.
    pub status: String,
    /// Weight 0 to 1.
    pub reweight: f64,
}

/// `ceph osd df` or `ceph osd df tree`: only the OSDs are kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OsdDf {
    /// OSDs, in the order of the dump.
    pub osds: Vec<OsdUse>,
    /// Mean used share in percent.
    pub average_utilization_pct: f64,
}

impl OsdDf {
    /// Reads either form.
    ///
    /// # Errors
    /// When the text is not a JSON object with `nodes`.
    pub fn parse(text: &str) -> Result<OsdDf, ParseError> {
        let value = json::object("ceph osd df", text)?;
        let look = Look::of(&value);
        if !look.at("nodes").is_there() {
            return Err(ParseError::new("ceph osd df", "it has no `nodes`"));
        }
        let osds = look.at("nodes").items().filter_map(|n| {
            let number = |key: &str| n.at(key).u64().unwrap_or(0);
            Some(OsdUse {
                // Buckets of the tree form have negative numbers.
                id: n.at("id").i32().filter(|id| *id >= 0)?,
                device_class: n.at("device_class").text(),
                size_kib: number("kb"),
                used_kib: number("kb_used"),
                avail_kib: number("kb_avail"),
                utilization_pct: n.at("utilization").f64().unwrap_or(0.0),
                pgs: number("pgs"),
                status: n.at("status").text(),
                reweight: n.at("reweight").f64().unwrap_or(0.0),
            })
        });
        let average = look.at("summary").at("average_utilization").f64().unwrap_or(0.0);
        Ok(OsdDf { osds: osds.collect(), average_utilization_pct: average })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::{RELEASES, dump};

    #[test]
    fn tree_and_use_of_all_releases() {
        for release in RELEASES {
            let tree = OsdTree::parse(&dump(release, "ceph-osd_tree.json")).unwrap();
            assert_eq!(tree.bucket_of(2, "host"), Some("node1"));
            assert_eq!(tree.bucket_of(2, "root"), Some("default"));
            assert_eq!(tree.bucket_of(2, "rack"), None);
            let df = OsdDf::parse(&dump(release, "ceph-osd_df_tree.json")).unwrap();
            assert_eq!(df.osds.iter().map(|o| o.id).collect::<Vec<_>>(), [0, 1, 2]);
            assert!(df.osds.iter().all(|o| o.size_kib == 10_485_760 && o.pgs > 30 && o.utilization_pct < 26.0));
            assert!(df.average_utilization_pct > 10.0);
        }
    }

    #[test]
    fn a_tree_with_a_loop_ends() {
        let text = r#"{"nodes":[{"id":-1,"type":"x","children":[-2]},{"id":-2,"type":"x","children":[-1,0]}]}"#;
        assert_eq!(OsdTree::parse(text).unwrap().bucket_of(0, "host"), None);
    }
}
