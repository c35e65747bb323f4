//! Octets as text in JSON: a character is an octet, as in names of the history. A line takes about
//! its own length, where an array of numbers takes four times that.

use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserializer, Serializer};
use std::fmt;

pub(super) fn serialize<S: Serializer>(octets: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&Latin1(octets))
}

/// Takes the array of numbers as well that earlier versions wrote.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    from.deserialize_any(Octets)
}

struct Latin1<'a>(&'a [u8]);

impl fmt::Display for Latin1<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|octet| fmt::Write::write_char(f, char::from(*octet)))
    }
}

struct Octets;

impl<'de> Visitor<'de> for Octets {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("characters up to U+00FF, or numbers up to 255")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
        let octets = text.chars().map(|character| u8::try_from(u32::from(character)));
        octets.collect::<Result<_, _>>().map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Vec<u8>, A::Error> {
        let mut octets = Vec::new();
        while let Some(octet) = numbers.next_element()? {
            octets.push(octet);
        }
        Ok(octets)
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    struct Line(#[serde(with = "super")] Vec<u8>);

    #[test]
    fn octets_are_a_string_as_long_as_a_line_and_come_back() {
        let all: Vec<u8> = (0..=255).collect();
        let text = serde_json::to_string(&Line(all.clone())).unwrap();
        assert_eq!(serde_json::from_str::<Line>(&text).unwrap().0, all);
        let text = serde_json::to_string(&Line(b"N0CALL>APRS:>hello\r\n".to_vec())).unwrap();
        assert_eq!(text, r#""N0CALL>APRS:>hello\r\n""#);
    }

    #[test]
    fn numbers_of_an_earlier_version_are_read_and_other_characters_refused() {
        assert_eq!(serde_json::from_str::<Line>("[65,10,255]").unwrap().0, b"A\n\xff");
        assert!(serde_json::from_str::<Line>("[256]").is_err());
        assert!(serde_json::from_str::<Line>("\"\u{100}\"").is_err());
    }
}
