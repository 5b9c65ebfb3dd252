//! What the template prints besides the analysis itself: pictures, and cells in the words of the text report.
use super::panel::{PanelAxes, Surroundings, panel};
use super::{depth, glance, spectrum, strip, thin::thin};
use crate::analysis::{Analysis, Measured, Over, RepeatResult, SeriesPoint, StepResult};
use crate::{cells, csv, words};
use serde::Serialize;

/// Points of a picture: more than there are pixels for would only make the file larger.
const PICTURE_POINTS: usize = 150;
/// Rows of all series tables together.
const TABLE_ROWS: usize = 3600;
/// Events named under one picture.
const MARKS: usize = 8;

/// Everything of one report.
#[derive(Serialize)]
pub(super) struct View {
    glance: String,
    rate_heads: [&'static str; 3],
    latency_heads: [&'static str; 6],
    steps: Vec<StepView>,
    depth_charts: Vec<String>,
    plan_json: String,
    timeline: Vec<Moment>,
}

#[derive(Serialize)]
struct StepView {
    short: String,
    cells: Vec<String>,
    parts: Vec<PartView>,
    strip: String,
    headline: String,
    spectrum: String,
    percentiles: Vec<[String; 4]>,
    repeats: Vec<RepeatView>,
}

#[derive(Serialize)]
struct PartView {
    verb: &'static str,
    cells: Vec<String>,
}

#[derive(Serialize)]
struct RepeatView {
    cells: Vec<String>,
    svg: String,
    marks: Vec<String>,
    marks_left_out: usize,
    per_point: usize,
    rows: Vec<Vec<String>>,
    per_row: usize,
}

#[derive(Serialize)]
struct Moment {
    at: String,
    text: String,
    bad: bool,
}

impl View {
    pub(super) fn of(analysis: &Analysis) -> View {
        let repeats: usize = analysis.steps.iter().map(|s| s.repeats.len()).sum();
        let rows = (TABLE_ROWS / repeats.max(1)).clamp(12, 600);
        let plan: Vec<_> = analysis.steps.iter().map(|s| &s.plan).collect();
        View {
            glance: glance::glance(analysis),
            rate_heads: cells::RATES,
            latency_heads: cells::LATENCIES,
            steps: analysis.steps.iter().map(|s| step(analysis, s, rows)).collect(),
            depth_charts: analysis.concurrency.iter().map(depth::chart).collect(),
            plan_json: serde_json::to_string_pretty(&plan).unwrap_or_default(),
            timeline: timeline(analysis),
        }
    }
}

fn result_cells(measured: &Measured, spread: String) -> Vec<String> {
    [cells::rate_cells(measured, spread), cells::latency_cells(&measured.response)].concat()
}

fn step(analysis: &Analysis, step: &StepResult, rows: usize) -> StepView {
    let axes = PanelAxes::of(step);
    StepView {
        short: cells::short_conditions(step),
        cells: result_cells(&step.merged, cells::spread(step)),
        parts: step
            .by_verb
            .iter()
            .map(|v| PartView { verb: v.verb.word(), cells: result_cells(&v.measured, String::new()) })
            .collect(),
        strip: strip::strip(step),
        headline: crate::analysis::headline(step),
        spectrum: spectrum::spectrum(step),
        percentiles: percentiles(step),
        repeats: step.repeats.iter().map(|r| repeat(analysis, step, r, &axes, rows)).collect(),
    }
}

/// Name, value, confidence interval, range over the repeats.
fn percentiles(step: &StepResult) -> Vec<[String; 4]> {
    let ranges = &step.latency_ranges;
    let of = |over: Option<Over>| {
        over.map_or_else(|| "–".to_owned(), |o| words::duration_range(Some(o.min as u64), Some(o.max as u64)))
    };
    let dash = || "–".to_owned();
    let response = &step.merged.response;
    let mut rows =
        vec![["mean".to_owned(), response.mean_ns.map_or_else(dash, words::duration), dash(), of(ranges.mean_ns)]];
    let over = [ranges.p50_ns, ranges.p95_ns, ranges.p99_ns, ranges.p999_ns];
    for (p, over) in step.percentiles.iter().zip(over) {
        let value = p.value_ns.map_or_else(|| "too few operations".to_owned(), |ns| words::duration(ns as f64));
        let known = words::duration_range(p.low_ns, p.high_ns);
        rows.push([format!("p{}", p.percentile), value, known, of(over)]);
    }
    let max = response.max_ns.map_or_else(dash, |ns| words::duration(ns as f64));
    rows.push(["max".to_owned(), max, dash(), of(ranges.max_ns)]);
    rows
}

fn repeat(analysis: &Analysis, step: &StepResult, repeat: &RepeatResult, axes: &PanelAxes, rows: usize) -> RepeatView {
    let picture = thin(&repeat.series, PICTURE_POINTS);
    let table = thin(&repeat.series, rows);
    let around = Surroundings { findings: &analysis.findings, events: &analysis.events };
    let (svg, mut marks) = if picture.points.is_empty() {
        (String::new(), Vec::new())
    } else {
        let panel = panel(step, repeat, &picture.points, axes, &around);
        (panel.svg, panel.marks)
    };
    let marks_left_out = marks.len().saturating_sub(MARKS);
    marks.truncate(MARKS);
    RepeatView {
        cells: cells::latency_cells(&repeat.total.response),
        svg,
        marks,
        marks_left_out,
        per_point: picture.per_point,
        rows: table.points.iter().map(row).collect(),
        per_row: table.per_point,
    }
}

fn row(p: &SeriesPoint) -> Vec<String> {
    let ms = |ns: Option<u64>| ns.map_or_else(|| "–".to_owned(), |ns| words::ms(ns as f64));
    vec![
        format!("{}–{}", words::figure(p.from_s), words::figure(p.to_s)),
        csv::phase(p.phase).to_owned(),
        words::figure(p.ops_per_s),
        words::mib(p.bytes_per_s),
        ms(p.p50_ns),
        ms(p.p99_ns),
        ms(p.max_ns),
        words::count(p.errors as f64),
    ]
}

fn timeline(analysis: &Analysis) -> Vec<Moment> {
    let events = analysis.events.iter().map(|e| (e.at_s, e.text.clone(), e.severity >= fathom_model::Severity::Warn));
    let notes = analysis.notes.iter().map(|n| (n.at_s, n.text.clone(), false));
    let mut list: Vec<(f64, String, bool)> = events.chain(notes).collect();
    list.sort_by(|a, b| a.0.total_cmp(&b.0));
    list.into_iter().map(|(at, text, bad)| Moment { at: words::offset(at), text, bad }).collect()
}
