//! Station callsigns, and names of objects and items: one to nine octets.

use std::fmt;

/// Longest callsign with SSID, and longest name of an object or item, in octets.
pub const CALLSIGN_LEN_MAX: usize = 9;

/// One to nine octets, held in place. Compared octet by octet: APRS-IS callsigns are case
/// sensitive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Callsign {
    bytes: [u8; CALLSIGN_LEN_MAX],
    len: u8,
}

impl Callsign {
    /// The first one to nine octets' worth of name; `None` for none, or for more than nine. Which
    /// octets may be in a callsign depends on where it stands, so nothing else is checked here.
    pub fn new(text: &[u8]) -> Option<Self> {
        let len = u8::try_from(text.len()).ok()?;
        let mut bytes = [0; CALLSIGN_LEN_MAX];
        bytes.get_mut(..text.len())?.copy_from_slice(text);
        (len > 0).then_some(Self { bytes, len })
    }

    /// The callsign as octets.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// The part before the SSID; the whole callsign where there is no SSID.
    pub fn base(&self) -> &[u8] {
        let bytes = self.as_bytes();
        bytes.iter().position(|octet| *octet == b'-').map_or(bytes, |at| &bytes[..at])
    }
}

/// Whether `call` is a callsign with or without SSID: letters, digits, and after a dash one or two
/// letters or digits. Its length is not checked, because an IPv6 address may stand in its place.
pub fn has_valid_ssid(call: &[u8]) -> bool {
    let plain = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_alphanumeric);
    match call.iter().position(|octet| *octet == b'-') {
        None => plain(call),
        Some(at) => {
            let (base, ssid) = (&call[..at], &call[at + 1..]);
            plain(base) && ssid.len() <= 2 && plain(ssid)
        }
    }
}

impl fmt::Display for Callsign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(self.as_bytes()).fmt(f)
    }
}

impl fmt::Debug for Callsign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::{Callsign, has_valid_ssid};

    #[test]
    fn one_to_nine_octets() {
        assert_eq!(Callsign::new(b""), None);
        assert_eq!(Callsign::new(b"OH7LZB-10X"), None);
        let call = Callsign::new(b"OH7LZB-10").unwrap();
        assert_eq!((call.as_bytes(), call.base()), (&b"OH7LZB-10"[..], &b"OH7LZB"[..]));
        assert_eq!(call.to_string(), "OH7LZB-10");
    }

    #[test]
    fn an_ssid_is_one_or_two_letters_or_digits() {
        for call in ["OH7LZB", "a", "OH7LZB-10", "N0CALL-X1", "N0CALL-0", "WIDE1-1"] {
            assert!(has_valid_ssid(call.as_bytes()), "{call}");
        }
        for call in ["", "-1", "A-", "A-123", "A-ABC", "A--1", "OH7+", "A-1-2", "A-1+"] {
            assert!(!has_valid_ssid(call.as_bytes()), "{call}");
        }
    }
}
