//! Texts in attributes. XML 1.0 has no way to write most control characters; they are written as
//! Office Open XML does (ISO/IEC 29500-1, 22.9.2.19): `_x001F_`, and an underscore that would begin
//! such a sequence by chance as `_x005F_`. So are those that XML allows and a terminal obeys: a
//! document is often looked at there.

use std::fmt::Write;

/// Appends `text` as the content of an attribute in double quotes.
pub(super) fn append(out: &mut String, text: &str) {
    for (at, c) in text.char_indices() {
        let written = match c {
            '&' => out.write_str("&amp;"),
            '<' => out.write_str("&lt;"),
            '>' => out.write_str("&gt;"),
            '"' => out.write_str("&quot;"),
            // A parser turns these into spaces unless they are references.
            '\t' | '\n' | '\r' => write!(out, "&#{};", u32::from(c)),
            '_' if begins_code(&text[at..]) => out.write_str("_x005F_"),
            c if has_code(c) => write!(out, "_x{:04X}_", u32::from(c)),
            c => out.write_char(c),
        };
        debug_assert!(written.is_ok(), "a String takes everything");
    }
}

/// Decodes an attribute's text, in which entities are already resolved.
pub(super) fn decode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('_') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match code(rest).and_then(char::from_u32) {
            Some(c) => {
                out.push(c);
                rest = &rest[7..];
            }
            None => {
                out.push('_');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

/// The number in `_xHHHH_` at the beginning of `text`.
fn code(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("_x")?.get(..5)?.strip_suffix('_')?;
    let all = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    all.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

/// Whether `text`, when written out, would begin with `_xHHHH_`: the last underscore may belong to
/// the next character's own escape.
fn begins_code(text: &str) -> bool {
    let Some((digits, rest)) = text.strip_prefix("_x").and_then(|rest| rest.split_at_checked(4))
    else {
        return false;
    };
    let ends = rest.starts_with(|next: char| next == '_' || has_code(next));
    ends && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a character is written as `_xHHHH_`; tab and line breaks are references.
const fn has_code(c: char) -> bool {
    let is_reference = matches!(c, '\t' | '\n' | '\r');
    !is_reference && (!is_char(c) || chronoscope_escape::is_control(c))
}

/// Whether XML 1.0 lets a character stand in a document (production 2).
const fn is_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use super::{append, decode};

    /// The underscore of the control character's own sequence ended the one before.
    #[test]
    fn what_begins_like_a_sequence_before_a_control_character_reads_back() {
        for text in [
            "_x0057\0",
            "_x0057_",
            "_x0057\u{1f}\0",
            "_x005F_x0057\0",
            "_x00570",
            "_x\0",
            "_x0057\u{202e}",
        ] {
            let mut written = String::new();
            append(&mut written, text);
            assert_eq!(decode(&written), text, "{written}");
        }
    }
}
