//! A latency histogram: lossless to merge, exact in count, sum, minimum and maximum, and within 0.1 % in every
//! percentile.
//!
//! The buckets are those of HdrHistogram (Tene; <https://github.com/HdrHistogram/HdrHistogram>) for 1 ns to 1 h at
//! three significant digits, so a stored histogram can be read by its tools. The counting itself is ours: with the
//! layout fixed at compile time the index is a shift and an add, which is what the load driver's budget needs.
//!
//! It must not know what is measured, nor when.
use crate::{StatsError, hdr};

/// The highest latency told apart: 1 h in nanoseconds. Larger values count as this one and in [`Hist::overflow`].
pub const HIGHEST_NS: u64 = 3_600_000_000_000;

/// log2 of the number of linear steps in one octave pair: 2048 steps tell 1 in 1024 apart, hence three digits.
const SUB_BITS: u32 = 11;
/// Values below this have a bucket of their own.
const SUB_COUNT: u64 = 1 << SUB_BITS;
/// Buckets in all: HdrHistogram's array length for this range and precision.
pub(crate) const LEN: usize = (octave(HIGHEST_NS) as usize + 2) << (SUB_BITS - 1);

/// How often the linear range had to be doubled to hold `ns`.
#[inline]
const fn octave(ns: u64) -> u32 {
    (u64::BITS - SUB_BITS) - (ns | (SUB_COUNT - 1)).leading_zeros()
}

/// The bucket that `ns` falls into. At most `LEN - 1` for values up to [`HIGHEST_NS`].
#[inline]
pub(crate) const fn index_of(ns: u64) -> usize {
    let octave = octave(ns);
    ((octave as usize) << (SUB_BITS - 1)) + (ns >> octave) as usize
}

/// The lowest value that falls into bucket `index`.
#[inline]
pub(crate) const fn low_of(index: usize) -> u64 {
    let half = 1usize << (SUB_BITS - 1);
    if index < 2 * half {
        return index as u64;
    }
    let octave = index / half - 1;
    ((index % half + half) as u64) << octave
}

/// The highest value that falls into bucket `index`.
#[inline]
pub(crate) const fn high_of(index: usize) -> u64 {
    low_of(index + 1) - 1
}

/// One non-empty bucket of a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Lowest value that counts here, in nanoseconds; for the bucket of the minimum, the minimum.
    pub low_ns: u64,
    /// Highest value that counts here, in nanoseconds; for the bucket of the maximum, the maximum.
    pub high_ns: u64,
    /// Values recorded here.
    pub count: u64,
}

/// Latencies in nanoseconds. 270 KiB, allocated once; [`reset`](Hist::reset) makes it reusable.
#[derive(Clone, PartialEq, Eq)]
pub struct Hist {
    counts: Box<[u64; LEN]>,
    count: u64,
    sum_ns: u64,
    /// `u64::MAX` while empty, so that recording needs no branch.
    min_ns: u64,
    max_ns: u64,
    overflow: u64,
}

impl Default for Hist {
    fn default() -> Hist {
        Hist::new()
    }
}

impl std::fmt::Debug for Hist {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hist")
            .field("count", &self.count)
            .field("sum_ns", &self.sum_ns)
            .field("min_ns", &self.min_ns())
            .field("max_ns", &self.max_ns())
            .field("overflow", &self.overflow)
            .finish_non_exhaustive()
    }
}

impl Hist {
    /// An empty histogram.
    #[must_use]
    pub fn new() -> Hist {
        let counts: Box<[u64]> = vec![0; LEN].into_boxed_slice();
        // The length is LEN by construction; the other arm only keeps a panic out of the library.
        let counts = counts.try_into().unwrap_or_else(|_| Box::new([0; LEN]));
        Hist { counts, count: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0, overflow: 0 }
    }

    /// Counts one latency. Never allocates; a few nanoseconds.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        let index = index_of(ns.min(HIGHEST_NS));
        // Always in range; `get_mut` costs the same compare as indexing, without the panic.
        if let Some(slot) = self.counts.get_mut(index) {
            *slot = slot.saturating_add(1);
        }
        self.count = self.count.saturating_add(1);
        self.sum_ns = self.sum_ns.saturating_add(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        self.overflow += u64::from(ns > HIGHEST_NS);
    }

    /// Adds everything recorded in `other`, as if it had been recorded here: the one way histograms are combined.
    pub fn merge(&mut self, other: &Hist) {
        let touched = other.touched();
        for (mine, theirs) in self.counts[touched.clone()].iter_mut().zip(&other.counts[touched]) {
            *mine = mine.saturating_add(*theirs);
        }
        self.count = self.count.saturating_add(other.count);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.overflow = self.overflow.saturating_add(other.overflow);
    }

    /// Forgets everything, keeps the memory.
    pub fn reset(&mut self) {
        let touched = self.touched();
        self.counts[touched].fill(0);
        (self.count, self.sum_ns, self.min_ns, self.max_ns, self.overflow) = (0, 0, u64::MAX, 0, 0);
    }

    /// The buckets that can be non-empty. Minimum and maximum bound them, which keeps merge and reset cheap.
    fn touched(&self) -> std::ops::Range<usize> {
        if self.count == 0 {
            return 0..0;
        }
        index_of(self.min_ns.min(HIGHEST_NS))..index_of(self.max_ns.min(HIGHEST_NS)) + 1
    }

    /// Values recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Exact sum in nanoseconds; stays at `u64::MAX` (584 years) once it got there.
    #[must_use]
    pub fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// Exact minimum in nanoseconds; 0 when empty.
    #[must_use]
    pub fn min_ns(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min_ns }
    }

    /// Exact maximum in nanoseconds, also above [`HIGHEST_NS`]; 0 when empty.
    #[must_use]
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// Values above [`HIGHEST_NS`], recorded as that. Not part of the encoded form: 0 after [`decode`](Hist::decode).
    #[must_use]
    pub fn overflow(&self) -> u64 {
        self.overflow
    }

    /// Exact mean in nanoseconds; `None` when empty.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// The non-empty buckets in ascending order.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        let touched = self.touched();
        let (first, last) = (touched.start, touched.end.saturating_sub(1));
        self.counts[touched].iter().enumerate().filter(|&(_, &count)| count > 0).map(move |(at, &count)| {
            let index = first + at;
            let high_ns = if index == last { self.max_ns } else { high_of(index) };
            let low_ns = if index == first { self.min_ns } else { low_of(index) };
            Bucket { low_ns, high_ns, count }
        })
    }

    /// The `q`-quantile in nanoseconds (`q` in 0..=1, clamped): the smallest value of a bucket's upper edge, never
    /// above the exact maximum, that at least `ceil(q n)` (and at least one) of the recorded values do not exceed.
    /// It is never below the exact order statistic and at most 0.1 % above it. `None` when empty or `q` is NaN.
    ///
    /// Source: the inverse of the empirical distribution function, Hyndman and Fan (1996), definition 1.
    #[must_use]
    pub fn quantile_ns(&self, q: f64) -> Option<u64> {
        if q.is_nan() {
            return None;
        }
        self.bucket_at_rank(rank(q, self.count)).map(|bucket| bucket.high_ns)
    }

    /// The bucket of the value of rank `rank`: 1 is the smallest value, `count` the largest. `None` beyond.
    pub(crate) fn bucket_at_rank(&self, rank: u64) -> Option<Bucket> {
        let mut seen = 0u64;
        self.buckets().find(|bucket| {
            seen = seen.saturating_add(bucket.count);
            seen >= rank
        })
    }

    /// How many of the recorded values are at most `ns` nanoseconds, to the precision of the buckets: the whole bucket
    /// that `ns` falls into counts.
    #[must_use]
    pub fn count_at_most(&self, ns: u64) -> u64 {
        let last = index_of(ns.min(HIGHEST_NS));
        self.buckets()
            .take_while(|b| index_of(b.low_ns.min(HIGHEST_NS)) <= last)
            .fold(0, |sum, b| sum.saturating_add(b.count))
    }

    /// Points `(quantile, nanoseconds)` of the latency spectrum, ascending in both: five points to every halving of
    /// the distance to 1, up to five nines or up to the last value that has one more beyond it, then the maximum at
    /// 1. About 85 points for many values, fewer for few; empty when empty.
    #[must_use]
    pub fn spectrum(&self) -> Vec<(f64, u64)> {
        const TOP: f64 = 0.99999;
        let mut points = Vec::with_capacity(96);
        let mut buckets = self.buckets();
        let Some(mut bucket) = buckets.next() else { return points };
        let mut seen = bucket.count;
        let levels = (0..17).flat_map(|halving| {
            let left = libm::exp2(-f64::from(halving));
            (0..5).map(move |step| 1.0 - left + left * 0.1 * f64::from(step))
        });
        let levels = levels.take_while(|&q| q < TOP).chain([TOP]);
        // Where less than one value lies beyond, the point would repeat the maximum.
        for q in levels.take_while(|q| (1.0 - q) * self.count as f64 >= 1.0) {
            while seen < rank(q, self.count) {
                let Some(next) = buckets.next() else { break };
                bucket = next;
                seen = seen.saturating_add(bucket.count);
            }
            points.push((q, bucket.high_ns));
        }
        points.push((1.0, self.max_ns));
        points
    }

    /// HdrHistogram V2 + DEFLATE in base64, values in nanoseconds; empty when the histogram is. Count is contained;
    /// exact sum, minimum and maximum are not: store them beside it for [`decode`](Hist::decode).
    #[must_use]
    pub fn encode(&self) -> String {
        if self.count == 0 { String::new() } else { hdr::encode(&self.counts[..self.touched().end]) }
    }

    /// Reads what [`encode`](Hist::encode) wrote, with the exact sum, minimum and maximum (nanoseconds) that belong
    /// to it. The text may come from anywhere: it needs bounded time and at most a few MiB whatever it holds.
    ///
    /// # Errors
    /// When the text is not such a record, or the three numbers contradict it.
    pub fn decode(text: &str, sum_ns: u64, min_ns: u64, max_ns: u64) -> Result<Hist, StatsError> {
        let mut hist = Hist::new();
        if text.is_empty() {
            let zero = (sum_ns, min_ns, max_ns) == (0, 0, 0);
            return if zero { Ok(hist) } else { Err(StatsError::Contradiction { what: "count of 0" }) };
        }
        hist.count = hdr::decode(text, &mut hist.counts)?;
        let contradiction = |what| Err(StatsError::Contradiction { what });
        let first = hist.counts.iter().position(|&c| c > 0);
        let last = hist.counts.iter().rposition(|&c| c > 0);
        if first != Some(index_of(min_ns.min(HIGHEST_NS))) {
            return contradiction("minimum");
        }
        if last != Some(index_of(max_ns.min(HIGHEST_NS))) || min_ns > max_ns {
            return contradiction("maximum");
        }
        (hist.sum_ns, hist.min_ns, hist.max_ns) = (sum_ns, min_ns, max_ns);
        let edges = |edge: fn(&Bucket) -> u64| -> u128 {
            hist.buckets().map(|b| u128::from(edge(&b)) * u128::from(b.count)).sum()
        };
        let saturated = u128::from(u64::MAX);
        let bounds = edges(|b| b.low_ns).min(saturated)..=edges(|b| b.high_ns).min(saturated);
        if !bounds.contains(&u128::from(sum_ns)) {
            return contradiction("sum");
        }
        Ok(hist)
    }
}

/// `ceil(q n)` in 1..=n. A product within rounding error of a whole number is that number: 0.07 × 100 is 7, although
/// floating point makes it 7.000000000000001.
pub(crate) fn rank(q: f64, count: u64) -> u64 {
    let product = q.clamp(0.0, 1.0) * count as f64;
    let whole = product.round();
    let near = (product - whole).abs() <= product * 4.0 * f64::EPSILON;
    let rank = if near { whole } else { product.ceil() };
    (rank as u64).clamp(1, count.max(1))
}

#[cfg(test)]
#[path = "hist_tests.rs"]
mod tests;
