//! A document as its tags: nothing else may stand in ours, and nothing hostile gets further.

use super::escape;
use crate::bounded::Bounded;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesDecl, BytesStart, Event};
use std::io::{self, BufRead};

/// Most bytes of a tag, a comment, or a text.
const PIECE_MAX: usize = 1 << 20;
/// Most attributes of a tag.
const ATTRIBUTES_MAX: usize = 64;
/// Deepest nesting of elements, unknown ones included.
const DEPTH_MAX: usize = 16;

/// Why a text is no such document. Positions are in bytes from its start.
#[derive(Debug, thiserror::Error)]
pub enum XmlError {
    /// The input cannot be read.
    #[error("{0}")]
    Io(io::Error),
    /// It is not XML.
    #[error("byte {position}: {reason}")]
    Syntax {
        /// Where.
        position: u64,
        /// What is wrong there.
        reason: String,
    },
    /// It has a document type: entities and external files are not for measurements.
    #[error("byte {position}: a document type (<!DOCTYPE) is refused")]
    DocumentType {
        /// Where.
        position: u64,
    },
    /// It refers to an entity other than `&lt;`, `&gt;`, `&amp;`, `&quot;` and `&apos;`.
    #[error("byte {position}: {reason}")]
    Entity {
        /// Where the tag or text begins.
        position: u64,
        /// Which.
        reason: String,
    },
    /// It is in another encoding or of another XML version.
    #[error("byte {position}: XML 1.0 in UTF-8 is needed, this is {found}")]
    Encoding {
        /// Where.
        position: u64,
        /// What it says it is.
        found: String,
    },
    /// A tag, comment or text has no end in sight.
    #[error("byte {position}: more than {PIECE_MAX} bytes in one piece")]
    TooLong {
        /// Where it begins.
        position: u64,
    },
    /// Elements are nested too deep.
    #[error("byte {position}: elements are nested deeper than {DEPTH_MAX}")]
    TooDeep {
        /// Where.
        position: u64,
    },
    /// A tag has too many attributes, or one twice.
    #[error("byte {position}: <{element}>: {reason}")]
    Attributes {
        /// Where the tag begins.
        position: u64,
        /// Its name.
        element: String,
        /// What is wrong.
        reason: String,
    },
    /// An attribute is missing, or is not what it should be.
    #[error("byte {position}: <{element}>: {attribute}: {found:?} is not {expected}")]
    Attribute {
        /// Where the tag begins.
        position: u64,
        /// Its name.
        element: String,
        /// Which attribute.
        attribute: &'static str,
        /// The beginning of what stands there; empty when there is none.
        found: String,
        /// What should.
        expected: &'static str,
    },
    /// It is XML, of something else.
    #[error("byte {position}: {found} where {expected} belongs")]
    Unexpected {
        /// Where.
        position: u64,
        /// What stands there.
        found: String,
        /// What should.
        expected: &'static str,
    },
    /// It ends in the middle.
    #[error("byte {position}: the document ends before it is complete")]
    Truncated {
        /// How long it is.
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

/// The next thing in a document; an element without content is a start and an end.
#[derive(Debug)]
pub(super) enum Piece {
    Start(Tag),
    End,
    /// The document is over and complete.
    Over,
}

/// Reads tags.
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

    /// Where the last piece ended.
    pub(super) fn position(&self) -> u64 {
        self.xml.buffer_position()
    }

    pub(super) fn next(&mut self) -> Result<Piece, XmlError> {
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
                    return tag(&start, position).map(Piece::Start);
                }
                Event::Empty(_) => {} // expanded into start and end
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(Piece::End);
                }
                Event::Eof if self.depth == 0 && self.begun => return Ok(Piece::Over),
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

    /// Passes over an element that is not known, whose start tag has just been read.
    pub(super) fn skip(&mut self) -> Result<(), XmlError> {
        let depth = self.depth;
        while self.depth >= depth {
            if matches!(self.next()?, Piece::Over) {
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
            return Err(refuse(format!("{key} stands there twice")));
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
