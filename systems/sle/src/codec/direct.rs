//! The operations that come by the hundred thousand, without the declarations.

use super::Codec;
use crate::pdu::{Message, Role};
use bytes::Bytes;

/// The operation, where it is one of these in its usual form.
pub(super) fn decode(_: Codec, _: Role, _: &Bytes) -> Option<Message> {
    None
}

/// Whether the operation was one of these, and is in `out` now.
pub(super) fn encode(_: Codec, _: &Message, _: &mut Vec<u8>) -> bool {
    false
}
