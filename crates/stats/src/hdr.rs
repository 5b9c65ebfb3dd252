//! The stored form of a histogram: HdrHistogram's V2 encoding, DEFLATE-compressed, in base64.
//!
//! Format: `HdrHistogram/src/main/java/org/HdrHistogram/AbstractHistogram.java` (`encodeIntoByteBuffer`,
//! `encodeIntoCompressedByteBuffer`) and its `ZigZagEncoding.java`. All integers are big-endian:
//! compressed cookie `u32`, compressed length `u32`, then in zlib: cookie `u32`, payload length `u32`, normalizing
//! offset `u32`, digits `u32`, lowest `u64`, highest `u64`, integer-to-double ratio `f64`, then the payload: for each
//! bucket a zig-zag LEB128 number (at most 9 bytes), which is a count, or, negative, a number of empty buckets.
//!
//! Own reader because records come from files and other hosts: the header's claims size nothing here, the output is
//! a fixed array and the inflated text is cut at the longest valid length.
use crate::{
    StatsError,
    hist::{HIGHEST_NS, LEN},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use std::io::{Read, Write};

const COOKIE: u32 = 0x1c84_9313;
const COOKIE_COMPRESSED: u32 = 0x1c84_9314;
const DIGITS: u32 = 3;
const LOWEST_NS: u64 = 1;
const HEADER_BYTES: usize = 40;
/// No valid record inflates to more: nine bytes for every bucket.
const PLAIN_BYTES_MAX: usize = HEADER_BYTES + 9 * LEN;
/// No valid record has more characters: incompressible data grows by less than 1 % in DEFLATE, by 4/3 in base64.
const TEXT_CHARS_MAX: usize = PLAIN_BYTES_MAX / 2 * 3;

/// Encodes the buckets; `counts` ends with the last non-empty one.
pub(crate) fn encode(counts: &[u64]) -> String {
    let mut plain = Vec::with_capacity(HEADER_BYTES + 2 * counts.len());
    plain.extend(COOKIE.to_be_bytes());
    plain.extend(0u32.to_be_bytes()); // payload length, filled in below
    plain.extend(0u32.to_be_bytes()); // normalizing offset
    plain.extend(DIGITS.to_be_bytes());
    plain.extend(LOWEST_NS.to_be_bytes());
    plain.extend(HIGHEST_NS.to_be_bytes());
    plain.extend(1f64.to_be_bytes());
    let mut at = 0;
    while at < counts.len() {
        let zeros = counts[at..].iter().take_while(|&&c| c == 0).count();
        // One empty bucket is written as the count 0, as the reference does; both read the same.
        if zeros > 1 {
            put_varint(&mut plain, 2 * zeros as u64 - 1);
            at += zeros;
        } else {
            // Zig-zag of a signed 64-bit number: a count of 2^63 or more cannot be told, nor reached.
            put_varint(&mut plain, 2 * counts[at].min(i64::MAX as u64));
            at += 1;
        }
    }
    let payload_bytes = (plain.len() - HEADER_BYTES) as u32;
    plain[4..8].copy_from_slice(&payload_bytes.to_be_bytes());

    let mut record = COOKIE_COMPRESSED.to_be_bytes().to_vec();
    record.extend([0; 4]);
    let mut deflate = ZlibEncoder::new(record, Compression::default());
    // Writing to memory does not fail; should it ever, an empty text is an empty histogram and is noticed by its
    // exact counters.
    let Ok(mut record) = deflate.write_all(&plain).and_then(|()| deflate.finish()) else { return String::new() };
    let packed_bytes = (record.len() - 8) as u32;
    record[4..8].copy_from_slice(&packed_bytes.to_be_bytes());
    STANDARD.encode(record)
}

/// Decodes `text` into `counts`, which must be all zero, and returns their sum, which is at least 1.
pub(crate) fn decode(text: &str, counts: &mut [u64; LEN]) -> Result<u64, StatsError> {
    if text.len() > TEXT_CHARS_MAX {
        return Err(StatsError::TooLong { len: text.len(), limit: TEXT_CHARS_MAX });
    }
    let record = STANDARD.decode(text).map_err(|_| StatsError::NotBase64)?;
    let mut fields = Fields(&record);
    expect(fields.u32()?, COOKIE_COMPRESSED, "compressed cookie")?;
    let packed_bytes = fields.u32()? as usize;
    let packed = fields.0;
    if packed.len() != packed_bytes {
        return malformed("compressed length");
    }
    let mut plain = Vec::new();
    ZlibDecoder::new(packed)
        .take(PLAIN_BYTES_MAX as u64 + 1)
        .read_to_end(&mut plain)
        .or_else(|_| malformed("compressed data"))?;
    let mut fields = Fields(&plain);
    expect(fields.u32()?, COOKIE, "cookie")?;
    let payload_bytes = fields.u32()? as usize;
    same(fields.u32()?, 0, "normalizing offset")?;
    same(fields.u32()?, DIGITS, "precision")?;
    same(fields.u64()?, LOWEST_NS, "lowest value")?;
    same(fields.u64()?, HIGHEST_NS, "highest value")?;
    same(fields.u64()?, 1f64.to_bits(), "scale")?;
    if fields.0.len() != payload_bytes {
        return malformed("payload length");
    }
    payload(fields, counts)
}

fn payload(mut fields: Fields<'_>, counts: &mut [u64; LEN]) -> Result<u64, StatsError> {
    let (mut at, mut total) = (0usize, 0u64);
    while !fields.0.is_empty() {
        let zigzag = fields.varint()?;
        if zigzag & 1 == 1 {
            // -zeros; computed without negation, so that the smallest number there is does no harm.
            let zeros = usize::try_from(zigzag / 2 + 1).unwrap_or(LEN);
            at = at.saturating_add(zeros);
        } else {
            let count = zigzag / 2;
            let Some(slot) = counts.get_mut(at) else { return malformed("more buckets than the range has") };
            *slot = count;
            let sum = total.checked_add(count).filter(|&sum| sum <= i64::MAX as u64);
            let Some(sum) = sum else { return malformed("total count") };
            total = sum;
            at += 1;
        }
    }
    if at > LEN {
        return malformed("more buckets than the range has");
    }
    if total == 0 { malformed("no value in it") } else { Ok(total) }
}

fn malformed<T>(what: &'static str) -> Result<T, StatsError> {
    Err(StatsError::Malformed { what })
}

fn expect(found: u32, wanted: u32, what: &'static str) -> Result<(), StatsError> {
    if found == wanted { Ok(()) } else { malformed(what) }
}

fn same<T: PartialEq>(found: T, wanted: T, what: &'static str) -> Result<(), StatsError> {
    if found == wanted { Ok(()) } else { Err(StatsError::Foreign { what }) }
}

/// LEB128 with a ninth byte that holds eight bits.
fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    for _ in 0..8 {
        if value < 0x80 {
            out.push(value as u8);
            return;
        }
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// What is left to read.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u32(&mut self) -> Result<u32, StatsError> {
        let Some((head, tail)) = self.0.split_first_chunk() else { return malformed("it ends too early") };
        self.0 = tail;
        Ok(u32::from_be_bytes(*head))
    }

    fn u64(&mut self) -> Result<u64, StatsError> {
        let Some((head, tail)) = self.0.split_first_chunk() else { return malformed("it ends too early") };
        self.0 = tail;
        Ok(u64::from_be_bytes(*head))
    }

    fn varint(&mut self) -> Result<u64, StatsError> {
        let mut value = 0u64;
        for nth in 0..9 {
            let Some((&byte, tail)) = self.0.split_first() else { return malformed("it ends within a number") };
            self.0 = tail;
            let bits = if nth == 8 { byte } else { byte & 0x7f };
            value |= u64::from(bits) << (7 * nth);
            if byte & 0x80 == 0 {
                break;
            }
        }
        Ok(value)
    }
}
