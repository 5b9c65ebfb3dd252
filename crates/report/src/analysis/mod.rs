//! From stored samples to results. [`analyse`] is the one place where numbers of a report are made; text, HTML, JSON
//! and CSV only print what it returns.
mod account;
mod certainty;
mod concurrency;
mod disturbance;
mod latency;
mod leftover;
mod little;
mod reconciled;
mod remark;
mod repeat;
mod series;
mod stall;
mod steadiness;
mod step;
mod verdict;

pub use account::{Account, ErrorCount};
pub use certainty::PercentileView;
pub use concurrency::{ConcurrencyTable, DepthRow};
pub use disturbance::ClusterEvent;
pub(crate) use latency::Merged;
pub use latency::{LatencySummary, P50_NEEDS, P95_NEEDS, P99_NEEDS, P999_NEEDS, SpectrumPoint};
pub use leftover::{Leftovers, MadeView};
pub use little::LittleCheck;
pub use reconciled::{ReadOriginView, ReconciledView};
pub use repeat::{Completeness, Measured, RepeatResult, VerbMeasured};
pub use series::SeriesPoint;
pub use stall::{Stall, StuckView};
pub use steadiness::RateView;
pub use step::{LatencyRanges, Over, Stability, StepResult};
pub use verdict::Highlight;
pub(crate) use verdict::headline;

use crate::context::{self, ContextSection};
use crate::words;
use fathom_model::{Finding, RunData};
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the document that [`Analysis`] serialises to. It changes when a field changes its meaning or goes.
pub const SCHEMA: &str = "fathom-analysis/1";

/// Everything a report says about a run. Its serialised form is the `--json` document (see `json.rs`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Who, when, with what.
    pub run: RunHead,
    /// The result in a paragraph.
    pub verdict: String,
    /// The best result per layer, verb mix and block size, with its conditions.
    pub highlights: Vec<Highlight>,
    /// What limits the use of the numbers, the gravest first; `verdict` is made of these and the highlights.
    pub caveats: Vec<String>,
    /// Contradictions in the stored data: each one means that some number here is wrong. Empty in a sound run.
    pub defects: Vec<String>,
    /// What the rules found, the gravest first.
    pub findings: Vec<FindingView>,
    /// Results, in the order of the plan.
    pub steps: Vec<StepResult>,
    /// Steps that differ in their depth only, side by side.
    pub concurrency: Vec<ConcurrencyTable>,
    /// The client's counts against the cluster's own; empty where those were not captured.
    pub reconciled: Vec<ReconciledView>,
    /// Where reads came from; empty where the OSDs were not asked.
    pub read_origins: Vec<ReadOriginView>,
    /// Changes of the cluster's state.
    pub events: Vec<ClusterEvent>,
    /// OSDs asked whether they are there.
    pub probes: Vec<ProbeSummary>,
    /// Notes of the run.
    pub notes: Vec<NoteView>,
    /// Hardware, software, configuration, load, result, state.
    pub context: Vec<ContextSection>,
    /// What the run made and what is left of it.
    pub ledger: Leftovers,
}

/// Who, when, with what.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunHead {
    /// Identity of the run.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The command line, as given.
    pub command: String,
    /// Version and commit of the program.
    pub build: String,
    /// Seed of every random choice.
    pub seed: u64,
    /// Cluster, empty when none was used.
    pub fsid: String,
    /// Start, Unix nanoseconds.
    pub started_unix_ns: i64,
    /// Start in UTC, for people.
    pub started_utc: String,
    /// Length in seconds; `None` when the run did not end.
    pub seconds: Option<f64>,
}

/// A finding with its time relative to the run's start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FindingView {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// Start of its span in seconds after the run's start.
    pub from_s: Option<f64>,
    /// End, likewise.
    pub to_s: Option<f64>,
}

/// The answers of one OSD.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProbeSummary {
    /// Which.
    pub osd: i32,
    /// How often it was asked.
    pub asked: u64,
    /// How often no answer came in time.
    pub unanswered: u64,
    /// Longest wait for an answer that came, in nanoseconds.
    pub longest_answer_ns: Option<u64>,
}

/// A note with its time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NoteView {
    /// Seconds after the run's start.
    pub at_s: f64,
    /// One sentence.
    pub text: String,
}

/// Analyses a run. A pure function: the same run gives the same analysis, byte for byte.
#[must_use]
pub fn analyse(run: &RunData) -> Analysis {
    let started = run.info.started_unix_ns;
    let since = |at: i64| at.saturating_sub(started) as f64 / 1e9;
    let facts = fathom_ceph::Facts::of_run(run);
    let mut defects = foreign_attempts(run);
    let steps: Vec<StepResult> =
        run.steps.iter().enumerate().map(|(index, step)| step::step(run, &facts, index, step, &mut defects)).collect();
    let mut findings: Vec<FindingView> = run
        .findings
        .iter()
        .map(|finding| FindingView {
            from_s: finding.span.map(|s| since(s.from_unix_ns)),
            to_s: finding.span.map(|s| since(s.to_unix_ns)),
            finding: finding.clone(),
        })
        .collect();
    // Stable: findings of the same severity stay in the order of the rules.
    findings.sort_by_key(|f| std::cmp::Reverse(f.finding.severity));
    let mut analysis = Analysis {
        schema: SCHEMA,
        run: RunHead {
            id: run.info.id.clone(),
            name: run.info.name.clone(),
            command: run.info.command.clone(),
            build: run.info.build.clone(),
            seed: run.info.seed,
            fsid: run.info.fsid.clone(),
            started_unix_ns: started,
            started_utc: words::utc(started),
            seconds: run.info.ended_unix_ns.map(since),
        },
        verdict: String::new(),
        highlights: verdict::highlights(&steps),
        caveats: Vec::new(),
        defects,
        findings,
        concurrency: concurrency::tables(&steps),
        reconciled: reconciled::reconciled(&facts),
        read_origins: reconciled::read_origins(&facts),
        events: disturbance::events(&run.ticks, started),
        probes: probes(run),
        notes: run.notes.iter().map(|(at, text)| NoteView { at_s: since(*at), text: text.clone() }).collect(),
        context: context::sections(run, &facts, &steps),
        ledger: leftover::leftovers(&run.ledger),
        steps,
    };
    analysis.caveats = verdict::caveats(&analysis, run);
    analysis.verdict = verdict::verdict(&analysis);
    analysis
}

/// Attempts that belong to no step: they would vanish from the report without a word.
fn foreign_attempts(run: &RunData) -> Vec<String> {
    let foreign = run.attempts.iter().filter(|a| a.step as usize >= run.steps.len());
    foreign.map(|a| format!("attempt {} belongs to step {}, which the plan does not have", a.id, a.step)).collect()
}

fn probes(run: &RunData) -> Vec<ProbeSummary> {
    let mut by_osd: BTreeMap<i32, ProbeSummary> = BTreeMap::new();
    for (_, probe) in &run.probes {
        let osd = probe.osd;
        let none = ProbeSummary { osd, asked: 0, unanswered: 0, longest_answer_ns: None };
        let summary = by_osd.entry(osd).or_insert(none);
        summary.asked += 1;
        summary.unanswered += u64::from(probe.answer_ns.is_none());
        summary.longest_answer_ns = summary.longest_answer_ns.max(probe.answer_ns);
    }
    by_osd.into_values().collect()
}
