//! Fast path for PROCESS-DATA, its return and the forward buffer, which are decoded and encoded
//! without the ASN.1 declarations.
//!
//! As in [`crate::codec`]'s `direct`, it decodes the usual form only and declines any other, which
//! the declarations then decode or refuse. The usual form has definite lengths, a data unit of
//! opaque octets in one segment, and no extension or that of Data Processing or Sequence-Controlled
//! Data Processing without a further one; a return is positive. The encoded octets are those of the
//! declarations. Property tests check both (`tests/csts_codec.rs`).

mod process;

use crate::csts::pdu::{AssociationRole, Message, Pdu};
use bytes::Bytes;

/// First octet of the identifiers [60] to [62], constructed.
const HIGH_TAG: u8 = 0xbf;
/// Second octet: PROCESS-DATA invocation.
const INVOCATION: u8 = 60;
/// Second octet: PROCESS-DATA return.
const RETURN: u8 = 61;
/// Second octet: forward buffer.
const BUFFER: u8 = 62;

/// Reads a PDU if it is one of the three and in the usual form.
pub(super) fn decode(sender: AssociationRole, octets: &Bytes) -> Option<Message> {
    match (sender, *octets.first_chunk()?) {
        (AssociationRole::User, [HIGH_TAG, INVOCATION]) => process::read_invocation(octets),
        (AssociationRole::Provider, [HIGH_TAG, RETURN]) => process::read_return(octets),
        (AssociationRole::User, [HIGH_TAG, BUFFER]) => process::read_buffer(octets),
        _ => None,
    }
}

/// Appends a PDU if it is one of the three and everything about it is as it should be; otherwise
/// `false`, with nothing appended.
pub(super) fn encode(message: &Message, out: &mut Vec<u8>) -> bool {
    let credentials = message.credentials.as_ref();
    match &message.pdu {
        Pdu::ProcessData(pdu) => process::write_invocation(credentials, pdu, out),
        Pdu::ProcessDataReturn(pdu) => process::write_return(credentials, pdu, out),
        Pdu::ForwardBuffer(parts) => credentials.is_none() && process::write_buffer(parts, out),
        _ => false,
    }
}
