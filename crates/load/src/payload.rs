//! The bytes that are written, and the proof that they came back.
//!
//! Incompressible by default: a storage system that compresses or deduplicates must not make a result look better
//! than the data people have. Filling 4 MiB with fresh random bytes for every operation would cost more than the
//! operation, so each slot's buffer is filled once, and every 4 KiB page gets a new 24-byte stamp per operation:
//! no two pages ever written are equal (deduplication finds nothing) and no page has redundancy of its own
//! (compression finds nothing). What is left is that two objects written through the same slot share page bodies
//! 4 KiB and more apart; BIAS.md states it.
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Bytes stamped separately: the block of common file systems, of BlueStore and of deduplicating devices.
pub const PAGE_BYTES: usize = 4096;
const STAMP_BYTES: usize = 24;
/// Length of the random source. Larger than a page by a prime, so that shifted copies don't align.
const SOURCE_BYTES: usize = (1 << 20) + 4099;

/// Makes and checks the content of blocks.
pub struct Payload {
    key: u64,
    keep: usize,
    source: Vec<u8>,
}

impl Payload {
    /// `key` identifies the data set: content is a function of it, the block's address and the slot's pattern.
    /// `compressible_pct` of every page are zeros, at its end.
    #[must_use]
    pub fn new(key: u64, compressible_pct: u8) -> Payload {
        let mut source = vec![0; SOURCE_BYTES];
        Xoshiro256PlusPlus::seed_from_u64(key).fill(&mut source[..]);
        let keep = PAGE_BYTES * usize::from(100 - compressible_pct.min(100)) / 100;
        Payload { key, keep: keep.max(STAMP_BYTES), source }
    }

    /// Fills a slot's buffer once. `pattern` is any number that differs between slots.
    pub fn fill(&self, pattern: u32, buf: &mut [u8]) {
        for (n, page) in buf.chunks_mut(PAGE_BYTES).enumerate() {
            page.copy_from_slice(&self.body(pattern, n)[..page.len()]);
            if page.len() > self.keep {
                page[self.keep..].fill(0);
            }
        }
    }

    /// Makes the buffer the content of the block at `at`. Costs 24 bytes of writing per page.
    #[inline]
    pub fn stamp(&self, pattern: u32, at: u64, buf: &mut [u8]) {
        for (n, page) in buf.chunks_mut(PAGE_BYTES).enumerate() {
            let stamp = self.stamp_of(pattern, at, n);
            let len = page.len().min(STAMP_BYTES);
            page[..len].copy_from_slice(&stamp[..len]);
        }
    }

    /// True when `buf` is the content of the block at `at`, written through whatever slot. Blocks shorter than a
    /// stamp can't be told apart; they are compared as far as they go.
    #[must_use]
    pub fn check(&self, at: u64, buf: &[u8]) -> bool {
        if buf.len() < STAMP_BYTES {
            return buf == &self.stamp_of(0, at, 0)[..buf.len()];
        }
        let pattern = u32::from_le_bytes([buf[16], buf[17], buf[18], buf[19]]);
        buf.chunks(PAGE_BYTES).enumerate().all(|(n, page)| {
            let stamp = self.stamp_of(pattern, at, n);
            let len = page.len().min(STAMP_BYTES);
            if page[..len] != stamp[..len] {
                return false;
            }
            let end = page.len().min(self.keep).max(len);
            page[len..end] == self.body(pattern, n)[len..end] && page[end..].iter().all(|b| *b == 0)
        })
    }

    fn stamp_of(&self, pattern: u32, at: u64, page: usize) -> [u8; STAMP_BYTES] {
        let mut stamp = [0; STAMP_BYTES];
        stamp[..8].copy_from_slice(&self.key.to_le_bytes());
        stamp[8..16].copy_from_slice(&at.to_le_bytes());
        stamp[16..20].copy_from_slice(&pattern.to_le_bytes());
        stamp[20..].copy_from_slice(&(page as u32).to_le_bytes());
        stamp
    }

    fn body(&self, pattern: u32, page: usize) -> &[u8] {
        // Two odd multipliers scatter the starts; every start leaves a whole page inside the source.
        let start = (pattern as usize).wrapping_mul(40_503).wrapping_add(page.wrapping_mul(2_654_435_761))
            % (SOURCE_BYTES - PAGE_BYTES);
        &self.source[start..start + PAGE_BYTES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(payload: &Payload, pattern: u32, at: u64, len: usize) -> Vec<u8> {
        let mut buf = vec![0; len];
        payload.fill(pattern, &mut buf);
        payload.stamp(pattern, at, &mut buf);
        buf
    }

    #[test]
    fn what_was_written_is_recognised_and_nothing_else_is() {
        let payload = Payload::new(7, 0);
        for len in [1, 23, 24, 512, 4096, 4097, 65536] {
            let mut buf = block(&payload, if len < 24 { 0 } else { 3 }, 99, len);
            assert!(payload.check(99, &buf), "{len}");
            assert!(len < 9 || !payload.check(98, &buf), "another block's content, {len}");
            assert!(!Payload::new(8, 0).check(99, &buf), "another data set's content, {len}");
            let last = len - 1;
            buf[last] ^= 1;
            assert!(!payload.check(99, &buf), "one flipped bit, {len}");
        }
    }

    #[test]
    fn no_two_pages_are_equal_and_none_is_compressible() {
        let payload = Payload::new(7, 0);
        let mut seen = std::collections::HashSet::new();
        for at in 0..64 {
            for page in block(&payload, at as u32 % 4, at, 16384).chunks(PAGE_BYTES) {
                assert!(seen.insert(page.to_vec()));
                let mut counts = [0u32; 256];
                page.iter().for_each(|b| counts[usize::from(*b)] += 1);
                let entropy: f64 =
                    counts.iter().filter(|c| **c > 0).map(|c| f64::from(*c) / 4096.0).map(|p| -p * p.log2()).sum();
                // 4096 uniform bytes have about 7.95 bits per byte; the stamp costs a little.
                assert!(entropy > 7.85, "{entropy}");
            }
        }
    }

    #[test]
    fn the_asked_share_is_zeros() {
        let buf = block(&Payload::new(7, 50), 1, 5, 8192);
        for page in buf.chunks(PAGE_BYTES) {
            assert!(page[2048..].iter().all(|b| *b == 0));
        }
        assert!(Payload::new(7, 50).check(5, &buf));
        assert!(Payload::new(7, 100).check(5, &block(&Payload::new(7, 100), 1, 5, 8192)));
    }
}
