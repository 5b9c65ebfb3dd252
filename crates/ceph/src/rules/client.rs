//! Is the client the limit? Its link, its CPU, its power saving.
use super::episode::{attempts_text, only_step};
use super::finding;
use crate::Facts;
use crate::host::{NetCounters, Nic};
use fathom_model::{Attempt, Finding, Severity};

/// Busy share of all CPUs of the host above which the client may be the limit.
const CPU_BUSY: f64 = 0.9;
/// Gigabit Ethernet, in Mbit/s: 110 MiB/s at best.
const GIGABIT: u64 = 1000;
/// Exit latency in microseconds from which on an idle state shows in the latency of fast operations.
const DEEP_US: u64 = 50;

pub(super) fn link(facts: &Facts<'_>) -> Vec<Finding> {
    let Some(nic) = nic_used(facts) else { return Vec::new() };
    let Some(speed) = nic.speed_mbit_per_s.filter(|s| *s <= GIGABIT) else { return Vec::new() };
    let limit_bytes_per_s = speed as f64 * 1e6 / 8.0;
    vec![finding(
        "client-link-slow",
        Severity::Warn,
        format!("the client's link {} runs at {speed} Mbit/s", nic.name),
        format!(
            "at most {} can pass it in each direction, less headers; MTU {}",
            fathom_model::rate_text(limit_bytes_per_s),
            nic.mtu_bytes.map_or_else(|| "unknown".to_owned(), |m| m.to_string())
        ),
        "large operations will measure this link and not the cluster: use a client with a faster one, or several clients",
        "/sys/class/net/*/speed; 80 to 110 MiB/s is what a gigabit link gives",
    )]
}

/// The interface most bytes went over, when traffic was counted before and after; else the fastest that is up. `None`
/// when traffic stayed on the machine.
fn nic_used<'f>(facts: &'f Facts<'_>) -> Option<&'f Nic> {
    let counters = |moment: &str| {
        let text = facts.texts.iter().find(|f| f.moment == moment && f.source == "/proc/net/dev" && f.error.is_none());
        text.map(|f| NetCounters::parse(&f.text))
    };
    if let (Some(before), Some(after)) = (counters("before"), counters("after")) {
        let traffic = |a: &NetCounters| {
            let b = before.iter().find(|b| b.name == a.name);
            let since = |now: u64, then: u64| now.saturating_sub(then);
            b.map_or(0, |b| since(a.rx_bytes, b.rx_bytes).saturating_add(since(a.tx_bytes, b.tx_bytes)))
        };
        let most = after.iter().max_by_key(|a| traffic(a))?;
        return facts.client.nics.iter().find(|n| n.name == most.name && n.name != "lo");
    }
    let up = facts.client.nics.iter().filter(|n| n.name != "lo" && n.operstate == "up" && n.speed_mbit_per_s.is_some());
    up.max_by_key(|n| n.speed_mbit_per_s)
}

pub(super) fn cpu(facts: &Facts<'_>) -> Vec<Finding> {
    let busy = |a: &Attempt| a.end.as_ref().and_then(|e| e.host_cpu_busy).unwrap_or(0.0);
    let saturated: Vec<&Attempt> = facts.attempts.iter().filter(|a| busy(a) > CPU_BUSY).collect();
    if saturated.is_empty() {
        return Vec::new();
    }
    let most = saturated.iter().map(|a| busy(a)).fold(0.0, f64::max);
    let mut out = finding(
        "client-cpu-saturated",
        Severity::Warn,
        "your client may be the limit: its CPUs were busy".to_owned(),
        format!(
            "up to {:.0} % of all {} CPUs busy in {}",
            most * 100.0,
            if facts.client.cpus > 0 { facts.client.cpus.to_string() } else { "its".to_owned() },
            attempts_text(facts, &saturated)
        ),
        "use more clients or a faster one; on a machine that also runs OSDs this says that the machine is the limit",
        "/proc/stat over the measured window, threshold 90 %",
    );
    out.step = only_step(facts, &saturated);
    vec![out]
}

pub(super) fn power(facts: &Facts<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    if facts.client.governor == "powersave" {
        out.push(finding(
            "client-cpu-governor",
            Severity::Warn,
            "the client's CPUs save power".to_owned(),
            "cpufreq governor powersave".to_owned(),
            "`cpupower frequency-set -g performance` for the time of the run: latencies at low depth hold the time to speed up",
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        ));
    }
    let deep = facts.client.idle_states.iter().filter(|s| !s.disabled && s.exit_latency_us >= DEEP_US);
    if let Some(deepest) = deep.max_by_key(|s| s.exit_latency_us) {
        out.push(finding(
            "client-deep-idle",
            Severity::Note,
            "the client's CPUs may sleep deeply between operations".to_owned(),
            format!("idle state {} takes {} µs to leave", deepest.name, deepest.exit_latency_us),
            "for latencies at low depth switch deep states off (`cpupower idle-set -D 10`); this adds to each operation that waits for a sleeping CPU",
            "/sys/devices/system/cpu/cpu0/cpuidle/state*/latency",
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;
    use fathom_model::Severity;

    fn with_nic(speed: &str, rest: &[(&str, &str)]) -> bool {
        let mut case = Case::healthy();
        case.text("before", "/sys/class/net/eth0/speed", speed);
        case.text("before", "/sys/class/net/eth0/operstate", "up");
        for (moment, text) in rest {
            case.text(moment, "/proc/net/dev", text);
        }
        case.severity("client-link-slow").is_some()
    }

    #[test]
    fn a_gigabit_link() {
        assert!(with_nic("1000", &[]) && with_nic("100", &[]));
        assert!(!with_nic("2500", &[]) && !with_nic("-1", &[]));
    }

    #[test]
    fn traffic_that_stays_on_the_machine_needs_no_link() {
        let before = "lo: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\neth0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
        let lo = "lo: 999 0 0 0 0 0 0 0 999 0 0 0 0 0 0 0\neth0: 5 0 0 0 0 0 0 0 5 0 0 0 0 0 0 0\n";
        let eth = "lo: 9 0 0 0 0 0 0 0 9 0 0 0 0 0 0 0\neth0: 500 0 0 0 0 0 0 0 5 0 0 0 0 0 0 0\n";
        assert!(!with_nic("1000", &[("before", before), ("after", lo)]));
        assert!(with_nic("1000", &[("before", before), ("after", eth)]));
    }

    #[test]
    fn a_busy_client() {
        let with = |busy| {
            let mut case = Case::healthy();
            case.run.attempts[1].end.as_mut().unwrap().host_cpu_busy = Some(busy);
            case.severity("client-cpu-saturated")
        };
        assert_eq!((with(0.9), with(0.91)), (None, Some(Severity::Warn)));
    }

    #[test]
    fn power_saving() {
        let with = |path: &str, text: &str| {
            let mut case = Case::healthy();
            case.text("before", path, text);
            (case.severity("client-cpu-governor").is_some(), case.severity("client-deep-idle").is_some())
        };
        let governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
        assert_eq!((with(governor, "powersave\n"), with(governor, "performance\n")), ((true, false), (false, false)));
        let latency = "/sys/devices/system/cpu/cpu0/cpuidle/state3/latency";
        assert_eq!((with(latency, "50\n"), with(latency, "49\n")), ((false, true), (false, false)));
    }
}
