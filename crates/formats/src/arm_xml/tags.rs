//! A document as its tags: nothing else may stand in ours, and nothing hostile gets further.

use super::escape;
use crate::bounded::Bounded;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesDecl, BytesStart, Event};
use std::io::{self, BufRead};

/// Largest tag, comment or text, in bytes.
const PIECE_MAX: usize = 1 << 20;
/// Largest number of attributes of a tag.
const ATTRIBUTES_MAX: usize = 64;
/// Deepest nesting of elements, unknown ones included.
const DEPTH_MAX: usize = 16;

/// Reason why a text is not a valid document. Positions are in bytes from its start.
#[derive(Debug, thiserror::Error)]
pub enum XmlError {
    /// The input cannot be read.
    #[error("{0}")]
    Io(io::Error),
    /// The text is not well-formed XML.
    #[error("byte {position}: {reason}")]
    Syntax {
        /// Position of the error.
        position: u64,
        /// Description of the error.
        reason: String,
    },
    /// The document has a document type declaration: entities and external files are refused.
    #[error("byte {position}: a document type (<!DOCTYPE) is refused")]
    DocumentType {
        /// Position of the declaration.
        position: u64,
    },
    /// An entity other than `&lt;`, `&gt;`, `&amp;`, `&quot;` and `&apos;` is referenced.
    #[error("byte {position}: {reason}")]
    Entity {
        /// Position of the tag or text.
        position: u64,
        /// Description of the reference.
        reason: String,
    },
    /// The encoding or the XML version is another one.
    #[error("byte {position}: expected XML 1.0 in UTF-8, found {found}")]
    Encoding {
        /// Position of the declaration.
        position: u64,
        /// The encoding or version found.
        found: String,
    },
    /// A tag, comment or text has no end in sight.
    #[error("byte {position}: more than {PIECE_MAX} bytes in one piece")]
    TooLong {
        /// Position of its start.
        position: u64,
    },
    /// Elements are nested too deep.
    #[error("byte {position}: elements are nested deeper than {DEPTH_MAX}")]
    TooDeep {
        /// Position of the error.
        position: u64,
    },
    /// A tag has too many attributes, or one twice.
    #[error("byte {position}: <{element}>: {reason}")]
    Attributes {
        /// Position of the tag.
        position: u64,
        /// Name of the element.
        element: String,
        /// Description of the error.
        reason: String,
    },
    /// An attribute is missing, or its value is not valid.
    #[error("byte {position}: <{element}>: {attribute}: {found:?} is not {expected}")]
    Attribute {
        /// Position of the tag.
        position: u64,
        /// Name of the element.
        element: String,
        /// Name of the attribute.
        attribute: &'static str,
        /// The beginning of what stands there; empty when there is none.
        found: String,
        /// Description of a valid value.
        expected: &'static str,
    },
    /// The document is XML of another kind.
    #[error("byte {position}: found {found}, expected {expected}")]
    Unexpected {
        /// Position of the element.
        position: u64,
        /// The element found.
        found: String,
        /// The expected element.
        expected: &'static str,
    },
    /// The document ends too early.
    #[error("byte {position}: the document ends before it is complete")]
    Truncated {
        /// Length of the document.
        position: u64,
    },
}

/// A start tag.
#[derive(Debug)]
pub(super) struct Tag {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) position: u64,
}

/// Event of the reader; an element without content is a start and an end.
#[derive(Debug)]
pub(super) enum XmlEvent {
    Start(Tag),
    End,
    /// The document is over and complete.
    Over,
}

/// Reader of tags.
pub(super) struct Tags<R> {
    xml: quick_xml::Reader<Bounded<R>>,
    buffer: Vec<u8>,
    depth: usize,
    /// Whether a root element has been seen.
    begun: bool,
}

impl<R: BufRead> Tags<R> {
    pub(super) fn new(input: R) -> Self {
        let mut xml = quick_xml::Reader::from_reader(Bounded::new(input, PIECE_MAX));
        xml.config_mut().expand_empty_elements = true;
        Self { xml, buffer: Vec::new(), depth: 0, begun: false }
    }

    /// Position after the last piece.
    pub(super) fn position(&self) -> u64 {
        self.xml.buffer_position()
    }

    pub(super) fn next(&mut self) -> Result<XmlEvent, XmlError> {
        loop {
            let position = self.position();
            self.xml.get_mut().next_piece();
            self.buffer.clear();
            let event = self.xml.read_event_into(&mut self.buffer);
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    let at = self.xml.error_position().max(position);
                    return Err(refused::<R>(error, at));
                }
            };
            match event {
                Event::Start(start) => {
                    if self.depth == 0 && self.begun {
                        let found = "a second root element".to_owned();
                        let expected = "the end";
                        return Err(XmlError::Unexpected { position, found, expected });
                    }
                    if self.depth == DEPTH_MAX {
                        return Err(XmlError::TooDeep { position });
                    }
                    self.begun = true;
                    self.depth += 1;
                    return tag(&start, position).map(XmlEvent::Start);
                }
                Event::Empty(_) => {} // expanded into start and end
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(XmlEvent::End);
                }
                Event::Eof if self.depth == 0 && self.begun => return Ok(XmlEvent::Over),
                Event::Eof => return Err(XmlError::Truncated { position }),
                Event::Decl(declaration) => check(&declaration, position)?,
                Event::DocType(_) => return Err(XmlError::DocumentType { position }),
                Event::Comment(_) | Event::PI(_) => {}
                Event::Text(text) if text.chars().all(|c| " \t\r\n\u{feff}".contains(c)) => {}
                Event::Text(_) | Event::CData(_) => {
                    let (found, expected) = ("a text".to_owned(), "an element");
                    return Err(XmlError::Unexpected { position, found, expected });
                }
                Event::GeneralRef(name) => {
                    let name: String = name.chars().take(40).collect();
                    let reason = format!("the reference &{name}; stands where an element belongs");
                    return Err(XmlError::Entity { position, reason });
                }
            }
        }
    }

    /// Skips an unknown element whose start tag has just been read.
    pub(super) fn skip(&mut self) -> Result<(), XmlError> {
        let depth = self.depth;
        while self.depth >= depth {
            if matches!(self.next()?, XmlEvent::Over) {
                return Err(XmlError::Truncated { position: self.position() });
            }
        }
        Ok(())
    }
}

fn refused<R>(error: quick_xml::Error, position: u64) -> XmlError {
    match error {
        quick_xml::Error::Io(error) if Bounded::<R>::is_too_long(&error) => {
            XmlError::TooLong { position }
        }
        quick_xml::Error::Io(error) => {
            XmlError::Io(io::Error::new(error.kind(), error.to_string()))
        }
        quick_xml::Error::Encoding(error) => {
            XmlError::Encoding { position, found: error.to_string() }
        }
        quick_xml::Error::Escape(error) => XmlError::Entity { position, reason: error.to_string() },
        other => XmlError::Syntax { position, reason: other.to_string() },
    }
}

fn check(declaration: &BytesDecl<'_>, position: u64) -> Result<(), XmlError> {
    let other = |found: String| Err(XmlError::Encoding { position, found });
    match declaration.xml_version() {
        Ok(XmlVersion::Explicit1_0) => {}
        Ok(_) => return other("XML 1.1".to_owned()),
        Err(error) => return Err(XmlError::Syntax { position, reason: error.to_string() }),
    }
    match declaration.encoding() {
        None => Ok(()),
        Some(Ok(name)) if name.eq_ignore_ascii_case("utf-8") => Ok(()),
        Some(Ok(name)) => other(name.chars().take(40).collect()),
        Some(Err(error)) => Err(XmlError::Syntax { position, reason: error.to_string() }),
    }
}

fn tag(start: &BytesStart<'_>, position: u64) -> Result<Tag, XmlError> {
    let name: String = start.name().as_ref().to_owned();
    let refuse = |reason: String| {
        let element = name.chars().take(40).collect();
        XmlError::Attributes { position, element, reason }
    };
    let mut attributes: Vec<(String, String)> = Vec::new();
    // Ours below: the library's compares every name with every other before it counts them.
    for attribute in start.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| refuse(error.to_string()))?;
        if attributes.len() == ATTRIBUTES_MAX {
            return Err(refuse(format!("more than {ATTRIBUTES_MAX} attributes")));
        }
        let key = attribute.key.as_ref().to_owned();
        if attributes.iter().any(|(known, _)| *known == key) {
            return Err(refuse(format!("the attribute {key} is given twice")));
        }
        let value = attribute.normalized_value(XmlVersion::Explicit1_0);
        let value =
            value.map_err(|error| XmlError::Entity { position, reason: error.to_string() })?;
        attributes.push((key, escape::decode(&value)));
    }
    Ok(Tag { name, attributes, position })
}

impl Tag {
    /// The text of an attribute; empty when it is not there.
    pub(super) fn text(&self, name: &str) -> &str {
        let found = self.attributes.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value)
    }

    fn strange(&self, attribute: &'static str, expected: &'static str) -> XmlError {
        let found = self.text(attribute).chars().take(40).collect();
        let (position, element) = (self.position, self.name.clone());
        XmlError::Attribute { position, element, attribute, found, expected }
    }

    /// An attribute's value; `None` when it is not there.
    pub(super) fn get<T>(
        &self,
        attribute: &'static str,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, XmlError> {
        match self.attributes.iter().find(|(key, _)| key == attribute) {
            None => Ok(None),
            Some((_, value)) => {
                parse(value).map(Some).ok_or_else(|| self.strange(attribute, expected))
            }
        }
    }

    /// The value of an attribute that has to be there.
    pub(super) fn need<T>(
        &self,
        attribute: &'static str,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, XmlError> {
        self.get(attribute, expected, parse)?.ok_or_else(|| self.strange(attribute, expected))
    }
}
