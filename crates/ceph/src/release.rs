//! Which Ceph release a daemon runs: decided by the version number, never by the words around it.
//!
//! 20.2.4 ends its version string with `(stable - RelWithDebInfo)`, so nothing here looks at `(stable)`.
use std::fmt;

/// A release, by its major number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Release {
    /// 16.
    Pacific,
    /// 17.
    Quincy,
    /// 18.
    Reef,
    /// 19.
    Squid,
    /// 20.
    Tentacle,
    /// Any other major number: older or newer than what was looked at.
    Unknown(u32),
}

impl Release {
    /// The release of a major number.
    #[must_use]
    pub fn of_major(major: u32) -> Release {
        match major {
            16 => Release::Pacific,
            17 => Release::Quincy,
            18 => Release::Reef,
            19 => Release::Squid,
            20 => Release::Tentacle,
            other => Release::Unknown(other),
        }
    }

    /// The release of a name as in `require_osd_release` or `min_mon_release_name`.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Release> {
        [Release::Pacific, Release::Quincy, Release::Reef, Release::Squid, Release::Tentacle]
            .into_iter()
            .find(|r| r.to_string() == name)
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Release::Pacific => f.write_str("pacific"),
            Release::Quincy => f.write_str("quincy"),
            Release::Reef => f.write_str("reef"),
            Release::Squid => f.write_str("squid"),
            Release::Tentacle => f.write_str("tentacle"),
            Release::Unknown(major) => write!(f, "release {major}"),
        }
    }
}

/// A version with its commit: two builds of one number can differ, so the commit takes part in comparisons.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// 16 to 20; 0 when there is no number.
    pub major: u32,
    /// 2 for stable releases.
    pub minor: u32,
    /// Point release.
    pub patch: u32,
    /// Commit, where the text has one.
    pub commit: String,
}

impl Version {
    /// Reads `ceph version 16.2.15 (618f…) pacific (stable)`, `16.2.15` and development forms such as
    /// `19.0.0-1796-g1fb0f9b7`. `None` when there is no number in it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Version> {
        let word = text.split_whitespace().find(|w| w.starts_with(|c: char| c.is_ascii_digit()))?;
        let mut numbers = word.split(['.', '-']).map(str::parse::<u32>);
        let major = numbers.next()?.ok()?;
        let mut rest = || numbers.next().and_then(Result::ok).unwrap_or(0);
        let (minor, patch) = (rest(), rest());
        let commit = text.split(['(', ')']).nth(1).filter(|c| c.len() >= 8 && c.bytes().all(|b| b.is_ascii_hexdigit()));
        Some(Version { major, minor, patch, commit: commit.unwrap_or("").to_owned() })
    }

    /// Its release.
    #[must_use]
    pub fn release(&self) -> Release {
        Release::of_major(self.major)
    }

    /// True from `major.minor.patch` on within the same major, and for every later major.
    #[must_use]
    pub fn at_least(&self, major: u32, minor: u32, patch: u32) -> bool {
        (self.major, self.minor, self.patch) >= (major, minor, patch)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{} {}", self.major, self.minor, self.patch, self.release())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn versions_of_all_forms() {
        let v = Version::parse(
            "ceph version 20.2.4 (7f793731f1b39eb4f465e960113d2363c311b964) tentacle (stable - RelWithDebInfo)",
        )
        .unwrap();
        assert_eq!((v.major, v.minor, v.patch, v.release()), (20, 2, 4, Release::Tentacle));
        assert_eq!(v.commit, "7f793731f1b39eb4f465e960113d2363c311b964");
        assert_eq!(v.to_string(), "20.2.4 tentacle");
        assert_eq!(Version::parse("16.2.15").unwrap().release(), Release::Pacific);
        assert_eq!(
            Version::parse("ceph version 19.0.0-1796-g1fb0f9b7 (1fb0f9b71234) squid (dev)").unwrap().release(),
            Release::Squid
        );
        assert_eq!(Version::parse("ceph version 21.3.0").unwrap().release(), Release::Unknown(21));
        assert_eq!(Version::parse("ceph version Development (no_version)"), None);
        assert!(
            Version::parse("18.2.7").unwrap().at_least(18, 2, 5)
                && !Version::parse("18.2.4").unwrap().at_least(18, 2, 5)
        );
        assert_eq!(Release::of_name("reef"), Some(Release::Reef));
        assert_eq!(Release::of_name("hammer"), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,200}") {
            let _ = Version::parse(&text).map(|v| v.to_string());
        }
    }
}
