//! Text from others on a terminal and in XML: the one place where it is made harmless.
//!
//! Names of classes, hosts and programs come from senders of rows. A terminal obeys some characters
//! in them (escape sequences) or shows the rest of a line in another order (bidirectional
//! controls), and other characters make an XML document invalid.
//!
//! ```
//! assert_eq!(chronoscope_escape::terminal("a\u{1b}[2Jb\u{202e}c"), r"a\u001b[2Jb\u202ec");
//! assert_eq!(chronoscope_escape::xml("a<b\u{1b}"), "a&lt;b\u{fffd}");
//! ```
//!
//! Not here: JSON and logs, whose own rules quote (`serde_json`, `{:?}`); characters that are wide
//! on a terminal or look like another letter.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a terminal obeys a character, or shows others elsewhere because of it: the sets C0 and
/// C1, DEL, line and paragraph separators, and the bidirectional controls (Unicode, UAX #9).
#[must_use]
pub const fn is_control(letter: char) -> bool {
    matches!(
        letter,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

/// One line of text for a terminal: each character for which [`is_control`] is true as `\uXXXX`,
/// which is also its form in a string of JSON.
#[must_use]
pub fn terminal(text: &str) -> Cow<'_, str> {
    replaced(text, is_control)
}

/// As [`terminal`], for several lines: line breaks stay.
#[must_use]
pub fn terminal_lines(text: &str) -> Cow<'_, str> {
    replaced(text, |letter| letter != '\n' && is_control(letter))
}

fn replaced(text: &str, is_replaced: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_replaced) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match is_replaced(letter) {
            true => {
                let _ = write!(safe, "\\u{:04x}", u32::from(letter)); // a String takes everything
            }
            false => safe.push(letter),
        }
    }
    Cow::Owned(safe)
}

/// Text for XML, HTML and SVG, between tags and in attributes in double quotation marks: the characters that mean something
/// there by their names, and U+FFFD for each that is no character of XML 1.0 or that [`is_control`]
/// (tab and line breaks stay).
#[must_use]
pub fn xml(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            letter => safe.push(xml_letter(letter)),
        }
    }
    safe
}

/// Text for a library that writes XML and knows the characters that mean something there, but lets
/// those pass that may not be there.
#[must_use]
pub fn xml_text(text: &str) -> String {
    text.chars().map(xml_letter).collect()
}

const fn xml_letter(letter: char) -> char {
    match letter {
        '\t' | '\n' | '\r' => letter,
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        letter if is_control(letter) => '\u{fffd}',
        letter => letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C0, DEL and C1; and what the Unicode standard calls Bidi_Control, with the separators.
    fn controls() -> impl Iterator<Item = char> {
        let bidi = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\
                    \u{2068}\u{2069}\u{2028}\u{2029}";
        ('\0'..='\u{1f}').chain('\u{7f}'..='\u{9f}').chain(bidi.chars())
    }

    #[test]
    fn no_control_reaches_a_terminal() {
        for control in controls() {
            let text = format!("a{control}b");
            let code = format!("a\\u{:04x}b", u32::from(control));
            assert_eq!(terminal(&text), code);
            let lines = if control == '\n' { "a\nb" } else { &code };
            assert_eq!(terminal_lines(&text), lines);
        }
    }

    #[test]
    fn no_control_reaches_a_document() {
        for control in controls().chain(['\u{fffe}', '\u{ffff}']) {
            let safe = xml(&format!("a{control}b"));
            assert_eq!(safe, xml_text(&format!("a{control}b")));
            match control {
                '\t' | '\n' | '\r' => assert_eq!(safe, format!("a{control}b")),
                _ => assert_eq!(safe, "a\u{fffd}b", "{:04x}", u32::from(control)),
            }
        }
        assert_eq!(xml("<a b='\"&'>"), "&lt;a b='&quot;&amp;'&gt;");
    }

    #[test]
    fn what_people_write_stays() {
        for text in ["decodePlots", "Größe µs → 東京", "a b\u{a0}c", "e\u{301}", "👩\u{200d}🚀"]
        {
            assert_eq!(terminal(text), text);
            assert_eq!(xml(text), text);
        }
    }
}
