//! XML as a tree of elements with their lines, of which readers take what they know: the rest is named.

use crate::exchange::{ExchangeError, ExchangeNote};
use quick_xml::events::{BytesStart, Event};

/// Elements in elements. The format has 5 levels.
const DEPTH_MAX: usize = 16;

/// An element.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) name: String,
    /// Line of its start tag, from 1.
    pub(super) line: usize,
    attributes: Vec<(String, String)>,
    pub(super) children: Vec<Element>,
    text: String,
}

impl Element {
    /// Takes an attribute.
    pub(super) fn attribute(&mut self, name: &str) -> Option<String> {
        let at = self.attributes.iter().position(|(known, _)| known == name)?;
        Some(self.attributes.remove(at).1)
    }

    /// Takes the first child of this name.
    pub(super) fn child(&mut self, name: &str) -> Option<Self> {
        let at = self.children.iter().position(|child| child.name == name)?;
        Some(self.children.remove(at))
    }

    /// Its text without spaces around it.
    pub(super) fn text(&self) -> &str {
        self.text.trim()
    }

    /// Names what nobody has taken.
    pub(super) fn rest(&self, notes: &mut Vec<ExchangeNote>) {
        let name = &self.name;
        for (attribute, _) in &self.attributes {
            let text = format!("attribute {attribute} of <{name}> is not known");
            notes.push(ExchangeNote::new(Some(self.line), true, text));
        }
        for child in &self.children {
            let text = format!("<{}> in <{name}> is not known, or stands there again", child.name);
            notes.push(ExchangeNote::new(Some(child.line), true, text));
        }
    }
}

/// The root element of a document.
pub(super) fn tree(text: &str) -> Result<Element, ExchangeError> {
    let mut xml = quick_xml::Reader::from_str(text);
    xml.config_mut().expand_empty_elements = true;
    // The elements that are open, the root's holder first.
    let mut open = vec![Element::default()];
    let mut lines = Lines { text, position: 0, line: 1 };
    loop {
        let position = usize::try_from(xml.buffer_position()).unwrap_or(usize::MAX);
        let wrong = |lines: &mut Lines<'_>, why: String| {
            Err(ExchangeError::Syntax { line: lines.at(position), why })
        };
        match xml.read_event() {
            Err(error) => return wrong(&mut lines, error.to_string()),
            Ok(Event::Start(start)) => {
                if open.len() > DEPTH_MAX {
                    return wrong(&mut lines, format!("more than {DEPTH_MAX} elements in another"));
                }
                let line = lines.at(position);
                open.push(element(&start, line)?);
            }
            Ok(Event::End(_)) => {
                // The library has checked that it is the end of the last one.
                if let Some(done) = open.pop()
                    && let Some(parent) = open.last_mut()
                {
                    parent.children.push(done);
                }
            }
            Ok(Event::Text(part)) => {
                if let Some(element) = open.last_mut() {
                    element.text.push_str(&part);
                }
            }
            Ok(Event::GeneralRef(name)) => match (predefined(&name), open.last_mut()) {
                (Some(letter), Some(element)) => element.text.push(letter),
                _ => return wrong(&mut lines, format!("the reference &{}; is not known", &*name)),
            },
            Ok(Event::CData(part)) => {
                if let Some(element) = open.last_mut() {
                    element.text.push_str(&part);
                }
            }
            Ok(Event::DocType(_)) => {
                return wrong(&mut lines, "a document type is not allowed".to_owned());
            }
            Ok(Event::Eof) => break,
            Ok(_) => {}
        }
    }
    let [holder] = &mut open[..] else {
        let line = lines.at(text.len());
        return Err(ExchangeError::Syntax { line, why: "an element does not end".to_owned() });
    };
    match holder.children.pop() {
        Some(root) if holder.children.is_empty() => Ok(root),
        _ => {
            Err(ExchangeError::Syntax { line: 1, why: "there is not one root element".to_owned() })
        }
    }
}

/// The five names that XML itself has.
fn predefined(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => return None,
    })
}

fn element(start: &BytesStart<'_>, line: usize) -> Result<Element, ExchangeError> {
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let wrong = |why: String| ExchangeError::Syntax { line, why };
        let attribute = attribute.map_err(|error| wrong(error.to_string()))?;
        let value = attribute
            .normalized_value(quick_xml::XmlVersion::Implicit1_0)
            .map_err(|error| wrong(error.to_string()))?;
        attributes.push((attribute.key.as_ref().to_owned(), value.into_owned()));
    }
    let name = start.name().as_ref().to_owned();
    Ok(Element { name, line, attributes, ..Element::default() })
}

/// Lines of positions, which come in order.
struct Lines<'a> {
    text: &'a str,
    position: usize,
    line: usize,
}

impl Lines<'_> {
    fn at(&mut self, position: usize) -> usize {
        let position = position.min(self.text.len()).max(self.position);
        let passed = &self.text.as_bytes()[self.position..position];
        self.line += passed.iter().filter(|octet| **octet == b'\n').count();
        self.position = position;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_their_lines_and_the_rest_is_named() {
        let text = "<?xml version=\"1.0\"?>\n<!-- a -->\n<a b=\"1\" c=\"&lt;\">\n <d> x&amp;y </d>\n\n <e/></a>";
        let mut root = tree(text).unwrap();
        assert_eq!((root.name.as_str(), root.line), ("a", 3));
        assert_eq!(root.attribute("c").as_deref(), Some("<"));
        let inner = root.child("d").unwrap();
        assert_eq!((inner.text(), inner.line), ("x&y", 4));
        let mut notes = Vec::new();
        root.rest(&mut notes);
        let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
        assert_eq!(
            notes,
            [
                "not converted: line 3: attribute b of <a> is not known",
                "not converted: line 6: <e> in <a> is not known, or stands there again"
            ]
        );
    }

    #[test]
    fn what_is_no_document_is_refused_with_its_line() {
        for (text, line) in [
            ("<a>\n<b>\n</a>", 3),
            ("<a>\n&x;</a>", 2),
            ("<!DOCTYPE a>\n<a/>", 1),
            ("<a>\n\n<b>", 3),
            ("", 1),
            ("<a/><b/>", 1),
        ] {
            let ExchangeError::Syntax { line: found, .. } = tree(text).unwrap_err() else {
                panic!("{text}")
            };
            assert_eq!(found, line, "{text}");
        }
        assert!(tree(&"<a>".repeat(100)).unwrap_err().to_string().contains("more than 16"));
    }
}
