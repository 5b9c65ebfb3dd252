//! Progress as lines, for logs and pipes: at most one per second and attempt, and one for every attempt that ended.
use crate::live::{Change, Live, LiveResult, LiveSecond};
use crate::words;
use fathom_model::{Event, Phase, Step};

/// Turns the event stream into lines.
pub struct PlainProgress {
    live: Live,
    last_note_unix_ns: i64,
    last_preparing_unix_ns: i64,
}

/// Shortest time between two lines of the same kind.
const LINE_NS: i64 = 1_000_000_000;

impl PlainProgress {
    /// For a run of these steps, each `repeats` times.
    #[must_use]
    pub fn new(steps: &[Step], repeats: u32) -> PlainProgress {
        PlainProgress { live: Live::new(steps, repeats), last_note_unix_ns: i64::MIN, last_preparing_unix_ns: i64::MIN }
    }

    /// Lines, without newline, that this event gives.
    pub fn lines(&mut self, event: &Event) -> Vec<String> {
        let head = self.head();
        let changes = self.live.apply(event);
        changes.into_iter().filter_map(|change| self.line(event.at_unix_ns, &head, change)).collect()
    }

    /// `[12/36] rados write 4 KiB T=16 #2`, of the attempt that ran before the event: its end takes it away.
    fn head(&self) -> String {
        let current = &self.live.current;
        let name = current.step.as_ref().map_or_else(String::new, |s| words::plain(&s.name));
        format!("[{}/{}] {name} #{}", self.live.number(), self.live.total(), current.repeat + 1)
    }

    fn line(&mut self, at: i64, head: &str, change: Change) -> Option<String> {
        let text = match change {
            Change::Started => return None,
            Change::Preparing => {
                let (done, total, unit) = self.live.current.preparing.as_ref()?;
                let often = at.saturating_sub(self.last_preparing_unix_ns) < LINE_NS;
                if often && done < total {
                    return None;
                }
                self.last_preparing_unix_ns = at;
                let count = |n: u64| words::count(n as f64);
                format!("{}  preparing: {} of {} {unit}", self.head(), count(*done), count(*total))
            }
            Change::Second(second) => format!("{head}  {}", self.second(&second)),
            Change::Ended(result) => format!("{head}  {}", ended(&result)),
            Change::Note(text) => {
                // Hung operations come in dozens at once; the report lists them.
                if at.saturating_sub(self.last_note_unix_ns) < LINE_NS {
                    return None;
                }
                self.last_note_unix_ns = at;
                format!("note: {text}")
            }
        };
        Some(text.replace(words::GAP, " "))
    }

    fn second(&self, second: &LiveSecond) -> String {
        let mut parts = vec![
            format!("{}s", second.end_ns.div_ceil(1_000_000_000)),
            format!("{} IOPS", words::figure(second.ops_per_s)),
            format!("{} MiB/s", words::mib(second.bytes_per_s)),
        ];
        parts.push(match (second.response.p99_ns, second.response.max_ns) {
            (Some(p99), _) => format!("p99 {}", words::duration(p99 as f64)),
            // A p99 of fewer than a hundred operations would be their maximum under another name.
            (None, Some(max)) => format!("max {}", words::duration(max as f64)),
            (None, None) => "nothing completed".to_owned(),
        });
        match second.phase {
            Phase::Ramp => parts.push("ramp".to_owned()),
            Phase::Drain => parts.push("drain".to_owned()),
            Phase::Measure => {}
        }
        if second.errors > 0 {
            parts.push(words::plural(second.errors, "error"));
        }
        parts.push(self.live.health());
        parts.retain(|p| !p.is_empty());
        parts.join("  ")
    }
}

fn ended(result: &LiveResult) -> String {
    let Some((ops, bytes)) = result.ops_per_s.zip(result.bytes_per_s) else {
        let errors =
            if result.errors > 0 { format!(", {}", words::plural(result.errors, "error")) } else { String::new() };
        return format!("ended without a completed operation{errors}: {}", result.stop);
    };
    let latency = |name: &str, ns: Option<f64>| ns.map(|ns| format!("{name} {}", words::duration(ns)));
    let mut parts = vec![
        format!("ended: {} IOPS", words::figure(ops)),
        format!("{} MiB/s", words::mib(bytes)),
        format!("over {}", words::seconds(result.seconds)),
    ];
    parts.extend(latency("mean", result.response.mean_ns));
    parts.extend(latency("p50", result.response.p50_ns.map(|ns| ns as f64)));
    parts.extend(latency("p99", result.response.p99_ns.map(|ns| ns as f64)));
    if result.errors > 0 {
        parts.push(words::plural(result.errors, "error"));
    }
    parts.push(format!("({})", result.stop));
    parts.join("  ")
}
