//! Third net: what looks like a secret, whatever its name: cephx keys, S3 keys, PEM private keys, passwords in URLs.
use super::{REMOVED, replace_ranges};
use std::ops::Range;

pub(super) fn strip(text: &str) -> String {
    let text = replace_ranges(text, &pem(text));
    let text = replace_ranges(&text, &urls(&text));
    replace_ranges(&text, &keys(&text))
}

/// The body between `-----BEGIN … PRIVATE KEY-----` and `-----END`, or up to the end of the text.
fn pem(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(begin) = text[at..].find("PRIVATE KEY-----") {
        let start = at + begin + "PRIVATE KEY-----".len();
        let end = text[start..].find("-----END").map_or(text.len(), |n| start + n);
        if &text[start..end] != REMOVED && start < end {
            out.push(start..end);
        }
        at = text[end..].find("PRIVATE KEY-----").map_or(text.len(), |n| end + n + "PRIVATE KEY-----".len());
    }
    out
}

/// The password of `scheme://user:password@host`.
fn urls(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find("://") {
        let start = at + found + 3;
        let end = text[start..]
            .find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '?' | '#'))
            .map_or(text.len(), |n| start + n);
        if let (Some(colon), Some(sign)) = (text[start..end].find(':'), text[start..end].rfind('@'))
            && colon + 1 < sign
            && &text[start + colon + 1..start + sign] != REMOVED
        {
            out.push(start + colon + 1..start + sign);
        }
        at = end.max(start);
    }
    out
}

fn is_key_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/')
}

/// Runs of base64 characters (with `\/` for `/`, as some JSON writers have it) that have the shape of a key.
fn keys(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !is_key_byte(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && (is_key_byte(bytes[at]) || (bytes[at] == b'\\' && bytes.get(at + 1) == Some(&b'/'))) {
            at += 1;
        }
        let body = at;
        while at < bytes.len() && at < body + 2 && bytes[at] == b'=' {
            at += 1;
        }
        let joined = |i: Option<usize>| i.and_then(|i| bytes.get(i)).is_some_and(|b| matches!(b, b'_' | b'-'));
        if let Some(from) = cephx(&text[start..body], at - body) {
            out.push(start + from..at);
        } else if !joined(start.checked_sub(1)) && !joined(Some(at)) && is_s3(&text[start..body]) {
            out.push(start..body);
        }
    }
    out
}

/// Where a cephx key begins in a run: `AQ` (AES, 40 characters) or `Ag` (AES256k, 60 characters), ending in `=`.
/// A key is the base64 of a 12-byte head, type first, and the secret.
fn cephx(body: &str, padding: usize) -> Option<usize> {
    if padding == 0 {
        return None;
    }
    let starts = body.match_indices('A').map(|(i, _)| i);
    starts.into_iter().find(|&i| (body[i..].starts_with("AQ") || body[i..].starts_with("Ag")) && body.len() - i >= 36)
}

/// An S3 secret (40 characters of mixed case and digits; a commit in hexadecimal is not) or access key (20 characters,
/// upper case and digits).
fn is_s3(run: &str) -> bool {
    let count = |test: fn(&u8) -> bool| run.bytes().filter(test).count();
    let (upper, lower, digit) =
        (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase), count(u8::is_ascii_digit));
    match run.len() {
        40 => upper >= 3 && lower >= 3 && digit >= 1 && run.bytes().any(|b| !b.is_ascii_hexdigit()) && !is_path(run),
        20 => upper + digit == 20 && digit >= 1 && upper >= 4,
        _ => false,
    }
}

fn is_path(run: &str) -> bool {
    run.starts_with('/') && run.matches('/').count() > 1
}
