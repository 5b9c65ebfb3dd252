//! Raw texts that describe this host, read but not interpreted: the `ceph` crate's `host` module reads them.
use fathom_model::Fact;

/// Longest text kept of one file.
const TEXT_BYTES_MAX: u64 = 1 << 20;
/// Network interfaces looked at, at most.
const NICS_MAX: usize = 64;

/// This host's name.
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Captures the texts. What can't be read is a fact with an error, unless its absence is normal.
pub(crate) fn capture() -> Vec<Fact> {
    let mut paths: Vec<String> = [
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/proc/version",
        "/proc/loadavg",
        "/proc/net/dev",
        "/etc/os-release",
        "/proc/cmdline",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "/sys/devices/system/cpu/cpuidle/current_driver",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    ]
    .map(str::to_owned)
    .to_vec();
    for state in 0..10 {
        for file in ["name", "latency", "disable"] {
            paths.push(format!("/sys/devices/system/cpu/cpu0/cpuidle/state{state}/{file}"));
        }
    }
    let mut nics: Vec<String> = std::fs::read_dir("/sys/class/net")
        .map(|dir| dir.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect())
        .unwrap_or_default();
    nics.sort();
    for nic in nics.iter().take(NICS_MAX) {
        for file in ["speed", "mtu", "operstate"] {
            paths.push(format!("/sys/class/net/{nic}/{file}"));
        }
    }
    paths.iter().filter_map(|path| read(path)).collect()
}

fn read(path: &str) -> Option<Fact> {
    use std::io::Read as _;
    let mut text = String::new();
    let result = std::fs::File::open(path).and_then(|f| f.take(TEXT_BYTES_MAX).read_to_string(&mut text));
    let error = match result {
        Ok(_) => None,
        // Not every machine has frequency scaling, idle states or a link speed: absence is an answer.
        Err(_) if path.starts_with("/sys/") => return None,
        Err(error) => Some(error.to_string()),
    };
    Some(Fact { moment: "before".into(), source: path.to_owned(), text, error })
}
