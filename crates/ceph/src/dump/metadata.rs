//! `ceph osd metadata`, `ceph mon metadata`, `ceph mgr metadata`: what the daemons say about their hosts and devices.
use crate::ParseError;
use crate::json::{self, Look};
use std::collections::BTreeMap;

/// A monitor or manager, or the part of an OSD that is the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DaemonMetadata {
    /// `a`, `x`; the number of an OSD.
    pub name: String,
    /// Host it runs on.
    pub hostname: String,
    /// Full version text.
    pub ceph_version: String,
    /// CPU model.
    pub cpu: String,
    /// Memory of the host in KiB.
    pub mem_total_kib: u64,
    /// Kernel.
    pub kernel_version: String,
    /// `Debian GNU/Linux 12 (bookworm)`.
    pub distro: String,
}

impl DaemonMetadata {
    fn from_look(look: Look<'_>) -> DaemonMetadata {
        DaemonMetadata {
            name: look.any(&["name", "id"]).text(),
            hostname: look.at("hostname").text(),
            ceph_version: look.at("ceph_version").text(),
            cpu: look.at("cpu").text(),
            mem_total_kib: look.at("mem_total_kb").u64().unwrap_or(0),
            kernel_version: look.at("kernel_version").text(),
            distro: look.at("distro_description").text(),
        }
    }
}

/// `ceph mon metadata` or `ceph mgr metadata`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DaemonMetadataList {
    /// One entry per daemon.
    pub daemons: Vec<DaemonMetadata>,
}

impl DaemonMetadataList {
    /// Reads the dump.
    ///
    /// # Errors
    /// When the text is not a JSON list.
    pub fn parse(text: &str) -> Result<DaemonMetadataList, ParseError> {
        let value = json::list("ceph mon metadata", text)?;
        Ok(DaemonMetadataList { daemons: Look::of(&value).items().map(DaemonMetadata::from_look).collect() })
    }
}

/// One OSD. All values are strings in the dump; those used often are typed, the rest is in `all`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OsdMetadata {
    /// Number.
    pub id: i32,
    /// What every daemon has.
    pub daemon: DaemonMetadata,
    /// Object store: `bluestore`, `memstore`, `filestore`.
    pub objectstore: String,
    /// What the kernel says of the data device; virtual and RAID disks often say `true` wrongly.
    pub rotational: Option<bool>,
    /// Device class Ceph chose by default.
    pub device_class: String,
    /// Data device names, comma separated: `sda`.
    pub devices: String,
    /// `sda=VENDOR_MODEL_SERIAL`, empty for devices without a serial number.
    pub device_ids: String,
    /// BlueStore on a `file` or on a block device (`blk`).
    pub access_mode: String,
    /// Bytes of the data device.
    pub size_bytes: u64,
    /// `bluestore_min_alloc_size` in bytes, fixed when the OSD was created. There in 16.2.15 too.
    pub min_alloc_size_bytes: Option<u64>,
    /// RocksDB on a device of its own.
    pub dedicated_db: bool,
    /// WAL on a device of its own.
    pub dedicated_wal: bool,
    /// Interface of the public network, empty when unknown.
    pub front_iface: String,
    /// Interface of the cluster network, empty when unknown.
    pub back_iface: String,
    /// Everything as it was.
    pub all: BTreeMap<String, String>,
}

/// `ceph osd metadata`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OsdMetadataList {
    /// One entry per OSD. OSDs that never reported have a number and nothing else.
    pub osds: Vec<OsdMetadata>,
}

impl OsdMetadataList {
    /// Reads the dump.
    ///
    /// # Errors
    /// When the text is not a JSON list.
    pub fn parse(text: &str) -> Result<OsdMetadataList, ParseError> {
        let value = json::list("ceph osd metadata", text)?;
        let osds = Look::of(&value).items().filter_map(|o| {
            Some(OsdMetadata {
                id: o.at("id").i32()?,
                daemon: DaemonMetadata::from_look(o),
                objectstore: o.at("osd_objectstore").text(),
                rotational: o.any(&["bluestore_bdev_rotational", "rotational"]).bool(),
                device_class: o.at("default_device_class").text(),
                devices: o.any(&["bluestore_bdev_devices", "devices"]).text(),
                device_ids: o.at("device_ids").text(),
                access_mode: o.at("bluestore_bdev_access_mode").text(),
                size_bytes: o.at("bluestore_bdev_size").u64().unwrap_or(0),
                min_alloc_size_bytes: o.at("bluestore_min_alloc_size").u64(),
                dedicated_db: o.at("bluefs_dedicated_db").bool().unwrap_or(false),
                dedicated_wal: o.at("bluefs_dedicated_wal").bool().unwrap_or(false),
                front_iface: o.at("front_iface").text(),
                back_iface: o.at("back_iface").text(),
                all: o.entries().map(|(k, v)| (k.to_owned(), v.text())).collect(),
            })
        });
        Ok(OsdMetadataList { osds: osds.collect() })
    }

    /// The hosts, sorted, each once.
    #[must_use]
    pub fn hosts(&self) -> Vec<&str> {
        let mut hosts: Vec<&str> =
            self.osds.iter().map(|o| o.daemon.hostname.as_str()).filter(|h| !h.is_empty()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::{RELEASES, dump};

    #[test]
    fn metadata_of_all_releases() {
        for release in RELEASES {
            let osds = OsdMetadataList::parse(&dump(release, "ceph-osd_metadata.json")).unwrap();
            assert_eq!(osds.hosts(), ["node1"]);
            for osd in &osds.osds {
                assert_eq!((osd.objectstore.as_str(), osd.access_mode.as_str()), ("bluestore", "file"));
                assert_eq!((osd.rotational, osd.min_alloc_size_bytes), (Some(true), Some(4096)));
                assert_eq!((osd.size_bytes, osd.daemon.mem_total_kib), (10_737_418_240, 24_731_184));
                assert!(!osd.dedicated_db && osd.all.contains_key("arch"));
            }
            for file in ["ceph-mon_metadata.json", "ceph-mgr_metadata.json"] {
                let list = DaemonMetadataList::parse(&dump(release, file)).unwrap();
                assert_eq!((list.daemons.len(), list.daemons[0].hostname.as_str()), (1, "node1"));
            }
        }
    }
}
