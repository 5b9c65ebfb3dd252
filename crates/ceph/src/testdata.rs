//! The real dumps the tests read. The only place in this crate that touches a file, and only in tests.
#![allow(clippy::disallowed_methods)]

/// The three clusters the dumps come from.
pub(crate) const RELEASES: [&str; 3] = ["pacific-16.2.15", "reef-18.2.7", "tentacle-20.2.4"];

/// A dump of one cluster.
pub(crate) fn dump(release: &str, file: &str) -> String {
    let path = format!("{}/../../tests/golden/ceph-dumps/{release}/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The text with some characters at a place replaced by others: how a damaged or changed dump looks.
pub(crate) fn mutated(text: &str, at: usize, with: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let at = at % (chars.len() + 1);
    let skip = (at + with.len()).min(chars.len());
    chars[..at].iter().copied().chain(with.chars()).chain(chars[skip..].iter().copied()).collect()
}

/// The dumps of one cluster as facts, before and after, with its health made good: the test clusters were captured
/// short of space for the monitor, without some manager modules and in the middle of a benchmark.
pub(crate) fn healthy_texts(release: &str) -> Vec<fathom_model::Fact> {
    let ok = r#""health":{"status":"HEALTH_OK","checks":{},"mutes":[]},"election_epoch""#;
    let status = dump(release, "ceph-status.json");
    let (from, to) = (status.find("\"health\"").unwrap(), status.find("\"election_epoch\"").unwrap());
    let status = format!("{}{ok}{}", &status[..from], &status[to + "\"election_epoch\"".len()..]);
    let mut texts = vec![("ceph status".to_owned(), status)];
    texts.push(("ceph health detail".to_owned(), r#"{"status":"HEALTH_OK","checks":{},"mutes":[]}"#.to_owned()));
    for command in [
        "versions",
        "osd tree",
        "osd df tree",
        "osd dump",
        "osd metadata",
        "mon metadata",
        "mgr metadata",
        "df detail",
        "osd pool ls detail",
        "osd crush dump",
        "config dump",
        "pg dump pgs_brief",
        "pg dump pools",
    ] {
        texts.push((format!("ceph {command}"), dump(release, &format!("ceph-{}.json", command.replace(' ', "_")))));
    }
    texts.push(("ceph config show osd.0".to_owned(), dump(release, "ceph-config_show_osd_0.json")));
    for osd in 0..3 {
        texts.push((format!("ceph tell osd.{osd} perf dump"), dump(release, &format!("osd.{osd}-perf_dump.json"))));
    }
    let fact = |moment: &str, (source, text): &(String, String)| fathom_model::Fact {
        moment: moment.to_owned(),
        source: source.clone(),
        text: text.clone(),
        error: None,
    };
    ["before", "after"].iter().flat_map(|m| texts.iter().map(|t| fact(m, t)).collect::<Vec<_>>()).collect()
}
