//! What is in a block: bytes that can be recognised when they are read back.
use super::params::PayloadKind;
use crate::payload::{PAGE_BYTES, Payload};

/// Makes and checks the content of blocks.
pub(super) enum Content {
    Random(Random),
    RadosBench,
}

impl Content {
    /// `prefix` names the data set: any step on the same objects can check what another wrote.
    pub(super) fn new(kind: PayloadKind, prefix: &str, block_bytes: u32, compressible_pct: u8) -> Content {
        match kind {
            PayloadKind::Random => Content::Random(Random {
                payload: Payload::new(fnv1a(prefix.as_bytes()), compressible_pct),
                // Blocks of whole pages are stamped page by page with the page's own address, so that the data can be
                // checked by a step with another block size; other blocks are stamped as a whole.
                pages: (block_bytes as usize).is_multiple_of(PAGE_BYTES).then_some(block_bytes as usize / PAGE_BYTES),
            }),
            PayloadKind::RadosBench => Content::RadosBench,
        }
    }

    /// Length of what is stamped separately: steps that agree on it can check each other's data.
    pub(super) fn unit_bytes(&self, block_bytes: u32) -> u32 {
        match self {
            Content::Random(Random { pages: Some(_), .. }) => PAGE_BYTES as u32,
            _ => block_bytes,
        }
    }

    /// Fills a block's buffer with what does not change from operation to operation.
    pub(super) fn fill(&self, slot: u32, block: &mut [u8]) {
        match self {
            Content::Random(random) => random.fill(slot, block),
            Content::RadosBench => block.fill(b'z'),
        }
    }

    /// Makes a filled buffer the content of the block at `at`.
    #[inline]
    pub(super) fn stamp(&self, slot: u32, at: u64, block: &mut [u8]) {
        match self {
            Content::Random(random) => random.stamp(slot, at, block),
            Content::RadosBench => {
                let header = bench_header(at);
                // `rados bench` prints with snprintf: a block shorter than the header is cut and ends with NUL.
                let len = header.len().min(block.len());
                block[..len].copy_from_slice(&header[..len]);
                if let Some(last) = block[..len].last_mut() {
                    *last = 0;
                }
            }
        }
    }

    /// True when `block` is the content of the block at `at`.
    pub(super) fn check(&self, at: u64, block: &[u8]) -> bool {
        match self {
            Content::Random(random) => random.check(at, block),
            Content::RadosBench => {
                let header = bench_header(at);
                let len = header.len().min(block.len());
                len > 0
                    && block[..len - 1] == header[..len - 1]
                    && block[len - 1] == 0
                    && block[len..].iter().all(|b| *b == b'z')
            }
        }
    }
}

/// Incompressible data.
pub(super) struct Random {
    payload: Payload,
    /// Pages per block, where a block is whole pages.
    pages: Option<usize>,
}

impl Random {
    /// Patterns of the pages of one buffer differ, so that no two pages in it are alike.
    fn pattern(&self, slot: u32, page: usize) -> u32 {
        slot.wrapping_mul(self.pages.unwrap_or(1) as u32).wrapping_add(page as u32)
    }

    fn fill(&self, slot: u32, block: &mut [u8]) {
        if self.pages.is_none() {
            return self.payload.fill(slot, block);
        }
        for (n, page) in block.chunks_mut(PAGE_BYTES).enumerate() {
            self.payload.fill(self.pattern(slot, n), page);
        }
    }

    #[inline]
    fn stamp(&self, slot: u32, at: u64, block: &mut [u8]) {
        let Some(pages) = self.pages else { return self.payload.stamp(slot, at, block) };
        for (n, page) in block.chunks_mut(PAGE_BYTES).enumerate() {
            self.payload.stamp(self.pattern(slot, n), at * pages as u64 + n as u64, page);
        }
    }

    fn check(&self, at: u64, block: &[u8]) -> bool {
        let Some(pages) = self.pages else { return self.payload.check(at, block) };
        let mut chunks = block.chunks(PAGE_BYTES).enumerate();
        chunks.all(|(n, page)| self.payload.check(at * pages as u64 + n as u64, page))
    }
}

/// `I'm the %16dth op!` and a NUL. Source: `src/common/obj_bencher.cc`, the same from 16 to main.
fn bench_header(op: u64) -> [u8; 31] {
    let mut header = *b"I'm the                 th op!\0";
    // The counter is a C int there; a run long enough to wrap it can't be read by `rados bench` anyway.
    let mut digits = op;
    let mut place = 24;
    loop {
        place -= 1;
        header[place] = b'0' + (digits % 10) as u8;
        digits /= 10;
        if digits == 0 || place == 8 {
            return header;
        }
    }
}

/// The metadata object of a finished write run, as `rados bench` writes it: 24 bytes, little-endian.
pub(super) fn bench_metadata(object_bytes: u64, ops: u64, pid: i32, block_bytes: u64) -> [u8; 24] {
    let ops = i32::try_from(ops).unwrap_or(i32::MAX);
    let mut bytes = [0; 24];
    bytes[..8].copy_from_slice(&object_bytes.to_le_bytes());
    bytes[8..12].copy_from_slice(&ops.to_le_bytes());
    bytes[12..16].copy_from_slice(&pid.to_le_bytes());
    bytes[16..].copy_from_slice(&block_bytes.to_le_bytes());
    bytes
}

/// FNV-1a, 64 bits: small, and the same in every build and release, which the standard hasher does not promise.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv1a_of_the_published_vectors() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn the_header_is_that_of_rados_bench() {
        assert_eq!(&bench_header(0), b"I'm the                0th op!\0");
        assert_eq!(&bench_header(1234), b"I'm the             1234th op!\0");
        assert_eq!(&bench_header(u64::MAX)[..8], b"I'm the ");
        let content = Content::new(PayloadKind::RadosBench, "p", 64, 0);
        let mut block = [0; 64];
        content.fill(0, &mut block);
        content.stamp(0, 7, &mut block);
        assert!(content.check(7, &block));
        assert!(!content.check(8, &block));
        block[40] = b'y';
        assert!(!content.check(7, &block));
    }

    #[test]
    fn a_block_shorter_than_the_header_is_cut_as_snprintf_does() {
        let content = Content::new(PayloadKind::RadosBench, "p", 8, 0);
        let mut block = [0; 8];
        content.fill(0, &mut block);
        content.stamp(0, 3, &mut block);
        assert_eq!(&block, b"I'm the\0");
        assert!(content.check(3, &block));
    }

    #[test]
    fn metadata_has_the_layout_of_rados_bench() {
        let bytes = bench_metadata(4_194_304, 100, 4711, 4096);
        assert_eq!(bytes[..8], 4_194_304u64.to_le_bytes());
        assert_eq!(bytes[8..16], [100, 0, 0, 0, 0x67, 0x12, 0, 0]);
        assert_eq!(bytes[16..], 4096u64.to_le_bytes());
    }

    #[test]
    fn random_content_is_checked_by_steps_of_another_block_size() {
        let small = Content::new(PayloadKind::Random, "set", 4096, 0);
        let large = Content::new(PayloadKind::Random, "set", 16384, 0);
        let mut blocks = vec![0; 4 * 4096];
        for (n, block) in blocks.chunks_mut(4096).enumerate() {
            small.fill(n as u32 * 3, block);
            small.stamp(n as u32 * 3, 20 + n as u64, block);
        }
        assert!(large.check(5, &blocks));
        assert!(!large.check(6, &blocks));
        assert!(!Content::new(PayloadKind::Random, "other", 16384, 0).check(5, &blocks));
    }

    #[test]
    fn content_written_through_one_slot_differs_from_page_to_page() {
        let content = Content::new(PayloadKind::Random, "set", 16384, 0);
        let mut block = vec![0; 16384];
        content.fill(1, &mut block);
        content.stamp(1, 0, &mut block);
        let pages: Vec<&[u8]> = block.chunks(4096).map(|p| &p[24..]).collect();
        assert!(pages.iter().enumerate().all(|(i, p)| pages[..i].iter().all(|q| p != q)));
    }

    #[test]
    fn blocks_that_are_no_whole_pages_work_too() {
        let content = Content::new(PayloadKind::Random, "set", 5000, 0);
        assert_eq!(content.unit_bytes(5000), 5000);
        let mut block = vec![0; 5000];
        content.fill(1, &mut block);
        content.stamp(1, 9, &mut block);
        assert!(content.check(9, &block));
        assert!(!content.check(10, &block));
    }
}
