//! Object names without allocation: the prefix stays, the number changes.
use std::ffi::CStr;

/// The longest number in decimal.
const DIGITS: usize = 20;

/// A buffer that holds `prefix`, a number and a NUL.
pub(crate) struct Names {
    buf: Vec<u8>,
    prefix: usize,
}

impl Names {
    /// `prefix` must not contain a NUL; what follows one would be cut.
    pub(crate) fn new(prefix: &str) -> Names {
        let mut buf = Vec::with_capacity(prefix.len() + DIGITS + 1);
        buf.extend_from_slice(prefix.as_bytes());
        Names { buf, prefix: prefix.len() }
    }

    /// `prefix` + `index`.
    #[inline]
    pub(crate) fn of(&mut self, index: u64) -> &CStr {
        let mut digits = [0; DIGITS];
        let mut at = DIGITS;
        let mut left = index;
        loop {
            at -= 1;
            digits[at] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                break;
            }
        }
        self.buf.truncate(self.prefix);
        self.buf.extend_from_slice(&digits[at..]);
        self.buf.push(0);
        // The NUL is there, so this can't fail.
        CStr::from_bytes_until_nul(&self.buf).unwrap_or(c"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_prefix_and_decimal_index() {
        let mut names = Names::new("run-7_");
        for index in [0, 7, 10, 99, 1_000_000, u64::MAX, 3] {
            assert_eq!(names.of(index).to_str().unwrap(), format!("run-7_{index}"));
        }
        assert_eq!(Names::new("").of(5), c"5");
    }
}
