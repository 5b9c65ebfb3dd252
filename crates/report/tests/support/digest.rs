//! SHA-256 in base64, to check the hashes in the content security policy. FIPS 180-4 and RFC 4648; slow is fine here.
#![allow(clippy::unwrap_used)]

/// First 32 bits of the fractional parts of the square (power 2) or cube (power 3) roots of the first primes.
fn roots(count: usize, power: u32) -> Vec<u32> {
    let prime = |n: &u128| (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
    let root = |n: u128| {
        // The integer root of n shifted so that 32 bits of its fraction are kept.
        let wanted = n << (32 * power);
        let (mut low, mut high) = (0u128, 1u128 << 40);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if middle.pow(power) <= wanted { low = middle } else { high = middle - 1 }
        }
        low as u32
    };
    (2u128..).filter(prime).take(count).map(root).collect()
}

pub fn sha256_base64(text: &str) -> String {
    let (mut state, constants) = (roots(8, 2), roots(64, 3));
    let mut message = text.as_bytes().to_vec();
    let bits = message.len() as u64 * 8;
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend(bits.to_be_bytes());
    for block in message.chunks_exact(64) {
        let mut w: Vec<u32> = block.chunks_exact(4).map(|b| u32::from_be_bytes(b.try_into().unwrap())).collect();
        for t in 16..64 {
            let s0 = w[t - 15].rotate_right(7) ^ w[t - 15].rotate_right(18) ^ (w[t - 15] >> 3);
            let s1 = w[t - 2].rotate_right(17) ^ w[t - 2].rotate_right(19) ^ (w[t - 2] >> 10);
            w.push(w[t - 16].wrapping_add(s0).wrapping_add(w[t - 7]).wrapping_add(s1));
        }
        let mut v = state.clone();
        for t in 0..64 {
            let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let one = [s1, choice, constants[t], w[t]].iter().fold(v[7], |sum, x| sum.wrapping_add(*x));
            let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            v[3] = v[3].wrapping_add(one);
            v.rotate_right(1);
            v[0] = one.wrapping_add(s0).wrapping_add(majority);
        }
        state.iter_mut().zip(&v).for_each(|(s, v)| *s = s.wrapping_add(*v));
    }
    base64(&state.iter().flat_map(|s| s.to_be_bytes()).collect::<Vec<u8>>())
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let mut word = [0; 4];
        word[1..=chunk.len()].copy_from_slice(chunk);
        let word = u32::from_be_bytes(word);
        for i in 0..4 {
            if i <= chunk.len() {
                out.push(char::from(ALPHABET[(word >> (18 - 6 * i)) as usize & 63]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

#[test]
fn knows_the_published_example() {
    // FIPS 180-4, "abc".
    assert_eq!(sha256_base64("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}
