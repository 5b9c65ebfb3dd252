//! Sizes and durations as people type and read them.
//!
//! Suffixes are binary, as in fio and Ceph: `4k` = `4K` = `4KiB` = 4096 bytes.
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr, time::Duration};

/// A number of bytes. Parses `4k`, `4K`, `4KiB`, `1.5G`, `4194304`; prints the shortest exact binary form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Size(pub u64);

/// Why a text is not a size or a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// The text is not a number with a known suffix.
    #[error("`{text}` is not a size: write a number with an optional suffix k, M, G or T (binary: 4k = 4096)")]
    Size {
        /// What was given.
        text: String,
    },
    /// The text is not a duration.
    #[error("`{text}` is not a duration: write a number with ms, s, m or h (90s, 2m)")]
    Duration {
        /// What was given.
        text: String,
    },
}

fn split(text: &str) -> Option<(f64, &str)> {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(at);
    let number: f64 = number.parse().ok()?;
    number.is_finite().then_some((number, suffix.trim()))
}

impl FromStr for Size {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Size, UnitError> {
        let bad = || UnitError::Size { text: text.to_owned() };
        if let Ok(exact) = text.trim().parse::<u64>() {
            return Ok(Size(exact));
        }
        let (number, suffix) = split(text.trim()).ok_or_else(bad)?;
        let shift = match suffix.to_ascii_lowercase().as_str() {
            "" | "b" => 0,
            "k" | "kb" | "kib" => 10,
            "m" | "mb" | "mib" => 20,
            "g" | "gb" | "gib" => 30,
            "t" | "tb" | "tib" => 40,
            _ => return Err(bad()),
        };
        let bytes = number * (1u64 << shift) as f64;
        if !(0.0..1e18).contains(&bytes) || bytes.fract() != 0.0 {
            return Err(bad());
        }
        Ok(Size(bytes as u64))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&bytes_text(self.0 as f64))
    }
}

/// Bytes with a binary unit and at most four significant digits: `4 KiB`, `1.5 GiB`.
#[must_use]
pub fn bytes_text(bytes: f64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes;
    let mut unit = 0;
    while value.abs() >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", trim(value), UNITS[unit])
}

/// Bytes per second with a binary unit: `375 MiB/s`.
#[must_use]
pub fn rate_text(bytes_per_s: f64) -> String {
    format!("{}/s", bytes_text(bytes_per_s))
}

/// A count with thousands separated by a thin gap: `15 726`. Values below 100 keep two decimals where they have any.
#[must_use]
pub fn count_text(count: f64) -> String {
    if count.abs() < 100.0 && count.fract() != 0.0 {
        return trim(count);
    }
    let digits = format!("{:.0}", count.abs());
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(c);
    }
    if count < 0.0 { format!("-{out}") } else { out }
}

/// Nanoseconds with a unit that keeps three significant digits: `870 µs`, `4.07 ms`, `2.00 s`.
#[must_use]
pub fn duration_text(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        v if v < 1e3 => (ns, "ns"),
        v if v < 1e6 => (ns / 1e3, "µs"),
        v if v < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    let decimals = match value.abs() {
        v if v < 10.0 && unit != "ns" => 2,
        v if v < 100.0 && unit != "ns" => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

fn trim(value: f64) -> String {
    let decimals = match value.abs() {
        v if v < 10.0 => 2,
        v if v < 100.0 => 1,
        _ => 0,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Reads a duration: `500ms`, `90s`, `2m`, `1h`; a bare number is seconds, as in fio's `runtime`.
///
/// # Errors
/// When the text is not a finite, non-negative number with one of these suffixes.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let bad = || UnitError::Duration { text: text.to_owned() };
    let (number, suffix) = split(text.trim()).ok_or_else(bad)?;
    let seconds = match suffix {
        "us" => number / 1e6,
        "ms" => number / 1e3,
        "" | "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(bad()),
    };
    // A year: more is a typing error, and nanoseconds in u64 stay far from their end.
    if !(0.0..=31_536_000.0).contains(&seconds) {
        return Err(bad());
    }
    Ok(Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_binary_as_in_fio_and_ceph() {
        for (text, bytes) in [
            ("4k", 4096),
            ("4K", 4096),
            ("4KiB", 4096),
            ("4M", 4_194_304),
            ("1.5G", 1_610_612_736),
            ("0", 0),
            ("512", 512),
        ] {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
        for text in ["4x", "", "k", "-4k", "4kk", "1e3", "NaN", "inf", "0.3", "4 096", "99999999999T"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn durations() {
        assert_eq!(parse_duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(parse_duration("1.5"), Ok(Duration::from_millis(1500)));
        for text in ["", "5d", "-1s", "s", "99999999h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn texts_carry_units() {
        assert_eq!(Size(4096).to_string(), "4 KiB");
        assert_eq!(bytes_text(1.5 * 1024.0 * 1024.0), "1.5 MiB");
        assert_eq!(count_text(15726.4), "15 726");
        assert_eq!(count_text(0.25), "0.25");
        assert_eq!(duration_text(870_000.0), "870 µs");
        assert_eq!(duration_text(4_070_000.0), "4.07 ms");
        assert_eq!(duration_text(2e9), "2.00 s");
    }

    proptest! {
        #[test]
        fn a_size_in_bytes_reads_back(n in 0u64..1_000_000_000_000_000) {
            prop_assert_eq!(n.to_string().parse::<Size>().unwrap(), Size(n));
        }
        #[test]
        fn no_text_panics(text in ".{0,24}") {
            let _ = text.parse::<Size>();
            let _ = parse_duration(&text);
        }
    }
}
