//! Encoding and decoding of the framework's operations: BER (X.690) of the ASN.1 modules of CCSDS
//! 921.1-B-2, annex F. The structure is that of [`crate::codec`]: declarations, a scan before them,
//! and a fast path for PROCESS-DATA, its return and the forward buffer.
//!
//! The codec does not limit data units: the procedures do, and the transport limits a PDU. The
//! content of an extension of a known type must have that type; one of an unknown type is kept
//! undecoded.

mod common;
mod diagnostic;
mod direct;
mod list;
mod operation;
mod outcome;
mod processing;
mod session;

use crate::codec::common::{read, write};
use crate::codec::{PARTS_MAX, operation_tag};
use crate::csts::pdu::{AssociationRole, BindPdu, Message, Pdu, PlainReturn};
use bytes::Bytes;
use diagnostic::{ReturnHeader, returned};
use outcome::{Coded, DecodedOperation, OCTETS_MAX};

pub use crate::codec::{BerFault, DecodeError, EncodeError};

/// One operation: all of `octets`, which `sender` has sent. Data units in it are slices of `octets`
/// where the operation came in its usual form, else copies.
///
/// # Errors
/// [`DecodeError`]: the octets are no BER, no operation of this sender, or not as declared.
pub fn decode(sender: AssociationRole, octets: &Bytes) -> Result<Message, DecodeError> {
    match direct::decode(sender, octets) {
        Some(message) => Ok(message),
        None => decode_declared(sender, octets),
    }
}

/// As [`decode`], by the ASN.1 declarations alone: to measure what is saved without them.
///
/// # Errors
/// As [`decode`].
pub fn decode_declared(sender: AssociationRole, octets: &Bytes) -> Result<Message, DecodeError> {
    let tag = operation_tag(octets)?;
    let carries_data = matches!(
        (sender, tag),
        (AssociationRole::User, 60 | 62) | (AssociationRole::Provider, 70 | 71)
    );
    if !carries_data && octets.len() > OCTETS_MAX {
        let operation = "an operation without a data unit";
        let octets = octets.len();
        return Err(DecodeError::TooLong { operation, octets, octets_max: OCTETS_MAX });
    }
    let (credentials, pdu) = by_tag(tag, sender, octets)?;
    Ok(Message { credentials: credentials.into(), pdu })
}

/// The BIND invocation with which an association begins: credentials and invocation.
///
/// # Errors
/// [`DecodeError`]: anything else.
pub fn decode_bind(octets: &Bytes) -> Result<(Option<Bytes>, BindPdu), DecodeError> {
    let tag = operation_tag(octets)?;
    if tag != 0 {
        return Err(DecodeError::NotBind { tag });
    }
    match decode_declared(AssociationRole::User, octets)? {
        Message { credentials, pdu: Pdu::Bind(bind) } => Ok((credentials, bind)),
        _ => Err(DecodeError::NotBind { tag }),
    }
}

fn by_tag(tag: u32, sender: AssociationRole, octets: &[u8]) -> DecodedOperation {
    match (sender, tag) {
        (AssociationRole::User, 0) => session::bind(tag, octets),
        (AssociationRole::Provider, 1) => session::bind_return(tag, octets),
        (AssociationRole::User, 2) => session::bare("UNBIND invocation", Pdu::Unbind)(tag, octets),
        (AssociationRole::Provider, 3) => session::unbind_return(tag, octets),
        (_, 4) => session::peer_abort(tag, octets),
        (AssociationRole::User, 10) => operation::start(tag, octets),
        (AssociationRole::Provider, 11) => plain("START return", Pdu::StartReturn)(tag, octets),
        (AssociationRole::User, 20) => session::bare("STOP invocation", Pdu::Stop)(tag, octets),
        (AssociationRole::Provider, 21) => plain("STOP return", Pdu::StopReturn)(tag, octets),
        (AssociationRole::User, 30) => operation::directive(tag, octets),
        (AssociationRole::Provider, 31) => {
            let operation = "EXECUTE-DIRECTIVE acknowledgement";
            plain(operation, Pdu::ExecuteDirectiveAcknowledge)(tag, octets)
        }
        (AssociationRole::Provider, 32) => {
            plain("EXECUTE-DIRECTIVE return", Pdu::ExecuteDirectiveReturn)(tag, octets)
        }
        (AssociationRole::User, 40) => operation::get(tag, octets),
        (AssociationRole::Provider, 41) => operation::get_return(tag, octets),
        (AssociationRole::Provider, 50) => processing::notify(tag, octets),
        (AssociationRole::User, 60) => processing::process(tag, octets),
        (AssociationRole::Provider, 61) => processing::process_return(tag, octets),
        (AssociationRole::User, 62) => processing::forward_buffer(tag, octets),
        (AssociationRole::Provider, 70) => operation::transfer(tag, octets),
        (AssociationRole::Provider, 71) => operation::return_buffer(tag, octets),
        _ => Err(DecodeError::UnknownFrameworkOperation { tag, sender }),
    }
}

/// Appends the operation to `out`; on an error `out` is as it was.
///
/// # Errors
/// [`EncodeError`]: a value in it is outside of what the book allows.
pub fn encode(message: &Message, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    if direct::encode(message, out) {
        return Ok(());
    }
    encode_declared(message, out)
}

/// As [`encode`], by the ASN.1 declarations alone: to measure what is saved without them.
///
/// # Errors
/// As [`encode`].
pub fn encode_declared(message: &Message, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let credentials = message.credentials.as_ref();
    let name = message.pdu.name();
    match &message.pdu {
        Pdu::Bind(pdu) => session::put_bind(credentials, pdu, out),
        Pdu::BindReturn(pdu) => session::put_bind_return(credentials, pdu, out),
        Pdu::Unbind(pdu) => session::put_bare(name, 2, credentials, pdu, out),
        Pdu::UnbindReturn(pdu) => {
            session::can_unbind(&pdu.result)?;
            put_plain(name, 3, credentials, pdu, out)
        }
        Pdu::PeerAbort(diagnostic) => session::put_peer_abort(*diagnostic, out),
        Pdu::Start(pdu) => operation::put_start(credentials, pdu, out),
        Pdu::StartReturn(pdu) => put_plain(name, 11, credentials, pdu, out),
        Pdu::Stop(pdu) => session::put_bare(name, 20, credentials, pdu, out),
        Pdu::StopReturn(pdu) => put_plain(name, 21, credentials, pdu, out),
        Pdu::ExecuteDirective(pdu) => operation::put_directive(credentials, pdu, out),
        Pdu::ExecuteDirectiveAcknowledge(pdu) => put_plain(name, 31, credentials, pdu, out),
        Pdu::ExecuteDirectiveReturn(pdu) => put_plain(name, 32, credentials, pdu, out),
        Pdu::Get(pdu) => operation::put_get(credentials, pdu, out),
        Pdu::GetReturn(pdu) => operation::put_get_return(credentials, pdu, out),
        Pdu::Notify(pdu) => processing::put_notify(credentials, pdu, out),
        Pdu::ProcessData(pdu) => processing::put_process(credentials, pdu, out),
        Pdu::ProcessDataReturn(pdu) => processing::put_process_return(credentials, pdu, out),
        Pdu::ForwardBuffer(parts) => {
            fits(name, parts.len())?;
            processing::put_forward_buffer(parts, out)
        }
        Pdu::TransferData(pdu) => operation::put_transfer(credentials, pdu, out),
        Pdu::ReturnBuffer(parts) => {
            fits(name, parts.len())?;
            operation::put_return_buffer(parts, out)
        }
    }
}

/// Whether a buffer is one that is read again.
fn fits(name: &'static str, parts: usize) -> Coded {
    crate::codec::common::in_range(name, parts, 0, PARTS_MAX as u64)
}

/// A return with nothing but a result.
fn plain(
    operation: &'static str,
    pdu: fn(PlainReturn) -> Pdu,
) -> impl Fn(u32, &[u8]) -> DecodedOperation {
    move |tag, octets| {
        let (credentials, answer) = returned(read(operation, tag, octets)?)?;
        Ok((credentials, pdu(answer)))
    }
}

fn put_plain(
    name: &'static str,
    tag: u32,
    credentials: Option<&Bytes>,
    pdu: &PlainReturn,
    out: &mut Vec<u8>,
) -> Coded {
    let (result, extension) = (pdu.result.as_ref().copied(), pdu.extension.as_ref());
    write(name, tag, &ReturnHeader::new(credentials, pdu.invoke_id, result, extension)?, out)
}
