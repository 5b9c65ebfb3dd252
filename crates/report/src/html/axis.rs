//! Axes: values to pixels, and ticks a reader can count with.
use super::svg::{Anchor, Svg};

/// How values become positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Linear,
    Log,
}

/// An axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    kind: Kind,
    low: f64,
    high: f64,
    from_px: f64,
    to_px: f64,
}

impl Axis {
    /// From 0 to a bit above `high`.
    pub(super) fn linear(high: f64, from_px: f64, to_px: f64) -> Axis {
        let high = if high.is_finite() && high > 0.0 { high * 1.08 } else { 1.0 };
        Axis { kind: Kind::Linear, low: 0.0, high, from_px, to_px }
    }

    /// From exactly `low` to exactly `high`.
    pub(super) fn exact(low: f64, high: f64, from_px: f64, to_px: f64) -> Axis {
        let high = if high > low { high } else { low + 1.0 };
        Axis { kind: Kind::Linear, low, high, from_px, to_px }
    }

    /// Around all positive `values`, with some air on both sides.
    pub(super) fn log(values: impl Iterator<Item = f64>, from_px: f64, to_px: f64) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        for value in values.filter(|v| v.is_finite() && *v > 0.0) {
            low = low.min(value);
            high = high.max(value);
        }
        if high == 0.0 {
            (low, high) = (1.0, 10.0);
        }
        Axis { kind: Kind::Log, low: low / 1.3, high: (high * 1.3).max(low * 3.0), from_px, to_px }
    }

    pub(super) fn at(&self, value: f64) -> f64 {
        let share = match self.kind {
            Kind::Linear => (value - self.low) / (self.high - self.low),
            Kind::Log => (value.max(self.low) / self.low).ln() / (self.high / self.low).ln(),
        };
        self.from_px + share.clamp(0.0, 1.0) * (self.to_px - self.from_px)
    }

    /// Values worth a tick, about `wanted` of them.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<f64> {
        match self.kind {
            Kind::Linear => {
                let step = nice((self.high - self.low) / wanted.max(1) as f64);
                let first = (self.low / step).ceil() as i64;
                (first..first.saturating_add(50)).map(|n| n as f64 * step).take_while(|v| *v <= self.high).collect()
            }
            Kind::Log => {
                let decades = (self.high / self.low).log10();
                let parts: &[f64] = if decades < 1.2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
                let first = self.low.log10().floor() as i32;
                let all = (first..first + 24).flat_map(|e| parts.iter().map(move |p| p * 10f64.powi(e)));
                let inside: Vec<f64> = all.filter(|v| *v >= self.low && *v <= self.high).collect();
                let skip = inside.len().div_ceil(wanted.max(1) + 2).max(1);
                inside.into_iter().step_by(skip).collect()
            }
        }
    }

    /// Horizontal grid lines with their labels left of `left_px`.
    pub(super) fn grid_rows(&self, svg: &mut Svg, left_px: f64, right_px: f64, label: impl Fn(f64) -> String) {
        for tick in self.ticks(4) {
            let y = self.at(tick);
            svg.line("grid", (left_px, y), (right_px, y));
            svg.text("tick", (left_px - 5.0, y + 3.5), Anchor::End, &label(tick));
        }
    }
}

/// The next of 1, 2, 5 times a power of ten.
fn nice(step: f64) -> f64 {
    if !step.is_finite() || step <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(step.log10().floor());
    match step / power {
        f if f <= 1.0 => power,
        f if f <= 2.0 => 2.0 * power,
        f if f <= 5.0 => 5.0 * power,
        _ => 10.0 * power,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(Axis::exact(0.0, 12.0, 0.0, 100.0).ticks(4), [0.0, 5.0, 10.0]);
        assert_eq!(Axis::log([0.2, 40.0].into_iter(), 0.0, 1.0).ticks(4).len(), 2);
        let within_a_decade = Axis::log([2.0, 8.0].into_iter(), 0.0, 1.0).ticks(4);
        assert!(within_a_decade.len() >= 2, "{within_a_decade:?}");
    }

    #[test]
    fn nothing_makes_an_axis_lose_a_point() {
        for value in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300] {
            for axis in [Axis::linear(value, 0.0, 9.0), Axis::log([value].into_iter(), 0.0, 9.0)] {
                let y = axis.at(3.0);
                assert!((0.0..=9.0).contains(&y), "{value}: {y}");
                assert!(axis.ticks(4).len() < 60);
            }
        }
    }
}
