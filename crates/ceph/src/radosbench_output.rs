//! What `rados bench` prints, as text and as JSON, for a race against it and for importing old results.
//!
//! Source: `ObjBencher::write_bench`, `seq_read_bench`, `rand_read_bench` (16 to main alike); both forms measured on
//! 16.2.15, 18.2.7 and 20.2.4. "MB" in that output means MiB.
use crate::ParseError;
use crate::json::{self, Look};
use serde_json::Value;

const NAME: &str = "rados bench";
const MIB: f64 = 1_048_576.0;

/// The summary of one `rados bench` run. Latencies are those `rados bench` measures: until its main loop notices the
/// completion, which is later than the completion when many are in flight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BenchOutput {
    /// True for `write`, false for `seq` and `rand`.
    pub write: bool,
    /// Whole time in seconds, draining included.
    pub total_time_s: f64,
    /// Operations done.
    pub ops: u64,
    /// Bytes of one operation.
    pub op_size_bytes: u64,
    /// Bytes of one object.
    pub object_size_bytes: u64,
    /// Operations in flight, where the output says so (write only).
    pub depth: Option<u32>,
    /// What the names of the objects begin with, where the output says so (write only).
    pub object_prefix: Option<String>,
    /// Bandwidth in bytes per second.
    pub bandwidth_bytes_per_s: f64,
    /// Smallest bandwidth of a one-second interval, bytes per second. `None` for reads and for runs so short that none
    /// was taken (`rados bench` prints 1.79769e+308 then).
    pub min_bandwidth_bytes_per_s: Option<f64>,
    /// Largest, likewise.
    pub max_bandwidth_bytes_per_s: Option<f64>,
    /// Operations per second, cut to a whole number by `rados bench`.
    pub average_iops: f64,
    /// Smallest of an interval. Runs under two seconds print a fallback here that can be lower than the average.
    pub min_iops: Option<f64>,
    /// Largest of an interval.
    pub max_iops: Option<f64>,
    /// Standard deviation over the intervals. `None` from the JSON of a write run: it is garbage there (a double printed
    /// with an integer format, seen on 16.2.15, 18.2.7 and 20.2.4).
    pub stddev_iops: Option<f64>,
    /// Mean latency in seconds.
    pub average_latency_s: f64,
    /// Standard deviation of latency in seconds (write only).
    pub stddev_latency_s: Option<f64>,
    /// Smallest latency in seconds.
    pub min_latency_s: Option<f64>,
    /// Largest latency in seconds.
    pub max_latency_s: Option<f64>,
}

impl BenchOutput {
    /// Operations per second with their fraction: operations ÷ whole time. 0 when the time is 0.
    #[must_use]
    pub fn iops(&self) -> f64 {
        if self.total_time_s > 0.0 { self.ops as f64 / self.total_time_s } else { 0.0 }
    }

    /// Reads either form; the text in front of the JSON and the cleaning-up lines in the middle of it are dropped.
    ///
    /// # Errors
    /// When there is neither a summary nor JSON with one: the run failed or was killed.
    pub fn parse(text: &str) -> Result<BenchOutput, ParseError> {
        let plain = without_cleanup_lines(text);
        match json::object(NAME, &plain) {
            Ok(value) => from_json(&value),
            Err(_) => from_text(&plain),
        }
    }
}

/// Without `--no-cleanup` these three lines land in the middle of the JSON, which is flushed later (seen on 18.2.7).
fn without_cleanup_lines(text: &str) -> String {
    let mut out = text.to_owned();
    for begin in ["Cleaning up (deleting", "Clean up completed and", "Removed "] {
        while let Some(at) = out.find(begin) {
            let end = out[at..].find('\n').map_or(out.len(), |n| at + n + 1);
            out.replace_range(at..end, "");
        }
    }
    out
}

fn from_json(value: &Value) -> Result<BenchOutput, ParseError> {
    let look = Look::of(value);
    let write = look.at("total_writes_made").is_there();
    let ops = look.any(&["total_writes_made", "total_reads_made"]).u64();
    let Some(ops) = ops else { return Err(ParseError::new(NAME, "the JSON has no total of operations")) };
    let mib = |key: &str| look.at(key).f64().map(|v| v * MIB).filter(|v| v.is_finite());
    Ok(BenchOutput {
        write,
        total_time_s: look.at("total_time_run").f64().unwrap_or(0.0),
        ops,
        op_size_bytes: look.any(&["write_size", "read_size", "op_size"]).u64().unwrap_or(0),
        object_size_bytes: look.at("object_size").u64().unwrap_or(0),
        depth: look.at("concurrent_ios").u64().and_then(|n| u32::try_from(n).ok()),
        object_prefix: look.at("object_prefix").str().map(str::to_owned),
        bandwidth_bytes_per_s: mib("bandwidth").unwrap_or(0.0),
        min_bandwidth_bytes_per_s: mib("min_bandwidth"),
        max_bandwidth_bytes_per_s: mib("max_bandwidth"),
        average_iops: look.at("average_iops").f64().unwrap_or(0.0),
        min_iops: look.at("min_iops").f64(),
        max_iops: look.at("max_iops").f64(),
        stddev_iops: if write { None } else { look.at("stddev_iops").f64() },
        average_latency_s: look.at("average_latency").f64().unwrap_or(0.0),
        stddev_latency_s: look.at("stddev_latency").f64(),
        min_latency_s: look.at("min_latency").f64(),
        max_latency_s: look.at("max_latency").f64(),
    })
}

fn from_text(text: &str) -> Result<BenchOutput, ParseError> {
    let find = |key: &str| text.lines().rev().find_map(|l| l.trim_start().strip_prefix(key)).map(str::trim);
    let number = |key: &str| find(key).and_then(|v| v.parse::<f64>().ok()).filter(|v| v.is_finite());
    let whole = |key: &str| find(key).and_then(|v| v.parse::<u64>().ok());
    // f64::MAX times a MiB is infinite: the smallest of no intervals.
    let mib = |key: &str| number(key).map(|v| v * MIB).filter(|v| v.is_finite());
    let write = whole("Total writes made:").is_some();
    let Some(ops) = whole("Total writes made:").or_else(|| whole("Total reads made:")) else {
        return Err(ParseError::new(NAME, "there is no summary (`Total writes made:` or `Total reads made:`)"));
    };
    Ok(BenchOutput {
        write,
        total_time_s: number("Total time run:").unwrap_or(0.0),
        ops,
        op_size_bytes: whole("Write size:").or_else(|| whole("Read size:")).unwrap_or(0),
        object_size_bytes: whole("Object size:").unwrap_or(0),
        depth: find("Maintaining ").and_then(|v| v.split_whitespace().next()?.parse().ok()),
        object_prefix: find("Object prefix:").map(str::to_owned),
        bandwidth_bytes_per_s: mib("Bandwidth (MB/sec):").unwrap_or(0.0),
        min_bandwidth_bytes_per_s: mib("Min bandwidth (MB/sec):"),
        max_bandwidth_bytes_per_s: mib("Max bandwidth (MB/sec):"),
        average_iops: number("Average IOPS:").unwrap_or(0.0),
        min_iops: number("Min IOPS:"),
        max_iops: number("Max IOPS:"),
        stddev_iops: number("Stddev IOPS:"),
        average_latency_s: number("Average Latency(s):").unwrap_or(0.0),
        stddev_latency_s: number("Stddev Latency(s):"),
        min_latency_s: number("Min latency(s):"),
        max_latency_s: number("Max latency(s):"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::{RELEASES, dump, mutated};
    use proptest::prelude::*;

    #[test]
    fn text_of_a_write() {
        let out = BenchOutput::parse(&dump("pacific-16.2.15", "rados-bench-write-4k.txt")).unwrap();
        assert!(out.write);
        assert_eq!((out.ops, out.op_size_bytes, out.object_size_bytes, out.depth), (9395, 4096, 4096, Some(16)));
        assert_eq!(out.object_prefix.as_deref(), Some("benchmark_data_node1_6303"));
        assert_eq!(out.bandwidth_bytes_per_s, 7.33415 * MIB);
        assert_eq!((out.min_iops, out.max_iops, out.stddev_iops), (Some(1741.0), Some(1965.0), Some(86.3319)));
        assert_eq!((out.average_latency_s, out.max_latency_s), (0.00851475, Some(0.0411498)));
        assert!((out.iops() - 9395.0 / 5.00388).abs() < 1e-9);
    }

    #[test]
    fn all_outputs_of_all_releases_are_read() {
        for release in RELEASES {
            for (file, write) in [
                ("rados-bench-write-4k.txt", true),
                ("rados-bench-write-1s.txt", true),
                ("rados-bench-write-ec-64k.txt", true),
                ("rados-bench-write-4m.json", true),
                ("rados-bench-seq-4k.txt", false),
                ("rados-bench-rand-4k.txt", false),
            ] {
                let out = BenchOutput::parse(&dump(release, file)).unwrap();
                assert_eq!(out.write, write, "{release} {file}");
                let bytes = out.ops as f64 * out.op_size_bytes as f64;
                let share = bytes / out.total_time_s / out.bandwidth_bytes_per_s;
                assert!((share - 1.0).abs() < 1e-3, "{release} {file}: {share}");
                assert!(out.average_latency_s > 0.0 && out.min_latency_s < out.max_latency_s, "{release} {file}");
                assert!((out.average_iops - out.iops()).abs() <= 1.0, "{release} {file}");
            }
        }
    }

    #[test]
    fn garbage_of_the_json_is_not_taken_for_a_number() {
        let out = BenchOutput::parse(&dump("reef-18.2.7", "rados-bench-write-4m.json")).unwrap();
        assert_eq!(out.stddev_iops, None);
        assert_eq!((out.average_iops, out.min_iops, out.max_iops), (124.0, Some(112.0), Some(133.0)));
        assert_eq!(out.depth, Some(16));
    }

    #[test]
    fn cleaning_up_in_the_middle_of_json_and_no_interval() {
        let json = dump("reef-18.2.7", "rados-bench-write-4m.json");
        let whole = BenchOutput::parse(&json).unwrap();
        let chatter = "Cleaning up (deleting benchmark objects)\nRemoved 505 objects\nClean up completed and total clean up time :0.06\n";
        for cut in ["\"datas\"", "\"bandwidth\"", "{\"concurrent_ios\""] {
            let broken = json.replacen(cut, &format!("{chatter}{cut}"), 1);
            assert_eq!(BenchOutput::parse(&broken).unwrap(), whole, "{cut}");
        }
        let text = dump("pacific-16.2.15", "rados-bench-write-1s.txt")
            .replace("Min bandwidth (MB/sec): 328", "Min bandwidth (MB/sec): 1.79769e+308");
        assert_eq!(BenchOutput::parse(&text).unwrap().min_bandwidth_bytes_per_s, None);
        assert!(BenchOutput::parse("hints = 1\nerror during benchmark: (2)").is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,200}", at in 0usize..2000, with in ".{0,8}") {
            let _ = BenchOutput::parse(&text);
            for file in ["rados-bench-write-4k.txt", "rados-bench-write-4m.json", "rados-bench-write-1s.txt"] {
                let _ = BenchOutput::parse(&mutated(&dump("tentacle-20.2.4", file), at, &with));
            }
        }
    }
}
