//! What must hold for any bytes that come in as an agent's message; the fuzz target `deliver` asks
//! the same.

use chronoscope_collect::protocol::{AgentMessage, CONTENT_MAX, FromAgent, Rows};
use prost::Message;

/// The bytes are refused, or are a message that says the same when it is written again.
pub(crate) fn check(bytes: &[u8]) {
    let Ok(message) = AgentMessage::decode(bytes) else { return };
    match &message.kind {
        Some(FromAgent::Hello(hello)) => drop(hello.check()),
        Some(FromAgent::Rows(rows)) => check_rows(rows),
        None => {}
    }
    let again = AgentMessage::decode(message.encode_to_vec().as_slice());
    assert_eq!(again.as_ref(), Ok(&message));
}

fn check_rows(rows: &Rows) {
    let Ok(message) = rows.unpack() else { return };
    assert!(rows.size_bytes as usize <= CONTENT_MAX);
    for reading in &message.extras.clocks {
        assert!(reading.at_ns.checked_add(reading.offset_ns).is_some_and(|own_ns| own_ns >= 0));
    }
    let again = Rows::pack(rows.first_row, &message).map(|rows| rows.unpack());
    assert!(matches!(again, Ok(Ok(again)) if again == message));
}
