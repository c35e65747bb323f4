//! The entries of the file, and one line's octets.

use crate::error::{ADDRESS_BYTES_MAX, AnnotationsError, TEXT_MAX};
use serde::{Deserialize, Serialize};

/// An instant with a text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Its number: unique in the file, for ever.
    pub id: u64,
    /// The instant: UTC, nanoseconds since 1970.
    pub at_ns: i64,
    /// What happened.
    pub text: String,
    /// The service that it is about; empty for all.
    #[serde(default)]
    pub service: String,
    /// Name of the token that noted it; empty without one.
    #[serde(default)]
    pub by: String,
}

/// A mark without its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewMark {
    /// As [`Mark::at_ns`].
    pub at_ns: i64,
    /// As [`Mark::text`]; not empty.
    pub text: String,
    /// As [`Mark::service`].
    pub service: String,
    /// As [`Mark::by`].
    pub by: String,
}

impl NewMark {
    /// Checks that it may be noted.
    ///
    /// # Errors
    /// [`AnnotationsError`]: a text is empty, too long, or has control characters.
    pub fn check(&self) -> Result<(), AnnotationsError> {
        check_text("text", &self.text)?;
        check_optional("service", &self.service)?;
        check_optional("by", &self.by)
    }

    /// The mark under a number.
    pub fn with_id(self, id: u64) -> Mark {
        let Self { at_ns, text, service, by } = self;
        Mark { id, at_ns, text, service, by }
    }
}

/// An address of the page with a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedView {
    /// Its name.
    pub name: String,
    /// Path and query of the page: `/histogram?root=…`.
    pub address: String,
    /// As [`Mark::by`].
    #[serde(default)]
    pub by: String,
}

impl NamedView {
    /// Checks that it may have its name.
    ///
    /// # Errors
    /// [`AnnotationsError`]: the name or the address is none.
    pub fn check(&self) -> Result<(), AnnotationsError> {
        check_text("name", &self.name)?;
        check_optional("by", &self.by)?;
        check_address(&self.address)
    }
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Entry {
    Mark(Mark),
    MarkRemoved {
        id: u64,
    },
    View(NamedView),
    ViewRemoved {
        name: String,
    },
    /// An entry of a newer version.
    #[serde(other)]
    Unknown,
}

/// Digits of the checksum before each entry.
const CHECKSUM_DIGITS: usize = 8;

impl Entry {
    /// The line: CRC-32 of the JSON in hexadecimal digits, a space, the JSON, a line feed.
    pub(crate) fn line(&self) -> Result<String, AnnotationsError> {
        let json = serde_json::to_string(self).map_err(std::io::Error::from)?;
        Ok(format!("{:08x} {json}\n", crc32fast::hash(json.as_bytes())))
    }

    /// Reads a line without its line feed; the reason why it is damaged.
    pub(crate) fn of_line(line: &[u8]) -> Result<Self, &'static str> {
        let parts = line.split_at_checked(CHECKSUM_DIGITS);
        let (digits, json) = parts.ok_or("it is cut off")?;
        let digits = std::str::from_utf8(digits).map_err(|_| "it has no checksum")?;
        let checksum = u32::from_str_radix(digits, 16).map_err(|_| "it has no checksum")?;
        let json = json.strip_prefix(b" ").ok_or("it has no checksum")?;
        if crc32fast::hash(json) != checksum {
            return Err("its checksum is another one: it was changed or cut off");
        }
        // A known kind without its fields was written by nobody.
        serde_json::from_slice(json).map_err(|_| "its entry cannot be read")
    }
}

/// Refuses a text that is empty, too long or has control characters.
pub(crate) fn check_text(field: &'static str, text: &str) -> Result<(), AnnotationsError> {
    match text.chars().count() {
        0 => Err(AnnotationsError::Empty { field }),
        count if count > TEXT_MAX => Err(AnnotationsError::TooLong { field, most: TEXT_MAX }),
        _ if text.chars().any(char::is_control) => Err(AnnotationsError::Control { field }),
        _ => Ok(()),
    }
}

/// As [`check_text`], of a text that may be empty.
pub(crate) fn check_optional(field: &'static str, text: &str) -> Result<(), AnnotationsError> {
    if text.is_empty() { Ok(()) } else { check_text(field, text) }
}

/// Refuses what is no address within the page.
pub(crate) fn check_address(address: &str) -> Result<(), AnnotationsError> {
    let is_of_page = address.starts_with('/') && !address.starts_with("//");
    if !is_of_page || address.chars().any(|c| c.is_control() || c == '\\') {
        return Err(AnnotationsError::Address);
    }
    match address.len() > ADDRESS_BYTES_MAX {
        true => Err(AnnotationsError::TooLong { field: "address", most: ADDRESS_BYTES_MAX }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The octets of version 1, read for ever.
    const LINES: [&str; 4] = [
        r#"{"kind":"mark","id":1,"at_ns":5,"text":"v4.2","service":"shop","by":"ops"}"#,
        r#"{"kind":"mark_removed","id":1}"#,
        r#"{"kind":"view","name":"slow","address":"/scatter?root=a","by":""}"#,
        r#"{"kind":"view_removed","name":"slow"}"#,
    ];

    fn read(json: &str) -> Result<Entry, &'static str> {
        Entry::of_line(format!("{:08x} {json}", crc32fast::hash(json.as_bytes())).as_bytes())
    }

    #[test]
    fn lines_of_version_1_are_read_and_written_as_they_were() {
        for json in LINES {
            let line = read(json).unwrap().line().unwrap();
            assert_eq!(line, format!("{:08x} {json}\n", crc32fast::hash(json.as_bytes())));
        }
        assert_eq!(crc32fast::hash(LINES[1].as_bytes()), 0x7d30_476a);
    }

    #[test]
    fn fields_and_kinds_of_a_newer_version_are_passed_over() {
        let newer = r#"{"kind":"mark","id":1,"at_ns":5,"text":"a","colour":"red"}"#;
        let mark = Mark { id: 1, at_ns: 5, text: "a".to_owned(), ..Mark::default() };
        assert_eq!(read(newer), Ok(Entry::Mark(mark)));
        assert_eq!(read(r#"{"kind":"region","from_ns":1}"#), Ok(Entry::Unknown));
        assert_eq!(read(r#"{"kind":"mark","id":1}"#), Err("its entry cannot be read"));
    }

    #[test]
    fn an_address_leads_nowhere_but_to_the_page() {
        assert!(check_address("/scatter?root=a").is_ok());
        for other in ["", "scatter", "//host/x", "https://host/", "/\\host", "/a\nb"] {
            assert!(check_address(other).is_err(), "{other:?}");
        }
    }

    proptest! {
        /// No line panics, and a changed bit is never taken for another entry.
        #[test]
        fn damage_is_found(bit in 0_usize..8, at in 0_usize..80, cut in 0_usize..90) {
            let json = LINES[0];
            let line = format!("{:08x} {json}", crc32fast::hash(json.as_bytes()));
            let mut octets = line.clone().into_bytes();
            let at = at % octets.len();
            octets[at] ^= 1 << bit;
            // A digit in the other case is the same digit.
            let is_same = octets.eq_ignore_ascii_case(line.as_bytes()) && at < CHECKSUM_DIGITS;
            prop_assert!(Entry::of_line(&octets).is_err() || is_same);
            let cut = cut % line.len();
            prop_assert!(Entry::of_line(&line.as_bytes()[..cut]).is_err());
        }
    }
}
