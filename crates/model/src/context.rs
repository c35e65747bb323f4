//! Context of a transaction, besides its record: properties (words), metrics (numbers), and the
//! fields of [`Extras`](crate::Extras).
//!
//! Bytes, one entry after the other: kind (`0` property, `1` metric), length of the key, the key
//! in UTF-8, then for a property the length of the value and the value in UTF-8, for a metric
//! eight bytes, an IEEE 754 double, little-endian. A property whose value is longer than 255 bytes
//! has kind `2` and the value's length in two bytes, little-endian. ARM's context properties and
//! metrics are stored in this form too.
//!
//! From kind `3` on the kind is followed by the number of bytes that belong to the entry, so that a
//! reader passes over kinds that it does not know. Numbers are little-endian:
//!
//! * `3`, further parent: chain (16 bytes, the more significant half last), id (8); where its root
//!   is known also root start (8), root process (8), level (2), path (8). 24 or 50 bytes.
//! * `4`, field: its number ([`Field`]), value (8). 9 bytes.

use crate::field::Field;
use crate::further_parent::{FurtherParent, ParentRoot};
use crate::{ChainId, PathId, ProcessId, TransactionId};

/// Largest context of a transaction that has not ended, in bytes: properties, metrics and fields.
/// Its further parents are not in it until it ends.
pub const MAX_BYTES: usize = 240;

/// Largest context of a row, in bytes: what the length in a record can say. A transaction of our
/// recorder needs it for further parents: 50 bytes each and 2 for the entry, about 1,250 of them.
pub const STORED_MAX_BYTES: usize = 65_535;

const PROPERTY: u8 = 0;
const METRIC: u8 = 1;
const LONG_PROPERTY: u8 = 2;
const PARENT: u8 = 3;
const FIELD: u8 = 4;

/// Encoded size of a further parent, in bytes: without a known root, and with one.
const PARENT_BYTES: (usize, usize) = (24, 50);
/// Size of the largest entry of a further parent, in bytes.
pub const PARENT_ENTRY_BYTES: usize = 2 + PARENT_BYTES.1;

/// One entry of a transaction's context.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContextEntry<'a> {
    /// A word: key and value.
    Property(&'a str, &'a str),
    /// A number: key and value.
    Metric(&'a str, f64),
    /// A parent in addition to the record's.
    Parent(FurtherParent),
    /// A field that few rows have.
    Field(Field, u64),
}

impl ContextEntry<'_> {
    /// Bytes that it takes, or a few more.
    pub fn size(&self) -> usize {
        match self {
            Self::Property(key, value) => 4 + key.len() + value.len(),
            Self::Metric(key, _) => 10 + key.len(),
            Self::Parent(_) => PARENT_ENTRY_BYTES,
            Self::Field(..) => 11,
        }
    }
}

/// Appends an entry to `buffer[..len]` and returns the new length; `None`, with the buffer
/// unchanged, when it does not fit, a key is longer than 255 bytes or a value than 65,535.
/// Allocates nothing.
pub fn append(buffer: &mut [u8], len: usize, entry: ContextEntry<'_>) -> Option<usize> {
    match entry {
        ContextEntry::Parent(parent) => return append_parent(buffer, len, &parent),
        ContextEntry::Field(field, value) => {
            let mut bytes = [field as u8; 9];
            bytes[1..].copy_from_slice(&value.to_le_bytes());
            return append_sized(buffer, len, FIELD, &bytes);
        }
        ContextEntry::Property(..) | ContextEntry::Metric(..) => {}
    }
    let number;
    let (kind, key, value_len, value): (u8, &str, Option<u16>, &[u8]) = match entry {
        ContextEntry::Property(key, value) => {
            let len = u16::try_from(value.len()).ok()?;
            (if len < 256 { PROPERTY } else { LONG_PROPERTY }, key, Some(len), value.as_bytes())
        }
        ContextEntry::Metric(key, value) => {
            number = value.to_le_bytes();
            (METRIC, key, None, &number)
        }
        ContextEntry::Parent(_) | ContextEntry::Field(..) => return None, // appended above
    };
    let key_len = u8::try_from(key.len()).ok()?;
    let len_octets = value_len.map(u16::to_le_bytes);
    let len_octets = match &len_octets {
        None => &[],
        Some(octets) if kind == LONG_PROPERTY => &octets[..],
        Some(octets) => &octets[..1],
    };
    let end = len + 2 + key.len() + len_octets.len() + value.len();
    let target = buffer.get_mut(len..end)?;
    target[0] = kind;
    target[1] = key_len;
    let (key_bytes, rest) = target[2..].split_at_mut(key.len());
    key_bytes.copy_from_slice(key.as_bytes());
    let (len_bytes, rest) = rest.split_at_mut(len_octets.len());
    len_bytes.copy_from_slice(len_octets);
    rest.copy_from_slice(value);
    Some(end)
}

fn append_parent(buffer: &mut [u8], len: usize, parent: &FurtherParent) -> Option<usize> {
    let mut bytes = [0; PARENT_BYTES.1];
    bytes[..8].copy_from_slice(&parent.chain.low().to_le_bytes());
    bytes[8..16].copy_from_slice(&parent.chain.high().to_le_bytes());
    bytes[16..24].copy_from_slice(&parent.id.0.to_le_bytes());
    let Some(root) = parent.root else {
        return append_sized(buffer, len, PARENT, &bytes[..PARENT_BYTES.0]);
    };
    bytes[24..32].copy_from_slice(&root.start_ns.to_le_bytes());
    bytes[32..40].copy_from_slice(&root.process.0.to_le_bytes());
    bytes[40..42].copy_from_slice(&root.level.to_le_bytes());
    bytes[42..].copy_from_slice(&root.path.0.to_le_bytes());
    append_sized(buffer, len, PARENT, &bytes)
}

/// Appends an entry whose kind is followed by its length.
fn append_sized(buffer: &mut [u8], len: usize, kind: u8, bytes: &[u8]) -> Option<usize> {
    let size = u8::try_from(bytes.len()).ok()?;
    let end = len + 2 + bytes.len();
    let (head, rest) = buffer.get_mut(len..end)?.split_at_mut(2);
    head.copy_from_slice(&[kind, size]);
    rest.copy_from_slice(bytes);
    Some(end)
}

/// The entries in `bytes`, without those of kinds that are not known, up to the first byte that is not one.
pub fn entries(bytes: &[u8]) -> impl Iterator<Item = ContextEntry<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        loop {
            let (entry, after) = split_entry(rest)?;
            rest = after;
            if entry.is_some() {
                return entry;
            }
        }
    })
}

/// An entry, `None` where its kind is not known, and what follows it.
fn split_entry(bytes: &[u8]) -> Option<(Option<ContextEntry<'_>>, &[u8])> {
    let (&kind, rest) = bytes.split_first()?;
    if kind > LONG_PROPERTY {
        let (&size, rest) = rest.split_first()?;
        let (own, rest) = rest.split_at_checked(usize::from(size))?;
        return Some((sized_entry(kind, own), rest));
    }
    let (entry, rest) = split_named(kind, rest)?;
    Some((Some(entry), rest))
}

/// The entry with these bytes; `None` where the kind is not known or of another length.
fn sized_entry(kind: u8, bytes: &[u8]) -> Option<ContextEntry<'static>> {
    let number = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    match (kind, bytes.len()) {
        (PARENT, 24 | 50) => {
            let root = || {
                Some(ParentRoot {
                    start_ns: number(24)?.cast_signed(),
                    process: ProcessId(number(32)?),
                    level: u16::from_le_bytes(*bytes.get(40..)?.first_chunk()?),
                    path: PathId(number(42)?),
                })
            };
            Some(ContextEntry::Parent(FurtherParent {
                chain: ChainId::from_halves(number(8)?, number(0)?),
                id: TransactionId(number(16)?),
                root: root(),
            }))
        }
        (FIELD, 9) => Some(ContextEntry::Field(Field::of_number(bytes[0])?, number(1)?)),
        _ => None,
    }
}

fn split_named(kind: u8, rest: &[u8]) -> Option<(ContextEntry<'_>, &[u8])> {
    let (key, rest) = split_text(rest)?;
    match kind {
        PROPERTY => {
            split_text(rest).map(|(value, rest)| (ContextEntry::Property(key, value), rest))
        }
        METRIC => {
            let (number, rest) = rest.split_first_chunk::<8>()?;
            Some((ContextEntry::Metric(key, f64::from_le_bytes(*number)), rest))
        }
        LONG_PROPERTY => {
            let (len, rest) = rest.split_first_chunk::<2>()?;
            let (value, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*len)))?;
            Some((ContextEntry::Property(key, std::str::from_utf8(value).ok()?), rest))
        }
        _ => None,
    }
}

fn split_text(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (&len, rest) = bytes.split_first()?;
    let (text, rest) = rest.split_at_checked(usize::from(len))?;
    Some((std::str::from_utf8(text).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_does_not_fit_leaves_what_is_there() {
        let mut buffer = [0; 20];
        let len = append(&mut buffer, 0, ContextEntry::Metric("plots", 12.0)).unwrap();
        assert_eq!(len, 15);
        assert_eq!(append(&mut buffer, len, ContextEntry::Property("callsign", "DLH1")), None);
        let all: Vec<_> = entries(&buffer[..len]).collect();
        assert_eq!(all, [ContextEntry::Metric("plots", 12.0)]);
    }

    #[test]
    fn a_long_value_has_two_octets_for_its_length() {
        let mut buffer = [0; 400];
        let value = "v".repeat(300);
        let len = append(&mut buffer, 0, ContextEntry::Property("k", &value)).unwrap();
        assert_eq!(buffer[..6], [2, 1, b'k', 44, 1, b'v']);
        let len = append(&mut buffer, len, ContextEntry::Property("k", &value[..10])).unwrap();
        let all: Vec<_> = entries(&buffer[..len]).collect();
        assert_eq!(
            all,
            [ContextEntry::Property("k", &value), ContextEntry::Property("k", &value[..10])]
        );
        assert_eq!(append(&mut buffer, 0, ContextEntry::Property("k", &"v".repeat(65_536))), None);
    }

    #[test]
    fn further_parents_and_fields_read_back_and_unknown_kinds_are_passed_over() {
        let foreign = FurtherParent {
            chain: ChainId::from_halves(1, u64::MAX),
            id: TransactionId(7),
            root: None,
        };
        let root = ParentRoot { start_ns: -1, process: ProcessId(3), level: 2, path: PathId(9) };
        let all = [
            ContextEntry::Metric("plots", 2.0),
            ContextEntry::Parent(foreign),
            ContextEntry::Field(Field::Arrival, u64::MAX),
            ContextEntry::Parent(FurtherParent { root: Some(root), ..foreign }),
            ContextEntry::Field(Field::SamplingThreshold, 1 << 55),
        ];
        let (mut buffer, mut len) = ([0; 256], 0);
        for entry in all {
            // A kind of a later version, and a field and a parent as it may have them.
            for later in [&[200, 3, 1, 2, 3][..], &[4, 9, 99, 0, 0, 0, 0, 0, 0, 0, 0], &[3, 1, 0]] {
                buffer[len..len + later.len()].copy_from_slice(later);
                len += later.len();
            }
            let end = append(&mut buffer, len, entry).unwrap();
            assert!(end - len <= entry.size());
            len = end;
        }
        assert!(entries(&buffer[..len]).eq(all));
        assert_eq!(append(&mut buffer[..10], 0, ContextEntry::Parent(foreign)), None);
        let extras = crate::Extras::of(&buffer[..len]);
        assert_eq!((extras.arrival_ns, extras.further_parents.len()), (Some(-1), 2));
        let said: Vec<_> = extras.entries().collect();
        assert_eq!(said, [all[2], all[4], all[1], all[3]]);
    }

    proptest! {
        #[test]
        fn entries_read_back(
            texts in prop::collection::vec(("\\PC{0,9}", "\\PC{0,9}|x{250,260}"), 0..5)
        ) {
            let mut buffer = [0; 2048];
            let mut len = 0;
            for (key, value) in &texts {
                len = append(&mut buffer, len, ContextEntry::Property(key, value)).unwrap();
            }
            let back: Vec<_> = entries(&buffer[..len]).collect();
            let sent: Vec<_> = texts.iter().map(|(k, v)| ContextEntry::Property(k, v)).collect();
            prop_assert_eq!(back, sent);
        }

        /// Garbage ends the list and harms nothing.
        #[test]
        fn garbage_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = entries(&bytes).count();
        }
    }
}
