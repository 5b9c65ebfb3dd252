//! The repeats of a step as dots on a line from zero: whether they agree is seen before a number is read.
use super::axis::Axis;
use super::svg::Svg;
use crate::analysis::StepResult;
use crate::words;

const WIDTH: f64 = 96.0;
const HEIGHT: f64 = 18.0;

/// Empty without a rate.
pub(super) fn strip(step: &StepResult) -> String {
    let Some(over) = step.ops_per_s else { return String::new() };
    let title = format!(
        "{}: repeats from {} to {} IOPS, median {}",
        step.name,
        words::figure(over.min),
        words::figure(over.max),
        words::figure(over.median)
    );
    let mut svg = Svg::new(WIDTH, HEIGHT, "strip", &title);
    let high = step.repeats.iter().filter_map(|r| r.total.ops_per_s).fold(over.max, f64::max);
    let x = Axis::linear(high, 4.0, WIDTH - 4.0);
    svg.line("grid", (4.0, HEIGHT / 2.0), (WIDTH - 4.0, HEIGHT / 2.0));
    svg.line("median", (x.at(over.median), 3.0), (x.at(over.median), HEIGHT - 3.0));
    for repeat in &step.repeats {
        let Some(ops) = repeat.total.ops_per_s else { continue };
        let class = if !repeat.counted {
            "dot uncounted"
        } else if repeat.disturbed_by.is_empty() {
            "dot rate"
        } else {
            "dot shaken"
        };
        let text = format!("repeat {}: {} IOPS", repeat.repeat + 1, words::figure(ops));
        svg.circle(class, (x.at(ops), HEIGHT / 2.0), 3.2, &text);
    }
    svg.finish()
}
