//! Whether anybody else uses the machine. A build beside a race decides it.
use super::child::TICKS_PER_S;
use anyhow::{Context as _, Result};
use std::path::Path;
use std::time::{Duration, Instant};

/// An idle lab with its daemons keeps two CPUs busy to about a tenth.
const QUIET_BUSY: f64 = 0.3;
/// How long is looked.
const LOOK: Duration = Duration::from_millis(1500);

/// Waits until the machine is quiet, at most `patience`. Returns the busy share of all CPUs when it went on, 0 to 1.
pub fn wait(patience: Duration) -> Result<f64> {
    let began = Instant::now();
    loop {
        let before = read()?;
        std::thread::sleep(LOOK);
        let busy = share(before, read()?);
        if busy <= QUIET_BUSY || began.elapsed() >= patience {
            return Ok(busy);
        }
    }
}

/// CPU use of the machine up to a moment, to tell what others used of it meanwhile.
pub struct Mark {
    all: (u64, u64),
    cluster: u64,
}

impl Mark {
    /// `conf` is how the cluster's daemons on this machine are known: it is on their command lines.
    pub fn now(conf: &Path) -> Result<Mark> {
        Ok(Mark { all: read()?, cluster: daemons(&conf.to_string_lossy()) })
    }

    /// What was used since by neither the cluster nor the client, which used `client_cpu_s`: the share of all CPUs,
    /// 0 to 1. The kernel's own threads are among the others.
    pub fn others(&self, conf: &Path, client_cpu_s: f64) -> Result<f64> {
        let now = Mark::now(conf)?;
        let ours = now.cluster.saturating_sub(self.cluster) + (client_cpu_s * TICKS_PER_S) as u64;
        let busy = (now.all.0.saturating_sub(ours), now.all.1);
        Ok(share(self.all, busy))
    }
}

/// Ticks used so far by processes that have `conf` on their command lines.
fn daemons(conf: &str) -> u64 {
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    entries
        .flatten()
        .filter(|e| std::fs::read_to_string(e.path().join("cmdline")).is_ok_and(|line| line.contains(conf)))
        .filter_map(|e| own_ticks(&std::fs::read_to_string(e.path().join("stat")).ok()?))
        .sum()
}

/// `utime` + `stime`, fields 14 and 15 of proc(5).
fn own_ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

fn read() -> Result<(u64, u64)> {
    let text = std::fs::read_to_string("/proc/stat").context("/proc/stat")?;
    busy_and_total(&text).context("/proc/stat has no line of all CPUs")
}

/// Busy and total jiffies of all CPUs, proc(5): user nice system idle iowait irq softirq steal; idle and iowait are
/// not busy.
fn busy_and_total(text: &str) -> Option<(u64, u64)> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let fields: Vec<u64> = line.split_whitespace().take(8).map_while(|f| f.parse().ok()).collect();
    let total: u64 = fields.iter().sum();
    (fields.len() >= 5).then(|| (total - fields[3] - fields[4], total))
}

fn share(before: (u64, u64), after: (u64, u64)) -> f64 {
    let (busy, total) = (after.0.saturating_sub(before.0), after.1.saturating_sub(before.1));
    if total == 0 { 0.0 } else { busy as f64 / total as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_times_are_the_14th_and_15th_field() {
        assert_eq!(own_ticks("7 (a b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 130 14"), Some(11 + 12));
        assert_eq!(own_ticks("7 (x) S 1"), None);
    }

    #[test]
    fn shares_of_proc_stat() {
        assert_eq!(busy_and_total("cpu  10 1 5 80 4 0 0 0 0 0\ncpu0 1 2\n"), Some((16, 100)));
        assert_eq!(busy_and_total("nothing"), None);
        assert_eq!(share((16, 100), (66, 200)), 0.5);
        assert_eq!(share((16, 100), (16, 100)), 0.0);
    }
}
