//! Values of BER with their positions, in octets that were scanned before.

use crate::codec::DecodeError;
use crate::codec::scan::{IdentifierOctets, Walk};
use std::ops::Range;

/// Class of universal tags.
pub(super) const UNIVERSAL: u8 = 0;
/// Class of the tags that the modules give.
pub(super) const CONTEXT: u8 = 2;

/// A value.
#[derive(Clone, Debug)]
pub(super) struct BerValue {
    pub(super) identifier: IdentifierOctets,
    /// With its identifier and length.
    pub(super) whole: Range<usize>,
    /// Without them, and without end-of-contents octets.
    pub(super) content: Range<usize>,
}

impl BerValue {
    /// Whether it has this tag.
    pub(super) fn is(&self, class: u8, number: u32) -> bool {
        (self.identifier.class, self.identifier.number) == (class, number)
    }

    /// Its tag in words.
    pub(super) fn tag(&self) -> String {
        let number = self.identifier.number;
        match self.identifier.class {
            CONTEXT => format!("[{number}]"),
            UNIVERSAL => format!("universal {number}"),
            1 => format!("application {number}"),
            _ => format!("private {number}"),
        }
    }
}

/// The value that begins at `at`, which must not go beyond `end`.
pub(super) fn value(octets: &[u8], at: usize, end: usize) -> Result<BerValue, DecodeError> {
    let octets = &octets[..end];
    let mut walk = Walk { octets, position: at };
    let identifier = walk.identifier()?;
    let length = walk.length()?;
    let start = walk.position;
    if let Some(length) = length {
        // The scan has found that it is so; a later mistake would be a fault, not a panic.
        let until = start.saturating_add(length).min(end);
        return Ok(BerValue { identifier, whole: at..until, content: start..until });
    }
    // The scan limits the depth, and with it how often an octet is passed over.
    let mut position = start;
    while position + 2 <= end && octets[position..position + 2] != [0, 0] {
        position = value(octets, position, end)?.whole.end;
    }
    let whole = at..(position + 2).min(end);
    Ok(BerValue { identifier, whole, content: start..position.min(end) })
}

/// The values within a constructed one.
pub(super) fn values(octets: &[u8], content: Range<usize>) -> Result<Vec<BerValue>, DecodeError> {
    let mut position = content.start;
    let mut all = Vec::new();
    while position < content.end {
        let one = value(octets, position, content.end)?;
        position = one.whole.end;
        all.push(one);
    }
    Ok(all)
}

/// An INTEGER of up to 8 octets; `None` if it is longer or empty.
pub(super) fn integer(octets: &[u8]) -> Option<i64> {
    if octets.is_empty() || octets.len() > 8 {
        return None;
    }
    let negative = if octets[0] & 0x80 == 0 { 0 } else { -1 };
    Some(octets.iter().fold(negative, |value: i64, octet| value << 8 | i64::from(*octet)))
}

/// An OBJECT IDENTIFIER in dots; `None` if an arc does not end or is too large.
pub(super) fn object_identifier(octets: &[u8]) -> Option<String> {
    let mut arcs = Vec::new();
    let mut arc = 0u64;
    let mut is_open = false;
    for octet in octets {
        arc = arc.checked_mul(128)? | u64::from(octet & 0x7f);
        is_open = octet & 0x80 != 0;
        if !is_open {
            arcs.push(arc);
            arc = 0;
        }
    }
    let first = *arcs.first()?;
    if is_open {
        return None;
    }
    let (root, second) = (first.min(80) / 40, first - first.min(80) / 40 * 40);
    let rest = arcs[1..].iter().map(u64::to_string);
    Some(
        [root.to_string(), second.to_string()]
            .into_iter()
            .chain(rest)
            .collect::<Vec<_>>()
            .join("."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_identifiers() {
        assert_eq!(integer(&[0xff]), Some(-1));
        assert_eq!(integer(&[0x00, 0xff]), Some(255));
        assert_eq!(integer(&[]), None);
        assert_eq!(integer(&[0; 9]), None);
        // 1.3.112.4.3.1.2.52 is the attribute sagr.
        let sagr = [0x2b, 0x70, 0x04, 0x03, 0x01, 0x02, 0x34];
        assert_eq!(object_identifier(&sagr).unwrap(), "1.3.112.4.3.1.2.52");
        assert_eq!(object_identifier(&[0x2b, 0x80]), None);
        assert_eq!(object_identifier(&[0x88, 0x37]).unwrap(), "2.999");
    }

    #[test]
    fn a_value_of_indefinite_length_ends_where_it_ends() {
        let octets = [0xa2, 0x80, 0x24, 0x80, 0x04, 0x01, 0x61, 0x00, 0x00, 0x02, 0x01, 0x03, 0, 0];
        let one = value(&octets, 0, octets.len()).unwrap();
        assert_eq!((one.whole, one.content.clone()), (0..14, 2..12));
        let parts = values(&octets, one.content).unwrap();
        assert_eq!(parts.iter().map(|part| part.whole.clone()).collect::<Vec<_>>(), [2..9, 9..12]);
    }
}
