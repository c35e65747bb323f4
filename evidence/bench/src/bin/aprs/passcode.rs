//! Passcodes, with which a client of APRS-IS logs in as verified.

/// Passcode of a callsign on APRS-IS.
pub(crate) fn passcode(call: &str) -> u16 {
    let mut hash = 0x73E2u16;
    for pair in call.split('-').next().unwrap_or("").as_bytes().chunks(2) {
        hash ^= u16::from(pair[0].to_ascii_uppercase()) << 8;
        hash ^= pair.get(1).map_or(0, |octet| u16::from(octet.to_ascii_uppercase()));
    }
    hash & 0x7FFF
}

#[cfg(test)]
mod tests {
    use super::passcode;

    #[test]
    fn a_known_passcode() {
        // N0CALL's is in every tutorial.
        assert_eq!((passcode("N0CALL"), passcode("n0call-5")), (13023, 13023));
    }
}
