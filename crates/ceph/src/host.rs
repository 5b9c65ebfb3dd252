//! The host that makes the load, from the texts of `/proc` and `/sys`: pairs of path and text in, types out.
//!
//! Formats: Linux proc(5), and the kernel's documentation of cpufreq, cpuidle and sysfs-class-net.

/// One network interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nic {
    /// `eth0`.
    pub name: String,
    /// Speed in Mbit/s; `None` when the driver does not tell (-1 or an error: virtual ones, links that are down).
    pub speed_mbit_per_s: Option<u64>,
    /// MTU in bytes.
    pub mtu_bytes: Option<u64>,
    /// `up`, `down`, `unknown` (lo).
    pub operstate: String,
}

/// One idle state of CPU 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdleState {
    /// Number, deeper with every step.
    pub index: u32,
    /// `POLL`, `C1`, `C6`, …
    pub name: String,
    /// Time to leave it, in microseconds.
    pub exit_latency_us: u64,
    /// Switched off by the administrator.
    pub disabled: bool,
}

/// A host, as far as its texts tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostFacts {
    /// Host name, where a text has it.
    pub hostname: String,
    /// CPU model.
    pub cpu_model: String,
    /// CPUs the kernel schedules on (hardware threads).
    pub cpus: usize,
    /// Memory in bytes.
    pub mem_total_bytes: u64,
    /// Kernel release.
    pub kernel: String,
    /// `PRETTY_NAME` of the distribution.
    pub os: String,
    /// cpufreq governor of CPU 0: `performance`, `powersave`, `schedutil`, …; empty without frequency scaling.
    pub governor: String,
    /// cpuidle driver: `intel_idle`, `acpi_idle`, `haltpoll`, `none`; empty without.
    pub idle_driver: String,
    /// Idle states of CPU 0, in order.
    pub idle_states: Vec<IdleState>,
    /// Interfaces, by name.
    pub nics: Vec<Nic>,
    /// Clock source: `tsc`, `kvm-clock`, …
    pub clock_source: String,
}

impl HostFacts {
    /// Reads all texts; paths that say nothing here are passed over, nothing fails.
    #[must_use]
    pub fn read<'a>(texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> HostFacts {
        let mut host = HostFacts::default();
        for (path, text) in texts {
            host.add(path, text);
        }
        host.nics.sort_by(|a, b| a.name.cmp(&b.name));
        host.idle_states.sort_by_key(|s| s.index);
        host
    }

    fn add(&mut self, path: &str, text: &str) {
        let line = text.trim();
        match path {
            "/proc/cpuinfo" => {
                let model = cpuinfo_values(text, &["model name", "Model", "cpu model", "cpu"]).next();
                self.cpu_model = model.unwrap_or_default().to_owned();
                self.cpus = cpuinfo_values(text, &["processor"]).filter(|v| v.parse::<u32>().is_ok()).count();
            }
            "/proc/meminfo" => {
                let kib = text
                    .lines()
                    .find_map(|l| l.strip_prefix("MemTotal:")?.split_whitespace().next()?.parse::<u64>().ok());
                self.mem_total_bytes = kib.unwrap_or(0).saturating_mul(1024);
            }
            "/proc/version" => {
                self.kernel = line.split_whitespace().nth(2).unwrap_or_default().to_owned();
            }
            "/proc/sys/kernel/osrelease" => self.kernel = line.to_owned(),
            "/proc/sys/kernel/hostname" | "/etc/hostname" => self.hostname = line.to_owned(),
            "/etc/os-release" | "/usr/lib/os-release" => {
                let value = |key: &str| {
                    text.lines().find_map(|l| Some(l.strip_prefix(key)?.trim().trim_matches('"').to_owned()))
                };
                self.os = value("PRETTY_NAME=").or_else(|| value("NAME=")).unwrap_or_default();
            }
            "/sys/devices/system/clocksource/clocksource0/current_clocksource" => self.clock_source = line.to_owned(),
            _ if path.ends_with("/cpufreq/scaling_governor") => self.governor = line.to_owned(),
            _ if path.ends_with("/cpuidle/current_driver") => self.idle_driver = line.to_owned(),
            _ => self.add_part(path, line),
        }
    }

    /// Files of which there is one per interface or idle state.
    fn add_part(&mut self, path: &str, line: &str) {
        if let Some((name, file)) = path.strip_prefix("/sys/class/net/").and_then(|p| p.split_once('/')) {
            let nic =
                find_or_add(&mut self.nics, |n| n.name == name, || Nic { name: name.to_owned(), ..Nic::default() });
            match file {
                // Drivers without a speed answer -1, which is no u64.
                "speed" => {
                    nic.speed_mbit_per_s = line.parse().ok().filter(|s| (1..=u64::from(u32::MAX) - 1).contains(s))
                }
                "mtu" => nic.mtu_bytes = line.parse().ok(),
                "operstate" => nic.operstate = line.to_owned(),
                _ => {}
            }
        } else if let Some((index, file)) = path.split_once("/cpuidle/state").and_then(|(_, p)| p.split_once('/')) {
            let Ok(index) = index.parse() else { return };
            let state = find_or_add(
                &mut self.idle_states,
                |s| s.index == index,
                || IdleState { index, ..IdleState::default() },
            );
            match file {
                "name" => state.name = line.to_owned(),
                "latency" => state.exit_latency_us = line.parse().unwrap_or(0),
                "disable" => state.disabled = line == "1",
                _ => {}
            }
        }
    }
}

fn cpuinfo_values<'a>(text: &'a str, keys: &'a [&str]) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(|l| l.split_once(':')).filter(|(k, _)| keys.contains(&k.trim())).map(|(_, v)| v.trim())
}

fn find_or_add<T>(list: &mut Vec<T>, is: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> &mut T {
    let at = list.iter().position(is).unwrap_or(list.len());
    if at == list.len() {
        list.push(make());
    }
    &mut list[at]
}

/// CPU time of all CPUs since boot, from the first line of `/proc/stat`, in clock ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// Idle and waiting for I/O.
    pub idle_ticks: u64,
    /// All, time given to guests counted once (it is in user time already).
    pub total_ticks: u64,
}

impl CpuTimes {
    /// Reads `/proc/stat`; `None` when it has no line `cpu`.
    #[must_use]
    pub fn parse(text: &str) -> Option<CpuTimes> {
        let line = text.lines().find_map(|l| l.strip_prefix("cpu "))?;
        let ticks: Vec<u64> = line.split_whitespace().map_while(|w| w.parse().ok()).take(8).collect();
        let idle_ticks = ticks.get(3)?.saturating_add(ticks.get(4).copied().unwrap_or(0));
        Some(CpuTimes { idle_ticks, total_ticks: ticks.iter().fold(0, |sum, t| sum.saturating_add(*t)) })
    }

    /// Busy share of all CPUs since `earlier`, 0 to 1; `None` when no time passed.
    #[must_use]
    pub fn busy_since(&self, earlier: &CpuTimes) -> Option<f64> {
        let total = self.total_ticks.checked_sub(earlier.total_ticks).filter(|t| *t > 0)?;
        // The kernel's iowait can go backwards (proc(5)), so the difference is cut, not trusted.
        let idle = self.idle_ticks.saturating_sub(earlier.idle_ticks).min(total);
        Some(1.0 - idle as f64 / total as f64)
    }
}

/// Bytes and errors of one interface since boot, from `/proc/net/dev`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetCounters {
    /// Interface.
    pub name: String,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Packets dropped or broken on receiving.
    pub rx_bad: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets dropped or broken on sending.
    pub tx_bad: u64,
}

impl NetCounters {
    /// Reads all interfaces; lines that are none are passed over.
    #[must_use]
    pub fn parse(text: &str) -> Vec<NetCounters> {
        let lines = text.lines().filter_map(|l| l.split_once(':'));
        lines
            .filter_map(|(name, rest)| {
                let n: Vec<u64> = rest.split_whitespace().map_while(|w| w.parse().ok()).collect();
                let [rx_bytes, _, rx_errs, rx_drop, _, _, _, _, tx_bytes, _, tx_errs, tx_drop, ..] = n[..] else {
                    return None;
                };
                Some(NetCounters {
                    name: name.trim().to_owned(),
                    rx_bytes,
                    rx_bad: rx_errs.saturating_add(rx_drop),
                    tx_bytes,
                    tx_bad: tx_errs.saturating_add(tx_drop),
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_whole_host() {
        let cpuinfo = "processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC\nflags\t: x\n\nprocessor\t: 1\nmodel name\t: AMD EPYC\n";
        let host = HostFacts::read([
            ("/proc/cpuinfo", cpuinfo),
            ("/proc/meminfo", "MemTotal:       24731184 kB\nMemFree: 1 kB\n"),
            ("/proc/version", "Linux version 6.18.44-fc (a@b) (gcc 15) #1 SMP\n"),
            ("/etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
            ("/sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "2\n"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C1\n"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "1\n"),
            ("/sys/class/net/eth1/speed", "-1\n"),
            ("/sys/class/net/eth0/speed", "10000\n"),
            ("/sys/class/net/eth0/mtu", "9000\n"),
            ("/sys/class/net/eth0/operstate", "up\n"),
            ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
            ("/nonsense", "x"),
        ]);
        assert_eq!((host.cpu_model.as_str(), host.cpus, host.mem_total_bytes), ("AMD EPYC", 2, 24_731_184 * 1024));
        assert_eq!((host.kernel.as_str(), host.os.as_str()), ("6.18.44-fc", "Debian GNU/Linux 12 (bookworm)"));
        assert_eq!(
            (host.governor.as_str(), host.idle_driver.as_str(), host.clock_source.as_str()),
            ("powersave", "intel_idle", "tsc")
        );
        assert_eq!(host.idle_states[1], IdleState { index: 1, name: "C1".into(), exit_latency_us: 2, disabled: true });
        let eth0 =
            Nic { name: "eth0".into(), speed_mbit_per_s: Some(10_000), mtu_bytes: Some(9000), operstate: "up".into() };
        assert_eq!(host.nics, [eth0, Nic { name: "eth1".into(), ..Nic::default() }]);
    }

    #[test]
    fn busy_share_of_a_delta() {
        let before = CpuTimes::parse("cpu  100 0 100 800 0 0 0 0 50 0\ncpu0 1 1 1 1\n").unwrap();
        let after = CpuTimes::parse("cpu  190 0 100 810 0 0 0 0 90 0\n").unwrap();
        assert_eq!(before.total_ticks, 1000, "guest time is in user time already");
        assert_eq!(after.busy_since(&before), Some(0.9));
        assert_eq!(before.busy_since(&before), None);
        assert_eq!(before.busy_since(&after), None);
        assert_eq!(CpuTimes::parse("cpux 1 2"), None);
    }

    #[test]
    fn interfaces() {
        let text = "Inter-|   Receive  |  Transmit\n face |bytes    packets errs\n    lo: 12 4 0 0 0 0 0 0 12 4 0 0 0 0 0 0\n  eth0:7 1 2 3 0 0 0 0 9 1 4 5 0 0 0 0\n";
        let all = NetCounters::parse(text);
        assert_eq!(all.len(), 2);
        assert_eq!(all[1], NetCounters { name: "eth0".into(), rx_bytes: 7, rx_bad: 5, tx_bytes: 9, tx_bad: 9 });
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,200}", path in "(/proc/(cpuinfo|meminfo|version)|/sys/class/net/[a-z/]{0,9}|/x/cpuidle/state[0-9a-z/]{0,9}|.{0,20})", odd in "[0-9 :a-z\n]{0,200}") {
            let _ = HostFacts::read([(path.as_str(), text.as_str()), (path.as_str(), odd.as_str())]);
            for t in [&text, &odd, &format!("cpu  {odd}")] {
                let _ = (NetCounters::parse(t), CpuTimes::parse(t).and_then(|c| c.busy_since(&CpuTimes::default())));
            }
        }
    }
}
