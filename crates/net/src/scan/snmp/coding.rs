//! Octets of a message by the basic encoding rules.

use super::error::SnmpError;
use rasn::ber;

/// Longest accepted message, in octets: the answer to one query needs a quarter of it.
pub const OCTETS_MAX: usize = 8192;

pub(super) fn encode<T: rasn::Encode>(message: &T) -> Result<Vec<u8>, SnmpError> {
    ber::encode(message).map_err(|error| SnmpError::Message(error.to_string()))
}

pub(super) fn decode<T: rasn::Decode>(octets: &[u8]) -> Result<T, SnmpError> {
    let refuse = |error: rasn::error::DecodeError| {
        SnmpError::Message(error.to_string().chars().take(200).collect())
    };
    ber::decode(octets).map_err(refuse)
}
