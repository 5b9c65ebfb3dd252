//! Compression on the pools under test.
use super::finding;
use crate::Facts;
use fathom_model::{Finding, Severity};

const SOURCE: &str = "Ceph documentation, BlueStore compression; payloads of rados bench, rbd bench and osd bench compress to nearly nothing";

pub(super) fn on(facts: &Facts<'_>) -> Vec<Finding> {
    // A pool's own mode wins over the OSDs' setting; pools without one follow it.
    let global = facts.before.setting("bluestore_compression_mode").filter(|m| !m.is_empty() && *m != "none");
    let pools = facts.pools().into_iter().filter_map(|p| {
        let own = p.options.get("compression_mode").map(String::as_str).filter(|m| !m.is_empty());
        let mode = match own {
            Some("none") => None,
            Some(mode) => Some((mode, "set on the pool")),
            None => global.map(|mode| (mode, "set for the OSDs (bluestore_compression_mode)")),
        };
        mode.map(|(mode, whence)| (p, mode, whence))
    });
    let compressible = facts.steps.iter().map(|s| s.load.compressible_pct).max().unwrap_or(0);
    let severity = if compressible > 0 { Severity::Invalid } else { Severity::Warn };
    pools
        .map(|(pool, mode, whence)| {
            let algorithm = pool.options.get("compression_algorithm").map_or("the default algorithm", String::as_str);
            finding(
                "pool-compression",
                severity,
                format!("pool `{}` compresses what is written to it", pool.name),
                format!("mode {mode}, {algorithm}, {whence}; {compressible} % of what was written can be compressed away"),
                "measure a pool without compression, or with data that compresses like yours; with incompressible data the numbers hold the price of trying",
                SOURCE,
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;
    use fathom_model::Severity;

    #[test]
    fn a_pool_that_compresses() {
        let with = |mode: &str, pct| {
            let mut case = Case::healthy();
            case.replace(
                "ceph osd pool ls detail",
                "\"options\":{",
                &format!("\"options\":{{\"compression_mode\":\"{mode}\","),
            );
            case.replace("ceph osd pool ls detail", ",}", "}");
            case.run.steps[0].load.compressible_pct = pct;
            case.severity("pool-compression")
        };
        assert_eq!(with("aggressive", 0), Some(Severity::Warn));
        assert_eq!(with("aggressive", 50), Some(Severity::Invalid));
        assert_eq!(with("none", 50), None);
    }

    #[test]
    fn a_setting_of_the_osds() {
        let mut case = Case::healthy();
        case.text(
            "before",
            "ceph config dump",
            r#"[{"section":"osd","name":"bluestore_compression_mode","value":"force","mask":""}]"#,
        );
        assert!(case.one("pool-compression").evidence.contains("set for the OSDs"));
    }
}
