//! Second net: a name and then its value, as in `key = AQ…`, `"password": "x"`, `--key VALUE`, `X-Auth-Token: x`.
use super::name::{self, Promise};
use super::{holds_json, replace_ranges};
use std::ops::Range;

pub(super) fn strip(text: &str) -> String {
    let mut removed: Vec<Range<usize>> = Vec::new();
    let is_json = holds_json(text) || text.contains("\":");
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let whole_line = if is_json { None } else { conf_line(line) };
        match whole_line {
            Some(range) => removed.push(line_start + range.start..line_start + range.end),
            None => inline(text, line_start..line_start + line.len(), &mut removed),
        }
        line_start += line.len();
    }
    replace_ranges(text, &removed)
}

/// `rgw ldap secret = the rest, blanks and commas included`: the value of a conf-file or keyring line.
fn conf_line(line: &str) -> Option<Range<usize>> {
    let separator = line.find(['=', ':'])?;
    let name = &line[..separator];
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ' | '\t' | '/' | '.');
    if name.trim_start().starts_with("--") || name.contains(" -") || !name.chars().all(plain) {
        return None;
    }
    let rest = &line[separator + 1..];
    let value = rest.trim();
    let start = separator + 1 + rest.len() - rest.trim_start().len();
    name::is_secret(name::promise(name), value).then_some(start..start + value.len())
}

fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/')
}

/// All names in a line with a value behind them.
fn inline(text: &str, line: Range<usize>, removed: &mut Vec<Range<usize>>) {
    let bytes = &text.as_bytes()[..line.end];
    let mut at = line.start;
    while at < line.end {
        if !is_name(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < line.end && is_name(bytes[at]) {
            at += 1;
        }
        let name = &text[start..at];
        let promise = name::promise(name);
        if promise == Promise::Nothing {
            continue;
        }
        if let Some(value) = value_after(text, at, line.end, name.starts_with("--")) {
            if name::is_secret(promise, &text[value.clone()]) {
                removed.push(value.clone());
            }
            at = value.end.max(at);
        }
    }
}

/// The value behind a name that ends at `at`: after `=` or `:`, or, behind a flag, after white space.
fn value_after(text: &str, at: usize, end: usize, is_flag: bool) -> Option<Range<usize>> {
    let bytes = &text.as_bytes()[..end];
    let blank = |mut i: usize| {
        while matches!(bytes.get(i), Some(b' ' | b'\t')) {
            i += 1;
        }
        i
    };
    let mut i = at;
    // The closing quote of the name, escaped or not.
    while matches!(bytes.get(i), Some(b'\\')) && matches!(bytes.get(i + 1), Some(b'"' | b'\'')) {
        i += 1;
    }
    if matches!(bytes.get(i), Some(b'"' | b'\'')) {
        i += 1;
    }
    let separator = blank(i);
    let value = match bytes.get(separator) {
        Some(b'=') => blank(separator + 1),
        // `key::` and `key://` are no assignments.
        Some(b':') if !matches!(bytes.get(separator + 1), Some(b':' | b'/')) => blank(separator + 1),
        Some(_) if is_flag && separator > at && bytes[separator] != b'-' => separator,
        _ => return None,
    };
    let value = skip_scheme(text, value, end);
    quoted(text, value, end).or_else(|| bare(text, value, end))
}

/// `Authorization: Bearer x`: the scheme is no secret, what follows is.
fn skip_scheme(text: &str, value: usize, end: usize) -> usize {
    for scheme in ["Bearer ", "Basic ", "bearer ", "basic ", "AWS "] {
        if text[value..end].starts_with(scheme) {
            return value + scheme.len();
        }
    }
    value
}

/// A value in quotes, `"…"`, `'…'` or `\"…\"`: up to the same quote, however it is escaped.
fn quoted(text: &str, value: usize, end: usize) -> Option<Range<usize>> {
    let rest = &text[value..end];
    let quote = ["\\\"", "\"", "'"].into_iter().find(|q| rest.starts_with(q))?;
    let start = value + quote.len();
    let bytes = text.as_bytes();
    let mut i = start;
    while i < end {
        if text.is_char_boundary(i) && text[i..end].starts_with(quote) {
            return Some(start..i);
        }
        i += if bytes[i] == b'\\' && quote == "\"" { 2 } else { 1 };
    }
    Some(start..text[start..end].trim_end().len() + start)
}

/// A value without quotes: up to white space, a quote, or an escaped quote or line end. Commas belong to it.
fn bare(text: &str, value: usize, end: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if matches!(bytes.get(value), Some(b'{' | b'[')) {
        return None;
    }
    let mut i = value;
    while i < end && !bytes[i].is_ascii_whitespace() && !matches!(bytes[i], b'"' | b'\'') {
        if bytes[i] == b'\\' {
            match bytes.get(i + 1) {
                Some(b'n' | b't' | b'r' | b'"') => break,
                _ => i += 1,
            }
        }
        i += 1;
    }
    let mut stop = i.min(end);
    while !text.is_char_boundary(stop) {
        stop += 1;
    }
    // `{"key": null}` and `{"key": 7}` inside JSON: the brackets and commas behind are no part of it.
    let token = text[value..stop].trim_end_matches([',', '}', ']', ';', ')']);
    (!token.is_empty()).then(|| value..value + token.len())
}
