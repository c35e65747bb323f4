//! An entry of a row that holds an attribute: its name, its rank among entries of that name, and its
//! value.

use chronoscope_chain::AttributeTest;
use chronoscope_model::attribute::{ATTRIBUTE, EVENT, LINK, RESOURCE, SCOPE, TYPES};
use std::fmt::Write;

/// Rank of a row's own field, its application or host: behind all keys.
pub(super) const FIELD_RANK: u8 = 4;

/// Begins of keys that hold other parts of a span than attributes.
const HIDDEN: [&str; 3] = [EVENT, LINK, TYPES[0]];

/// The name by which a filter asks for a row's key, and its rank among the keys of that name, of
/// which the lowest counts; `None` where the key holds no attribute.
pub(super) fn name_of(key: &str) -> Option<(&str, u8)> {
    if HIDDEN.iter().any(|hidden| key.starts_with(hidden)) {
        return None;
    }
    let prefixes = [RESOURCE, SCOPE, ATTRIBUTE].into_iter().zip(1..);
    let named = prefixes.filter_map(|(prefix, rank)| Some((key.strip_prefix(prefix)?, rank)));
    Some(named.into_iter().next().unwrap_or((key, 0)))
}

/// The value of an attribute.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Text(&'a str),
    /// A text with its number among those of the batch.
    Word(&'a str, usize),
    Number(f64),
}

impl Value<'_> {
    pub(super) fn passes(self, test: &AttributeTest) -> bool {
        match test {
            AttributeTest::Exists => true,
            AttributeTest::Is(value) => self.is(value),
            AttributeTest::IsNot(value) => !self.is(value),
        }
    }

    fn is(self, value: &str) -> bool {
        match self {
            Self::Text(text) | Self::Word(text, _) => text == value,
            Self::Number(number) => value
                .parse::<f64>()
                .is_ok_and(|value| value == number || (value.is_nan() && number.is_nan())),
        }
    }

    /// The value in words, written into `buffer` where it is a number.
    pub(super) fn text<'b>(&'b self, buffer: &'b mut String) -> &'b str {
        match self {
            Self::Text(text) | Self::Word(text, _) => text,
            Self::Number(number) => {
                buffer.clear();
                // Writing into a String does not fail. -0 and 0 are one value, as they are equal.
                let _ = write!(buffer, "{}", if *number == 0.0 { 0.0 } else { *number });
                buffer
            }
        }
    }
}
