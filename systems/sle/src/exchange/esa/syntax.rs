//! Syntax of the files: `KEY = VALUE` and `KEY = { … }`; `#` begins a comment. A list has values, or
//! entries, of which a group begins with its identifier. Upper and lower case are equal in keys.

use crate::exchange::ExchangeError;

/// Lists in lists. The format has 2 levels.
const DEPTH_MAX: usize = 4;

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// In upper case.
    pub(super) key: String,
    /// Line of the key, from 1.
    pub(super) line: usize,
    pub(super) value: EntryValue,
}

/// Value of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EntryValue {
    Word(String),
    List(Vec<ListItem>),
}

/// An item of a list, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ListItem {
    Value(usize, String),
    Entry(Entry),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Equals,
    Open,
    Close,
}

/// The entries of a file.
pub(super) fn entries(text: &str) -> Result<Vec<Entry>, ExchangeError> {
    let tokens = tokens(text);
    let last = tokens.last().map_or(1, |(line, _)| *line);
    let mut parser = Parser { tokens: &tokens, last };
    let mut entries = Vec::new();
    while !parser.tokens.is_empty() {
        match parser.item(0)? {
            ListItem::Entry(entry) => entries.push(entry),
            ListItem::Value(line, value) => {
                return Err(wrong(line, format!("{value:?} is not KEY = VALUE")));
            }
        }
    }
    Ok(entries)
}

fn wrong(line: usize, why: String) -> ExchangeError {
    ExchangeError::Syntax { line, why }
}

/// Words and signs with their lines.
fn tokens(text: &str) -> Vec<(usize, Token<'_>)> {
    let mut tokens = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let end = match first {
                '=' | '{' | '}' => 1,
                _ => rest
                    .find(|c: char| c.is_whitespace() || "={}".contains(c))
                    .unwrap_or(rest.len()),
            };
            let token = match first {
                '=' => Token::Equals,
                '{' => Token::Open,
                '}' => Token::Close,
                _ => Token::Word(&rest[..end]),
            };
            tokens.push((index + 1, token));
            rest = rest[end..].trim_start();
        }
    }
    tokens
}

struct Parser<'a, 't> {
    tokens: &'a [(usize, Token<'t>)],
    last: usize,
}

impl<'t> Parser<'_, 't> {
    fn next(&mut self) -> Result<(usize, Token<'t>), ExchangeError> {
        let (first, rest) = self
            .tokens
            .split_first()
            .ok_or_else(|| wrong(self.last, "the file ends within a value".to_owned()))?;
        self.tokens = rest;
        Ok(*first)
    }

    /// An entry, or a value of a list.
    fn item(&mut self, depth: usize) -> Result<ListItem, ExchangeError> {
        let (line, token) = self.next()?;
        let Token::Word(word) = token else {
            return Err(wrong(line, format!("{} stands where a key belongs", sign(token))));
        };
        if !matches!(self.tokens.first(), Some((_, Token::Equals))) {
            return Ok(ListItem::Value(line, word.to_owned()));
        }
        self.next()?;
        let key = word.to_ascii_uppercase();
        let (at, token) = self.next()?;
        let value = match token {
            Token::Word(value) => EntryValue::Word(value.to_owned()),
            Token::Open if depth == DEPTH_MAX => {
                return Err(wrong(at, format!("more than {DEPTH_MAX} lists in another")));
            }
            Token::Open => EntryValue::List(self.list(depth + 1)?),
            other => {
                return Err(wrong(
                    at,
                    format!("{} stands where the value of {key} belongs", sign(other)),
                ));
            }
        };
        Ok(ListItem::Entry(Entry { key, line, value }))
    }

    fn list(&mut self, depth: usize) -> Result<Vec<ListItem>, ExchangeError> {
        let mut items = Vec::new();
        while !matches!(self.tokens.first(), Some((_, Token::Close))) {
            items.push(self.item(depth)?);
        }
        self.next()?;
        Ok(items)
    }
}

fn sign(token: Token<'_>) -> &str {
    match token {
        Token::Word(word) => word,
        Token::Equals => "=",
        Token::Open => "{",
        Token::Close => "}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_lists_and_comments() {
        let text = "# head\nLocal_Id\t= A#B\nLIST ={\n ID = x\n SUB = {\n 1 2\n }\n}\n";
        let entries = entries(text).unwrap();
        assert_eq!((entries[0].key.as_str(), entries[0].line), ("LOCAL_ID", 2));
        assert_eq!(entries[0].value, EntryValue::Word("A".to_owned()));
        let EntryValue::List(items) = &entries[1].value else { panic!() };
        let ListItem::Entry(sub) = &items[1] else { panic!() };
        let numbers = [ListItem::Value(6, "1".to_owned()), ListItem::Value(6, "2".to_owned())];
        assert_eq!(sub.value, EntryValue::List(numbers.to_vec()));
    }

    #[test]
    fn faults_have_their_lines() {
        for (text, said) in [
            ("A\n", "line 1: \"A\" is not KEY = VALUE"),
            ("A =\n", "line 1: the file ends within a value"),
            ("A = {\nB = 1\n", "line 2: the file ends within a value"),
            ("A = 1\n}\n", "line 2: } stands where a key belongs"),
            ("A = =\n", "line 1: = stands where the value of A belongs"),
            (&"A = {".repeat(9), "line 1: more than 4 lists in another"),
        ] {
            assert_eq!(entries(text).unwrap_err().to_string(), said, "{text}");
        }
    }
}
