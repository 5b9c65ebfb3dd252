//! The latency spectrum: latency over percentile, stretched so that every nine has the same room.
use super::axis::Axis;
use super::svg::{Anchor, Svg};
use crate::analysis::{SpectrumPoint, StepResult};
use crate::words;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = HEIGHT - 40.0;
/// Nines on the axis: 0, 90, 99, 99.9, 99.99, 99.999.
const NINES: f64 = 5.0;

/// Number of nines of a percentile: 0 for 0, 1 for 90, 2 for 99.
fn nines(percentile: f64) -> f64 {
    let beyond = (1.0 - percentile / 100.0).max(1e-9);
    (-beyond.log10()).clamp(0.0, NINES)
}

pub(super) fn spectrum(step: &StepResult) -> String {
    let response = &step.response_spectrum;
    if response.len() < 2 {
        return String::new();
    }
    let count = words::count(step.merged.response.count as f64);
    let title = format!("{}: response time by percentile, {count} operations of all counted repeats", step.name);
    let mut svg = Svg::new(WIDTH, HEIGHT, "spectrum", &title);
    let x = Axis::exact(0.0, NINES, LEFT, RIGHT);
    let values = response.iter().chain(&step.service_spectrum).map(|p| p.latency_ns as f64);
    let y = Axis::log(values, BOTTOM, TOP);
    y.grid_rows(&mut svg, LEFT, RIGHT, words::duration_tick);
    for (n, label) in ["0", "90", "99", "99.9", "99.99", "99.999"].iter().enumerate() {
        let at = x.at(n as f64);
        svg.line("grid", (at, TOP), (at, BOTTOM));
        let anchor = if n == 5 { Anchor::End } else { Anchor::Middle };
        svg.text("tick", (at, BOTTOM + 15.0), anchor, label);
    }
    svg.text("label", (RIGHT, HEIGHT - 6.0), Anchor::End, "percent of operations that were at least this fast");
    svg.text("label", (6.0, TOP - 9.0), Anchor::Start, "latency");
    for (class, points) in [("service", &step.service_spectrum), ("rate", response)] {
        let place = |p: &SpectrumPoint| Some((x.at(nines(p.percentile)), y.at(p.latency_ns as f64)));
        // The maximum belongs to the last operation, not to a percentile: it would bend the line upwards at its end.
        svg.path(class, points.iter().filter(|p| p.percentile < 100.0).map(place));
    }
    for (percentile, value) in
        [(50.0, step.merged.response.p50_ns), (99.0, step.merged.response.p99_ns), (99.9, step.merged.response.p999_ns)]
    {
        if let Some(ns) = value {
            let at = (x.at(nines(percentile)), y.at(ns as f64));
            let text = format!("p{percentile} {}", words::duration(ns as f64));
            svg.circle("rate dot", at, 3.0, &text);
            // Left of the first point there is only the axis; below it there is room, for the line rises.
            let (x, y, anchor) = if percentile < 90.0 { (6.0, 14.0, Anchor::Start) } else { (-5.0, -6.0, Anchor::End) };
            svg.text("value", (at.0 + x, at.1 + y), anchor, &text);
        }
    }
    svg.finish()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_nine_has_the_same_room() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
        assert!(near(super::nines(0.0), 0.0) && near(super::nines(90.0), 1.0) && near(super::nines(99.99), 4.0));
        assert!(near(super::nines(100.0), 5.0));
    }
}
