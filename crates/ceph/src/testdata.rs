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
