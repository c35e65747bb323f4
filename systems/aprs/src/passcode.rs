//! The passcode of a callsign: a checksum that anybody can compute, as APRS-IS has it since 2000.

/// The passcode, in [0, 32767]. Case and SSID do not matter; at most nine octets count.
pub fn of(call: &[u8]) -> u16 {
    let base = call.split(|octet| *octet == b'-').next().unwrap_or_default();
    let base = &base[..base.len().min(9)];
    let mut hash = 0x73e2_u16;
    for pair in base.chunks(2) {
        let low = pair.get(1).copied().unwrap_or(0);
        hash ^= u16::from_be_bytes([pair[0].to_ascii_uppercase(), low.to_ascii_uppercase()]);
    }
    hash & 0x7fff
}

#[cfg(test)]
mod tests {
    use super::of;

    /// By hand: 0x73e2 ^ "N0" 0x4e30 ^ "CA" 0x4341 ^ "LL" 0x4c4c = 0x32df = 13023; an odd last
    /// octet counts as the high one: 0x73e2 ^ "A" 0x4100 = 0x32e2 = 13026.
    #[test]
    fn of_known_callsigns() {
        assert_eq!(of(b"N0CALL"), 13023);
        assert_eq!(of(b"n0call-13"), 13023);
        assert_eq!(of(b"A"), 13026);
        assert_eq!(of(b""), 0x73e2);
        assert_eq!(of(b"-9"), 0x73e2);
    }
}
