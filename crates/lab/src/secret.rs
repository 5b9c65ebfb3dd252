//! Random names and cephx keys, from the kernel.
use crate::error::{LabError, Result};
use std::{
    fs::File,
    io::Read,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

fn random<const N: usize>() -> Result<[u8; N]> {
    let path = Path::new("/dev/urandom");
    let mut bytes = [0; N];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(|error| LabError::io("read", path, &error))?;
    Ok(bytes)
}

fn hex_text(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// `bytes` (at most 16) random bytes in hexadecimal.
pub(crate) fn hex(bytes: usize) -> Result<String> {
    Ok(hex_text(&random::<16>()?[..bytes.min(16)]))
}

/// A random UUID (version 4, RFC 9562).
pub(crate) fn uuid() -> Result<String> {
    let mut b = random::<16>()?;
    b[6] = b[6] & 0x0f | 0x40;
    b[8] = b[8] & 0x3f | 0x80;
    let t = hex_text(&b);
    Ok(format!("{}-{}-{}-{}-{}", &t[..8], &t[8..12], &t[12..16], &t[16..20], &t[20..]))
}

/// A random number below `limit` (which must not be 0), for choosing ports.
pub(crate) fn below(limit: u32) -> Result<u32> {
    Ok(u32::from_le_bytes(random::<4>()?) % limit)
}

/// A new cephx key as `ceph-authtool --gen-key` makes it: in base64, type 1 (AES), creation time in seconds and
/// nanoseconds, key length 16 and the key, all little-endian (Ceph's `CryptoKey::encode`).
pub(crate) fn cephx_key() -> Result<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut bytes = Vec::with_capacity(28);
    bytes.extend(1u16.to_le_bytes());
    bytes.extend((now.as_secs() as u32).to_le_bytes());
    bytes.extend(now.subsec_nanos().to_le_bytes());
    bytes.extend(16u16.to_le_bytes());
    bytes.extend(random::<16>()?);
    Ok(base64(&bytes))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let word = (0..3).fold(0u32, |word, i| word << 8 | u32::from(*group.get(i).unwrap_or(&0)));
        for i in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * i)) as usize & 63];
            text.push(if i <= group.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_in_rfc_4648() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn names_and_keys_have_their_form() {
        assert_eq!(hex(6).unwrap().len(), 12);
        let uuid = uuid().unwrap();
        assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"));
        let key = cephx_key().unwrap();
        assert!(key.len() == 40 && key.starts_with("AQ") && key.ends_with("=="), "{key}");
    }
}
