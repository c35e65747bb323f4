//! Protocol Buffers wire format: fields of a message, borrowed from its bytes.
//!
//! Source: the Protocol Buffers encoding guide. A message is a sequence of fields, each a tag
//! (field number and wire type) and a value. Nothing is copied or allocated here: the caller
//! decides the cost of a request. Positions are octets from the beginning of the outermost message.
//!
//! Not here: the meaning of the fields (`span`, `value`).

/// Reason why bytes are not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// A value needs more octets than its message has.
    #[error("octet {at}: the message ends within a field")]
    Cut {
        /// Position of the field.
        at: usize,
    },
    /// A number with more than ten octets, or more than 64 bits.
    #[error("octet {at}: a varint of more than 64 bits")]
    Varint {
        /// Position of the field.
        at: usize,
    },
    /// A wire type that is not in use, or field number 0.
    #[error("octet {at}: {tag} is not the tag of a field")]
    Tag {
        /// Position of the tag.
        at: usize,
        /// The tag.
        tag: u64,
    },
    /// A known field with another wire type than its own.
    #[error("octet {at}: field {field} of {message} has wire type {found}")]
    Type {
        /// Position of the value.
        at: usize,
        /// The message.
        message: &'static str,
        /// The field's number.
        field: u32,
        /// The wire type found.
        found: &'static str,
    },
    /// The request has too many resources and scopes.
    #[error("octet {at}: the request has more than {max} resources and scopes")]
    Groups {
        /// Position of the first one beyond the limit.
        at: usize,
        /// Largest number.
        max: usize,
    },
}

/// A field's value as it stands on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(Message<'a>),
}

/// Length-delimited bytes: a message, a text or plain bytes; and where they begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Message<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

/// One field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    pub(super) number: u32,
    pub(super) value: Value<'a>,
    /// Position of the value.
    pub(super) at: usize,
}

impl<'a> Message<'a> {
    /// The outermost message.
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The fields in order, ending with the first error.
    pub(super) fn fields(self) -> Fields<'a> {
        Fields { rest: self.bytes, end: self.at + self.bytes.len() }
    }
}

/// Iterator of [`Message::fields`].
#[derive(Clone, Debug)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    end: usize,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, WireError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

impl<'a> Fields<'a> {
    fn at(&self) -> usize {
        self.end - self.rest.len()
    }

    #[inline]
    fn field(&mut self) -> Result<Field<'a>, WireError> {
        let begin = self.at();
        let tag = self.varint()?;
        let wrong = WireError::Tag { at: begin, tag };
        let number = u32::try_from(tag >> 3).map_err(|_| wrong)?;
        if number == 0 || number >= 1 << 29 {
            return Err(wrong);
        }
        let at = self.at();
        let cut = WireError::Cut { at: begin };
        let value = match tag & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(u64::from_le_bytes(self.array().ok_or(cut)?)),
            2 => {
                let len = usize::try_from(self.varint()?).map_err(|_| cut)?;
                let (bytes, rest) = self.rest.split_at_checked(len).ok_or(cut)?;
                let message = Message { bytes, at: self.at() };
                self.rest = rest;
                return Ok(Field { number, value: Value::Bytes(message), at: message.at });
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.array().ok_or(cut)?)),
            // Groups (3, 4) are of proto2, and OTLP has none.
            _ => return Err(wrong),
        };
        Ok(Field { number, value, at })
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*head)
    }

    #[inline]
    fn varint(&mut self) -> Result<u64, WireError> {
        let at = self.at();
        let mut value = 0u64;
        for (index, octet) in self.rest.iter().enumerate().take(10) {
            if index == 9 && *octet > 1 {
                return Err(WireError::Varint { at });
            }
            value |= u64::from(octet & 0x7f) << (7 * index);
            if octet & 0x80 == 0 {
                self.rest = &self.rest[index + 1..];
                return Ok(value);
            }
        }
        Err(if self.rest.len() < 10 { WireError::Cut { at } } else { WireError::Varint { at } })
    }
}

impl<'a> Field<'a> {
    fn wrong(&self, message: &'static str) -> WireError {
        let found = match self.value {
            Value::Varint(_) => "varint",
            Value::Fixed64(_) => "fixed64",
            Value::Fixed32(_) => "fixed32",
            Value::Bytes(_) => "length-delimited",
        };
        WireError::Type { at: self.at, message, field: self.number, found }
    }

    /// The value, which must be length-delimited; `of` is the message's name.
    pub(super) fn bytes(&self, of: &'static str) -> Result<Message<'a>, WireError> {
        match self.value {
            Value::Bytes(message) => Ok(message),
            _ => Err(self.wrong(of)),
        }
    }

    /// The value, which must be a varint.
    pub(super) fn varint(&self, of: &'static str) -> Result<u64, WireError> {
        match self.value {
            Value::Varint(value) => Ok(value),
            _ => Err(self.wrong(of)),
        }
    }

    /// The value, which must be 64 bits wide.
    pub(super) fn fixed64(&self, of: &'static str) -> Result<u64, WireError> {
        match self.value {
            Value::Fixed64(value) => Ok(value),
            _ => Err(self.wrong(of)),
        }
    }

    /// The value, which must be 32 bits wide.
    pub(super) fn fixed32(&self, of: &'static str) -> Result<u32, WireError> {
        match self.value {
            Value::Fixed32(value) => Ok(value),
            _ => Err(self.wrong(of)),
        }
    }
}

/// Wire types, the lowest three bits of a tag.
pub(super) const VARINT: u8 = 0;
pub(super) const FIXED64: u8 = 1;
pub(super) const BYTES: u8 = 2;
pub(super) const FIXED32: u8 = 5;

/// Appends the tag of a field.
pub(super) fn put_tag(octets: &mut Vec<u8>, number: u32, wire_type: u8) {
    put_varint(octets, u64::from(number) << 3 | u64::from(wire_type));
}

/// Appends a varint, in as few octets as it takes.
#[allow(clippy::cast_possible_truncation)] // its lowest bits
pub(super) fn put_varint(octets: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        octets.push(value as u8 | 0x80);
        value >>= 7;
    }
    octets.push(value as u8);
}

/// Octets of a length that is not known yet: four of seven bits, 256 MiB.
const LENGTH_BYTES: usize = 4;

/// Appends room for the length of a message, whose fields follow; returns where the message begins.
pub(super) fn begin_message(octets: &mut Vec<u8>) -> usize {
    octets.extend_from_slice(&[0x80, 0x80, 0x80, 0x00]);
    octets.len()
}

/// Writes the length of the message that began at `begin` and ends here. A varint may have leading
/// zeroes, so that nothing is moved.
#[allow(clippy::cast_possible_truncation)] // seven bits
pub(super) fn end_message(octets: &mut [u8], begin: usize) {
    let length = octets.len() - begin;
    for (index, octet) in octets[begin - LENGTH_BYTES..begin].iter_mut().enumerate() {
        *octet |= (length >> (7 * index)) as u8 & 0x7f;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<Result<(u32, usize), WireError>> {
        Message::new(bytes).fields().map(|field| field.map(|f| (f.number, f.at))).collect()
    }

    /// The encoding guide's own examples: field 1 = 150, field 2 = "testing".
    #[test]
    fn the_guides_examples() {
        let bytes = b"\x08\x96\x01\x12\x07testing";
        let fields: Vec<_> = Message::new(bytes).fields().map(|f| f.unwrap().value).collect();
        let text = Message { bytes: b"testing", at: 5 };
        assert_eq!(fields, [Value::Varint(150), Value::Bytes(text)]);
    }

    #[test]
    fn errors_say_where() {
        assert_eq!(read(b"\x08\x01\x12\x09abc"), [Ok((1, 1)), Err(WireError::Cut { at: 2 })]);
        assert_eq!(read(b"\x08"), [Err(WireError::Cut { at: 1 })]);
        assert_eq!(read(&[0x08, 0xff, 0xff]), [Err(WireError::Cut { at: 1 })]);
        assert_eq!(read(&[&[0x08][..], &[0xff; 11]].concat()), [Err(WireError::Varint { at: 1 })]);
        assert_eq!(read(b"\x00\x01"), [Err(WireError::Tag { at: 0, tag: 0 })], "field 0");
        assert_eq!(read(b"\x0b\x0c"), [Err(WireError::Tag { at: 0, tag: 0x0b })], "a group");
        assert_eq!(
            read(b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
            [Err(WireError::Cut { at: 0 })],
            "a length beyond everything"
        );
        let field = Message::new(b"\x08\x01").fields().next().unwrap().unwrap();
        assert_eq!(
            field.fixed64("Span").unwrap_err().to_string(),
            "octet 1: field 1 of Span has wire type varint"
        );
    }
}
