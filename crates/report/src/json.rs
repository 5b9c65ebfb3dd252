//! The analysis as one JSON document.
use crate::Analysis;

/// Describes the document for people who write jq lines or scripts against it.
pub const SCHEMA_DOC: &str = include_str!("schema.md");

/// One JSON document, indented, with a newline at its end. Numbers that do not exist are `null`, never 0.
///
/// # Errors
/// Never for an analysis made by [`crate::analyse`]; the signature is serde's.
pub fn to_json(analysis: &Analysis) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(analysis)?;
    text.push('\n');
    Ok(text)
}
