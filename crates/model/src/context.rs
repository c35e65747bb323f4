//! What a program says about one transaction: properties (words) and metrics (numbers).
//!
//! Bytes, one entry after the other: kind (`0` property, `1` metric), length of the key, the key
//! in UTF-8, then for a property the length of the value and the value in UTF-8, for a metric
//! eight bytes, an IEEE 754 double, little-endian. ARM's context properties and metrics are stored
//! in this form too.

/// Most bytes that one transaction's context takes in a ring.
pub const MAX_BYTES: usize = 240;

/// Most bytes of a context that a stored row has: what comes over the network (spans with their
/// attributes) has more to say than a ring's slot holds.
pub const STORED_MAX_BYTES: usize = 16_384;

const PROPERTY: u8 = 0;
const METRIC: u8 = 1;

/// One thing said about a transaction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entry<'a> {
    /// A word: key and value.
    Property(&'a str, &'a str),
    /// A number: key and value.
    Metric(&'a str, f64),
}

/// Appends an entry to `buffer[..len]` and returns the new length; `None`, with the buffer
/// unchanged, when it does not fit or a text is longer than 255 bytes. Allocates nothing.
pub fn append(buffer: &mut [u8], len: usize, entry: Entry<'_>) -> Option<usize> {
    let number;
    let (kind, key, value_len, value): (u8, &str, Option<u8>, &[u8]) = match entry {
        Entry::Property(key, value) => {
            (PROPERTY, key, Some(u8::try_from(value.len()).ok()?), value.as_bytes())
        }
        Entry::Metric(key, value) => {
            number = value.to_le_bytes();
            (METRIC, key, None, &number)
        }
    };
    let key_len = u8::try_from(key.len()).ok()?;
    let end = len + 2 + key.len() + usize::from(value_len.is_some()) + value.len();
    let target = buffer.get_mut(len..end)?;
    target[0] = kind;
    target[1] = key_len;
    let (key_bytes, rest) = target[2..].split_at_mut(key.len());
    key_bytes.copy_from_slice(key.as_bytes());
    match value_len {
        Some(n) => {
            rest[0] = n;
            rest[1..].copy_from_slice(value);
        }
        None => rest.copy_from_slice(value),
    }
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

    proptest! {
        #[test]
        fn entries_read_back(texts in prop::collection::vec(("\\PC{0,9}", "\\PC{0,9}"), 0..5)) {
            let mut buffer = [0; 1024];
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
