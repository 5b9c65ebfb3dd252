//! Concurrency tables: the same load at several depths, side by side, with what more depth bought.
use super::step::{Stability, StepResult};
use crate::words;
use fathom_model::{Pace, Step};
use fathom_stats::{Knee, LoadPoint, LoadStep};
use serde::Serialize;

/// One depth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DepthRow {
    /// Name of the step.
    pub step: String,
    /// Operations in flight.
    pub depth: u32,
    /// Median operations per second.
    pub ops_per_s: Option<f64>,
    /// Median bytes per second.
    pub bytes_per_s: Option<f64>,
    /// Mean response time in nanoseconds, all repeats merged.
    pub mean_ns: Option<f64>,
    /// 99th percentile in nanoseconds, all repeats merged.
    pub p99_ns: Option<u64>,
    /// Mean latency × rate ÷ depth.
    pub little_ratio: Option<f64>,
    /// Verdict of Little's law.
    pub little: Option<String>,
    /// Rate divided by that of the row before.
    pub gain: Option<f64>,
}

/// Steps that differ in their depth only.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConcurrencyTable {
    /// What the steps share: `rados write, 4 KiB, random`.
    pub load: String,
    /// By depth, ascending.
    pub rows: Vec<DepthRow>,
    /// What the rows say, in sentences.
    pub statements: Vec<String>,
}

/// Finds all groups of at least two depths that have a rate: a table of dashes compares nothing.
pub(crate) fn tables(steps: &[StepResult]) -> Vec<ConcurrencyTable> {
    let mut groups: Vec<Vec<&StepResult>> = Vec::new();
    for step in steps.iter().filter(|s| s.plan.load.pace == Pace::Closed && s.repeats_found > 0) {
        match groups.iter_mut().find(|g| g.first().is_some_and(|first| same_load(&first.plan, &step.plan))) {
            Some(group) => group.push(step),
            None => groups.push(vec![step]),
        }
    }
    groups.into_iter().filter_map(table).collect()
}

/// True when two steps differ in nothing but what concurrency is made of.
fn same_load(a: &Step, b: &Step) -> bool {
    let (x, y) = (&a.load, &b.load);
    a.layer == b.layer
        && same_params(a, b)
        && x.mix == y.mix
        && x.pattern == y.pattern
        && x.block_bytes == y.block_bytes
        && x.compressible_pct == y.compressible_pct
        && x.verify == y.verify
}

/// What objects are called and how many there may be does not make a different load.
fn same_params(a: &Step, b: &Step) -> bool {
    let differs = |x: &Step, y: &Step| {
        x.params
            .iter()
            .any(|(key, value)| !matches!(key.as_str(), "prefix" | "objects") && y.params.get(key) != Some(value))
    };
    !differs(a, b) && !differs(b, a)
}

fn table(mut steps: Vec<&StepResult>) -> Option<ConcurrencyTable> {
    steps.sort_by_key(|s| s.plan.load.depth);
    let first = &steps.first()?.plan;
    let measured = steps.iter().filter(|s| s.ops_per_s.is_some()).count();
    if measured < 2 || steps.last()?.plan.load.depth == first.load.depth {
        return None;
    }
    let mut rows: Vec<DepthRow> = Vec::new();
    for step in &steps {
        let ops_per_s = step.ops_per_s.map(|o| o.median);
        let before = rows.last().and_then(|r| r.ops_per_s);
        rows.push(DepthRow {
            step: step.name.clone(),
            depth: step.plan.load.depth,
            ops_per_s,
            bytes_per_s: step.bytes_per_s.map(|o| o.median),
            mean_ns: step.merged.response.mean_ns,
            p99_ns: step.merged.response.p99_ns,
            little_ratio: step.little.as_ref().map(|l| l.ratio),
            little: step.little.as_ref().map(|l| l.verdict.clone()),
            gain: ops_per_s.zip(before).map(|(now, before)| now / before),
        });
    }
    let load = [
        format!("{} {}", first.layer, words::mix(&first.load.mix)),
        words::bytes(f64::from(first.load.block_bytes)),
        words::pattern(first.load.pattern),
    ];
    let mut statements = statements(&rows);
    let shaky: Vec<String> = steps
        .iter()
        .filter(|s| s.stability == Stability::Unstable || s.repeats_disturbed > 0)
        .map(|s| format!("T={}", s.plan.load.depth))
        .collect();
    if !shaky.is_empty() {
        let list = shaky.join(", ");
        statements.push(format!("Unstable or disturbed: {list}. What is said above rests on these rows too."));
    }
    Some(ConcurrencyTable { load: load.join(", "), statements, rows })
}

fn statements(rows: &[DepthRow]) -> Vec<String> {
    let mut list = Vec::new();
    if let Some(knee) = knee(rows) {
        list.extend(knee.beyond.map(|beyond| saturation(&beyond, rows)));
        match knee.knee_depth {
            Some(depth) => list.push(format!(
                "Knee at T={depth}: beyond it more operations in flight buy mostly waiting. Peak {} IOPS at T={}.",
                words::figure(knee.peak_ops_per_s),
                knee.peak_depth
            )),
            None => list.push(format!(
                "No saturation up to T={}: the rate still grew with the depth; measure deeper to find the limit.",
                rows.iter().map(|r| r.depth).max().unwrap_or(0)
            )),
        }
    }
    for row in rows {
        if let Some(verdict) = row.little.as_ref().filter(|l| l.starts_with("broken")) {
            list.push(format!("T={}: Little's law is {verdict}.", row.depth));
        }
    }
    list
}

/// The knee of the rows that have a rate; of rows with the same depth the first.
fn knee(rows: &[DepthRow]) -> Option<Knee> {
    let mut points: Vec<LoadPoint> = Vec::new();
    for row in rows {
        let (Some(ops_per_s), Some(mean_latency_ns)) = (row.ops_per_s, row.mean_ns) else { continue };
        if points.last().is_none_or(|last| last.depth < row.depth) {
            points.push(LoadPoint { depth: row.depth, ops_per_s, mean_latency_ns });
        }
    }
    fathom_stats::knee(&points)
}

fn saturation(beyond: &LoadStep, rows: &[DepthRow]) -> String {
    let mean = |depth| rows.iter().find(|r| r.depth == depth).and_then(|r| r.mean_ns);
    let waits = match (mean(beyond.from_depth), mean(beyond.to_depth)) {
        (Some(a), Some(b)) => format!(" and mean latency went from {} to {}", words::duration(a), words::duration(b)),
        _ => String::new(),
    };
    format!(
        "From T={} to T={}: {} times the load gave {} times the rate{waits}: saturation.",
        beyond.from_depth,
        beyond.to_depth,
        words::factor(beyond.load_factor),
        words::factor(beyond.rate_factor),
    )
}
