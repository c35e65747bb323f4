//! Events and links of a span, as JSON.

use super::value::{self, Refusal, Text};
use super::wire::Message;
use std::fmt::Write;

/// Largest JSON text of one of them, in bytes.
const ROOM: usize = super::context_builder::CONTEXT_MAX;

/// An event: `{"name":…,"time_unix_nano":…,"attributes":{…}}`, the attributes where it has any.
/// `false` when it is too long.
pub(super) fn event(message: Message<'_>, json: &mut String) -> Result<bool, Refusal> {
    let (mut time_ns, mut name, mut dropped, mut attributes) = (0, Text::default(), 0, false);
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => time_ns = field.fixed64("Event")?,
            2 => name = Text(field.bytes("Event")?),
            3 => attributes = true,
            4 => dropped = field.varint("Event")?,
            _ => {}
        }
    }
    let name = name.text()?;
    if name.len() > ROOM {
        return Ok(false);
    }
    json.push_str("{\"name\":");
    value::quote(name, json);
    let _ = write!(json, ",\"time_unix_nano\":{time_ns}"); // a String takes everything
    ended(message, (attributes, 3, "Event"), dropped, json)
}

/// A link: `{"trace_id":…,"span_id":…,"trace_state":…,"flags":…,"attributes":{…}}`, the last
/// three where it has any. `false` when it is too long.
pub(super) fn link(message: Message<'_>, json: &mut String) -> Result<bool, Refusal> {
    let (mut trace_id, mut span_id) = (Message::default(), Message::default());
    let (mut state, mut flags, mut dropped, mut attributes) = (Text::default(), 0, 0, false);
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => trace_id = field.bytes("Link")?,
            2 => span_id = field.bytes("Link")?,
            3 => state = Text(field.bytes("Link")?),
            4 => attributes = true,
            5 => dropped = field.varint("Link")?,
            6 => flags = field.fixed32("Link")?,
            _ => {}
        }
    }
    let state = state.text()?;
    if trace_id.bytes.len().max(span_id.bytes.len()).max(state.len()) > ROOM {
        return Ok(false);
    }
    json.push_str("{\"trace_id\":\"");
    value::hex(trace_id.bytes, json);
    json.push_str("\",\"span_id\":\"");
    value::hex(span_id.bytes, json);
    json.push('"');
    if !state.is_empty() {
        json.push_str(",\"trace_state\":");
        value::quote(state, json);
    }
    if flags != 0 {
        let _ = write!(json, ",\"flags\":{flags}");
    }
    ended(message, (attributes, 4, "Link"), dropped, json)
}

/// The end that both have.
fn ended(
    message: Message<'_>,
    (attributes, number, of): (bool, u32, &'static str),
    dropped: u64,
    json: &mut String,
) -> Result<bool, Refusal> {
    if attributes {
        json.push_str(",\"attributes\":");
        if !value::members(message, number, of, ROOM, 1, json)? {
            return Ok(false);
        }
    }
    if dropped != 0 {
        let _ = write!(json, ",\"dropped_attributes_count\":{dropped}");
    }
    json.push('}');
    Ok(json.len() <= ROOM)
}
