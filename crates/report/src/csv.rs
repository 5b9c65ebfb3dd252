//! The series of every repeat as CSV (RFC 4180), for spreadsheets and plot scripts.
use crate::Analysis;
use fathom_model::Phase;

/// First line of [`series_csv`].
const HEAD: &str = "step,repeat,phase,from_s,to_s,ops,ops_per_s,bytes_per_s,p50_ns,p99_ns,max_ns,errors\r\n";

/// One line per interval. Repeats count from 1, times from the start of that repeat's load; a percentile that does
/// not exist is an empty field.
#[must_use]
pub fn series_csv(analysis: &Analysis) -> String {
    let mut out = String::from(HEAD);
    let some = |value: Option<u64>| value.map_or_else(String::new, |v| v.to_string());
    for step in &analysis.steps {
        for repeat in &step.repeats {
            for p in &repeat.series {
                let fields = [
                    field(&step.name),
                    (u64::from(repeat.repeat) + 1).to_string(),
                    phase(p.phase).to_owned(),
                    format!("{:.3}", p.from_s),
                    format!("{:.3}", p.to_s),
                    p.ops.to_string(),
                    format!("{:.3}", p.ops_per_s),
                    format!("{:.3}", p.bytes_per_s),
                    some(p.p50_ns),
                    some(p.p99_ns),
                    some(p.max_ns),
                    p.errors.to_string(),
                ];
                out.push_str(&fields.join(","));
                out.push_str("\r\n");
            }
        }
    }
    out
}

pub(crate) fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Ramp => "ramp",
        Phase::Measure => "measure",
        Phase::Drain => "drain",
    }
}

/// Quotes what needs it. A leading `=`, `+`, `-` or `@` would be run as a formula by spreadsheets.
fn field(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let safe = if formula { format!("'{text}") } else { text.to_owned() };
    if safe.contains([',', '"', '\n', '\r']) { format!("\"{}\"", safe.replace('"', "\"\"")) } else { safe }
}
