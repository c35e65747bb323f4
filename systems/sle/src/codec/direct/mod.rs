//! Fast path for the three frequent operations, which are decoded and encoded without the ASN.1
//! declarations: TRANSFER-DATA of FCLTU, its return, and the transfer buffer of the return services.
//!
//! The fast path decodes the usual form only: definite lengths, integers without redundant octets,
//! strings in one segment, defined values. It declines any other form, which the declarations then
//! decode or refuse. Therefore errors have one source. Decoded data are slices of the received
//! octets, without a copy. The encoded octets are those of the declarations. Property tests check
//! both (`tests.rs`).

mod buffer;
mod cltu;
pub(crate) mod read;
#[cfg(test)]
mod tests;
pub(crate) mod write;

use super::Codec;
use crate::pdu::{AssociationRole, Message, Pdu, ServiceType};
use bytes::Bytes;

/// Reads a PDU if it is one of the three and in the usual form.
pub(super) fn decode(codec: Codec, sender: AssociationRole, octets: &Bytes) -> Option<Message> {
    match (codec.service, sender, octets.first()?) {
        (ServiceType::Fcltu, AssociationRole::User, &cltu::INVOCATION) => {
            cltu::read_invocation(octets)
        }
        (ServiceType::Fcltu, AssociationRole::Provider, &cltu::RETURN) => cltu::read_return(octets),
        (
            ServiceType::Raf | ServiceType::Rcf | ServiceType::Rocf,
            AssociationRole::Provider,
            &buffer::BUFFER,
        ) => buffer::read(codec.service, octets),
        _ => None,
    }
}

/// Appends a PDU if it is one of the three and everything about it is as it should be; otherwise
/// `false`, with nothing appended.
pub(super) fn encode(codec: Codec, message: &Message, out: &mut Vec<u8>) -> bool {
    let credentials = message.credentials.as_ref();
    match (codec.service, &message.pdu) {
        (ServiceType::Fcltu, Pdu::CltuTransferData(pdu)) => {
            cltu::write_invocation(credentials, pdu, out)
        }
        (ServiceType::Fcltu, Pdu::CltuTransferDataReturn(pdu)) => {
            cltu::write_return(credentials, pdu, out)
        }
        (ServiceType::Raf | ServiceType::Rcf | ServiceType::Rocf, Pdu::TransferBuffer(parts)) => {
            credentials.is_none() && buffer::write(codec.service, parts, out)
        }
        _ => false,
    }
}
