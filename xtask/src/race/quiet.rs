//! Whether anybody else uses the machine. A build beside a race decides it.
use anyhow::{Context as _, Result};
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
    fn shares_of_proc_stat() {
        assert_eq!(busy_and_total("cpu  10 1 5 80 4 0 0 0 0 0\ncpu0 1 2\n"), Some((16, 100)));
        assert_eq!(busy_and_total("nothing"), None);
        assert_eq!(share((16, 100), (66, 200)), 0.5);
        assert_eq!(share((16, 100), (16, 100)), 0.0);
    }
}
