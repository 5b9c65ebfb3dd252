//! Latency of a set of operations: merged histograms in, percentiles out.
//!
//! A percentile is taken from a merged histogram and from nothing else: percentiles of parts can't be averaged. It
//! exists only when at least one operation lies beyond it, so p99.9 of 400 operations is not a number.
use fathom_model::Latency;
use fathom_stats::Hist;
use serde::Serialize;

/// Operations needed before a percentile exists: one must lie beyond it.
pub const P50_NEEDS: u64 = 2;
/// See [`P50_NEEDS`].
pub const P95_NEEDS: u64 = 20;
/// See [`P50_NEEDS`].
pub const P99_NEEDS: u64 = 100;
/// See [`P50_NEEDS`].
pub const P999_NEEDS: u64 = 1000;

/// Summary of latencies, in nanoseconds. Percentiles carry the histogram's error of at most 0.1 %; mean, minimum and
/// maximum are exact.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LatencySummary {
    /// Operations behind these numbers.
    pub count: u64,
    /// Exact mean.
    pub mean_ns: Option<f64>,
    /// Exact minimum.
    pub min_ns: Option<u64>,
    /// Median; `None` below 2 operations.
    pub p50_ns: Option<u64>,
    /// 95th percentile; `None` below 20 operations.
    pub p95_ns: Option<u64>,
    /// 99th percentile; `None` below 100 operations.
    pub p99_ns: Option<u64>,
    /// 99.9th percentile; `None` below 1000 operations.
    pub p999_ns: Option<u64>,
    /// Exact maximum.
    pub max_ns: Option<u64>,
}

/// One point of a latency spectrum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SpectrumPoint {
    /// Percentile, 0 to 100.
    pub percentile: f64,
    /// Latency that this share of the operations does not exceed, in nanoseconds.
    pub latency_ns: u64,
}

/// Histograms merged, with what went wrong on the way.
#[derive(Clone, Default)]
pub(crate) struct Merged {
    /// Allocated with the first operation only: most merges of an idle interval stay empty.
    hist: Option<Box<Hist>>,
    unreadable: u64,
    first_error: Option<String>,
}

impl Merged {
    /// One stored histogram on its own.
    pub(crate) fn of(latency: &Latency) -> Merged {
        let mut merged = Merged::default();
        merged.add(latency);
        merged
    }

    /// Adds one stored histogram. One that can't be read is left out and told by [`Merged::defect`].
    pub(crate) fn add(&mut self, latency: &Latency) {
        if latency.count == 0 && latency.hdr.is_empty() {
            return;
        }
        let error = match Hist::decode(&latency.hdr, latency.sum_ns, latency.min_ns, latency.max_ns) {
            Ok(hist) if hist.count() == latency.count => {
                match &mut self.hist {
                    Some(sum) => sum.merge(&hist),
                    None => self.hist = Some(Box::new(hist)),
                }
                return;
            }
            Ok(hist) => {
                format!("stored histogram holds {} operations, its counter says {}", hist.count(), latency.count)
            }
            Err(error) => error.to_string(),
        };
        self.unreadable += 1;
        self.first_error.get_or_insert(error);
    }

    /// Adds another merge to this one.
    pub(crate) fn merge(&mut self, other: &Merged) {
        match (&mut self.hist, &other.hist) {
            (Some(sum), Some(hist)) => sum.merge(hist),
            (None, Some(hist)) => self.hist = Some(hist.clone()),
            (_, None) => {}
        }
        self.unreadable += other.unreadable;
        if self.first_error.is_none() {
            self.first_error.clone_from(&other.first_error);
        }
    }

    /// What could not be merged, in words.
    pub(crate) fn defect(&self) -> Option<String> {
        let error = self.first_error.as_ref()?;
        Some(format!("{} intervals left out of the percentiles: {error}", self.unreadable))
    }

    /// All operations merged; `None` when there is none.
    pub(crate) fn hist(&self) -> Option<&Hist> {
        self.hist.as_deref()
    }

    pub(crate) fn summary(&self) -> LatencySummary {
        let Some(hist) = self.hist.as_ref().filter(|h| h.count() > 0) else { return LatencySummary::default() };
        let count = hist.count();
        let percentile = |q, needs| if count >= needs { hist.quantile_ns(q) } else { None };
        LatencySummary {
            count,
            mean_ns: hist.mean_ns(),
            min_ns: Some(hist.min_ns()),
            p50_ns: percentile(0.5, P50_NEEDS),
            p95_ns: percentile(0.95, P95_NEEDS),
            p99_ns: percentile(0.99, P99_NEEDS),
            p999_ns: percentile(0.999, P999_NEEDS),
            max_ns: Some(hist.max_ns()),
        }
    }

    pub(crate) fn spectrum(&self) -> Vec<SpectrumPoint> {
        let points = self.hist.as_ref().map(|h| h.spectrum()).unwrap_or_default();
        points.into_iter().map(|(q, latency_ns)| SpectrumPoint { percentile: q * 100.0, latency_ns }).collect()
    }
}
