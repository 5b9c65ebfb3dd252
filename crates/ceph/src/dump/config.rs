//! Configuration: `ceph config dump`, `ceph config show osd.N`, `ceph tell osd.N config show`, `… config diff`.
use crate::ParseError;
use crate::json::{self, Look};
use std::collections::BTreeMap;

/// One setting in the monitors' database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigEntry {
    /// `global`, `osd`, `osd.3`, `client.rgw.a`, …
    pub section: String,
    /// Option. Module options are localised (`mgr/dashboard/a/server_port`) since 16.2.15, 17.2.8 and 18.2.4.
    pub name: String,
    /// Value as text.
    pub value: String,
    /// `host:x`, `class:ssd`, or empty.
    pub mask: String,
}

/// `ceph config dump`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigDump {
    /// Entries in the order of the dump.
    pub entries: Vec<ConfigEntry>,
}

impl ConfigDump {
    /// Reads the dump.
    ///
    /// # Errors
    /// When the text is not a JSON list.
    pub fn parse(text: &str) -> Result<ConfigDump, ParseError> {
        let value = json::list("ceph config dump", text)?;
        let entries = Look::of(&value).items().filter_map(|e| {
            Some(ConfigEntry {
                section: e.at("section").text(),
                name: e.at("name").str()?.to_owned(),
                value: e.at("value").text(),
                mask: e.at("mask").text(),
            })
        });
        Ok(ConfigDump { entries: entries.collect() })
    }

    /// All entries of one option, whatever their section.
    pub fn of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a ConfigEntry> {
        self.entries.iter().filter(move |e| e.name == name)
    }
}

/// The running values of one daemon, from `ceph config show osd.N` (a list with sources, only what is not at its
/// default and a few more) or from `ceph tell osd.N config show` (a flat map of everything, without sources).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigShow {
    /// Option to value and source (`default`, `file`, `mon`, `override`, `cmdline`, …; empty when the form has none).
    pub values: BTreeMap<String, (String, String)>,
}

impl ConfigShow {
    /// Reads either form.
    ///
    /// # Errors
    /// When the text is not JSON.
    pub fn parse(text: &str) -> Result<ConfigShow, ParseError> {
        let value = json::document("ceph config show", text)?;
        let look = Look::of(&value);
        let listed = look
            .items()
            .filter_map(|e| Some((e.at("name").str()?.to_owned(), (e.at("value").text(), e.at("source").text()))));
        let flat = look.entries().map(|(name, v)| (name.to_owned(), (v.text(), String::new())));
        Ok(ConfigShow { values: listed.chain(flat).collect() })
    }

    /// The value of an option, where the dump has it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(|v| v.0.as_str())
    }
}

/// One option that differs from its default, as `config diff` of a daemon has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigChange {
    /// Option.
    pub name: String,
    /// Compiled default.
    pub default: String,
    /// Value in use.
    pub running: String,
    /// Where it was set: `file`, `mon`, `override`, `env`, `cmdline`, …; several when several set it.
    pub sources: Vec<String>,
}

impl ConfigChange {
    /// Reads `ceph tell osd.N config diff`: `{"diff": {option: {default, SOURCE, final}}}` on 16 to 20.
    ///
    /// # Errors
    /// When the text is not a JSON object with `diff`.
    pub fn parse_diff(text: &str) -> Result<Vec<ConfigChange>, ParseError> {
        let value = json::object("config diff", text)?;
        let diff = Look::of(&value).at("diff");
        if !diff.is_there() {
            return Err(ParseError::new("config diff", "it has no `diff`"));
        }
        let changes = diff.entries().map(|(name, v)| ConfigChange {
            name: name.to_owned(),
            default: v.at("default").text(),
            running: v.at("final").text(),
            sources: v.entries().map(|(k, _)| k.to_owned()).filter(|k| k != "default" && k != "final").collect(),
        });
        Ok(changes.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::{RELEASES, dump, mutated};
    use proptest::prelude::*;

    #[test]
    fn configuration_of_all_releases() {
        for release in RELEASES {
            assert_eq!(ConfigDump::parse(&dump(release, "ceph-config_dump.json")).unwrap().entries, []);
            let show = ConfigShow::parse(&dump(release, "ceph-config_show_osd_0.json")).unwrap();
            assert_eq!(show.get("osd_memory_target"), Some("1073741824"));
            assert_eq!(show.values["osd_memory_target"].1, "file");
            let diff = ConfigChange::parse_diff(&dump(release, "osd.0-config_diff.json")).unwrap();
            let size = diff.iter().find(|c| c.name == "bluestore_block_size").unwrap();
            assert_eq!((size.default.as_str(), size.running.as_str()), ("107374182400", "10737418240"));
            assert_eq!(size.sources, ["file"]);
        }
        assert_eq!(ConfigShow::parse(r#"{"osd_op_queue":"wpq"}"#).unwrap().get("osd_op_queue"), Some("wpq"));
        let text = r#"[{"section":"osd.1","name":"osd_mclock_max_capacity_iops_ssd","value":"300.5","level":"basic","can_update_at_runtime":true,"mask":""}]"#;
        let entries = ConfigDump::parse(text).unwrap();
        assert_eq!(entries.of("osd_mclock_max_capacity_iops_ssd").next().unwrap().section, "osd.1");
    }

    proptest! {
        // Every parser of this module's siblings, too: they share the way they fail.
        #[test]
        fn no_text_panics(text in ".{0,200}", at in 0usize..6000, with in "[\\[\\]{}\",:a-z0-9\\-. ]{0,8}", release in 0usize..3) {
            use crate::dump::*;
            let all = |text: &str| {
                let _ = (ConfigDump::parse(text), ConfigShow::parse(text), ConfigChange::parse_diff(text));
                let _ = (CrushDump::parse(text), Df::parse(text), DaemonMetadataList::parse(text));
                let _ = OsdMetadataList::parse(text).map(|m| m.hosts().len());
                let _ = OsdDump::parse(text).map(|m| m.not_up_in());
                let _ = MapReply::parse(text).map(|m| m.acting_primary_first());
                let _ = (OsdDf::parse(text), OsdTree::parse(text).map(|t| t.bucket_of(0, "host").map(str::to_owned)));
                let _ = PgsBrief::parse(text).map(|p| p.share_of_osd(1, 0));
                let _ = (PoolList::parse(text), PoolIoList::parse(text), EcProfile::parse(text), PoolAutoscale::parse(text));
                let _ = (Status::parse(text), Health::parse(text), Versions::parse(text).map(|v| v.osd()));
            };
            all(&text);
            for file in ["ceph-status.json", "ceph-osd_tree.json", "ceph-osd_pool_stats.json", "ceph-versions.json",
                "ceph-osd_crush_dump.json", "ceph-config_show_osd_0.json", "ceph-osd_metadata.json", "ceph-osd_df_tree.json"] {
                all(&mutated(&dump(RELEASES[release], file), at, &with));
            }
        }
    }
}
