//! OTLP in JSON becomes OTLP in Protocol Buffers, so that one reader has the meaning of both.
//!
//! Source: OpenTelemetry protocol specification 1.10, "JSON Protobuf Encoding", and the ProtoJSON
//! mapping it refers to: keys in lowerCamelCase, ids in hexadecimal, enumerations as numbers,
//! 64-bit numbers as numbers or texts, other bytes in base64, null as the default; keys that are
//! not known are ignored.
//!
//! The text is converted as it is parsed: no tree of values is made, so that what a request costs is
//! bounded by its size. The result is at most [`GROWTH`] times as long as the text.

use super::wire;
use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Largest ratio of the result to the text: `{},` takes three octets, an empty message with its
/// tag and length five; a number takes its key as well.
pub const GROWTH: usize = 2;

/// Reason why a text is not a request.
#[derive(Debug, thiserror::Error)]
#[error("JSON: {0}")]
pub struct JsonError(#[from] serde_json::Error);

/// Converts an `ExportTraceServiceRequest` from JSON to the wire format of Protocol Buffers.
///
/// # Errors
/// When the text is no JSON, is nested deeper than 128, or has a value of another kind than its key:
/// with line and column.
pub fn from_json(text: &[u8]) -> Result<Vec<u8>, JsonError> {
    let mut octets = Vec::with_capacity(text.len() / 2);
    let mut parser = serde_json::Deserializer::from_slice(text);
    Fields { of: &REQUEST, octets: &mut octets }.deserialize(&mut parser)?;
    parser.end()?;
    Ok(octets)
}

/// Encoding of a field's value.
#[derive(Clone, Copy)]
enum Encoding {
    Message(&'static Schema),
    Text,
    /// Octets as hexadecimal digits: ids of traces and spans.
    Hex,
    /// Octets in base64, of either alphabet, with padding or without.
    Base64,
    Bool,
    /// A 32-bit number without sign, or an enumeration.
    Uint32,
    Int64,
    Fixed32,
    Fixed64,
    Double,
}

/// The fields of a message that are read: JSON key, number, encoding.
type Schema = [(&'static str, u32, Encoding)];

use Encoding::{Base64, Bool, Double, Fixed32, Fixed64, Hex, Int64, Message, Text, Uint32};

static REQUEST: [(&str, u32, Encoding); 1] = [("resourceSpans", 1, Message(&RESOURCE_SPANS))];
static RESOURCE_SPANS: [(&str, u32, Encoding); 3] = [
    ("resource", 1, Message(&RESOURCE)),
    ("scopeSpans", 2, Message(&SCOPE_SPANS)),
    ("schemaUrl", 3, Text),
];
static RESOURCE: [(&str, u32, Encoding); 2] =
    [("attributes", 1, Message(&KEY_VALUE)), ("droppedAttributesCount", 2, Uint32)];
static SCOPE_SPANS: [(&str, u32, Encoding); 3] =
    [("scope", 1, Message(&SCOPE)), ("spans", 2, Message(&SPAN)), ("schemaUrl", 3, Text)];
static SCOPE: [(&str, u32, Encoding); 4] = [
    ("name", 1, Text),
    ("version", 2, Text),
    ("attributes", 3, Message(&KEY_VALUE)),
    ("droppedAttributesCount", 4, Uint32),
];
static SPAN: [(&str, u32, Encoding); 16] = [
    ("traceId", 1, Hex),
    ("spanId", 2, Hex),
    ("traceState", 3, Text),
    ("parentSpanId", 4, Hex),
    ("name", 5, Text),
    ("kind", 6, Uint32),
    ("startTimeUnixNano", 7, Fixed64),
    ("endTimeUnixNano", 8, Fixed64),
    ("attributes", 9, Message(&KEY_VALUE)),
    ("droppedAttributesCount", 10, Uint32),
    ("events", 11, Message(&EVENT)),
    ("droppedEventsCount", 12, Uint32),
    ("links", 13, Message(&LINK)),
    ("droppedLinksCount", 14, Uint32),
    ("status", 15, Message(&STATUS)),
    ("flags", 16, Fixed32),
];
static EVENT: [(&str, u32, Encoding); 4] = [
    ("timeUnixNano", 1, Fixed64),
    ("name", 2, Text),
    ("attributes", 3, Message(&KEY_VALUE)),
    ("droppedAttributesCount", 4, Uint32),
];
static LINK: [(&str, u32, Encoding); 6] = [
    ("traceId", 1, Hex),
    ("spanId", 2, Hex),
    ("traceState", 3, Text),
    ("attributes", 4, Message(&KEY_VALUE)),
    ("droppedAttributesCount", 5, Uint32),
    ("flags", 6, Fixed32),
];
static STATUS: [(&str, u32, Encoding); 2] = [("message", 2, Text), ("code", 3, Uint32)];
static KEY_VALUE: [(&str, u32, Encoding); 2] = [("key", 1, Text), ("value", 2, Message(&ANY))];
static ANY: [(&str, u32, Encoding); 7] = [
    ("stringValue", 1, Text),
    ("boolValue", 2, Bool),
    ("intValue", 3, Int64),
    ("doubleValue", 4, Double),
    ("arrayValue", 5, Message(&ARRAY)),
    ("kvlistValue", 6, Message(&PAIRS)),
    ("bytesValue", 7, Base64),
];
static ARRAY: [(&str, u32, Encoding); 1] = [("values", 1, Message(&ANY))];
static PAIRS: [(&str, u32, Encoding); 1] = [("values", 1, Message(&KEY_VALUE))];

/// An object, whose fields are appended to `octets`.
struct Fields<'a> {
    of: &'static Schema,
    octets: &'a mut Vec<u8>,
}

impl<'de> DeserializeSeed<'de> for Fields<'_> {
    type Value = ();

    fn deserialize<D: de::Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(known) = map.next_key_seed(Key(self.of))? {
            match known {
                Some((number, encoding)) => {
                    let octets = &mut *self.octets;
                    map.next_value_seed(Element { number, encoding, octets, nested: false })?;
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// The key of a field: its number and encoding, when it is known.
struct Key(&'static Schema);

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Option<(u32, Encoding)>;

    fn deserialize<D: de::Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Key {
    type Value = Option<(u32, Encoding)>;

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<Self::Value, E> {
        let known = self.0.iter().find(|(name, ..)| *name == key);
        Ok(known.map(|(_, number, encoding)| (*number, *encoding)))
    }
}

/// The value of a field, or each of an array of them: tag and value are appended to `octets`.
struct Element<'a> {
    number: u32,
    encoding: Encoding,
    octets: &'a mut Vec<u8>,
    /// It is an element of an array already: an array of arrays is no field.
    nested: bool,
}

impl<'de> DeserializeSeed<'de> for Element<'_> {
    type Value = ();

    fn deserialize<D: de::Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl Element<'_> {
    fn fixed32(self, value: u32) {
        wire::put_tag(self.octets, self.number, wire::FIXED32);
        self.octets.extend_from_slice(&value.to_le_bytes());
    }

    fn fixed64(self, value: u64) {
        wire::put_tag(self.octets, self.number, wire::FIXED64);
        self.octets.extend_from_slice(&value.to_le_bytes());
    }

    fn varint(self, value: u64) {
        wire::put_tag(self.octets, self.number, wire::VARINT);
        wire::put_varint(self.octets, value);
    }

    fn bytes(self, bytes: &[u8]) {
        wire::put_tag(self.octets, self.number, wire::BYTES);
        wire::put_varint(self.octets, bytes.len() as u64);
        self.octets.extend_from_slice(bytes);
    }

    /// A whole number, when the field takes one of that size.
    fn whole<E: de::Error>(self, value: i128) -> Result<(), E> {
        let encoding = self.encoding;
        let range = || E::custom(format_args!("{value} is not {encoding}"));
        match encoding {
            Uint32 => self.varint(u32::try_from(value).map_err(|_| range())?.into()),
            // The wire has the two's complement.
            Int64 => self.varint(i64::try_from(value).map_err(|_| range())?.cast_unsigned()),
            Fixed32 => self.fixed32(u32::try_from(value).map_err(|_| range())?),
            Fixed64 => self.fixed64(u64::try_from(value).map_err(|_| range())?),
            Double => self.fixed64((value as f64).to_bits()),
            _ => return Err(E::invalid_type(de::Unexpected::Other("number"), &self)),
        }
        Ok(())
    }

    /// A number as a text, which ProtoJSON allows for all kinds of numbers.
    fn number_in<E: de::Error>(self, text: &str) -> Result<(), E> {
        if let Ok(whole) = text.parse::<i64>() {
            return self.whole(whole.into());
        }
        if let Ok(whole) = text.parse::<u64>() {
            return self.whole(whole.into());
        }
        match (self.encoding, text.parse::<f64>()) {
            (Double, Ok(value)) => {
                self.fixed64(value.to_bits());
                Ok(())
            }
            _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str(match self {
            Message(_) => "an object",
            Text => "a text",
            Hex => "hexadecimal digits",
            Base64 => "octets in base64",
            Bool => "true or false",
            Uint32 | Fixed32 => "a number of 32 bits",
            Int64 | Fixed64 => "a number of 64 bits",
            Double => "a number",
        })
    }
}

impl<'de> Visitor<'de> for Element<'_> {
    type Value = ();

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.encoding, text)
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        match self.encoding {
            Bool => self.varint(value.into()),
            _ => return Err(E::invalid_type(de::Unexpected::Bool(value), &self)),
        }
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        self.whole(value.into())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        self.whole(value.into())
    }

    #[allow(clippy::cast_possible_truncation)] // it is whole, and checked for its size
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        match self.encoding {
            Double => {
                self.fixed64(value.to_bits());
                Ok(())
            }
            // ProtoJSON takes 1e3 and 5.0 for whole numbers.
            _ if value.fract() == 0.0 && value.abs() < 1e30 => self.whole(value as i128),
            _ => Err(E::invalid_type(de::Unexpected::Float(value), &self)),
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        let wrong = || E::invalid_value(de::Unexpected::Str(text), &self);
        match self.encoding {
            Text => self.bytes(text.as_bytes()),
            Hex => {
                // A longer text is no id either: its length is told by the reader, whose span it is.
                let mut id = [0; 32];
                let digits = text.as_bytes();
                let id = id.get_mut(..digits.len() / 2).ok_or_else(wrong)?;
                if !digits.len().is_multiple_of(2) || hex(digits, id).is_none() {
                    return Err(wrong());
                }
                self.bytes(id);
            }
            Base64 => {
                let url = text.replace('-', "+").replace('_', "/");
                let octets = BASE64.decode(url).map_err(|_| wrong())?;
                self.bytes(&octets);
            }
            Uint32 | Int64 | Fixed32 | Fixed64 | Double => self.number_in(text)?,
            Message(_) | Bool => return Err(E::invalid_type(de::Unexpected::Str(text), &self)),
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        if self.nested || !matches!(self.encoding, Message(_)) {
            return Err(de::Error::invalid_type(de::Unexpected::Seq, &self));
        }
        let (number, encoding) = (self.number, self.encoding);
        let mut next = || {
            let octets = &mut *self.octets;
            seq.next_element_seed(Element { number, encoding, octets, nested: true })
        };
        while next()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let Message(of) = self.encoding else {
            return Err(de::Error::invalid_type(de::Unexpected::Map, &self));
        };
        wire::put_tag(self.octets, self.number, wire::BYTES);
        let begin = wire::begin_message(self.octets);
        Fields { of, octets: self.octets }.visit_map(map)?;
        wire::end_message(self.octets, begin);
        Ok(())
    }
}

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Decodes two digits into each octet of `octets`.
fn hex(digits: &[u8], octets: &mut [u8]) -> Option<()> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    for (pair, octet) in digits.chunks_exact(2).zip(octets) {
        *octet = u8::try_from(digit(pair[0])? << 4 | digit(pair[1])?).ok()?;
    }
    Some(())
}
