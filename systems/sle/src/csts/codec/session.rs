//! BIND, UNBIND and PEER-ABORT. Source: CCSDS 921.1-B-2, annexes F3.2 and F3.5.

use super::common::{Extended, InvocationHeader, identifier, oid, wire_oid};
use super::diagnostic::{ReturnHeader, returned};
use super::outcome::{Coded, DecodedOperation};
use crate::codec::common::{in_range, read, text, write};
use crate::codec::{DecodeError, EncodeError};
use crate::csts::pdu::{
    BindPdu, BindReturn, Pdu, PeerAbortDiagnostic, PlainInvocation, ServiceInstanceId,
};
use bytes::Bytes;
use rasn::prelude::*;
use rasn::types::FixedOctetString;

#[derive(AsnType, Decode, Encode)]
struct BindInvocation {
    header: InvocationHeader,
    #[rasn(size("3..=16"))]
    initiator: VisibleString,
    #[rasn(size("1..=128"))]
    responder_port: VisibleString,
    service_type: ObjectIdentifier,
    #[rasn(value("1..=4294967295"))]
    version: u32,
    instance: WireInstance,
    extension: Extended,
}

/// `ServiceInstanceIdentifier`.
#[derive(AsnType, Decode, Encode)]
struct WireInstance {
    spacecraft: ObjectIdentifier,
    facility: ObjectIdentifier,
    service_type: ObjectIdentifier,
    number: u32,
}

#[derive(AsnType, Decode, Encode)]
struct WireBindReturn {
    header: ReturnHeader,
    #[rasn(size("3..=16"))]
    responder: VisibleString,
}

#[derive(AsnType, Decode, Encode)]
struct PeerAbortInvocation {
    diagnostic: FixedOctetString<1>,
}

/// `StopInvocation` and `UnbindInvocation`, which are the same.
#[derive(AsnType, Decode, Encode)]
pub(super) struct BareInvocation {
    header: InvocationHeader,
    extension: Extended,
}

/// `IdentifierString` from the wire.
fn without_blanks(operation: &'static str, wire: VisibleString) -> Result<String, DecodeError> {
    let text = text(wire);
    if text.contains(' ') {
        let reason = format!("the identifier `{text}` has a blank");
        return Err(DecodeError::Content { operation, reason });
    }
    Ok(text)
}

pub(super) fn bind(tag: u32, octets: &[u8]) -> DecodedOperation {
    let wire: BindInvocation = read("BIND invocation", tag, octets)?;
    let instance = ServiceInstanceId {
        spacecraft: oid(&wire.instance.spacecraft)?,
        facility: oid(&wire.instance.facility)?,
        service_type: oid(&wire.instance.service_type)?,
        number: wire.instance.number,
    };
    let bind = BindPdu {
        invoke_id: wire.header.invoke_id,
        procedure: wire.header.procedure.take()?,
        initiator: without_blanks("BIND invocation", wire.initiator)?,
        responder_port: without_blanks("BIND invocation", wire.responder_port)?,
        service_type: oid(&wire.service_type)?,
        version: wire.version,
        instance,
        extension: wire.extension.take()?,
    };
    Ok((wire.header.credentials, Pdu::Bind(bind)))
}

pub(super) fn put_bind(credentials: Option<&Bytes>, bind: &BindPdu, out: &mut Vec<u8>) -> Coded {
    in_range("versionNumber", bind.version, 1, u32::MAX.into())?;
    let instance = WireInstance {
        spacecraft: wire_oid(&bind.instance.spacecraft)?,
        facility: wire_oid(&bind.instance.facility)?,
        service_type: wire_oid(&bind.instance.service_type)?,
        number: bind.instance.number,
    };
    let wire = BindInvocation {
        header: InvocationHeader::new(credentials, bind.invoke_id, &bind.procedure)?,
        initiator: identifier("initiatorIdentifier", &bind.initiator, 3, 16)?,
        responder_port: identifier("responderPortIdentifier", &bind.responder_port, 1, 128)?,
        service_type: wire_oid(&bind.service_type)?,
        version: bind.version,
        instance,
        extension: Extended::new(bind.extension.as_ref())?,
    };
    write("BIND invocation", 0, &wire, out)
}

pub(super) fn bind_return(tag: u32, octets: &[u8]) -> DecodedOperation {
    let wire: WireBindReturn = read("BIND return", tag, octets)?;
    let responder = without_blanks("BIND return", wire.responder)?;
    let (credentials, answer) = returned(wire.header)?;
    Ok((credentials, Pdu::BindReturn(BindReturn { answer, responder })))
}

pub(super) fn put_bind_return(
    credentials: Option<&Bytes>,
    pdu: &BindReturn,
    out: &mut Vec<u8>,
) -> Coded {
    let answer = &pdu.answer;
    let result = answer.result.as_ref().copied();
    let extension = answer.extension.as_ref();
    let header = ReturnHeader::new(credentials, answer.invoke_id, result, extension)?;
    let responder = identifier("responderIdentifier", &pdu.responder, 3, 16)?;
    write("BIND return", 1, &WireBindReturn { header, responder }, out)
}

/// UNBIND's and STOP's invocation.
pub(super) fn bare(
    operation: &'static str,
    pdu: fn(PlainInvocation) -> Pdu,
) -> impl Fn(u32, &[u8]) -> DecodedOperation {
    move |tag, octets| {
        let wire: BareInvocation = read(operation, tag, octets)?;
        let invocation = PlainInvocation {
            invoke_id: wire.header.invoke_id,
            procedure: wire.header.procedure.take()?,
            extension: wire.extension.take()?,
        };
        Ok((wire.header.credentials, pdu(invocation)))
    }
}

pub(super) fn put_bare(
    operation: &'static str,
    tag: u32,
    credentials: Option<&Bytes>,
    pdu: &PlainInvocation,
    out: &mut Vec<u8>,
) -> Coded {
    let header = InvocationHeader::new(credentials, pdu.invoke_id, &pdu.procedure)?;
    let extension = Extended::new(pdu.extension.as_ref())?;
    write(operation, tag, &BareInvocation { header, extension }, out)
}

pub(super) fn peer_abort(tag: u32, octets: &[u8]) -> DecodedOperation {
    let wire: PeerAbortInvocation = read("PEER-ABORT", tag, octets)?;
    let [octet] = *wire.diagnostic;
    let credentials = crate::codec::common::Credentials::Unused(());
    Ok((credentials, Pdu::PeerAbort(PeerAbortDiagnostic::from_octet(octet))))
}

pub(super) fn put_peer_abort(diagnostic: PeerAbortDiagnostic, out: &mut Vec<u8>) -> Coded {
    let diagnostic = [diagnostic.octet()].into();
    write("PEER-ABORT", 4, &PeerAbortInvocation { diagnostic }, out)
}

/// UNBIND's return has no negative result.
pub(super) fn unbind_return(tag: u32, octets: &[u8]) -> DecodedOperation {
    let operation = "UNBIND return";
    let (credentials, answer) = returned(read(operation, tag, octets)?)?;
    if answer.result.is_err() {
        let reason = "its result cannot be negative".to_owned();
        return Err(DecodeError::Content { operation, reason });
    }
    Ok((credentials, Pdu::UnbindReturn(answer)))
}

/// Checks the result of UNBIND before it is sent: it cannot be negative.
pub(super) fn can_unbind(result: &Result<(), crate::csts::pdu::Diagnostic>) -> Coded {
    let refused = || {
        let reason = "its result cannot be negative".to_owned();
        EncodeError::Content { operation: "UNBIND return", reason }
    };
    result.is_ok().then_some(()).ok_or_else(refused)
}
