//! `ceph versions`: how many daemons of each kind run which version.
use crate::json::{self, Look};
use crate::{ParseError, Version};

/// `ceph versions`. 16 prints empty groups (`"mds":{}`), 18 and 20 leave them out; both read the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Versions {
    /// Kind of daemon (`mon`, `mgr`, `osd`, `mds`, `rgw`, …), version text and count; without `overall`.
    pub daemons: Vec<(String, String, u64)>,
}

impl Versions {
    /// Reads the reply.
    ///
    /// # Errors
    /// When the text is not a JSON object.
    pub fn parse(text: &str) -> Result<Versions, ParseError> {
        let value = json::object("ceph versions", text)?;
        let daemons = Look::of(&value)
            .entries()
            .filter(|(kind, _)| *kind != "overall")
            .flat_map(|(kind, versions)| {
                versions.entries().filter_map(move |(v, n)| Some((kind.to_owned(), v.to_owned(), n.u64()?)))
            })
            .collect();
        Ok(Versions { daemons })
    }

    /// The different version texts, sorted.
    #[must_use]
    pub fn distinct(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.daemons.iter().filter(|d| d.2 > 0).map(|d| d.1.as_str()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The oldest version among the OSDs, which decides what the data path does; among all daemons when no OSD is known.
    #[must_use]
    pub fn osd(&self) -> Option<Version> {
        let of = |only_osd: bool| {
            let wanted = self.daemons.iter().filter(move |d| !only_osd || d.0 == "osd");
            wanted.filter_map(|d| Version::parse(&d.1)).min()
        };
        of(true).or_else(|| of(false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Release;
    use crate::testdata::{RELEASES, dump};

    #[test]
    fn all_releases_read_the_same() {
        let expected = [Release::Pacific, Release::Reef, Release::Tentacle];
        for (name, release) in RELEASES.into_iter().zip(expected) {
            let versions = Versions::parse(&dump(name, "ceph-versions.json")).unwrap();
            assert_eq!(versions.daemons.iter().map(|d| d.2).sum::<u64>(), 5);
            assert_eq!(versions.distinct().len(), 1);
            assert_eq!(versions.osd().unwrap().release(), release);
        }
    }
}
