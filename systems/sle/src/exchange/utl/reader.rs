//! Values of elements and attributes, with remarks about those that are none.

use super::names::Words;
use super::xml::Element;
use crate::config::{GvcIdText, Password};
use crate::exchange::ExchangeNote;
use crate::exchange::digits::password;
use std::str::FromStr;

/// What is read, and the remarks about it.
pub(super) struct Reader {
    pub(super) notes: Vec<ExchangeNote>,
}

impl Reader {
    pub(super) fn lost(&mut self, line: usize, text: impl Into<String>) {
        self.notes.push(ExchangeNote::new(Some(line), true, text));
    }

    pub(super) fn note(&mut self, line: usize, text: impl Into<String>) {
        self.notes.push(ExchangeNote::new(Some(line), false, text));
    }

    /// A value; a remark where it is none.
    pub(super) fn parsed<T: FromStr>(&mut self, line: usize, name: &str, text: &str) -> Option<T> {
        let value = text.trim().parse().ok();
        if value.is_none() {
            self.lost(line, format!("{name}: {text:?} is out of range or no value"));
        }
        value
    }

    pub(super) fn word<T: Copy>(
        &mut self,
        line: usize,
        name: &str,
        words: Words<T>,
        text: &str,
    ) -> Option<T> {
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            self.lost(line, format!("{name}: {text:?} is not known"));
        }
        found.map(|(_, value)| *value)
    }

    pub(super) fn number<T: FromStr>(&mut self, of: &mut Element, name: &str) -> Option<T> {
        let child = of.child(name)?;
        self.parsed(child.line, name, child.text())
    }

    pub(super) fn child_word<T: Copy>(
        &mut self,
        of: &mut Element,
        name: &str,
        words: Words<T>,
    ) -> Option<T> {
        let child = of.child(name)?;
        self.word(child.line, name, words, child.text())
    }

    pub(super) fn child_text(&mut self, of: &mut Element, name: &str) -> Option<String> {
        Some(of.child(name)?.text().to_owned())
    }

    /// The words of the elements in a list; `None` if there is no list.
    pub(super) fn list<T: Copy>(
        &mut self,
        of: &mut Element,
        (list, item): (&str, &str),
        words: Words<T>,
    ) -> Option<Vec<T>> {
        let mut list = of.child(list)?;
        let mut values = Vec::new();
        while let Some(one) = list.child(item) {
            values.extend(self.word(one.line, item, words, one.text()));
        }
        list.rest(&mut self.notes);
        Some(values)
    }

    pub(super) fn password(&mut self, line: usize, digits: Option<String>) -> Password {
        match password(&digits.unwrap_or_default()) {
            Ok(octets) => Password::new(octets),
            Err(why) => {
                self.lost(line, why);
                Password::default()
            }
        }
    }

    pub(super) fn channel(&mut self, mut of: Element) -> Option<GvcIdText> {
        let line = of.line;
        let mut number = |name: &str| {
            let text = of.attribute(name)?;
            self.parsed::<u16>(line, name, &text)
        };
        let (spacecraft, version) = (number("scid"), number("tfvn"));
        let virtual_channel = number("vcid");
        of.rest(&mut self.notes);
        let text = match virtual_channel {
            Some(channel) => format!("{}.{}.{channel}", spacecraft?, version?),
            None => format!("{}.{}", spacecraft?, version?),
        };
        self.parsed(line, "channel", &text)
    }

    /// Times outside of [1, 600] s are no values for the specification; UTL's own files have 0.
    pub(super) fn seconds(&mut self, of: &mut Element, name: &str) -> Option<u16> {
        let line = of.line;
        let seconds = self.number(of, name)?;
        if (1..=600).contains(&seconds) {
            return Some(seconds);
        }
        self.note(line, format!("{name} = {seconds}: the range is 1 to 600; the default is used"));
        None
    }
}
