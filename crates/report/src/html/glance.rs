//! The run at a glance: what ran when, and what happened to the cluster meanwhile, on one axis of time.
use super::axis::Axis;
use super::svg::{Anchor, Svg};
use crate::Analysis;
use crate::words;
use fathom_model::Severity;

const WIDTH: f64 = 1060.0;
const LEFT: f64 = 230.0;
const RIGHT: f64 = WIDTH - 10.0;
const ROW: f64 = 18.0;
const TOP: f64 = 24.0;
/// Characters of a step's name beside its row.
const NAME_CHARS: usize = 36;

/// Empty when no load was made.
pub(super) fn glance(analysis: &Analysis) -> String {
    let spans = analysis.steps.iter().flat_map(|s| &s.repeats).filter_map(|r| {
        let length = r.series.iter().map(|p| p.to_s).fold(0.0, f64::max);
        Some(r.started_s? + length)
    });
    let end = spans.chain(analysis.run.seconds).fold(0.0, f64::max);
    if end <= 0.0 || analysis.steps.is_empty() {
        return String::new();
    }
    let height = TOP + ROW * analysis.steps.len() as f64 + 36.0;
    let bottom = height - 34.0;
    let mut svg =
        Svg::new(WIDTH, height, "glance", "The run over time: repeats of every step, disturbances and events");
    let time = Axis::exact(0.0, end, LEFT, RIGHT);
    for tick in clock_ticks(end) {
        svg.line("grid", (time.at(tick), TOP - 4.0), (time.at(tick), bottom));
        svg.text("tick", (time.at(tick), bottom + 15.0), Anchor::Middle, &words::clock(tick));
    }
    svg.text("label", (RIGHT, height - 4.0), Anchor::End, "time since the run's start (minutes:seconds)");
    for view in analysis.findings.iter().filter(|f| f.finding.severity >= Severity::Warn) {
        if let (Some(from), Some(to)) = (view.from_s, view.to_s) {
            let width = (time.at(to) - time.at(from)).max(2.0);
            svg.rect("disturbed", (time.at(from), TOP - 4.0), (width, bottom - TOP + 4.0), &view.finding.title);
        }
    }
    for (row, step) in analysis.steps.iter().enumerate() {
        let y = TOP + ROW * row as f64;
        let name: String = step.name.chars().take(NAME_CHARS).collect();
        svg.text("name", (LEFT - 8.0, y + 12.0), Anchor::End, &name);
        for repeat in &step.repeats {
            let Some(from) = repeat.started_s else { continue };
            let to = from + repeat.series.iter().map(|p| p.to_s).fold(0.0, f64::max);
            let class = match (repeat.counted, repeat.disturbed_by.is_empty()) {
                (false, _) => "bar uncounted",
                (true, false) => "bar shaken",
                (true, true) => "bar",
            };
            let rate =
                repeat.total.ops_per_s.map_or_else(|| "no rate".to_owned(), |r| format!("{} IOPS", words::figure(r)));
            let title = format!("{}, repeat {}: {rate}; {}", step.name, repeat.repeat + 1, repeat.stop);
            svg.rect(class, (time.at(from), y + 2.0), ((time.at(to) - time.at(from)).max(2.0), ROW - 5.0), &title);
        }
    }
    for event in analysis.events.iter().filter(|e| e.at_s >= 0.0 && e.at_s <= end) {
        let class = if event.severity >= Severity::Warn { "event bad" } else { "event" };
        let x = time.at(event.at_s);
        svg.line(class, (x, TOP - 10.0), (x, bottom));
        svg.circle(class, (x, TOP - 10.0), 3.0, &format!("{}: {}", words::offset(event.at_s), event.text));
    }
    svg.finish()
}

/// Whole seconds, half minutes, minutes …: about ten of them.
fn clock_ticks(end_s: f64) -> Vec<f64> {
    const STEPS: [f64; 13] = [1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0];
    let step = STEPS.into_iter().find(|s| end_s / s <= 10.0).unwrap_or((end_s / 10.0).max(1.0));
    (0..=10).map(|n| f64::from(n) * step).take_while(|t| *t <= end_s).collect()
}
