//! Takes secrets out of any captured text before it is stored, and leaves the rest as it was.
//!
//! Three nets, one after the other, because captured texts are of all kinds: JSON dumps where the name of a setting and
//! its value are two fields; names followed by values, as in conf files, keyrings, headers and command lines; and things
//! that look like secrets whatever stands before them (cephx keys, S3 keys, PEM keys, passwords in URLs). When in doubt
//! a value is removed: a report with one value too few is better than one with a key in it. Empty values, and numbers
//! under names that merely mention a key or token (`num_keys_recovered`), stay.

mod assignment;
mod json_pairs;
mod name;
mod shape;

/// What stands where a secret stood. It has no white space and no quote, so the text around it keeps its structure.
pub const REMOVED: &str = "<secret-removed>";

/// The text without secrets. Applying it twice changes nothing more.
///
/// JSON stays JSON with the same keys in the same order, conf files stay conf files: only values are replaced.
#[must_use]
pub fn strip_secrets(text: &str) -> String {
    let text = json_pairs::strip(text);
    let text = assignment::strip(&text);
    shape::strip(&text)
}

/// True when [`strip_secrets`] would change the text: a last check before something is written or sent.
#[must_use]
pub fn has_secrets(text: &str) -> bool {
    strip_secrets(text) != text
}

/// True when some line begins a JSON document. `[global]` of a conf file begins none.
fn holds_json(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        let Some(rest) = line.strip_prefix(['{', '[']) else { return false };
        rest.trim_start().chars().next().is_none_or(|c| "{}[]\"-".contains(c) || c.is_ascii_digit())
    })
}

/// Puts [`REMOVED`] in place of each range; the ranges are in order and do not overlap.
fn replace_ranges(text: &str, ranges: &[std::ops::Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for range in ranges {
        out.push_str(&text[copied..range.start]);
        out.push_str(REMOVED);
        copied = range.end;
    }
    out.push_str(&text[copied..]);
    out
}

#[cfg(test)]
mod tests;
