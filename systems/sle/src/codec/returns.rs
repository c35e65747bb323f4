//! Operations of RAF, RCF and ROCF.

use super::{Codec, DecodeError, EncodeError};
use crate::pdu::{Message, Role};
use bytes::Bytes;

/// The operation with this tag.
pub(super) fn decode(
    codec: Codec,
    tag: u32,
    sender: Role,
    _: &Bytes,
) -> Result<Message, DecodeError> {
    Err(codec.unknown(tag, sender))
}

/// Appends the operation.
pub(super) fn encode(codec: Codec, message: &Message, _: &mut Vec<u8>) -> Result<(), EncodeError> {
    Err(codec.not_of_service(&message.pdu))
}
