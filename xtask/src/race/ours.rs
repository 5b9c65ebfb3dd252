//! One run of `fathom bench`, and what its JSON says.
use super::child;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// One repeat.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    pub ops_per_s: f64,
    /// CPU time of the worker process in the measured window ÷ operations completed in it.
    pub cpu_ns_per_op: f64,
}

/// What came of one run.
pub struct Run {
    pub repeats: Vec<Figures>,
    /// CPU of the whole command: controller, worker, capture, watch, filling, settling, cleaning.
    pub whole_cpu_s: f64,
    /// Operations completed, all repeats.
    pub ops: u64,
    /// Client options in force, as the report has them; empty where there are none.
    pub client: String,
}

/// Runs `fathom bench` with these arguments.
pub fn bench(fathom: &Path, args: &[&str], scratch: &Path, deadline: Duration) -> Result<Run> {
    let results = scratch.join("results");
    let mut command = Command::new(fathom);
    command.arg("bench").args(args).args(["--json", "-q", "--results"]).arg(&results);
    let ended = child::run(&mut command, scratch, deadline);
    let removed = std::fs::remove_dir_all(&results);
    let ended = ended?;
    removed.context("results directory")?;
    let json: Value = serde_json::from_str(&ended.stdout).context("fathom's JSON")?;
    read(&json, ended.cpu_s)
}

fn read(json: &Value, whole_cpu_s: f64) -> Result<Run> {
    let step = &json["steps"][0];
    let account = &step["account"];
    let (ops, bad) = (account["completed"].as_u64(), ["failed", "timed_out", "unsent"].map(|k| account[k].as_u64()));
    ensure!(bad.iter().all(|n| *n == Some(0)), "fathom's run had errors: {account}");
    let number = |v: &Value, what: &str| v.as_f64().with_context(|| format!("fathom's JSON has no {what}"));
    let repeats = step["repeats"].as_array().context("fathom's JSON has no repeats")?;
    let figures = |r: &Value| {
        Ok(Figures {
            ops_per_s: number(&r["ops_per_s"], "ops_per_s")?,
            cpu_ns_per_op: number(&r["cpu_ns_per_op"], "cpu_ns_per_op")?,
        })
    };
    Ok(Run {
        repeats: repeats.iter().map(figures).collect::<Result<_>>()?,
        whole_cpu_s,
        ops: ops.context("fathom's JSON has no account")?,
        client: client(json).unwrap_or_default(),
    })
}

/// The line of the report's context that has the client library's options.
fn client(json: &Value) -> Option<String> {
    let mut lines = json["context"].as_array()?.iter().filter_map(|part| part["lines"].as_array()).flatten();
    let line = lines.find_map(|l| l["value"].as_str().filter(|text| text.contains("librados_thread_count")));
    line.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn errors_are_no_result() {
        let doc = |failed: u64| {
            let lines = json!([{"value": "x"}, {"value": "handles = 1, librados_thread_count = 1"}]);
            json!({"context": [{}, {"lines": lines}], "steps": [{
                "account": {"completed": 10, "failed": failed, "timed_out": 0, "unsent": 0},
                "repeats": [{"ops_per_s": 5.0, "cpu_ns_per_op": 100.0}],
            }]})
        };
        let run = read(&doc(0), 1.5).unwrap();
        assert_eq!((run.ops, run.repeats[0].ops_per_s), (10, 5.0));
        assert!(run.client.starts_with("handles"));
        assert!(read(&doc(1), 1.5).is_err());
        assert!(read(&json!({}), 1.5).is_err());
    }
}
