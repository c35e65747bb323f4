//! A configuration file as lines of words: comments, quotes, escapes, continued lines.
//!
//! A line whose last visible character is `\` goes on in the next one, comments included (as in
//! aprsc). A word in double quotes has the escapes of C. What is not UTF-8 is read as Latin-1, which
//! is what old files are written in.

use super::fault::{Fault, Position};

/// A word and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) at: Position,
    /// The word was in quotes, so a `#` at its beginning does not begin a comment.
    pub(super) quoted: bool,
}

/// A fault and where it is.
pub(super) type LocatedFault = (Position, Fault);

/// One octet and its position in the file.
#[derive(Clone, Copy)]
struct Octet {
    value: u8,
    at: Position,
}

/// The words of every line that has any and is no comment. A line with a fault is left out, and the
/// fault is added to `faults`.
pub(super) fn words(bytes: &[u8], faults: &mut Vec<LocatedFault>) -> Vec<Vec<Word>> {
    let mut lines = Vec::new();
    for line in continued(bytes) {
        match split(&line) {
            Ok(words) if words.is_empty() => {}
            Ok(words) => lines.push(words),
            Err(fault) => faults.push(fault),
        }
    }
    lines
}

/// Lines, those that are continued put together.
fn continued(bytes: &[u8]) -> Vec<Vec<Octet>> {
    let mut lines = Vec::new();
    let mut line = Vec::new();
    for (number, physical) in (1..).zip(bytes.split(|octet| *octet == b'\n')) {
        let visible = physical.trim_ascii_end();
        let (text, goes_on) = match visible.split_last() {
            Some((b'\\', text)) => (text, true),
            _ => (visible, false),
        };
        let columns = 1..;
        line.extend(
            text.iter().zip(columns).map(|(value, column)| Octet {
                value: *value,
                at: Position { line: number, column },
            }),
        );
        if !goes_on {
            lines.push(std::mem::take(&mut line));
        }
    }
    lines.push(line); // a last line that goes on into nothing
    lines
}

fn is_blank(octet: &Octet) -> bool {
    matches!(octet.value, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

fn split(line: &[Octet]) -> Result<Vec<Word>, LocatedFault> {
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(begin) = rest.iter().position(|octet| !is_blank(octet)) {
        rest = &rest[begin..];
        let at = rest[0].at;
        if words.is_empty() && rest[0].value == b'#' {
            break;
        }
        let quoted = rest[0].value == b'"';
        let (octets, after) = if quoted { quoted_word(rest)? } else { bare_word(rest) };
        words.push(Word { text: decode(octets), at, quoted });
        rest = after;
    }
    Ok(words)
}

fn bare_word(rest: &[Octet]) -> (Vec<u8>, &[Octet]) {
    let end = rest.iter().position(is_blank).unwrap_or(rest.len());
    (rest[..end].iter().map(|octet| octet.value).collect(), &rest[end..])
}

/// A word from its opening quote on, and what comes after its closing one.
fn quoted_word(rest: &[Octet]) -> Result<(Vec<u8>, &[Octet]), LocatedFault> {
    let open = rest[0].at;
    let mut word = Vec::new();
    let mut at = 1;
    loop {
        let Some(octet) = rest.get(at) else { return Err((open, Fault::OpenQuote)) };
        at += 1;
        match octet.value {
            b'"' => break,
            b'\\' => {
                let (value, used) = escape(&rest[at..]).map_err(|fault| (octet.at, fault))?;
                word.push(value);
                at += used;
            }
            value => word.push(value),
        }
    }
    match rest.get(at) {
        Some(octet) if !is_blank(octet) => Err((octet.at, Fault::AfterQuote)),
        _ => Ok((word, &rest[at..])),
    }
}

/// Decodes the escape sequence of a backslash followed by `rest`: the octet that it stands for, and
/// how many octets of `rest` it takes.
fn escape(rest: &[Octet]) -> Result<(u8, usize), Fault> {
    let digits = |from: usize, radix: u32, most: usize| {
        let digits = rest.iter().skip(from).take(most);
        let digits = digits.map_while(|octet| char::from(octet.value).to_digit(radix));
        digits.fold((0, 0), |(value, count), digit| (value * radix + digit, count + 1))
    };
    let first = rest.first().ok_or(Fault::OpenQuote)?.value;
    let (value, used) = match first {
        b'n' => (b'\n', 1),
        b't' => (b'\t', 1),
        b'v' => (0x0b, 1),
        b'b' => (0x08, 1),
        b'r' => (b'\r', 1),
        b'f' => (0x0c, 1),
        b'a' => (0x07, 1),
        b'x' => match digits(1, 16, 2) {
            (_, 0) => return Err(Fault::BadHex),
            (value, count) => (u8::try_from(value).map_err(|_| Fault::BadHex)?, 1 + count),
        },
        b'0'..=b'7' => {
            let (value, count) = digits(0, 8, 3);
            // \400 and above do not fit: the third digit is taken as text
            match u8::try_from(value) {
                Ok(value) => (value, count),
                Err(_) => digits_of_two(digits(0, 8, 2)),
            }
        }
        other => (other, 1),
    };
    if value == 0 { Err(Fault::Nul) } else { Ok((value, used)) }
}

fn digits_of_two((value, count): (u32, usize)) -> (u8, usize) {
    (u8::try_from(value).unwrap_or(u8::MAX), count)
}

fn decode(octets: Vec<u8>) -> String {
    String::from_utf8(octets)
        .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect())
}

/// `text` as a word that is read back as itself, in quotes where that is needed. Without the
/// character with code 0, which no word can have.
pub fn quote(text: &str) -> String {
    let bare = !text.is_empty()
        && !text.starts_with(['"', '#'])
        && !text.ends_with('\\')
        && text.bytes().all(|octet| octet.is_ascii_graphic());
    if bare {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\0' => {}
            '\n' => quoted.push_str("\\n"),
            control if control.is_ascii_control() => {
                quoted.push_str(&format!("\\x{:02x}", u32::from(control)));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::{Fault, Position, quote, words};
    use proptest::prelude::*;

    fn texts(file: &str) -> Vec<Vec<String>> {
        let mut faults = Vec::new();
        let lines = words(file.as_bytes(), &mut faults);
        assert_eq!(faults, []);
        lines.into_iter().map(|line| line.into_iter().map(|word| word.text).collect()).collect()
    }

    fn fault(file: &str) -> (u32, u32, Fault) {
        let mut faults = Vec::new();
        words(file.as_bytes(), &mut faults);
        assert_eq!(faults.len(), 1, "{faults:?}");
        let (at, fault) = faults.remove(0);
        (at.line, at.column, fault)
    }

    #[test]
    fn comments_quotes_and_escapes() {
        assert_eq!(
            texts("# one\n  # two\n\nMyAdmin \"My Name, N0CALL\"\nx a\"b #c\n"),
            [vec!["MyAdmin", "My Name, N0CALL"], vec!["x", "a\"b", "#c"]]
        );
        assert_eq!(texts(r#"x "a\"\\\t\x41\101\q" """#), [vec!["x", "a\"\\\tAAq", ""]]);
    }

    #[test]
    fn a_line_goes_on_after_a_backslash() {
        assert_eq!(
            texts("PeerGroup a \\\r\n\tb\\\nc\n# no \\\nListen\nlast \\"),
            [vec!["PeerGroup", "a", "bc"], vec!["last"]]
        );
        let lines = words(b"a \\\n  b", &mut Vec::new());
        assert_eq!(lines[0][1].at, Position { line: 2, column: 3 });
    }

    #[test]
    fn latin_1_is_read() {
        let lines = words(b"MyAdmin \"J\xf6rg\" \"J\\xf6rg\"", &mut Vec::new());
        assert_eq!((&*lines[0][1].text, &*lines[0][2].text), ("J\u{f6}rg", "J\u{f6}rg"));
    }

    #[test]
    fn faults_have_their_place() {
        assert_eq!(fault("a\n b \"c"), (2, 4, Fault::OpenQuote));
        assert_eq!(fault("b \"c\"d"), (1, 6, Fault::AfterQuote));
        assert_eq!(fault(r#"b "c\0""#), (1, 5, Fault::Nul));
        assert_eq!(fault(r#"b "\xg""#), (1, 4, Fault::BadHex));
    }

    proptest! {
        #[test]
        fn what_was_quoted_is_read_back(text in proptest::collection::vec("[^\0]{0,12}", 1..4)) {
            let file = text.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ");
            let mut faults = Vec::new();
            let lines = words(format!("x {file}\n").as_bytes(), &mut faults);
            prop_assert_eq!(faults, []);
            let read: Vec<_> = lines[0][1..].iter().map(|word| word.text.clone()).collect();
            prop_assert_eq!(read, text);
        }

        #[test]
        fn any_octets_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut faults = Vec::new();
            for word in words(&bytes, &mut faults).into_iter().flatten() {
                prop_assert!(!word.text.contains('\0') || bytes.contains(&0));
            }
        }
    }
}
