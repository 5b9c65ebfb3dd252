//! Reading Ceph's JSON without being surprised by it: a newline (or a line of chatter) in front, `nan`, `-nan` and `inf`
//! as numbers, numbers as strings, 0/1 for booleans, keys that one release has and another has not.
//!
//! Nothing here fails once the text is JSON: a missing or odd value is `None` or the type's zero.
use crate::ParseError;
use serde_json::Value;
use std::borrow::Cow;

/// Parses the first JSON document of a text. White space and, up to the first line that begins with `{` or `[`, lines
/// of chatter in front of it are skipped.
///
/// # Errors
/// When no JSON document begins anywhere or the one that does is cut off.
pub(crate) fn document(source_name: &'static str, text: &str) -> Result<Value, ParseError> {
    let start = document_start(text).ok_or_else(|| ParseError::new(source_name, "there is no JSON in it"))?;
    let clean = without_non_numbers(&text[start..]);
    match serde_json::Deserializer::from_str(&clean).into_iter::<Value>().next() {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(ParseError::new(source_name, error.to_string())),
        None => Err(ParseError::new(source_name, "it is empty")),
    }
}

fn document_start(text: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        if line[indent..].starts_with(['{', '[']) {
            return Some(at + indent);
        }
        at += line.len();
    }
    None
}

/// Replaces `nan`, `-nan`, `inf`, `-inf` (as a division by zero prints them in 16.2.15) outside of strings by `null`.
fn without_non_numbers(text: &str) -> Cow<'_, str> {
    const TOKENS: [&str; 4] = ["-nan", "nan", "-inf", "inf"];
    if !text.contains("nan") && !text.contains("inf") {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let (mut out, mut copied, mut at) = (String::with_capacity(text.len()), 0, 0);
    let (mut in_string, mut changed) = (false, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'-' | b'n' | b'i' if !in_string => {
                if let Some(token) = TOKENS.iter().find(|t| bytes[at..].starts_with(t.as_bytes())) {
                    out.push_str(&text[copied..at]);
                    out.push_str("null");
                    at += token.len();
                    copied = at;
                    changed = true;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    if !changed {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// A look at a value that may not be there.
#[derive(Clone, Copy)]
pub(crate) struct Look<'a>(pub(crate) Option<&'a Value>);

impl<'a> Look<'a> {
    pub(crate) fn of(value: &'a Value) -> Look<'a> {
        Look(Some(value))
    }
    pub(crate) fn at(self, key: &str) -> Look<'a> {
        Look(self.0.and_then(|v| v.get(key)))
    }
    /// The first of several names of the same thing.
    pub(crate) fn any(self, keys: &[&str]) -> Look<'a> {
        keys.iter().map(|k| self.at(k)).find(|l| l.0.is_some()).unwrap_or(Look(None))
    }
    pub(crate) fn is_there(self) -> bool {
        self.0.is_some_and(|v| !v.is_null())
    }
    pub(crate) fn f64(self) -> Option<f64> {
        match self.0? {
            Value::Number(n) => n.as_f64().filter(|f| f.is_finite()),
            Value::String(s) => s.trim().parse().ok().filter(|f: &f64| f.is_finite()),
            Value::Bool(b) => Some(f64::from(u8::from(*b))),
            _ => None,
        }
    }
    pub(crate) fn u64(self) -> Option<u64> {
        match self.0? {
            Value::Number(n) if n.is_u64() => n.as_u64(),
            Value::String(s) => s.trim().parse().ok().or_else(|| whole(self.f64()?)),
            _ => whole(self.f64()?),
        }
    }
    pub(crate) fn i64(self) -> Option<i64> {
        match self.0? {
            Value::Number(n) if n.is_i64() => n.as_i64(),
            Value::String(s) => s.trim().parse().ok(),
            _ => self.u64().and_then(|n| i64::try_from(n).ok()),
        }
    }
    pub(crate) fn i32(self) -> Option<i32> {
        self.i64().and_then(|n| i32::try_from(n).ok())
    }
    pub(crate) fn bool(self) -> Option<bool> {
        match self.0? {
            Value::Bool(b) => Some(*b),
            Value::String(s) if s == "true" => Some(true),
            Value::String(s) if s == "false" => Some(false),
            _ => self.f64().map(|f| f != 0.0),
        }
    }
    pub(crate) fn str(self) -> Option<&'a str> {
        self.0.and_then(Value::as_str)
    }
    /// A text; empty when it is not there. Numbers and booleans are printed.
    pub(crate) fn text(self) -> String {
        match self.0 {
            Some(Value::String(s)) => s.clone(),
            Some(v @ (Value::Number(_) | Value::Bool(_))) => v.to_string(),
            _ => String::new(),
        }
    }
    pub(crate) fn items(self) -> impl Iterator<Item = Look<'a>> {
        self.0.and_then(Value::as_array).map_or(&[][..], Vec::as_slice).iter().map(Look::of)
    }
    pub(crate) fn entries(self) -> impl Iterator<Item = (&'a str, Look<'a>)> {
        self.0.and_then(Value::as_object).into_iter().flatten().map(|(k, v)| (k.as_str(), Look::of(v)))
    }
    /// Numbers of a list; what is no number is left out.
    pub(crate) fn ids(self) -> Vec<i32> {
        self.items().filter_map(Look::i32).collect()
    }
}

fn whole(f: f64) -> Option<u64> {
    // Every f64 below 2^64 that is not negative has an integer part that fits.
    (0.0..18_446_744_073_709_551_616.0).contains(&f).then_some(f as u64)
}

/// Tells the two kinds of outer shape apart, so that a dump of another command is an error and not "nothing there".
pub(crate) fn object(source_name: &'static str, text: &str) -> Result<Value, ParseError> {
    let value = document(source_name, text)?;
    if value.is_object() { Ok(value) } else { Err(ParseError::new(source_name, "it is not a JSON object")) }
}

/// As [`object`], for a list.
pub(crate) fn list(source_name: &'static str, text: &str) -> Result<Value, ParseError> {
    let value = document(source_name, text)?;
    if value.is_array() { Ok(value) } else { Err(ParseError::new(source_name, "it is not a JSON list")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn odd_numbers_and_chatter_are_read() {
        let v =
            document("x", "\nhints = 1\n{\"a\":-nan,\"b\":[nan,inf,-inf,\"nan inf \\\" nan\"],\"c\":\"7\"} trailing")
                .unwrap();
        let look = Look::of(&v);
        assert!(!look.at("a").is_there());
        assert_eq!(look.at("a").f64(), None);
        assert_eq!(look.at("b").items().count(), 4);
        assert_eq!(look.at("b").items().last().unwrap().str(), Some("nan inf \" nan"));
        assert_eq!(look.at("c").u64(), Some(7));
        assert!(document("x", "no valid command found").is_err());
        assert!(document("x", "{\"a\":").is_err());
        assert!(list("x", "{}").is_err() && object("x", "[]").is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,200}", json in "[\\[\\]{}\",:nai\\-f0-9 \\\\\n]{0,80}") {
            let _ = document("x", &text);
            let _ = document("x", &json);
        }
        #[test]
        fn odd_values_give_none_or_a_number(f: f64, s in ".{0,20}") {
            for v in [serde_json::json!(f), serde_json::json!(s), serde_json::json!([f]), serde_json::json!(null)] {
                let look = Look::of(&v);
                let _ = (look.u64(), look.i64(), look.i32(), look.f64(), look.bool(), look.text());
            }
        }
    }
}
