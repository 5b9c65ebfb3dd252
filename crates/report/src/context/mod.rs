//! The six context sections without which nobody can repeat a number: hardware, software, configuration, load,
//! result, state. Every line names the command or file it was read from; what could not be read is said, never
//! left out.
mod configuration;
mod hardware;
mod plan;
mod software;
mod state;

pub(crate) use configuration::pool_words;

use crate::analysis::StepResult;
use fathom_model::{Fact, RunData};
use serde::Serialize;
use serde_json::Value;

/// One line of context.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContextLine {
    /// What: `CPU`.
    pub name: String,
    /// The value, or why it is not known.
    pub value: String,
    /// The command or file it was read from; empty for what comes from the plan.
    pub source: String,
    /// False when the value is the reason why there is none.
    pub known: bool,
}

/// One section of context.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContextSection {
    /// `Hardware`, `Software`, `Configuration`, `Load`, `Result`, `State`.
    pub title: &'static str,
    /// Its lines.
    pub lines: Vec<ContextLine>,
}

/// The sections of one run.
pub(crate) fn sections(run: &RunData, steps: &[StepResult]) -> Vec<ContextSection> {
    let facts = Facts { facts: &run.facts };
    vec![
        ContextSection { title: "Hardware", lines: hardware::lines(&facts) },
        ContextSection { title: "Software", lines: software::lines(&facts, run) },
        ContextSection { title: "Configuration", lines: configuration::lines(&facts, run) },
        ContextSection { title: "Load", lines: plan::load(run, steps) },
        ContextSection { title: "Result", lines: plan::result(steps) },
        ContextSection { title: "State", lines: state::lines(&facts, run) },
    ]
}

/// The captured texts, looked up by what they are.
struct Facts<'a> {
    facts: &'a [Fact],
}

impl<'a> Facts<'a> {
    /// The first fact whose source contains `what`, from before the load where there is one. A fact with a text wins
    /// over one with an error: a second way of asking may have worked.
    fn find(&self, what: &str) -> Option<&'a Fact> {
        let candidates = || self.facts.iter().filter(|f| f.source.contains(what));
        candidates().find(|f| f.error.is_none()).or_else(|| candidates().next())
    }

    fn at(&self, what: &str, moment: &str) -> Option<&'a Fact> {
        self.facts.iter().find(|f| f.moment == moment && f.source.contains(what))
    }

    /// Lines from a JSON text: those `read` finds, or one that says why there are none.
    fn json(&self, name: &str, what: &str, read: impl Fn(&Value) -> Vec<(String, String)>) -> Vec<ContextLine> {
        self.text(name, what, |text| json(text).map(|value| read(&value)).unwrap_or_default())
    }

    /// Lines from a text, likewise.
    fn text(&self, name: &str, what: &str, read: impl Fn(&str) -> Vec<(String, String)>) -> Vec<ContextLine> {
        let Some(fact) = self.find(what) else {
            return vec![unknown(name, &format!("not captured (`{what}`)"), "")];
        };
        if let Some(error) = &fact.error {
            return vec![unknown(name, error, &fact.source)];
        }
        let found = read(&fact.text);
        if found.is_empty() {
            return vec![unknown(name, "the text has nothing about it", &fact.source)];
        }
        found.into_iter().map(|(name, value)| known(&name, &value, &fact.source)).collect()
    }
}

/// The JSON in a text; the tools put an empty line or a warning in front of it.
fn json(text: &str) -> Option<Value> {
    let start = text.find(['{', '['])?;
    serde_json::Deserializer::from_str(&text[start..]).into_iter().next()?.ok()
}

fn known(name: &str, value: &str, source: &str) -> ContextLine {
    ContextLine { name: name.to_owned(), value: value.to_owned(), source: source.to_owned(), known: true }
}

fn unknown(name: &str, why: &str, source: &str) -> ContextLine {
    let value = format!("unknown: {}", why.trim());
    ContextLine { name: name.to_owned(), value, source: source.to_owned(), known: false }
}

/// A member as text, whether it is a string or a number.
fn member(value: &Value, key: &str) -> Option<String> {
    match value.get(key)? {
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// `3 × a, 1 × b` of equal texts, in order of appearance.
fn tally(items: impl Iterator<Item = String>) -> String {
    let mut counts: Vec<(String, u64)> = Vec::new();
    for item in items {
        match counts.iter_mut().find(|(text, _)| *text == item) {
            Some((_, n)) => *n += 1,
            None => counts.push((item, 1)),
        }
    }
    let parts: Vec<String> = counts.into_iter().map(|(text, n)| format!("{n} × {text}")).collect();
    parts.join(", ")
}
