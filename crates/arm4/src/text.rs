//! Texts of a program: NUL-terminated, in the character set that it has chosen, never read beyond
//! the length that the binding allows.
#![allow(unsafe_code)] // reads what callers point to

use crate::codes::{First, TEXT};
use std::borrow::Cow;
use std::ffi::c_char;

/// Encoding of an application's texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Charset {
    /// UTF-8, which includes ASCII: invalid octets become U+FFFD.
    #[default]
    Utf8,
    Utf16Le,
    Utf16Be,
    /// By its byte order mark; big-endian without one (RFC 2781).
    Utf16,
}

impl Charset {
    /// The character set with this IANA number.
    pub(crate) fn of(number: i32) -> Option<Self> {
        match number {
            3 | 106 => Some(Self::Utf8),
            1013 => Some(Self::Utf16Be),
            1014 => Some(Self::Utf16Le),
            1015 => Some(Self::Utf16),
            _ => None,
        }
    }
}

/// Most characters of texts.
pub(crate) const NAME_CHARS: usize = 127;
pub(crate) const VALUE_CHARS: usize = 255;
pub(crate) const STRING32_CHARS: usize = 31;
pub(crate) const LONG_CHARS: usize = 4095;

/// Reads a text of at most `chars` characters; `None` when it is NULL or empty. What is longer is
/// cut and noted.
///
/// # Safety
/// `text` is NULL, or can be read up to its end or up to three octets for each of the characters.
pub(crate) unsafe fn read<'a>(
    text: *const c_char,
    charset: Charset,
    chars: usize,
    first: &mut First,
) -> Option<Cow<'a, str>> {
    if text.is_null() {
        return None;
    }
    let octets = text.cast::<u8>();
    // SAFETY: the caller's promise.
    let text = unsafe {
        match charset {
            Charset::Utf8 => {
                let len = libc::strnlen(text, chars * 3);
                if len == chars * 3 && *octets.add(len) != 0 {
                    first.note(TEXT);
                }
                lossy(std::slice::from_raw_parts(octets, len))
            }
            _ => Cow::Owned(read_utf16(octets, charset, chars, first)),
        }
    };
    let text = match text.char_indices().nth(chars) {
        Some((end, _)) => {
            first.note(TEXT);
            Cow::Owned(text[..end].to_owned())
        }
        None => text,
    };
    (!text.is_empty()).then_some(text)
}

fn lossy(octets: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(octets) {
        Ok(text) => Cow::Borrowed(text),
        Err(error) if error.error_len().is_none() => {
            // Cut inside a character, as a bounded read may be.
            String::from_utf8_lossy(&octets[..error.valid_up_to()])
        }
        Err(_) => String::from_utf8_lossy(octets),
    }
}

/// # Safety
/// As for [`read`].
unsafe fn read_utf16(
    octets: *const u8,
    charset: Charset,
    chars: usize,
    first: &mut First,
) -> String {
    // SAFETY: the caller's promise: two octets a unit are within three a character.
    let unit = |at: usize| unsafe { [*octets.add(2 * at), *octets.add(2 * at + 1)] };
    let mut units = Vec::new();
    // A character beyond the basic plane has two units.
    let max = chars * 3 / 2;
    while units.len() < max && unit(units.len()) != [0, 0] {
        units.push(unit(units.len()));
    }
    if units.len() == max {
        first.note(TEXT);
    }
    let (little, skip) = match (charset, units.first()) {
        (Charset::Utf16, Some([0xff, 0xfe])) => (true, 1),
        (Charset::Utf16, Some([0xfe, 0xff])) => (false, 1),
        _ => (charset == Charset::Utf16Le, 0),
    };
    let decode = |unit: &[u8; 2]| {
        if little { u16::from_le_bytes(*unit) } else { u16::from_be_bytes(*unit) }
    };
    let units: Vec<u16> = units[skip..].iter().map(decode).collect();
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(octets: &[u8], charset: Charset, chars: usize) -> (Option<String>, i32) {
        let mut first = First::default();
        // SAFETY: every text below ends, or is as long as may be read.
        let text = unsafe { read(octets.as_ptr().cast(), charset, chars, &mut first) };
        (text.map(Cow::into_owned), first.code())
    }

    #[test]
    fn texts_of_every_charset() {
        assert_eq!(of(b"plots\0", Charset::Utf8, 127), (Some("plots".into()), 0));
        assert_eq!(of("Grüße\0".as_bytes(), Charset::Utf8, 127), (Some("Grüße".into()), 0));
        assert_eq!(of(b"\0", Charset::Utf8, 127), (None, 0));
        assert_eq!(of(b"a\xff\0", Charset::Utf8, 127), (Some("a\u{fffd}".into()), 0));
        assert_eq!(of(b"h\0i\0\0\0", Charset::Utf16Le, 127), (Some("hi".into()), 0));
        assert_eq!(of(b"\0h\0i\0\0", Charset::Utf16Be, 127), (Some("hi".into()), 0));
        assert_eq!(of(b"\xff\xfeh\0\0\0", Charset::Utf16, 127), (Some("h".into()), 0));
        assert_eq!(of(b"\0h\0\0", Charset::Utf16, 127), (Some("h".into()), 0));
    }

    /// Not one octet beyond three a character is looked at but the one that would end it.
    #[test]
    fn what_does_not_end_is_cut_and_said() {
        let endless = [b'x'; 3 * 31 + 1];
        assert_eq!(of(&endless, Charset::Utf8, 31), (Some("x".repeat(31)), TEXT));
        let units = [0, b'x'].repeat(47);
        assert_eq!(of(&units, Charset::Utf16Be, 31), (Some("x".repeat(31)), TEXT));
        let full = format!("{}\0", "ü".repeat(31));
        assert_eq!(of(full.as_bytes(), Charset::Utf8, 31), (Some("ü".repeat(31)), 0));
    }
}
