//! Why a text is not the dump it was taken for.

/// A text that could not be read as the dump it was taken for. The text stays in the store, so nothing is lost: the
/// facts that would have come from it are simply not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read `{source_name}`: {why}; the raw text is kept, please report it with the Ceph version")]
pub struct ParseError {
    /// Which dump: `ceph osd dump`.
    pub source_name: &'static str,
    /// What was wrong.
    pub why: String,
}

impl ParseError {
    pub(crate) fn new(source_name: &'static str, why: impl Into<String>) -> ParseError {
        ParseError { source_name, why: why.into() }
    }
}
