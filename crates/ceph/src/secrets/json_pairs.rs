//! First net: JSON where the name of a setting is the value of a field of its own, or the secret sits deeper than its
//! name: `{"name": "rgw_admin_password", "value": "x", "overrides": [{"value": "y"}]}`, `{"rgw_secret": {"final": "x"}}`.
//!
//! It works on the characters and not on a parsed document, so that key order, duplicate keys and a cut-off end stay as
//! they were captured.
use super::name::{self, Promise};
use super::{holds_json, replace_ranges};
use std::ops::Range;

/// One open object or list.
struct Frame {
    is_object: bool,
    /// Where the next string of an object is a key.
    expects_key: bool,
    /// Key the next value belongs to.
    key: String,
    /// What the names above it promise: everything inside is judged by it.
    inherited: Promise,
    /// What the object's own `name` field promises.
    named: Promise,
    /// Scalar values directly or deeper inside, for when `name` comes after `value`.
    values: Vec<Range<usize>>,
}

impl Frame {
    fn new(is_object: bool, inherited: Promise) -> Frame {
        Frame {
            is_object,
            expects_key: is_object,
            key: String::new(),
            inherited,
            named: Promise::Nothing,
            values: vec![],
        }
    }
}

/// Fields that describe a setting and are never the secret.
const DESCRIBING: [&str; 9] =
    ["name", "section", "source", "level", "mask", "can_update_at_runtime", "entity", "type", "caps"];

pub(super) fn strip(text: &str) -> String {
    if !holds_json(text) {
        return text.to_owned();
    }
    let mut removed = Vec::new();
    let mut stack: Vec<Frame> = Vec::new();
    let mut scan = Scan { text, at: 0 };
    while let Some(token) = scan.next() {
        match token {
            Token::Open(is_object) => {
                let inherited = stack.last().map_or(Promise::Nothing, |f| strongest(f.inherited, promise_of_key(f)));
                stack.push(Frame::new(is_object, inherited));
            }
            Token::Close => close(&mut stack, text, &mut removed),
            Token::Comma => {
                if let Some(top) = stack.last_mut() {
                    top.expects_key = top.is_object;
                }
            }
            Token::Colon => {
                if let Some(top) = stack.last_mut() {
                    top.expects_key = false;
                }
            }
            Token::Scalar(range) => scalar(&mut stack, text, range),
        }
    }
    while !stack.is_empty() {
        close(&mut stack, text, &mut removed);
    }
    removed.sort_by_key(|r: &Range<usize>| r.start);
    removed.dedup();
    replace_ranges(text, &removed)
}

fn promise_of_key(frame: &Frame) -> Promise {
    if frame.is_object { name::promise(&frame.key) } else { Promise::Nothing }
}

fn strongest(a: Promise, b: Promise) -> Promise {
    match (a, b) {
        (Promise::Secret, _) | (_, Promise::Secret) => Promise::Secret,
        (Promise::Key, _) | (_, Promise::Key) => Promise::Key,
        _ => Promise::Nothing,
    }
}

fn scalar(stack: &mut [Frame], text: &str, range: Range<usize>) {
    let Some(top) = stack.last_mut() else { return };
    let content = &text[range.clone()];
    if top.is_object && top.expects_key {
        top.key = content.to_owned();
        return;
    }
    if top.is_object && matches!(top.key.as_str(), "name" | "option" | "entity_key") {
        top.named = name::promise(content);
    }
    if !(top.is_object && DESCRIBING.contains(&top.key.as_str())) {
        top.values.push(range);
    }
}

/// Decides on the values of the object that ends. What is not removed is handed to the object around it, whose `name`
/// may still come.
fn close(stack: &mut Vec<Frame>, text: &str, removed: &mut Vec<Range<usize>>) {
    let Some(frame) = stack.pop() else { return };
    let promise = strongest(frame.named, frame.inherited);
    let (gone, kept): (Vec<_>, Vec<_>) =
        frame.values.into_iter().partition(|r| name::is_secret(promise, &text[r.clone()]));
    removed.extend(gone);
    if let Some(outer) = stack.last_mut() {
        outer.values.extend(kept);
    }
}

enum Token {
    Open(bool),
    Close,
    Comma,
    Colon,
    /// A string without its quotes, or a bare word.
    Scalar(Range<usize>),
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl Scan<'_> {
    fn next(&mut self) -> Option<Token> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at)?.is_ascii_whitespace() {
            self.at += 1;
        }
        let start = self.at;
        self.at += 1;
        Some(match bytes[start] {
            b'{' => Token::Open(true),
            b'[' => Token::Open(false),
            b'}' | b']' => Token::Close,
            b',' => Token::Comma,
            b':' => Token::Colon,
            b'"' => {
                while let Some(&b) = bytes.get(self.at) {
                    match b {
                        b'\\' => self.at += 1,
                        b'"' => break,
                        _ => {}
                    }
                    self.at += 1;
                }
                let end = floor(self.text, self.at);
                self.at = end + 1;
                Token::Scalar(start + 1..end.max(start + 1))
            }
            _ => {
                while bytes.get(self.at).is_some_and(|b| !b.is_ascii_whitespace() && !b",:{}[]\"".contains(b)) {
                    self.at += 1;
                }
                // Bare words are numbers and booleans. They are not judged: replacing one would break the JSON, and a
                // password made of digits is quoted in every dump.
                return self.next();
            }
        })
    }
}

/// The end of the text when `at` is beyond it. `at` is always behind an ASCII character, so it is a boundary.
fn floor(text: &str, at: usize) -> usize {
    at.min(text.len())
}
