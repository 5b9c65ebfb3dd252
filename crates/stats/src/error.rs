//! Why something could not be computed or read.

/// Why a stored histogram could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StatsError {
    /// The text is longer than any histogram of ours can be.
    #[error("stored histogram has {len} characters, more than the {limit} that one can need; the record is damaged")]
    TooLong {
        /// Characters given.
        len: usize,
        /// Characters allowed.
        limit: usize,
    },
    /// The text is not base64.
    #[error("stored histogram is not base64; the record is damaged")]
    NotBase64,
    /// The bytes do not form an HdrHistogram V2 + DEFLATE record.
    #[error("stored histogram is not a HdrHistogram V2 + DEFLATE record ({what}); the record is damaged")]
    Malformed {
        /// Which part is wrong.
        what: &'static str,
    },
    /// A valid HdrHistogram, but not with the range and precision used here.
    #[error("stored histogram has another {what} than this program writes; it was not written by it")]
    Foreign {
        /// Which parameter differs.
        what: &'static str,
    },
    /// The exact counters that came with the histogram contradict it.
    #[error("stored histogram contradicts the stored {what}; the record is damaged")]
    Contradiction {
        /// Which counter.
        what: &'static str,
    },
}
