//! `rados bench`, and what it prints.
use super::cluster::Cluster;
use super::compare::median;
use anyhow::{Context as _, Result};
use std::time::Duration;

/// One run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub ops: u64,
    pub ops_per_s: f64,
    /// CPU of the whole process.
    pub whole_cpu_s: f64,
    /// CPU time of the process without that of starting and ending it ÷ operations.
    pub cpu_ns_per_op: f64,
}

/// The one object of the run that start-up costs are measured with.
const ONE: &str = "race-one";

/// `rados bench` in the race's pool.
pub struct RadosBench<'a> {
    cluster: &'a Cluster,
    /// CPU seconds of a run of one operation.
    pub start_up_cpu_s: f64,
}

impl RadosBench<'_> {
    /// Measures what one operation costs, several times: start, connect, one operation, end.
    pub fn new(cluster: &Cluster) -> Result<RadosBench<'_>> {
        let patience = Duration::from_secs(60);
        let write = ["bench", "1", "write", "-b", "4096", "-t", "1", "--max-objects", "1", "--no-cleanup"];
        cluster.rados(&[&write[..], &["--run-name", ONE]].concat(), patience)?;
        let mut cpu_s = Vec::new();
        for _ in 0..7 {
            cluster.go_on()?;
            cpu_s.push(cluster.rados(&["bench", "1", "seq", "-t", "1", "--run-name", ONE], patience)?.cpu_s);
        }
        // The mean: single values come in hundredths.
        let start_up_cpu_s = cpu_s.iter().sum::<f64>() / cpu_s.len() as f64;
        eprintln!("rados bench: a run of one read costs {start_up_cpu_s:.3} CPU s (median {:.3})", median(&cpu_s));
        Ok(RadosBench { cluster, start_up_cpu_s })
    }

    /// Makes `count` objects of `block` bytes to read.
    pub fn fill(&self, block: &str, depth: &str, count: &str, name: &str) -> Result<()> {
        let args = ["bench", "600", "write", "-b", block, "-t", depth, "--max-objects", count, "--no-cleanup"];
        self.cluster.rados(&[&args[..], &["--run-name", name]].concat(), Duration::from_secs(700)).map(drop)
    }

    /// Writes new objects and keeps them, or reads those made before.
    pub fn run(&self, mode: Mode<'_>, depth: &str, seconds: u32) -> Result<Run> {
        let seconds_text = seconds.to_string();
        let args = match mode {
            Mode::Write { block, name } => {
                vec![
                    &*seconds_text,
                    "write",
                    "-b",
                    block,
                    "-t",
                    depth,
                    "--no-hints",
                    "--no-cleanup",
                    "--run-name",
                    name,
                ]
            }
            Mode::Rand { name } => {
                vec![&*seconds_text, "rand", "-t", depth, "--no-hints", "--no-verify", "--run-name", name]
            }
        };
        let deadline = Duration::from_secs(u64::from(seconds) + 120);
        let ended = self.cluster.rados(&[&["bench"], &args[..]].concat(), deadline)?;
        let (ops, time_s) = totals(&ended.stdout).with_context(|| format!("rados bench printed {}", ended.stdout))?;
        let cpu_s = (ended.cpu_s - self.start_up_cpu_s).max(0.0);
        Ok(Run {
            ops,
            whole_cpu_s: ended.cpu_s,
            ops_per_s: ops as f64 / time_s,
            cpu_ns_per_op: cpu_s * 1e9 / ops as f64,
        })
    }

    /// Removes what a run wrote.
    pub fn clean(&self, name: &str) -> Result<()> {
        self.cluster.rados(&["cleanup", "--run-name", name], Duration::from_secs(300)).map(drop)
    }
}

/// What to do, and under which run name.
#[derive(Clone, Copy)]
pub enum Mode<'a> {
    Write { block: &'a str, name: &'a str },
    Rand { name: &'a str },
}

/// Operations and seconds: `Total writes made: 4096`, `Total time run: 4.79`.
fn totals(text: &str) -> Option<(u64, f64)> {
    let of = |label: &str| text.lines().find_map(|l| l.strip_prefix(label)?.strip_prefix(':')).map(str::trim);
    let ops = of("Total writes made").or_else(|| of("Total reads made"))?.parse().ok()?;
    let seconds: f64 = of("Total time run")?.parse().ok()?;
    (ops > 0 && seconds > 0.0).then_some((ops, seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_from_writes_and_reads() {
        assert_eq!(totals("Total time run:         4.5\nTotal writes made:      9\n"), Some((9, 4.5)));
        assert_eq!(totals("hints = 1\nTotal time run:       2\nTotal reads made:     11302\n"), Some((11302, 2.0)));
        assert_eq!(totals("Total time run: 2\nTotal reads made: 0\n"), None);
        assert_eq!(totals("error"), None);
    }
}
