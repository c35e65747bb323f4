//! Names as filters compare them: at most nine octets, letters in either case the same.

use crate::callsign::CALLSIGN_LEN_MAX;

/// A name in one machine word: octet `i` in bits `8i..8i + 8`, its length above the ninth octet.
/// Comparing, hashing and cutting it short are single operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Name(u128);

/// First bit of the length.
const LEN_SHIFT: u32 = 8 * 9;

impl Name {
    /// The first nine octets of `text` in upper case, as aprsc cuts them.
    pub(super) fn new(text: &[u8]) -> Self {
        let mut octets = [0; 16];
        let len = text.len().min(CALLSIGN_LEN_MAX);
        for (to, from) in octets.iter_mut().zip(&text[..len]) {
            *to = from.to_ascii_uppercase();
        }
        Self(u128::from_le_bytes(octets) | (len as u128) << LEN_SHIFT)
    }

    /// Length in octets, in [0, 9].
    pub(super) fn len(self) -> u32 {
        u32::from(self.0.to_le_bytes()[CALLSIGN_LEN_MAX])
    }

    /// The first `len` octets; the whole name where it is not longer.
    pub(super) fn prefix(self, len: u32) -> Self {
        if len >= self.len() {
            return self;
        }
        Self(self.0 & ((1 << (8 * len)) - 1) | u128::from(len) << LEN_SHIFT)
    }

    /// The word itself; bits from 80 on are free.
    pub(super) fn bits(self) -> u128 {
        self.0
    }
}

/// Pattern that a name is compared with: the whole name or its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The name, or its beginning.
    pub(super) name: Name,
    /// Longer names match as well.
    pub(super) prefix: bool,
}

impl Pattern {
    /// Whether the pattern matches `name`. The empty pattern, which `*` alone gives, matches
    /// nothing, as with aprsc.
    pub(super) fn matches(self, name: Name) -> bool {
        self.name.len() > 0
            && if self.prefix {
                name.prefix(self.name.len()) == self.name
            } else {
                name == self.name
            }
    }
}

#[cfg(test)]
mod tests {
    use super::{Name, Pattern};

    #[test]
    fn nine_octets_without_case() {
        assert_eq!(Name::new(b"oh7lzb-10x"), Name::new(b"OH7LZB-10"));
        assert_ne!(Name::new(b"OH7LZB"), Name::new(b"OH7LZB\0"));
        assert_eq!(Name::new(b"OH7LZB-10").prefix(3), Name::new(b"OH7"));
        assert_eq!(Name::new(b"OH7").prefix(9), Name::new(b"OH7"));
        assert_eq!((Name::new(b"").len(), Name::new(b"OH7LZB-10").len()), (0, 9));
    }

    #[test]
    fn patterns_mean_names() {
        let exact = Pattern { name: Name::new(b"OH2"), prefix: false };
        let prefix = Pattern { name: Name::new(b"OH2"), prefix: true };
        assert!(exact.matches(Name::new(b"oh2")) && !exact.matches(Name::new(b"OH2X")));
        assert!(prefix.matches(Name::new(b"OH2")) && prefix.matches(Name::new(b"OH2X")));
        assert!(!prefix.matches(Name::new(b"OH")));
        assert!(!Pattern { name: Name::new(b""), prefix: true }.matches(Name::new(b"OH2")));
    }
}
