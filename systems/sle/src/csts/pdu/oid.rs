//! Object identifiers, by which the framework names nearly everything.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

/// An object identifier: the octets of its BER contents (X.690 §8.19), which are never empty and end
/// with an arc's last octet. As text `1.3.112.4.4.1.1.3.4`. A clone costs no memory.
#[derive(Clone)]
pub struct Oid(Octets);

#[derive(Clone)]
enum Octets {
    /// One of the books'.
    Fixed(&'static [u8]),
    /// Any other.
    Shared(Arc<[u8]>),
}

/// Why something is no object identifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OidError {
    /// The contents are empty, an arc has no last octet, or one begins with a zero group.
    #[error("not an object identifier: octet {position} is wrong")]
    Octets {
        /// Position of the wrong octet, from 0.
        position: usize,
    },
    /// The arcs are none: fewer than two, the first beyond 2, or the second beyond 39 below 0 or 1.
    #[error("`{0}` is not an object identifier such as 1.3.112.4")]
    Arcs(String),
}

impl Oid {
    /// One that is known to be one: see the test of [`names`](super::names).
    pub(super) const fn fixed(octets: &'static [u8]) -> Self {
        Self(Octets::Fixed(octets))
    }

    /// From its arcs.
    ///
    /// # Errors
    /// [`OidError::Arcs`].
    pub fn from_arcs(arcs: &[u32]) -> Result<Self, OidError> {
        let refused = || {
            let arcs: Vec<_> = arcs.iter().map(ToString::to_string).collect();
            OidError::Arcs(arcs.join("."))
        };
        let (&[root, second], rest) = arcs.split_first_chunk().ok_or_else(refused)?;
        if root > 2 || root < 2 && second >= 40 {
            return Err(refused());
        }
        let mut octets = Vec::with_capacity(2 * arcs.len());
        put_arc(u64::from(root) * 40 + u64::from(second), &mut octets);
        rest.iter().for_each(|arc| put_arc(u64::from(*arc), &mut octets));
        Ok(Self(Octets::Shared(octets.into())))
    }

    /// From the octets of its BER contents.
    ///
    /// # Errors
    /// [`OidError::Octets`].
    pub fn from_octets(octets: &[u8]) -> Result<Self, OidError> {
        let mut begins = true;
        for (position, octet) in octets.iter().enumerate() {
            if begins && *octet == 0x80 {
                return Err(OidError::Octets { position });
            }
            begins = octet & 0x80 == 0;
        }
        if octets.is_empty() || !begins {
            return Err(OidError::Octets { position: octets.len().saturating_sub(1) });
        }
        Ok(Self(Octets::Shared(octets.into())))
    }

    /// The octets of its BER contents.
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        match &self.0 {
            Octets::Fixed(octets) => octets,
            Octets::Shared(octets) => octets,
        }
    }

    /// The arcs; `None` where one is beyond 32 bits.
    #[must_use]
    pub fn arcs(&self) -> Option<Vec<u32>> {
        let mut arcs = Vec::with_capacity(self.octets().len() + 1);
        for arc in self.octets().split_inclusive(|octet| octet & 0x80 == 0) {
            let value = arc.iter().try_fold(0u64, |value, octet| {
                (value >> 40 == 0).then_some(value << 7 | u64::from(octet & 0x7f))
            })?;
            let root = if arcs.is_empty() { (value / 40).min(2) } else { 0 };
            if arcs.is_empty() {
                arcs.push(u32::try_from(root).ok()?);
            }
            arcs.push(u32::try_from(value - root * 40).ok()?);
        }
        Some(arcs)
    }

    /// Whether no arc is beyond 28 bits, which is all that has been assigned.
    pub(crate) fn is_short(&self) -> bool {
        match &self.0 {
            Octets::Fixed(_) => true,
            Octets::Shared(octets) => {
                !octets.windows(4).any(|window| window.iter().all(|octet| octet & 0x80 != 0))
            }
        }
    }

    /// This one with arcs behind it.
    #[must_use]
    pub fn child(&self, arcs: &[u32]) -> Self {
        let mut octets = self.octets().to_vec();
        arcs.iter().for_each(|arc| put_arc(u64::from(*arc), &mut octets));
        Self(Octets::Shared(octets.into()))
    }

    /// Whether this one is `other`, or below it.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.octets().starts_with(other.octets())
    }
}

fn put_arc(arc: u64, out: &mut Vec<u8>) {
    let bits = 64 - (arc | 1).leading_zeros();
    for group in (0..bits.div_ceil(7)).rev() {
        let [.., seven] = (arc >> (7 * group) & 0x7f).to_be_bytes();
        out.push(if group == 0 { seven } else { seven | 0x80 });
    }
}

impl PartialEq for Oid {
    fn eq(&self, other: &Self) -> bool {
        self.octets() == other.octets()
    }
}

impl Eq for Oid {}

impl Hash for Oid {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.octets().hash(state);
    }
}

impl fmt::Display for Oid {
    /// The arcs with dots between; one beyond 128 bits as `…`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for arc in self.octets().split_inclusive(|octet| octet & 0x80 == 0) {
            let value = arc.iter().try_fold(0u128, |value, octet| {
                Some(value.checked_mul(128)? | u128::from(octet & 0x7f))
            });
            match value {
                Some(value) if first => {
                    let root = (value / 40).min(2);
                    write!(f, "{root}.{}", value - root * 40)?;
                }
                Some(value) => write!(f, ".{value}")?,
                None if first => f.write_str("2.…")?,
                None => f.write_str(".…")?,
            }
            first = false;
        }
        Ok(())
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Oid({self})")
    }
}

impl FromStr for Oid {
    type Err = OidError;

    fn from_str(text: &str) -> Result<Self, OidError> {
        let arcs = text.split('.').map(str::parse).collect::<Result<Vec<u32>, _>>();
        Self::from_arcs(&arcs.map_err(|_| OidError::Arcs(text.to_owned()))?)
            .map_err(|_| OidError::Arcs(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Oid, OidError};
    use proptest::prelude::*;

    #[test]
    fn octets_and_text_of_the_standard() {
        // X.690 §8.19.5: {2 999 3}.
        let oid: Oid = "2.999.3".parse().unwrap();
        assert_eq!(oid.octets(), [0x88, 0x37, 0x03]);
        assert_eq!(oid.to_string(), "2.999.3");
        assert_eq!(oid.child(&[128]).to_string(), "2.999.3.128");
        assert!(oid.child(&[0]).is_within(&oid) && !oid.is_within(&oid.child(&[0])));
        for none in ["", "1", "3.1", "1.40", "1.x", "1.3.", "1.-3", "1.3.4294967296"] {
            assert_eq!(none.parse::<Oid>(), Err(OidError::Arcs(none.to_owned())));
        }
    }

    #[test]
    fn octets_that_are_none() {
        let error = |octets: &[u8]| Oid::from_octets(octets).unwrap_err();
        assert_eq!(error(&[]), OidError::Octets { position: 0 });
        assert_eq!(error(&[0x2b, 0x80, 0x01]), OidError::Octets { position: 1 });
        assert_eq!(error(&[0x2b, 0x70, 0x81]), OidError::Octets { position: 2 });
        let long = [[0xff; 30].as_slice(), &[0x7f, 0x01]].concat();
        assert_eq!(Oid::from_octets(&long).unwrap().to_string(), "2.….1");
    }

    proptest! {
        #[test]
        fn there_and_back(root in 0..3u32, second in 0..40u32, rest in prop::collection::vec(any::<u32>(), 0..9)) {
            let arcs = [&[root, second], rest.as_slice()].concat();
            let oid = Oid::from_arcs(&arcs).unwrap();
            prop_assert_eq!(&oid.to_string().parse::<Oid>().unwrap(), &oid);
            prop_assert_eq!(&Oid::from_octets(oid.octets()).unwrap(), &oid);
            prop_assert_eq!(oid.arcs(), Some(arcs.clone()));
            let text: Vec<_> = arcs.iter().map(ToString::to_string).collect();
            prop_assert_eq!(oid.to_string(), text.join("."));
        }
    }
}
