//! A concurrency table as a picture: rate and latency over the depth.
use super::axis::Axis;
use super::svg::{Anchor, Svg};
use crate::analysis::{ConcurrencyTable, DepthRow};
use crate::words;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 220.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = HEIGHT - 38.0;

pub(super) fn chart(table: &ConcurrencyTable) -> String {
    let measured: Vec<&DepthRow> = table.rows.iter().filter(|r| r.ops_per_s.is_some()).collect();
    if measured.len() < 2 {
        return String::new();
    }
    let title = format!("{}: IOPS and response time over operations in flight", table.load);
    let mut svg = Svg::new(WIDTH, HEIGHT, "depth", &title);
    let high = measured.iter().filter_map(|r| r.ops_per_s).fold(0.0, f64::max);
    let rate = Axis::linear(high, BOTTOM, TOP);
    let (left, right) = (52.0, WIDTH / 2.0 - 22.0);
    rate.grid_rows(&mut svg, left, right, words::figure);
    svg.text("label", (6.0, TOP - 10.0), Anchor::Start, "IOPS");
    let x = depths(&mut svg, &measured, left, right);
    svg.path("rate", measured.iter().map(|r| Some((x.at(f64::from(r.depth)), rate.at(r.ops_per_s?)))));
    for row in &measured {
        let Some(ops) = row.ops_per_s else { continue };
        let text = format!("T={}: {} IOPS", row.depth, words::figure(ops));
        svg.circle("rate dot", (x.at(f64::from(row.depth)), rate.at(ops)), 3.0, &text);
    }

    let (left, right) = (WIDTH / 2.0 + 52.0, WIDTH - 14.0);
    let all = measured.iter().flat_map(|r| [r.mean_ns, r.p99_ns.map(|ns| ns as f64)]).flatten();
    let latency = Axis::log(all, BOTTOM, TOP);
    latency.grid_rows(&mut svg, left, right, words::duration_tick);
    svg.text("label", (left - 46.0, TOP - 10.0), Anchor::Start, "mean and p99 response time");
    let x = depths(&mut svg, &measured, left, right);
    for (class, of) in [("p99", p99 as fn(&DepthRow) -> Option<f64>), ("p50", mean)] {
        svg.path(class, measured.iter().map(|r| Some((x.at(f64::from(r.depth)), latency.at(of(r)?)))));
        for row in &measured {
            let Some(ns) = of(row) else { continue };
            let text = format!("T={}: {}", row.depth, words::duration(ns));
            svg.circle(&format!("{class} dot"), (x.at(f64::from(row.depth)), latency.at(ns)), 3.0, &text);
        }
    }
    svg.finish()
}

fn mean(row: &DepthRow) -> Option<f64> {
    row.mean_ns
}

fn p99(row: &DepthRow) -> Option<f64> {
    row.p99_ns.map(|ns| ns as f64)
}

/// The axis of depths: logarithmic, a tick at every measured one that has room.
fn depths(svg: &mut Svg, rows: &[&DepthRow], left: f64, right: f64) -> Axis {
    let axis = Axis::log(rows.iter().map(|r| f64::from(r.depth)), left, right);
    let mut last = f64::NEG_INFINITY;
    for row in rows {
        let x = axis.at(f64::from(row.depth));
        svg.line("grid", (x, BOTTOM), (x, BOTTOM + 4.0));
        if x - last > 22.0 {
            svg.text("tick", (x, BOTTOM + 16.0), Anchor::Middle, &row.depth.to_string());
            last = x;
        }
    }
    svg.text("label", (right, HEIGHT - 4.0), Anchor::End, "T, operations in flight");
    axis
}
