//! One repeat as a picture: rate above, latency below, on one axis of time; what disturbed it shaded and marked.
use super::axis::Axis;
use super::svg::{Anchor, Svg};
use crate::analysis::{ClusterEvent, FindingView, RepeatResult, SeriesPoint, StepResult};
use crate::words;
use fathom_model::{Phase, Severity};

const WIDTH: f64 = 360.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = WIDTH - 44.0;
const RATE: (f64, f64) = (22.0, 112.0);
const LATENCY: (f64, f64) = (146.0, 242.0);
const HEIGHT: f64 = 276.0;

/// What lies on the time axis of a repeat besides its own numbers.
pub(super) struct Surroundings<'a> {
    pub(super) findings: &'a [FindingView],
    pub(super) events: &'a [ClusterEvent],
}

/// A picture with what must be said in words about it.
pub(super) struct Panel {
    pub(super) svg: String,
    /// Shaded spans and marked events.
    pub(super) marks: Vec<String>,
}

/// Axes shared by the repeats of a step, so that their pictures can be compared.
pub(super) struct PanelAxes {
    rate: Axis,
    /// The same positions in MiB/s.
    bandwidth: Axis,
    latency: Axis,
}

impl PanelAxes {
    pub(super) fn of(step: &StepResult) -> PanelAxes {
        let points = || step.repeats.iter().flat_map(|r| &r.series);
        let high = points().map(|p| p.ops_per_s).fold(0.0, f64::max);
        let latencies = points().flat_map(|p| [p.p50_ns, p.p99_ns, p.max_ns]).flatten().map(|ns| ns as f64);
        PanelAxes {
            rate: Axis::linear(high, RATE.1, RATE.0),
            bandwidth: Axis::linear(high * f64::from(step.plan.load.block_bytes) / 1_048_576.0, RATE.1, RATE.0),
            latency: Axis::log(latencies, LATENCY.1, LATENCY.0),
        }
    }
}

pub(super) fn panel(
    step: &StepResult,
    repeat: &RepeatResult,
    points: &[SeriesPoint],
    axes: &PanelAxes,
    around: &Surroundings<'_>,
) -> Panel {
    let title = describe(step, repeat);
    let mut svg = Svg::new(WIDTH, HEIGHT, "panel", &title);
    let end = points.iter().map(|p| p.to_s).fold(0.0, f64::max);
    let time = Axis::exact(0.0, end, LEFT, RIGHT);
    phases(&mut svg, points, &time);
    let marks = disturbances(&mut svg, repeat, end, &time, around);
    axes.rate.grid_rows(&mut svg, LEFT, RIGHT, words::factor);
    for tick in axes.bandwidth.ticks(4) {
        svg.text("tick", (RIGHT + 5.0, axes.bandwidth.at(tick) + 3.5), Anchor::Start, &words::factor(tick));
    }
    axes.latency.grid_rows(&mut svg, LEFT, RIGHT, words::duration_tick);
    for (y, left, right) in [(RATE.0, "IOPS", "MiB/s"), (LATENCY.0, "response time", "")] {
        svg.text("label", (LEFT - 40.0, y - 9.0), Anchor::Start, left);
        svg.text("label", (WIDTH - 4.0, y - 9.0), Anchor::End, right);
    }
    for tick in time.ticks(6) {
        svg.line("grid", (time.at(tick), LATENCY.1), (time.at(tick), LATENCY.1 + 4.0));
        svg.text("tick", (time.at(tick), LATENCY.1 + 16.0), Anchor::Middle, &words::factor(tick));
    }
    svg.text("label", (RIGHT, HEIGHT - 1.0), Anchor::End, "seconds since load began");
    let rate = |p: &SeriesPoint| Some(axes.rate.at(p.ops_per_s));
    let y = |ns: Option<u64>| ns.map(|ns| axes.latency.at(ns as f64));
    svg.path("rate", track(points, &time, rate));
    svg.path("max", track(points, &time, |p| y(p.max_ns)));
    svg.path("p99", track(points, &time, |p| y(p.p99_ns)));
    svg.path("p50", track(points, &time, |p| y(p.p50_ns)));
    svg.line("cursor", (LEFT, RATE.0), (LEFT, LATENCY.1));
    svg.data("points", &script_points(points, &time));
    Panel { svg: svg.finish(), marks }
}

/// Positions of a line: the middles of the intervals. An interval of the drain may be as long as the whole window: it
/// is drawn from its start to its end, not as a slope towards its middle.
fn track(
    points: &[SeriesPoint],
    time: &Axis,
    y: impl Fn(&SeriesPoint) -> Option<f64>,
) -> impl Iterator<Item = Option<(f64, f64)>> {
    let mut line = Vec::new();
    for point in points {
        let y = y(point);
        let at = |s: f64| y.map(|y| (time.at(s), y));
        if point.phase == Phase::Drain {
            line.extend([None, at(point.from_s), at(point.to_s), None]);
        } else {
            line.push(at(f64::midpoint(point.from_s, point.to_s)));
        }
    }
    line.into_iter()
}

fn describe(step: &StepResult, repeat: &RepeatResult) -> String {
    let rate = repeat.total.ops_per_s.map_or_else(|| "no rate".to_owned(), |r| format!("{} IOPS", words::figure(r)));
    format!(
        "{}, repeat {}: IOPS and response time over time; {rate} in the measured window",
        step.name,
        repeat.repeat + 1
    )
}

/// Ramp and drain are shown, but not counted as the window is: they lie in the shade.
fn phases(svg: &mut Svg, points: &[SeriesPoint], time: &Axis) {
    for (phase, word) in [(Phase::Ramp, "ramp"), (Phase::Drain, "drain")] {
        let of = || points.iter().filter(move |p| p.phase == phase);
        let from = of().map(|p| p.from_s).fold(f64::INFINITY, f64::min);
        let to = of().map(|p| p.to_s).fold(0.0, f64::max);
        if to > from {
            let (x, width) = (time.at(from), time.at(to) - time.at(from));
            svg.rect("outside", (x, RATE.0), (width, LATENCY.1 - RATE.0), &format!("{word}: not in the rates"));
            if width > 28.0 {
                svg.text("tick", (x + 3.0, RATE.1 - 4.0), Anchor::Start, word);
            }
        }
    }
}

fn disturbances(
    svg: &mut Svg,
    repeat: &RepeatResult,
    end_s: f64,
    time: &Axis,
    around: &Surroundings<'_>,
) -> Vec<String> {
    let Some(start) = repeat.started_s else { return Vec::new() };
    let mut marks = Vec::new();
    for view in around.findings.iter().filter(|f| f.finding.severity >= Severity::Warn) {
        let (Some(from), Some(to)) = (view.from_s, view.to_s) else { continue };
        let (from, to) = (from - start, to - start);
        if from >= end_s || to <= 0.0 {
            continue;
        }
        let (x, right) = (time.at(from), time.at(to));
        let title = &view.finding.title;
        svg.rect("disturbed", (x, RATE.0), ((right - x).max(1.5), LATENCY.1 - RATE.0), title);
        marks.push(format!("Shaded {} to {}: {title}", words::seconds(from.max(0.0)), words::seconds(to.min(end_s))));
    }
    for event in around.events {
        let at = event.at_s - start;
        if at < 0.0 || at > end_s {
            continue;
        }
        let x = time.at(at);
        let class = if event.severity >= Severity::Warn { "event bad" } else { "event" };
        svg.line(class, (x, RATE.0 - 4.0), (x, LATENCY.1));
        svg.circle(class, (x, RATE.0 - 4.0), 2.5, &format!("{}: {}", words::seconds(at), event.text));
        marks.push(format!("Marked {}: {}", words::seconds(at), event.text));
    }
    marks
}

/// Points for the pointer: `x;text` separated by `|`, the text ready to be shown.
fn script_points(points: &[SeriesPoint], time: &Axis) -> String {
    let ns = |value: Option<u64>| value.map_or_else(|| "–".to_owned(), |ns| words::duration(ns as f64));
    let list: Vec<String> = points
        .iter()
        .map(|p| {
            format!(
                "{:.0};{}–{}\u{a0}s: {} IOPS, {} MiB/s, p50 {}, p99 {}, max {}",
                time.at(f64::midpoint(p.from_s, p.to_s)),
                words::figure(p.from_s),
                words::figure(p.to_s),
                words::figure(p.ops_per_s),
                words::mib(p.bytes_per_s),
                ns(p.p50_ns),
                ns(p.p99_ns),
                ns(p.max_ns)
            )
        })
        .collect();
    list.join("|")
}
