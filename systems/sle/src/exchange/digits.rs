//! Octets as hexadecimal digits.

/// Octets of a password in hexadecimal digits; the error has no digit of it.
pub(super) fn password(digits: &str) -> Result<Vec<u8>, String> {
    let pairs = digits.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        // `from_str_radix` would take a sign.
        let is_hexadecimal = pair.bytes().all(|digit| digit.is_ascii_hexdigit());
        u8::from_str_radix(pair, 16).ok().filter(|_| is_hexadecimal)
    });
    let octets: Option<Vec<u8>> = pairs.collect();
    octets.ok_or_else(|| "a password is not pairs of hexadecimal digits".to_owned())
}

/// Hexadecimal digits of octets.
pub(super) fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_pairs_of_digits() {
        assert_eq!(password("00aAFf").unwrap(), [0, 0xaa, 0xff]);
        assert_eq!(password("").unwrap(), [0; 0]);
        for wrong in ["0", "0g", "+1", "0102 3", "é0"] {
            let why = password(wrong).unwrap_err();
            assert!(!why.contains(wrong), "{why}");
        }
        assert_eq!(hex(&[0, 0xaa]), "00aa");
    }
}
