//! What the driver itself costs: the `null` layer ends every operation at once, so time per operation is the driver's.
use super::cluster::Scratch;
use super::compare::median;
use super::options::Options;
use super::{ours, quiet};
use anyhow::Result;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

const DEPTH: &str = "32";
const GOAL_NS: f64 = 150.0;

pub fn run(fathom: &Path, options: &Options) -> Result<bool> {
    let (repeat, seconds) = (options.count("--repeat", 7)?, options.count("--seconds", 2)?);
    let scratch = Scratch::new()?;
    let busy = quiet::wait(options.patience()?)?;
    let (repeat_text, duration) = (repeat.to_string(), format!("{seconds}s"));
    let args = ["null", "-t", DEPTH, "--ramp", "1s", "--duration", &*duration, "--repeat", &*repeat_text];
    let deadline = Duration::from_secs(u64::from(repeat) * u64::from(seconds + 10) + 60);
    let run = ours::bench(fathom, &args, &scratch.0, deadline)?;
    let wall = Figure::of(run.repeats.iter().map(|r| 1e9 / r.ops_per_s).collect());
    let cpu = Figure::of(run.repeats.iter().map(|r| r.cpu_ns_per_op).collect());
    let met = wall.median <= GOAL_NS && cpu.median <= GOAL_NS;
    if options.json {
        let of = |f: &Figure| json!({"median": f.median, "min": f.min, "max": f.max});
        let document = json!({
            "race": "null", "depth": DEPTH, "repeats": repeat, "seconds": seconds, "busy_before": busy,
            "wall_ns_per_op": of(&wall), "cpu_ns_per_op": of(&cpu), "goal_ns": GOAL_NS, "met": met,
        });
        println!("{document:#}");
    } else {
        println!(
            "driver, depth {DEPTH}, {repeat} repeats of {seconds} s, CPUs {:.0} % busy before\n  \
             wall {}\n  CPU  {} (worker process, user and system)\n  goal at most {GOAL_NS:.0} ns: {}",
            busy * 100.0,
            wall.text(),
            cpu.text(),
            if met { "met" } else { "MISSED" }
        );
    }
    Ok(met)
}

struct Figure {
    median: f64,
    min: f64,
    max: f64,
}

impl Figure {
    fn of(values: Vec<f64>) -> Figure {
        Figure {
            median: median(&values),
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(0.0, f64::max),
        }
    }

    fn text(&self) -> String {
        format!("{:.1} ns per operation (median; {:.1} to {:.1})", self.median, self.min, self.max)
    }
}
