//! Scan of the tags and lengths of one BER value, before it is decoded.
//!
//! The scan reports the position of a fault, which the decoder does not, and limits the depth of
//! nesting before the decoder recurses. It accepts all legal forms: indefinite and non-minimal
//! lengths, constructed strings. It uses one fixed stack and no other memory. Source: X.690 §8.1.

use super::error::{BerFault, DecodeError};

/// Values in values. Operations have 8 levels; the rest is for constructed strings.
pub(crate) const DEPTH_MAX: usize = 24;

/// Result of the scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScannedPdu {
    /// Identifier of the outer value.
    pub(crate) identifier: IdentifierOctets,
    /// Values directly in it.
    pub(crate) parts: usize,
}

/// The identifier octets of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdentifierOctets {
    /// 0 universal, 1 application, 2 context, 3 private.
    pub(crate) class: u8,
    pub(crate) constructed: bool,
    pub(crate) number: u32,
}

/// Walks over all of `octets`, which must be one value, and tells what it is.
pub(crate) fn scan(octets: &[u8]) -> Result<ScannedPdu, DecodeError> {
    let mut walk = Walk { octets, position: 0 };
    let first = walk.identifier()?;
    walk = Walk { octets, position: 0 };
    // Ends of the constructed values that are open; `None` where end-of-contents closes it.
    let mut open = [Option::<usize>::None; DEPTH_MAX];
    let mut depth = 0;
    let mut parts = 0;
    loop {
        let within = enclosing_end(&open[..depth], octets.len());
        let start = walk.position;
        if depth > 0 && octets[start..within].starts_with(&[0, 0]) {
            if open[depth - 1].is_some() {
                return Err(walk.fault(start, BerFault::UnexpectedEndOfContents));
            }
            walk.position += 2;
            depth -= 1;
        } else {
            parts += usize::from(depth == 1);
            let identifier = walk.identifier()?;
            let length_at = walk.position;
            let end = match walk.length()? {
                None if !identifier.constructed => {
                    return Err(walk.fault(length_at, BerFault::IndefinitePrimitive));
                }
                None => None,
                Some(length) => match walk.position.checked_add(length) {
                    Some(end) if end <= within => Some(end),
                    _ => return Err(walk.fault(length_at, BerFault::LengthBeyondEnd)),
                },
            };
            match end {
                Some(end) if !identifier.constructed => walk.position = end,
                _ if depth == DEPTH_MAX => return Err(walk.fault(start, BerFault::TooDeep)),
                _ => {
                    open[depth] = end;
                    depth += 1;
                }
            }
        }
        while depth > 0 && open[depth - 1] == Some(walk.position) {
            depth -= 1;
        }
        if depth == 0 {
            break;
        }
        if walk.position >= enclosing_end(&open[..depth], octets.len()) {
            return Err(walk.fault(walk.position, BerFault::Truncated));
        }
    }
    if walk.position < octets.len() {
        return Err(walk.fault(walk.position, BerFault::TrailingOctets));
    }
    Ok(ScannedPdu { identifier: first, parts })
}

/// End of the innermost value with a definite length.
fn enclosing_end(open: &[Option<usize>], total: usize) -> usize {
    open.iter().rev().find_map(|end| *end).unwrap_or(total)
}

/// A position in the octets.
pub(crate) struct Walk<'a> {
    pub(crate) octets: &'a [u8],
    pub(crate) position: usize,
}

impl Walk<'_> {
    fn fault(&self, position: usize, fault: BerFault) -> DecodeError {
        DecodeError::Structure { position, fault }
    }

    fn octet(&mut self) -> Result<u8, DecodeError> {
        let octet = self.octets.get(self.position).copied();
        let octet = octet.ok_or_else(|| self.fault(self.position, BerFault::Truncated))?;
        self.position += 1;
        Ok(octet)
    }

    pub(crate) fn identifier(&mut self) -> Result<IdentifierOctets, DecodeError> {
        let start = self.position;
        let octet = self.octet()?;
        let mut number = u32::from(octet & 0x1f);
        if number == 0x1f {
            number = 0;
            loop {
                let group = self.octet()?;
                if number > u32::MAX >> 7 {
                    return Err(self.fault(start, BerFault::TagAbsurd));
                }
                number = number << 7 | u32::from(group & 0x7f);
                if group & 0x80 == 0 {
                    break;
                }
            }
        }
        Ok(IdentifierOctets { class: octet >> 6, constructed: octet & 0x20 != 0, number })
    }

    /// Length of a value; `None` if it is indefinite.
    pub(crate) fn length(&mut self) -> Result<Option<usize>, DecodeError> {
        let start = self.position;
        let octet = self.octet()?;
        if octet < 0x80 {
            return Ok(Some(usize::from(octet)));
        }
        match octet & 0x7f {
            0 => Ok(None),
            0x7f => Err(self.fault(start, BerFault::LengthReserved)),
            count => {
                let mut length = 0usize;
                for _ in 0..count {
                    let octet = self.octet()?;
                    if length > usize::MAX >> 8 {
                        return Err(self.fault(start, BerFault::LengthAbsurd));
                    }
                    length = length << 8 | usize::from(octet);
                }
                Ok(Some(length))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BerFault, DEPTH_MAX, DecodeError, ScannedPdu, scan};

    fn fault(octets: &[u8]) -> (usize, BerFault) {
        match scan(octets) {
            Err(DecodeError::Structure { position, fault }) => (position, fault),
            other => panic!("{octets:02x?}: {other:?}"),
        }
    }

    #[test]
    fn every_fault_has_its_name_and_position() {
        assert_eq!(fault(&[]), (0, BerFault::Truncated));
        assert_eq!(fault(&[0xa0]), (1, BerFault::Truncated));
        assert_eq!(fault(&[0xbf, 0x81]), (2, BerFault::Truncated));
        assert_eq!(fault(&[0xa0, 0x82, 0x01]), (3, BerFault::Truncated));
        assert_eq!(fault(&[0xa0, 0x05, 0x80, 0x00]), (1, BerFault::LengthBeyondEnd));
        assert_eq!(fault(&[0xa0, 0x03, 0x80, 0x02, 0x00]), (3, BerFault::LengthBeyondEnd));
        assert_eq!(fault(&[0xa0, 0x84, 0xff, 0xff, 0xff, 0xff]), (1, BerFault::LengthBeyondEnd));
        let mut absurd = vec![0xa0, 0x89];
        absurd.extend([0xff; 9]);
        assert_eq!(fault(&absurd), (1, BerFault::LengthAbsurd));
        assert_eq!(fault(&[0xa0, 0xff]), (1, BerFault::LengthReserved));
        assert_eq!(fault(&[0x80, 0x80, 0x00, 0x00]), (1, BerFault::IndefinitePrimitive));
        assert_eq!(fault(&[0xa0, 0x02, 0x00, 0x00]), (2, BerFault::UnexpectedEndOfContents));
        assert_eq!(fault(&[0xa0, 0x80, 0x80, 0x00]), (4, BerFault::Truncated));
        assert_eq!(fault(&[0xbf, 0x90, 0x80, 0x80, 0x80, 0x00]), (0, BerFault::TagAbsurd));
        assert_eq!(fault(&[0x80, 0x00, 0x80]), (2, BerFault::TrailingOctets));
        assert_eq!(fault(&[0xa0, 0x80, 0x00, 0x00, 0x00]), (4, BerFault::TrailingOctets));
    }

    #[test]
    fn deep_nesting_is_refused_before_anything_recurses() {
        let deep = [0xa0, 0x80].repeat(1_000_000);
        assert_eq!(fault(&deep), (2 * DEPTH_MAX, BerFault::TooDeep));
        let mut just = [0xa0, 0x80].repeat(DEPTH_MAX);
        just.extend([0x00, 0x00].repeat(DEPTH_MAX));
        assert!(scan(&just).is_ok());
    }

    #[test]
    fn all_legal_forms_are_one_value() {
        let forms: [(usize, &[u8]); 6] = [
            (2, &[0xa2, 0x05, 0x80, 0x00, 0x02, 0x01, 0x03]),
            (2, &[0xa2, 0x81, 0x05, 0x80, 0x00, 0x02, 0x01, 0x03]),
            (2, &[0xa2, 0x8a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0x80, 0x00, 0x02, 0x01, 0x03]),
            (2, &[0xa2, 0x80, 0x80, 0x00, 0x02, 0x01, 0x03, 0x00, 0x00]),
            // A constructed octet string of definite length in it, then one of indefinite length.
            (2, &[0xa2, 0x80, 0x24, 0x04, 0x04, 0x02, 0x61, 0x62, 0x02, 0x01, 0x03, 0x00, 0x00]),
            (1, &[0xa2, 0x80, 0x24, 0x80, 0x04, 0x02, 0x61, 0x62, 0x00, 0x00, 0x00, 0x00]),
        ];
        for (directly, octets) in forms {
            let ScannedPdu { identifier, parts } = scan(octets).unwrap();
            assert_eq!((identifier.class, identifier.number), (2, 2), "{octets:02x?}");
            assert_eq!(parts, directly, "{octets:02x?}");
        }
    }
}
