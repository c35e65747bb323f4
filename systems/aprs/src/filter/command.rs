//! Commands of a client that change or query its filter.

use super::parse::terms;

/// A filter command: after `#filter` in a comment line, or in a message to `SERVER`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// `filter?`: what the filter is.
    Query,
    /// `filter default`: removes the client's own filter.
    Default,
    /// `filter …`: this one from now on.
    Set(&'a [u8]),
    /// The text is no known command.
    Malformed,
}

impl<'a> Command<'a> {
    /// The command in a comment line: `filter` may be anywhere in it, in any case, as in
    /// `# my Filter r/60/25/100`.
    pub fn in_comment(line: &'a [u8]) -> Option<Self> {
        let at = line.windows(WORD.len()).position(|word| word.eq_ignore_ascii_case(WORD))?;
        Some(Self::after_word(&line[at + WORD.len()..]))
    }

    /// The command in a message, which begins with it.
    pub fn in_message(text: &'a [u8]) -> Option<Self> {
        let word = text.get(..WORD.len())?;
        word.eq_ignore_ascii_case(WORD).then(|| Self::after_word(&text[WORD.len()..]))
    }

    fn after_word(rest: &'a [u8]) -> Self {
        match rest {
            b"?" => Self::Query,
            [b' ', text @ ..] if text.eq_ignore_ascii_case(b"default") => Self::Default,
            [b' ', text @ ..] => Self::Set(text),
            _ => Self::Malformed,
        }
    }

    /// aprsc's answer once the command has been followed, `filter` being the text of the client's
    /// own from now on; empty for none. It goes behind `# ` into a line of its own, or into a
    /// message.
    pub fn answer(&self, filter: &str) -> String {
        match self {
            Self::Query => format!("filters: {}", in_force(filter)),
            Self::Default => "User filters reset to default".to_owned(),
            Self::Set(_) => format!("filter {filter} active"),
            Self::Malformed => {
                "Filter: Bad input, no space character after filter command".to_owned()
            }
        }
    }
}

const WORD: &[u8] = b"filter";

/// The terms of `text` that are in force, exclusions first, each with a blank after it.
fn in_force(text: &str) -> String {
    let mut excludes = String::new();
    let mut passes = String::new();
    for (word, term) in terms(text.as_bytes()) {
        if let Ok((is_excluding, _)) = term {
            let list = if is_excluding { &mut excludes } else { &mut passes };
            list.push_str(&String::from_utf8_lossy(word));
            list.push(' ');
        }
    }
    excludes + &passes
}
