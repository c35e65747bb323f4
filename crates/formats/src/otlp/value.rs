//! `AnyValue`: what an attribute may be, and how the part of it that is neither a text nor a
//! number is written as JSON.
//!
//! | AnyValue | JSON |
//! |---|---|
//! | none | `null` |
//! | string, bool, int | text, `true`, a number without a point |
//! | double | a number with a point or an exponent; NaN and ∞ as `{"$double":"NaN"}` |
//! | array, kvlist | list, object; a key that begins with `$` gets one more |
//! | bytes | `{"$bytes":"00ff"}` |

use super::wire::{Field, Message, WireError};
use std::fmt::Write;

/// Levels of lists in lists that are read.
pub(super) const DEPTH_MAX: usize = 16;

/// A text as it came: bytes that ought to be UTF-8.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Text<'a>(pub(super) Message<'a>);

/// Reason why a value is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("octet {at}: a text is not UTF-8")]
    NotUtf8 { at: usize },
    #[error("octet {at}: values nested deeper than {DEPTH_MAX}")]
    Deep { at: usize },
}

impl<'a> Text<'a> {
    /// The text.
    ///
    /// # Errors
    /// [`Refusal::NotUtf8`] with the first octet that is none.
    pub(super) fn text(self) -> Result<&'a str, Refusal> {
        std::str::from_utf8(self.0.bytes)
            .map_err(|error| Refusal::NotUtf8 { at: self.0.at + error.valid_up_to() })
    }
}

/// A value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Any<'a> {
    #[default]
    None,
    Text(Text<'a>),
    Bool(bool),
    Int(i64),
    Double(f64),
    Array(Message<'a>),
    List(Message<'a>),
    Bytes(Message<'a>),
}

/// A `KeyValue`: its key and its value.
pub(super) fn key_value(message: Message<'_>) -> Result<(Text<'_>, Any<'_>), WireError> {
    let (mut key, mut any) = (Text::default(), Any::None);
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => key = Text(field.bytes("KeyValue")?),
            2 => any = self::any(field.bytes("KeyValue")?)?,
            _ => {}
        }
    }
    Ok((key, any))
}

/// An `AnyValue`; of several members the last counts, as of a `oneof`.
pub(super) fn any(message: Message<'_>) -> Result<Any<'_>, WireError> {
    const OF: &str = "AnyValue";
    let mut any = Any::None;
    for field in message.fields() {
        let field: Field<'_> = field?;
        any = match field.number {
            1 => Any::Text(Text(field.bytes(OF)?)),
            2 => Any::Bool(field.varint(OF)? != 0),
            3 => Any::Int(field.varint(OF)?.cast_signed()),
            4 => Any::Double(f64::from_bits(field.fixed64(OF)?)),
            5 => Any::Array(field.bytes(OF)?),
            6 => Any::List(field.bytes(OF)?),
            7 => Any::Bytes(field.bytes(OF)?),
            _ => any,
        };
    }
    Ok(any)
}

/// Appends a value as JSON. `false` when `json` would become longer than about `room` bytes; the
/// text is then incomplete.
///
/// # Errors
/// The error of an invalid value.
pub(super) fn json(any: Any<'_>, room: usize, json: &mut String) -> Result<bool, Refusal> {
    write(any, room, 0, json)
}

fn write(any: Any<'_>, room: usize, depth: usize, json: &mut String) -> Result<bool, Refusal> {
    match any {
        Any::None => json.push_str("null"),
        Any::Text(text) => {
            let text = text.text()?;
            if json.len() + text.len() > room {
                return Ok(false);
            }
            quote(text, json);
        }
        Any::Bool(value) => json.push_str(if value { "true" } else { "false" }),
        Any::Int(number) => {
            let _ = write!(json, "{number}"); // a String takes everything
        }
        Any::Double(number) if number.is_finite() => {
            let _ = write!(json, "{number:?}");
        }
        Any::Double(number) => {
            let _ = write!(json, "{{\"$double\":\"{number}\"}}");
        }
        Any::Bytes(message) => {
            if json.len() + 2 * message.bytes.len() > room {
                return Ok(false);
            }
            json.push_str("{\"$bytes\":\"");
            hex(message.bytes, json);
            json.push_str("\"}");
        }
        Any::Array(message) | Any::List(message) if depth >= DEPTH_MAX => {
            return Err(Refusal::Deep { at: message.at });
        }
        Any::Array(message) => return array(message, room, depth + 1, json),
        Any::List(message) => {
            return members(message, 1, "KeyValueList", room, depth + 1, json);
        }
    }
    Ok(json.len() <= room)
}

fn array(
    message: Message<'_>,
    room: usize,
    depth: usize,
    json: &mut String,
) -> Result<bool, Refusal> {
    json.push('[');
    let mut first = true;
    for field in message.fields() {
        let field = field?;
        if field.number != 1 {
            continue;
        }
        if !std::mem::take(&mut first) {
            json.push(',');
        }
        if !write(any(field.bytes("ArrayValue")?)?, room, depth, json)? {
            return Ok(false);
        }
    }
    json.push(']');
    Ok(json.len() <= room)
}

/// The fields `number` of a message, which are `KeyValue`s, as an object.
pub(super) fn members(
    message: Message<'_>,
    number: u32,
    of: &'static str,
    room: usize,
    depth: usize,
    json: &mut String,
) -> Result<bool, Refusal> {
    json.push('{');
    let mut first = true;
    for field in message.fields() {
        let field = field?;
        if field.number != number {
            continue;
        }
        let (key, any) = key_value(field.bytes(of)?)?;
        let key = key.text()?;
        if json.len() + key.len() > room {
            return Ok(false);
        }
        if !std::mem::take(&mut first) {
            json.push(',');
        }
        if key.starts_with('$') {
            quote(&format!("${key}"), json);
        } else {
            quote(key, json);
        }
        json.push(':');
        if !write(any, room, depth, json)? {
            return Ok(false);
        }
    }
    json.push('}');
    Ok(json.len() <= room)
}

/// Appends a text as a JSON string.
pub(super) fn quote(text: &str, json: &mut String) {
    json.push('"');
    for char in text.chars() {
        match char {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            char if char < ' ' => {
                let _ = write!(json, "\\u{:04x}", u32::from(char));
            }
            char => json.push(char),
        }
    }
    json.push('"');
}

/// Appends bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
}
