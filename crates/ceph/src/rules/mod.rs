//! Rules: facts to findings. One noun per file, one table for all.
//!
//! A rule says nothing when it does not know: a dump that is missing makes no finding. What a threshold rests on stands
//! in the finding's `source`.
use crate::Facts;
use fathom_model::{Fact, Finding, RunData, Severity, Step};

mod client;
mod compression;
mod copies;
mod corrupt;
mod debug_level;
mod depth;
mod disturbance;
mod episode;
mod flags;
mod full;
mod health;
mod mclock;
mod one_machine;
mod osd_down;
mod pg_count;
mod production;
mod read_cache;
mod reconciled;
mod slow_ops;
pub mod spread;
mod unresponsive;
mod versions;

#[cfg(test)]
mod case;
#[cfg(test)]
mod tests;

pub use read_cache::{attempt_origin, osd_deltas};
pub use reconciled::{reconcile_attempt, reconcile_pool};

/// One rule.
pub struct Rule {
    /// What it is about, in a few words, for listings.
    pub about: &'static str,
    /// The rule itself: no finding when all is well or nothing is known.
    pub check: fn(&Facts<'_>) -> Vec<Finding>,
}

/// All rules.
pub const RULES: &[Rule] = &[
    Rule { about: "wrong data read back", check: corrupt::read },
    Rule { about: "health before the run", check: health::before },
    Rule { about: "scrub, recovery, snapshot trimming and inactive PGs during the run", check: disturbance::during },
    Rule { about: "OSDs down or out during the run", check: osd_down::during },
    Rule { about: "OSDs that did not answer, operations that were stuck", check: unresponsive::during },
    Rule { about: "slow operations the cluster reported", check: slow_ops::during },
    Rule { about: "daemons of different versions", check: versions::differ },
    Rule { about: "compression on the pool", check: compression::on },
    Rule { about: "number of placement groups, and whether it changes", check: pg_count::check },
    Rule { about: "copies of the pool", check: copies::few },
    Rule { about: "full OSDs and pools, and writes refused for lack of space", check: full::check },
    Rule { about: "flags of the OSD map", check: flags::set },
    Rule { about: "a pool that is in use", check: production::pool },
    Rule { about: "debug levels", check: debug_level::up },
    Rule { about: "mClock capacity, profile and settings it ignores", check: mclock::check },
    Rule { about: "the client's link", check: client::link },
    Rule { about: "the client's CPU", check: client::cpu },
    Rule { about: "power saving on the client", check: client::power },
    Rule { about: "client and OSDs on one machine", check: one_machine::shared },
    Rule { about: "reads served from OSD memory", check: read_cache::share },
    Rule { about: "client's and cluster's counts", check: reconciled::differ },
    Rule { about: "operations in flight", check: depth::shallow },
    Rule { about: "repeats that differ", check: spread::wide },
];

/// All findings, the gravest first, otherwise in the order of [`RULES`].
#[must_use]
pub fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| (rule.check)(facts)).collect();
    findings.sort_by_key(|f| std::cmp::Reverse(f.severity));
    findings
}

/// The findings of a run.
#[must_use]
pub fn of_run(run: &RunData) -> Vec<Finding> {
    check(&Facts::of_run(run))
}

/// The findings before a run: from the captured texts and the steps that are to come.
#[must_use]
pub fn preflight(texts: &[Fact], steps: &[Step]) -> Vec<Finding> {
    check(&Facts::of_texts(texts, steps))
}

fn finding(id: &str, severity: Severity, title: String, evidence: String, advice: &str, source: &str) -> Finding {
    Finding {
        id: id.to_owned(),
        severity,
        title,
        evidence,
        advice: advice.to_owned(),
        source: source.to_owned(),
        span: None,
        step: None,
    }
}

/// `osd.0, osd.3 and osd.7`; beyond eight only how many more.
fn osd_names(osds: &[i32]) -> String {
    let names: Vec<String> = osds.iter().map(|o| format!("osd.{o}")).collect();
    listed(&names)
}

/// `a, b and c`; beyond eight only how many more.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    match names {
        [] => String::new(),
        [one] => one.clone(),
        _ if names.len() > SHOWN => format!("{} and {} more", names[..SHOWN].join(", "), names.len() - SHOWN),
        [start @ .., last] => format!("{} and {last}", start.join(", ")),
    }
}
