//! What a program says about one transaction: properties (words) and metrics (numbers).
//!
//! Bytes, one entry after the other: kind (`0` property, `1` metric), length of the key, the key
//! in UTF-8, then for a property the length of the value and the value in UTF-8, for a metric
//! eight bytes, an IEEE 754 double, little-endian. A property whose value is longer than 255 bytes
//! has kind `2` and the value's length in two bytes, little-endian. ARM's context properties and
//! metrics are stored in this form too.

/// Most bytes that one transaction's context takes in a ring.
pub const MAX_BYTES: usize = 240;

/// Most bytes of a context that a stored row has: what comes over the network (spans with their
/// attributes) has more to say than a ring's slot holds.
pub const STORED_MAX_BYTES: usize = 16_384;

/// Key of the property that names the chains of links to further parents that are not followed: ids
/// in hexadecimal digits with a space between. Rows that have it have
/// [`Flags::FURTHER_PARENTS`](crate::Flags::FURTHER_PARENTS).
pub const UNFOLLOWED_LINKS: &str = "otel.unfollowed_links";

const PROPERTY: u8 = 0;
const METRIC: u8 = 1;
const LONG_PROPERTY: u8 = 2;

/// One thing said about a transaction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entry<'a> {
    /// A word: key and value.
    Property(&'a str, &'a str),
    /// A number: key and value.
    Metric(&'a str, f64),
}

/// Appends an entry to `buffer[..len]` and returns the new length; `None`, with the buffer
/// unchanged, when it does not fit, a key is longer than 255 bytes or a value than 65,535.
/// Allocates nothing.
pub fn append(buffer: &mut [u8], len: usize, entry: Entry<'_>) -> Option<usize> {
    let number;
    let (kind, key, value_len, value): (u8, &str, Option<u16>, &[u8]) = match entry {
        Entry::Property(key, value) => {
            let len = u16::try_from(value.len()).ok()?;
            (if len < 256 { PROPERTY } else { LONG_PROPERTY }, key, Some(len), value.as_bytes())
        }
        Entry::Metric(key, value) => {
            number = value.to_le_bytes();
            (METRIC, key, None, &number)
        }
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

/// The entries in `bytes`, up to the first byte that is not one.
pub fn entries(bytes: &[u8]) -> impl Iterator<Item = Entry<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (entry, after) = split_entry(rest)?;
        rest = after;
        Some(entry)
    })
}

fn split_entry(bytes: &[u8]) -> Option<(Entry<'_>, &[u8])> {
    let (&kind, rest) = bytes.split_first()?;
    let (key, rest) = split_text(rest)?;
    match kind {
        PROPERTY => split_text(rest).map(|(value, rest)| (Entry::Property(key, value), rest)),
        METRIC => {
            let (number, rest) = rest.split_first_chunk::<8>()?;
            Some((Entry::Metric(key, f64::from_le_bytes(*number)), rest))
        }
        LONG_PROPERTY => {
            let (len, rest) = rest.split_first_chunk::<2>()?;
            let (value, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*len)))?;
            Some((Entry::Property(key, std::str::from_utf8(value).ok()?), rest))
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
        let len = append(&mut buffer, 0, Entry::Metric("plots", 12.0)).unwrap();
        assert_eq!(len, 15);
        assert_eq!(append(&mut buffer, len, Entry::Property("callsign", "DLH1")), None);
        let all: Vec<_> = entries(&buffer[..len]).collect();
        assert_eq!(all, [Entry::Metric("plots", 12.0)]);
    }

    #[test]
    fn a_long_value_has_two_octets_for_its_length() {
        let mut buffer = [0; 400];
        let value = "v".repeat(300);
        let len = append(&mut buffer, 0, Entry::Property("k", &value)).unwrap();
        assert_eq!(buffer[..6], [2, 1, b'k', 44, 1, b'v']);
        let len = append(&mut buffer, len, Entry::Property("k", &value[..10])).unwrap();
        let all: Vec<_> = entries(&buffer[..len]).collect();
        assert_eq!(all, [Entry::Property("k", &value), Entry::Property("k", &value[..10])]);
        assert_eq!(append(&mut buffer, 0, Entry::Property("k", &"v".repeat(65_536))), None);
    }

    proptest! {
        #[test]
        fn entries_read_back(
            texts in prop::collection::vec(("\\PC{0,9}", "\\PC{0,9}|x{250,260}"), 0..5)
        ) {
            let mut buffer = [0; 2048];
            let mut len = 0;
            for (key, value) in &texts {
                len = append(&mut buffer, len, Entry::Property(key, value)).unwrap();
            }
            let back: Vec<_> = entries(&buffer[..len]).collect();
            let sent: Vec<_> = texts.iter().map(|(k, v)| Entry::Property(k, v)).collect();
            prop_assert_eq!(back, sent);
        }

        /// Garbage ends the list and harms nothing.
        #[test]
        fn garbage_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = entries(&bytes).count();
        }
    }
}
