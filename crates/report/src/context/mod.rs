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
use fathom_ceph::{Facts, ParseError};
use fathom_model::{Fact, RunData};
use serde::Serialize;

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
pub(crate) fn sections(run: &RunData, facts: &Facts<'_>, steps: &[StepResult]) -> Vec<ContextSection> {
    let texts = Texts { facts: &run.facts };
    vec![
        ContextSection { title: "Hardware", lines: hardware::lines(&texts, facts) },
        ContextSection { title: "Software", lines: software::lines(&texts, facts, run) },
        ContextSection { title: "Configuration", lines: configuration::lines(&texts, facts, run) },
        ContextSection { title: "Load", lines: plan::load(run, steps) },
        ContextSection { title: "Result", lines: plan::result(steps) },
        ContextSection { title: "State", lines: state::lines(&texts, facts, run) },
    ]
}

/// The captured texts, looked up to tell where a value came from or why there is none.
struct Texts<'a> {
    facts: &'a [Fact],
}

impl<'a> Texts<'a> {
    /// The texts of one source and moment; a source is a path, or a command with or without `ceph` in front.
    fn at(&self, source: &str, moment: &str) -> Option<&'a Fact> {
        self.facts.iter().find(|f| f.moment == moment && is(&f.source, source))
    }

    /// The fact from before the load, or else any.
    fn find(&self, source: &str) -> Option<&'a Fact> {
        self.at(source, "before").or_else(|| self.facts.iter().find(|f| is(&f.source, source)))
    }

    /// Lines whose values were read from `source`, or one that says why there are none.
    fn lines(&self, name: &str, source: &str, values: Vec<(String, String)>) -> Vec<ContextLine> {
        self.lines_at(name, source, self.find(source), values)
    }

    fn lines_at(
        &self,
        name: &str,
        source: &str,
        fact: Option<&Fact>,
        values: Vec<(String, String)>,
    ) -> Vec<ContextLine> {
        let Some(fact) = fact else { return vec![unknown(name, &format!("not captured ({source})"), "")] };
        if let Some(error) = &fact.error {
            return vec![unknown(name, error, &fact.source)];
        }
        if values.is_empty() {
            return vec![unknown(name, "the text says nothing about it", &fact.source)];
        }
        values.into_iter().map(|(name, value)| known(&name, &value, &fact.source)).collect()
    }
}

/// True when a stored source is this path or command, however it was spelt.
fn is(stored: &str, wanted: &str) -> bool {
    let words = stored.split_whitespace().skip_while(|w| *w == "ceph");
    let mut wanted = wanted.split_whitespace();
    for word in words {
        if matches!(word, "-f" | "--format") || word.starts_with("--format=") {
            break;
        }
        if wanted.next() != Some(word) {
            return false;
        }
    }
    wanted.next().is_none()
}

/// Texts that could not be read, as lines: a parser that fails must not look like a cluster that has nothing.
fn unread(errors: &[ParseError]) -> Vec<ContextLine> {
    errors.iter().map(|e| unknown("Not understood", &e.to_string(), e.source_name)).collect()
}

fn known(name: &str, value: &str, source: &str) -> ContextLine {
    ContextLine { name: name.to_owned(), value: value.to_owned(), source: source.to_owned(), known: true }
}

fn unknown(name: &str, why: &str, source: &str) -> ContextLine {
    let value = format!("unknown: {}", why.trim());
    ContextLine { name: name.to_owned(), value, source: source.to_owned(), known: false }
}

/// `3 × a, 1 × b` of equal texts, in order of appearance; empty ones are left out.
fn tally<'t>(items: impl Iterator<Item = &'t str>) -> String {
    let mut counts: Vec<(&str, u64)> = Vec::new();
    for item in items.filter(|i| !i.is_empty()) {
        match counts.iter_mut().find(|(text, _)| *text == item) {
            Some((_, n)) => *n += 1,
            None => counts.push((item, 1)),
        }
    }
    let parts: Vec<String> = counts.into_iter().map(|(text, n)| format!("{n} × {text}")).collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::is;

    #[test]
    fn sources_are_understood_however_they_are_spelt() {
        for source in ["ceph osd metadata", "osd metadata", "ceph osd metadata --format json", "osd metadata -f json"] {
            assert!(is(source, "osd metadata"), "{source}");
        }
        for source in ["osd metadata 3", "osd", "mon metadata", ""] {
            assert!(!is(source, "osd metadata"), "{source}");
        }
        assert!(is("/proc/cpuinfo", "/proc/cpuinfo"));
    }
}
