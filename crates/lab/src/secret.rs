//! Random names, from the kernel.
use crate::error::{LabError, Result};
use std::{fs::File, io::Read, path::Path};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_their_form() {
        assert_eq!(hex(6).unwrap().len(), 12);
        let uuid = uuid().unwrap();
        assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"));
    }
}
