//! The objects of `rados bench`: their names, their content and the metadata object, so that Fathom reads what
//! `rados bench` wrote and the reverse.
//!
//! Source: `src/common/obj_bencher.cc`, one behaviour from 16 to main (read in 17.2.0 to 17.2.7 and a Squid development
//! state; names, metadata and cleaning up verified on 16.2.15, 18.2.7 and 20.2.4). This module knows no pool and does
//! no I/O: it turns numbers into names and bytes.

/// Every data object's name begins with this (`BENCH_PREFIX`). `rados cleanup` refuses prefixes that do not.
pub const DATA_PREFIX: &str = "benchmark_data";

/// Name of the metadata object when no `--run-name` is given (`BENCH_LASTRUN_METADATA`).
pub const DEFAULT_METADATA_OBJECT: &str = "benchmark_last_metadata";

/// `gethostname` is given a buffer of 30 bytes, so longer names lose what is beyond 29.
const HOSTNAME_MAX_BYTES: usize = 29;

/// Length of the header of a payload: `I'm the ` + 16 digits + `th op!` + NUL.
const HEADER_BYTES: usize = 31;

/// What all data objects of one run share: `benchmark_data_<hostname>_<pid>`. The host name is cut to 29 bytes.
#[must_use]
pub fn data_prefix(hostname: &str, pid: u32) -> String {
    let mut end = hostname.len().min(HOSTNAME_MAX_BYTES);
    while !hostname.is_char_boundary(end) {
        end -= 1;
    }
    format!("{DATA_PREFIX}_{}_{pid}", &hostname[..end])
}

/// Name of data object `index` (from 0) under a prefix from [`data_prefix`].
#[must_use]
pub fn data_object(prefix: &str, index: u64) -> String {
    format!("{prefix}_object{index}")
}

/// Name of the metadata object: the run name itself, or [`DEFAULT_METADATA_OBJECT`].
#[must_use]
pub fn metadata_object(run_name: Option<&str>) -> &str {
    match run_name {
        Some(name) if !name.is_empty() => name,
        _ => DEFAULT_METADATA_OBJECT,
    }
}

/// Where operation `op` goes: object index and offset in bytes. An object holds `floor(object_size / op_size)`
/// operations, a remainder is never written.
#[must_use]
pub fn place(op: u64, object_size_bytes: u64, op_size_bytes: u64) -> (u64, u64) {
    let per_object = object_size_bytes.checked_div(op_size_bytes).unwrap_or(1).max(1);
    (op / per_object, (op % per_object).saturating_mul(op_size_bytes))
}

/// What the metadata object of a finished write run holds. It has neither host name nor number of objects: the reader
/// rebuilds the names from its own host name and the stored pid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Size of one object in bytes.
    pub object_size_bytes: u64,
    /// Operations that were finished; never negative in a run that succeeded.
    pub ops: i32,
    /// Process id of the writer, a part of the names.
    pub pid: i32,
    /// Size of one operation in bytes. The old 16-byte form has none; there it is the object size.
    pub op_size_bytes: u64,
}

/// Why bytes are not a metadata object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the rados bench metadata object holds {length_bytes} bytes, want 24 (or 16 in the old form): was the write run finished?"
)]
pub struct MetadataError {
    /// How many bytes there were. 0 is what `rados bench` itself takes for "no such run".
    pub length_bytes: usize,
}

impl Metadata {
    /// The 24 bytes `rados bench` stores, little-endian: u64 object size, i32 ops, i32 pid, u64 op size (verified with
    /// xxd on 16.2.15, 18.2.7 and 20.2.4).
    #[must_use]
    pub fn encode(&self) -> [u8; 24] {
        let mut out = [0; 24];
        out[0..8].copy_from_slice(&self.object_size_bytes.to_le_bytes());
        out[8..12].copy_from_slice(&self.ops.to_le_bytes());
        out[12..16].copy_from_slice(&self.pid.to_le_bytes());
        out[16..24].copy_from_slice(&self.op_size_bytes.to_le_bytes());
        out
    }

    /// Reads the 24-byte form or the old 16-byte form; bytes beyond 24 are ignored, as `rados bench` does.
    ///
    /// # Errors
    /// When there are fewer than 16 bytes, or 17 to 23.
    pub fn decode(bytes: &[u8]) -> Result<Metadata, MetadataError> {
        let bad = MetadataError { length_bytes: bytes.len() };
        let object_size_bytes = u64::from_le_bytes(field(bytes, 0).ok_or(bad)?);
        let op_size_bytes = match bytes.len() {
            16 => object_size_bytes,
            _ => u64::from_le_bytes(field(bytes, 16).ok_or(bad)?),
        };
        Ok(Metadata {
            object_size_bytes,
            ops: i32::from_le_bytes(field(bytes, 8).ok_or(bad)?),
            pid: i32::from_le_bytes(field(bytes, 12).ok_or(bad)?),
            op_size_bytes,
        })
    }

    /// How many data objects the run left: `ceil(ops / floor(object_size / op_size))`, as the cleanup counts them.
    #[must_use]
    pub fn objects(&self) -> u64 {
        let per_object = self.object_size_bytes.checked_div(self.op_size_bytes).unwrap_or(1).max(1);
        u64::try_from(self.ops).unwrap_or(0).div_ceil(per_object)
    }
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

/// Writes the whole payload of operation `op_number`: header, NUL, the rest `z`. A buffer shorter than the header gets
/// the part that fits and a NUL at its end, as `snprintf` does. No allocation.
///
/// This content compresses to almost nothing: that is how `rados bench` is, and why its results on compressing pools or
/// drives are not to be believed.
pub fn fill_payload(op_number: u64, buf: &mut [u8]) {
    buf.fill(b'z');
    stamp_payload(op_number, buf);
}

/// Writes only the header, into a buffer that [`fill_payload`] has filled before: what `rados bench` does between two
/// operations of a slot.
pub fn stamp_payload(op_number: u64, buf: &mut [u8]) {
    let header = header(op_number);
    let Some(last) = buf.len().min(HEADER_BYTES).checked_sub(1) else { return };
    buf[..last].copy_from_slice(&header[..last]);
    buf[last] = 0;
}

/// True when `buf` is exactly what [`fill_payload`] writes for `op_number`. No allocation.
#[must_use]
pub fn check_payload(op_number: u64, buf: &[u8]) -> bool {
    let header = header(op_number);
    let Some(last) = buf.len().min(HEADER_BYTES).checked_sub(1) else { return true };
    buf[..last] == header[..last] && buf[last] == 0 && buf[last + 1..].iter().all(|&b| b == b'z')
}

/// `I'm the %16dth op!` and a NUL. `rados bench` counts in 32 bits; numbers up to 16 digits look as they would there,
/// larger ones keep their last 16 digits.
fn header(op_number: u64) -> [u8; HEADER_BYTES] {
    let mut out = *b"I'm the                 th op!\0";
    let mut rest = op_number;
    for at in (8..24).rev() {
        out[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_those_of_rados_bench() {
        // As printed by 16.2.15: "Object prefix: benchmark_data_node1_6303".
        assert_eq!(data_prefix("node1", 6303), "benchmark_data_node1_6303");
        assert_eq!(data_object("benchmark_data_node1_6303", 9), "benchmark_data_node1_6303_object9");
        assert_eq!(data_prefix(&"h".repeat(40), 1), format!("benchmark_data_{}_1", "h".repeat(29)));
        assert_eq!(metadata_object(None), "benchmark_last_metadata");
        assert_eq!(metadata_object(Some("")), "benchmark_last_metadata");
        assert_eq!(metadata_object(Some("r0")), "r0");
    }

    #[test]
    fn several_operations_share_an_object() {
        assert_eq!(place(0, 4 << 20, 1 << 20), (0, 0));
        assert_eq!(place(5, 4 << 20, 1 << 20), (1, 1 << 20));
        assert_eq!(place(3, 10_000, 4096), (1, 4096));
        assert_eq!(place(7, 4096, 0), (7, 0));
    }

    #[test]
    fn metadata_is_24_bytes_little_endian() {
        let meta = Metadata { object_size_bytes: 4096, ops: 9395, pid: 6303, op_size_bytes: 4096 };
        let bytes = meta.encode();
        assert_eq!(
            bytes,
            [0, 16, 0, 0, 0, 0, 0, 0, 0xb3, 0x24, 0, 0, 0x9f, 0x18, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0],
            "{bytes:02x?}"
        );
        assert_eq!(Metadata::decode(&bytes), Ok(meta));
        assert_eq!(Metadata::decode(&bytes[..16]), Ok(meta), "the old form has op size = object size");
        assert_eq!(Metadata::decode(&[]), Err(MetadataError { length_bytes: 0 }));
        assert!(Metadata::decode(&bytes[..20]).is_err());
        assert_eq!(meta.objects(), 9395);
        assert_eq!(Metadata { object_size_bytes: 16384, ..meta }.objects(), 2349);
        assert_eq!(Metadata { ops: -1, op_size_bytes: 0, ..meta }.objects(), 0);
    }

    #[test]
    fn payload_is_that_of_rados_bench() {
        let mut buf = [0; 40];
        fill_payload(1234, &mut buf);
        assert_eq!(&buf, b"I'm the             1234th op!\0zzzzzzzzz");
        fill_payload(0, &mut buf);
        assert_eq!(&buf[..31], b"I'm the                0th op!\0");
        let mut short = [0; 8];
        fill_payload(3, &mut short);
        assert_eq!(&short, b"I'm the\0");
        fill_payload(3, &mut []);
        assert!(check_payload(3, &short) && check_payload(3, &[]));
    }

    proptest! {
        #[test]
        fn a_payload_checks_and_any_flipped_byte_does_not(op in 0u64..1_000_000_000, len in 1usize..200, at in 0usize..200) {
            let mut buf = vec![0; len];
            fill_payload(op, &mut buf);
            prop_assert!(check_payload(op, &buf));
            buf[at % len] ^= 1;
            prop_assert!(!check_payload(op, &buf));
        }
        #[test]
        fn stamping_a_filled_buffer_equals_filling(a in 0u64..i32::MAX as u64, b in 0u64..i32::MAX as u64, len in 0usize..64) {
            let (mut stamped, mut filled) = (vec![0; len], vec![0; len]);
            fill_payload(a, &mut stamped);
            stamp_payload(b, &mut stamped);
            fill_payload(b, &mut filled);
            prop_assert_eq!(stamped, filled);
        }
        #[test]
        fn metadata_reads_back(object_size_bytes: u64, ops: i32, pid: i32, op_size_bytes: u64) {
            let meta = Metadata { object_size_bytes, ops, pid, op_size_bytes };
            prop_assert_eq!(Metadata::decode(&meta.encode()), Ok(meta));
            let _ = meta.objects();
        }
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..40), op: u64, size: u64, of: u64, name in ".{0,40}") {
            let _ = Metadata::decode(&bytes);
            let _ = check_payload(op, &bytes);
            let _ = place(op, size, of);
            prop_assert!(data_prefix(&name, 1).len() <= 29 + 17);
        }
    }
}
