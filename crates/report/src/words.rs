//! Numbers and nouns as a reader sees them. Every text, HTML and screen renderer takes its words from here, so that
//! the same thing has the same name everywhere and no number goes out without its unit.
use fathom_model::{Load, Pace, Pattern, Severity, Share, StopReason};

/// Gap between groups of three digits. Not breakable, so a number is never torn at a line's end.
pub(crate) const GAP: char = '\u{a0}';

/// A whole count: `15 726`.
pub(crate) fn count(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    fathom_model::count_text(value).replace(' ', "\u{a0}")
}

/// A rate with at most three significant digits below a hundred: `15 726`, `61.4`, `0.62`.
pub(crate) fn figure(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    match value.abs() {
        0.0 => "0".to_owned(),
        v if v < 0.001 => format!("{value:.1e}"),
        v if v < 1.0 => format!("{value:.3}"),
        v if v < 10.0 => format!("{value:.2}"),
        v if v < 100.0 => format!("{value:.1}"),
        _ => count(value),
    }
}

/// A factor: `4`, `1.65`.
pub(crate) fn factor(value: f64) -> String {
    if value.fract() == 0.0 { count(value) } else { figure(value) }
}

/// Nanoseconds as milliseconds without unit, for columns whose head carries it.
pub(crate) fn ms(ns: f64) -> String {
    figure(ns / 1e6)
}

/// Bytes per second as MiB/s without unit, for columns whose head carries it.
pub(crate) fn mib(bytes_per_s: f64) -> String {
    figure(bytes_per_s / 1_048_576.0)
}

/// Nanoseconds with their unit, not breakable.
pub(crate) fn duration(ns: f64) -> String {
    fathom_model::duration_text(ns).replace(' ', "\u{a0}")
}

/// Nanoseconds at a tick of an axis, without superfluous digits: `200 µs`, `1 ms`.
pub(crate) fn duration_tick(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        v if v < 1e3 => (ns, "ns"),
        v if v < 1e6 => (ns / 1e3, "µs"),
        v if v < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    // Ticks are powers of ten times 1, 2 or 5: rounding only takes away what floating point added.
    format!("{}{GAP}{unit}", (value * 100.0).round() / 100.0)
}

/// Seconds without superfluous digits: `10 s`, `2.5 s`.
pub(crate) fn seconds(value: f64) -> String {
    if value.fract().abs() < 0.05 || value.abs() >= 100.0 {
        format!("{value:.0}{GAP}s")
    } else {
        format!("{value:.1}{GAP}s")
    }
}

/// Bytes with their unit, not breakable.
pub(crate) fn bytes(value: f64) -> String {
    fathom_model::bytes_text(value).replace(' ', "\u{a0}")
}

/// A fraction as percent: `4.2 %`.
pub(crate) fn percent(fraction: f64) -> String {
    let pct = fraction * 100.0;
    if pct < 0.0 {
        return format!("−{}", percent(-fraction));
    }
    if !pct.is_finite() {
        "–".to_owned()
    } else if pct > 0.0 && pct < 0.05 {
        // Rounding to 0.0 % would say that it did not happen.
        format!("<0.1{GAP}%")
    } else if pct.abs() < 10.0 && pct != 0.0 {
        format!("{pct:.1}{GAP}%")
    } else {
        format!("{pct:.0}{GAP}%")
    }
}

/// `1 repeat`, `3 repeats`.
pub(crate) fn plural(n: u64, noun: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{}{GAP}{noun}{s}", count(n as f64))
}

/// A moment after the run's start: `+42 s`, `+3:05 min`.
pub(crate) fn offset(at_s: f64) -> String {
    let sign = if at_s < 0.0 { '−' } else { '+' };
    let s = at_s.abs();
    if s < 100.0 {
        format!("{sign}{s:.1}{GAP}s")
    } else {
        let whole = s.round() as u64;
        format!("{sign}{}:{:02}{GAP}min", whole / 60, whole % 60)
    }
}

/// `5.33 to 5.40 ms` in one unit, from nanoseconds; an open end is said.
pub(crate) fn duration_range(low_ns: Option<u64>, high_ns: Option<u64>) -> String {
    match (low_ns, high_ns) {
        (None, None) => "–".to_owned(),
        (Some(low), None) => format!("{} or more", duration(low as f64)),
        (None, Some(high)) => format!("up to {}", duration(high as f64)),
        (Some(low), Some(high)) if low == high => duration(low as f64),
        (Some(low), Some(high)) => format!("{} to {}", duration(low as f64), duration(high as f64)),
    }
}

/// Minutes and seconds: `1:05`.
pub(crate) fn clock(at_s: f64) -> String {
    let whole = at_s.max(0.0).round() as u64;
    format!("{}:{:02}", whole / 60, whole % 60)
}

/// The verb mix: `write`, `70 % read, 30 % write`.
pub(crate) fn mix(mix: &[Share]) -> String {
    let total: u64 = mix.iter().map(|s| u64::from(s.weight)).sum();
    let used: Vec<&Share> = mix.iter().filter(|s| s.weight > 0).collect();
    match used.as_slice() {
        [] => "nothing".to_owned(),
        [one] => one.verb.word().to_owned(),
        many => many
            .iter()
            .map(|s| format!("{} {}", percent(f64::from(s.weight) / total.max(1) as f64), s.verb.word()))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// The pattern of addresses.
pub(crate) fn pattern(pattern: Pattern) -> String {
    match pattern {
        Pattern::Sequential { wrap: true } => "sequential, wrapping".to_owned(),
        Pattern::Sequential { wrap: false } => "sequential".to_owned(),
        Pattern::Uniform => "random".to_owned(),
        Pattern::Zipf { theta } => format!("random, zipf {theta}"),
    }
}

/// When operations are due.
pub(crate) fn pace(load: &Load) -> String {
    match load.pace {
        Pace::Closed => format!("closed loop, {} in flight", load.depth),
        Pace::Fixed { per_s } => format!("open loop at {} ops/s, at most {} in flight", figure(per_s), load.depth),
        Pace::Poisson { per_s } => {
            format!("open loop, Poisson at {} ops/s, at most {} in flight", figure(per_s), load.depth)
        }
    }
}

/// Why load ended, in words.
pub(crate) fn stop(reason: &StopReason) -> String {
    match reason {
        StopReason::Duration => "time was over".to_owned(),
        StopReason::Ops => "number of operations reached".to_owned(),
        StopReason::Tight => "mean rate known well enough".to_owned(),
        StopReason::Space => "end of the address space reached".to_owned(),
        StopReason::Cancelled => "stopped on request".to_owned(),
        StopReason::AllFailed { class } => format!("nothing but errors came back, last: {class}"),
        StopReason::NoProgress => "no operation completed for a whole deadline".to_owned(),
        StopReason::NotStarted { error } => format!("not started: {error}"),
        StopReason::WorkerLost { error } => format!("the worker process was lost: {error}"),
    }
}

/// Severity as one word.
pub(crate) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warn => "warning",
        Severity::Invalid => "invalid",
    }
}

/// Unix nanoseconds as UTC to the second: `2026-03-01 12:00:05 UTC`.
pub(crate) fn utc(unix_ns: i64) -> String {
    match jiff::Timestamp::from_nanosecond(i128::from(unix_ns)) {
        Ok(at) => at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => format!("{unix_ns} ns after 1970"),
    }
}

/// Text of unknown origin on one line: control characters would let a hostile object name draw on the terminal.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
