//! `ceph osd crush dump`: what a pool's rule spreads copies over.
use crate::ParseError;
use crate::json::{self, Look};

/// One rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrushRule {
    /// Number, as a pool's `crush_rule` names it.
    pub id: i64,
    /// Name.
    pub name: String,
    /// Where it starts: `default`, `default~ssd`.
    pub root: String,
    /// What copies are spread over: `osd`, `host`, `rack`; empty when the rule says nothing of it.
    pub failure_domain: String,
}

/// `ceph osd crush dump`. 16 has `ruleset`, `min_size` and `max_size` in a rule, later releases do not; neither is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrushDump {
    /// Rules.
    pub rules: Vec<CrushRule>,
}

impl CrushDump {
    /// Reads the dump.
    ///
    /// # Errors
    /// When the text is not a JSON object with `rules`.
    pub fn parse(text: &str) -> Result<CrushDump, ParseError> {
        let value = json::object("ceph osd crush dump", text)?;
        let look = Look::of(&value);
        if !look.at("rules").is_there() {
            return Err(ParseError::new("ceph osd crush dump", "it has no `rules`"));
        }
        let rules = look.at("rules").items().filter_map(|r| {
            let take = r.at("steps").items().find(|s| s.at("op").str() == Some("take"));
            // Copies are spread by the first choose step that may pick more than one: `num` 0 (all) or above 1.
            let choose = r
                .at("steps")
                .items()
                .find(|s| s.at("op").str().is_some_and(|op| op.starts_with("choose")) && s.at("num").i64() != Some(1));
            Some(CrushRule {
                id: r.at("rule_id").i64()?,
                name: r.at("rule_name").text(),
                root: take.map(|s| s.at("item_name").text()).unwrap_or_default(),
                failure_domain: choose.map(|s| s.at("type").text()).unwrap_or_default(),
            })
        });
        Ok(CrushDump { rules: rules.collect() })
    }

    /// The rule of this number.
    #[must_use]
    pub fn rule(&self, id: i64) -> Option<&CrushRule> {
        self.rules.iter().find(|r| r.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::{RELEASES, dump};

    #[test]
    fn rules_of_all_releases() {
        for release in RELEASES {
            let crush = CrushDump::parse(&dump(release, "ceph-osd_crush_dump.json")).unwrap();
            let rule = crush.rule(0).unwrap();
            assert_eq!(
                (rule.name.as_str(), rule.root.as_str(), rule.failure_domain.as_str()),
                ("replicated_rule", "default", "osd")
            );
            assert_eq!(crush.rule(1).unwrap().failure_domain, "osd");
        }
    }

    #[test]
    fn set_steps_and_single_picks_are_passed_over() {
        let text = r#"{"rules":[{"rule_id":3,"steps":[{"op":"set_chooseleaf_tries","num":5},{"op":"take","item_name":"default~ssd"},{"op":"choose_firstn","num":1,"type":"datacenter"},{"op":"chooseleaf_firstn","num":0,"type":"host"},{"op":"emit"}]}]}"#;
        let rule = CrushDump::parse(text).unwrap().rules.remove(0);
        assert_eq!((rule.root.as_str(), rule.failure_domain.as_str()), ("default~ssd", "host"));
    }
}
