//! A finding: a sentence with the numbers it rests on.
use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing when reading the numbers.
    Note,
    /// The numbers are affected, or the cluster needs attention.
    Warn,
    /// The numbers (or a part of them) must not be used for what they look like.
    Invalid,
}

/// A span of time, Unix nanoseconds, end exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Start.
    pub from_unix_ns: i64,
    /// End.
    pub to_unix_ns: i64,
}

/// What a rule found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable name of the rule: `osd-down-during-run`.
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// One sentence: what is the case.
    pub title: String,
    /// The numbers it rests on.
    pub evidence: String,
    /// What to do next.
    pub advice: String,
    /// Where the rule or its threshold comes from.
    pub source: String,
    /// The time it concerns, where it has one; marked in the series.
    pub span: Option<Span>,
    /// The step it concerns, where it is one.
    pub step: Option<String>,
}
