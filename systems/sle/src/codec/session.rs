//! The operations that are the same in every service: BIND, UNBIND, PEER-ABORT, STOP,
//! SCHEDULE-STATUS-REPORT and the invocation of GET-PARAMETER.
//!
//! Source: modules `BIND-TYPES`, `SERVICE-INSTANCE-ID` and `COMMON-PDUS` of CCSDS 911.1, annex A.

use super::common::{
    Acknowledged, Acknowledgement, Credentials, Decoded, GetParameterInvocation, OutcomeReturn,
    ScheduleInvocation, StopInvocation, in_range, read, text, visible, write,
};
use super::error::{DecodeError, EncodeError};
use crate::pdu::{
    AssociationRole, BindDiagnostic, BindPdu, BindReturn, Message, ParameterName, Pdu,
    PeerAbortDiagnostic, ServiceInstanceId, ServiceType, SiAttribute, UnbindReason,
};
use bytes::Bytes;
use rasn::prelude::*;
use rasn::types::SetOf;

/// None of these has more: the longest is a BIND with credentials and four attributes of 256
/// characters.
const OCTETS_MAX: usize = 8192;

/// Arcs before an attribute's own: `iso identified-organization(3) standards-producing(112)
/// ccsds(4) space-link-extension(3) sle-transfer-services(1) service-instance-attributes(2)`.
const ATTRIBUTE_ARCS: [u32; 7] = [1, 3, 112, 4, 3, 1, 2];

/// The same where version 1 is proposed. One implementation (`sle` of LibreCube) has them so, and
/// no book was at hand to confirm it: they are read whatever the version is, as are the others.
const ATTRIBUTE_ARCS_V1: [u32; 6] = [1, 2, 0, 9, 5, 2];

/// `SleBindInvocation`.
#[derive(AsnType, Decode, Encode)]
struct BindInvocation {
    credentials: Credentials,
    #[rasn(size("3..=16"))]
    initiator: VisibleString,
    #[rasn(size("1..=128"))]
    responder_port: VisibleString,
    service_type: i64,
    #[rasn(value("1..=65535"))]
    version: u16,
    instance: Vec<SetOf<Attribute>>,
}

/// The element of a `ServiceInstanceAttribute`, which is a set of one.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq, Hash)]
struct Attribute {
    identifier: ObjectIdentifier,
    #[rasn(size("1..=256"))]
    value: VisibleString,
}

/// `SleBindReturn`.
#[derive(AsnType, Decode, Encode)]
struct BindReturnWire {
    credentials: Credentials,
    #[rasn(size("3..=16"))]
    responder: VisibleString,
    result: BindResult,
}

#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum BindResult {
    #[rasn(tag(context, 0), value("1..=65535"))]
    Positive(u16),
    #[rasn(tag(context, 1))]
    Negative(i64),
}

/// `SleUnbindInvocation`.
#[derive(AsnType, Decode, Encode)]
struct UnbindInvocation {
    credentials: Credentials,
    reason: i64,
}

/// `SleUnbindReturn`. Its choice has the positive result alone: a negative one is no UNBIND return.
#[derive(AsnType, Decode, Encode)]
struct UnbindReturn {
    credentials: Credentials,
    result: UnbindResult,
}

#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum UnbindResult {
    #[rasn(tag(context, 0))]
    Positive(()),
}

/// The operation with this tag; `None` where it is one of a service's own.
pub(super) fn decode(
    tag: u32,
    sender: AssociationRole,
    octets: &Bytes,
) -> Result<Option<Message>, DecodeError> {
    let decode: fn(u32, &[u8]) -> Decoded = match (sender, tag) {
        (AssociationRole::User, 100) => bind,
        (AssociationRole::Provider, 101) => bind_return,
        (AssociationRole::User, 102) => unbind,
        (AssociationRole::Provider, 103) => unbind_return,
        (_, 104) => peer_abort,
        (AssociationRole::User, 2) => stop,
        (AssociationRole::Provider, 3) => stop_return,
        (AssociationRole::User, 4) => schedule,
        (AssociationRole::Provider, 5) => schedule_return,
        (AssociationRole::User, 6) => get_parameter,
        _ => return Ok(None),
    };
    if octets.len() > OCTETS_MAX {
        let operation = "an operation without data";
        let octets = octets.len();
        return Err(DecodeError::TooLong { operation, octets, octets_max: OCTETS_MAX });
    }
    let (credentials, pdu) = decode(tag, octets)?;
    Ok(Some(Message { credentials: credentials.into(), pdu }))
}

/// Appends the operation; `false` where it is one of a service's own.
pub(super) fn encode(message: &Message, out: &mut Vec<u8>) -> Result<bool, EncodeError> {
    let name = message.pdu.name();
    let credentials = || Credentials::new(message.credentials.as_ref());
    match &message.pdu {
        Pdu::Bind(bind) => write(name, 100, &bind_wire(credentials()?, bind)?, out)?,
        Pdu::BindReturn(answer) => {
            let result = match answer.result {
                Ok(version) => BindResult::Positive(version),
                Err(diagnostic) => BindResult::Negative(diagnostic as i64),
            };
            let responder = identifier("responderIdentifier", &answer.responder)?;
            write(
                name,
                101,
                &BindReturnWire { credentials: credentials()?, responder, result },
                out,
            )?;
        }
        Pdu::Unbind(reason) => {
            let wire = UnbindInvocation { credentials: credentials()?, reason: *reason as i64 };
            write(name, 102, &wire, out)?;
        }
        Pdu::UnbindReturn => {
            let result = UnbindResult::Positive(());
            write(name, 103, &UnbindReturn { credentials: credentials()?, result }, out)?;
        }
        Pdu::PeerAbort(diagnostic) => write(name, 104, &i64::from(diagnostic.octet()), out)?,
        Pdu::Stop { invoke_id } => {
            let wire = StopInvocation { credentials: credentials()?, invoke_id: *invoke_id };
            write(name, 2, &wire, out)?;
        }
        Pdu::StopReturn { invoke_id, result } => {
            let (invoke_id, result) = (*invoke_id, Acknowledged::new(*result)?);
            write(
                name,
                3,
                &Acknowledgement { credentials: credentials()?, invoke_id, result },
                out,
            )?;
        }
        Pdu::ScheduleStatusReport { invoke_id, request } => {
            let (invoke_id, request) = (*invoke_id, (*request).into());
            let wire = ScheduleInvocation { credentials: credentials()?, invoke_id, request };
            write(name, 4, &wire, out)?;
        }
        Pdu::ScheduleStatusReportReturn { invoke_id, result } => {
            let (invoke_id, result) = (*invoke_id, (*result).into());
            write(name, 5, &OutcomeReturn { credentials: credentials()?, invoke_id, result }, out)?;
        }
        Pdu::GetParameter { invoke_id, name: parameter } => {
            let (invoke_id, parameter) = (*invoke_id, parameter.0);
            let wire = GetParameterInvocation { credentials: credentials()?, invoke_id, parameter };
            write(name, 6, &wire, out)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn bind(tag: u32, octets: &[u8]) -> Decoded {
    let wire: BindInvocation = read("BIND invocation", tag, octets)?;
    let attributes = wire.instance.into_iter().map(attribute).collect::<Result<_, _>>()?;
    let bind = BindPdu {
        initiator: text(wire.initiator),
        responder_port: text(wire.responder_port),
        service: service(wire.service_type),
        version: wire.version,
        instance: ServiceInstanceId(attributes),
    };
    Ok((wire.credentials, Pdu::Bind(bind)))
}

fn bind_wire(credentials: Credentials, bind: &BindPdu) -> Result<BindInvocation, EncodeError> {
    in_range("versionNumber", bind.version, 1, 65_535)?;
    let instance = bind.instance.0.iter().map(|(attribute, value)| {
        let mut arcs =
            if bind.version == 1 { ATTRIBUTE_ARCS_V1.to_vec() } else { ATTRIBUTE_ARCS.to_vec() };
        arcs.push(attribute.0.into());
        let identifier = ObjectIdentifier::new_unchecked(arcs.into());
        let value = visible("siAttributeValue", value, 256)?;
        Ok(SetOf::from_vec(vec![Attribute { identifier, value }]))
    });
    Ok(BindInvocation {
        credentials,
        initiator: identifier("initiatorIdentifier", &bind.initiator)?,
        responder_port: visible("responderPortIdentifier", &bind.responder_port, 128)?,
        service_type: application(bind.service),
        version: bind.version,
        instance: instance.collect::<Result<_, _>>()?,
    })
}

fn bind_return(tag: u32, octets: &[u8]) -> Decoded {
    let wire: BindReturnWire = read("BIND return", tag, octets)?;
    let result = match wire.result {
        BindResult::Positive(version) => Ok(version),
        BindResult::Negative(value) => Err(bind_diagnostic(value)?),
    };
    let answer = BindReturn { responder: text(wire.responder), result };
    Ok((wire.credentials, Pdu::BindReturn(answer)))
}

fn unbind(tag: u32, octets: &[u8]) -> Decoded {
    let wire: UnbindInvocation = read("UNBIND invocation", tag, octets)?;
    let reason = match wire.reason {
        0 => UnbindReason::End,
        1 => UnbindReason::Suspend,
        2 => UnbindReason::VersionNotSupported,
        127 => UnbindReason::Other,
        value => return Err(DecodeError::Value { field: "unbindReason", value }),
    };
    Ok((wire.credentials, Pdu::Unbind(reason)))
}

fn unbind_return(tag: u32, octets: &[u8]) -> Decoded {
    let wire: UnbindReturn = read("UNBIND return", tag, octets)?;
    let UnbindResult::Positive(()) = wire.result;
    Ok((wire.credentials, Pdu::UnbindReturn))
}

fn peer_abort(tag: u32, octets: &[u8]) -> Decoded {
    let value: i64 = read("PEER-ABORT", tag, octets)?;
    let octet = u8::try_from(value)
        .map_err(|_| DecodeError::Value { field: "PeerAbortDiagnostic", value })?;
    Ok((Credentials::Unused(()), Pdu::PeerAbort(PeerAbortDiagnostic::from_octet(octet))))
}

fn stop(tag: u32, octets: &[u8]) -> Decoded {
    let wire: StopInvocation = read("STOP invocation", tag, octets)?;
    Ok((wire.credentials, Pdu::Stop { invoke_id: wire.invoke_id }))
}

fn stop_return(tag: u32, octets: &[u8]) -> Decoded {
    let wire: Acknowledgement = read("STOP return", tag, octets)?;
    let (invoke_id, result) = (wire.invoke_id, wire.result.result()?);
    Ok((wire.credentials, Pdu::StopReturn { invoke_id, result }))
}

fn schedule(tag: u32, octets: &[u8]) -> Decoded {
    let wire: ScheduleInvocation = read("SCHEDULE-STATUS-REPORT invocation", tag, octets)?;
    let (invoke_id, request) = (wire.invoke_id, wire.request.into());
    Ok((wire.credentials, Pdu::ScheduleStatusReport { invoke_id, request }))
}

fn schedule_return(tag: u32, octets: &[u8]) -> Decoded {
    let wire: OutcomeReturn = read("SCHEDULE-STATUS-REPORT return", tag, octets)?;
    let (invoke_id, result) = (wire.invoke_id, wire.result.result()?);
    Ok((wire.credentials, Pdu::ScheduleStatusReportReturn { invoke_id, result }))
}

fn get_parameter(tag: u32, octets: &[u8]) -> Decoded {
    let wire: GetParameterInvocation = read("GET-PARAMETER invocation", tag, octets)?;
    let (invoke_id, name) = (wire.invoke_id, ParameterName(wire.parameter));
    Ok((wire.credentials, Pdu::GetParameter { invoke_id, name }))
}

/// An authority's identifier, 3 to 16 characters.
fn identifier(field: &'static str, value: &str) -> Result<VisibleString, EncodeError> {
    in_range(field, value.len(), 3, 16)?;
    visible(field, value, 16)
}

/// `ApplicationIdentifier`.
fn service(number: i64) -> Result<ServiceType, i64> {
    match number {
        0 => Ok(ServiceType::Raf),
        2 => Ok(ServiceType::Rcf),
        4 => Ok(ServiceType::Rocf),
        16 => Ok(ServiceType::Fcltu),
        other => Err(other),
    }
}

fn application(service: Result<ServiceType, i64>) -> i64 {
    match service {
        Ok(ServiceType::Raf) => 0,
        Ok(ServiceType::Rcf) => 2,
        Ok(ServiceType::Rocf) => 4,
        Ok(ServiceType::Fcltu) => 16,
        Err(other) => other,
    }
}

/// The attribute of a set that must have one.
fn attribute(set: SetOf<Attribute>) -> Result<(SiAttribute, String), DecodeError> {
    let mut set = set.to_vec();
    let (Some(attribute), true) = (set.pop(), set.is_empty()) else {
        let operation = "BIND invocation";
        let reason = "a ServiceInstanceAttribute is a set of one".to_owned();
        return Err(DecodeError::Content { operation, reason });
    };
    let arcs: &[u32] = attribute.identifier.as_ref();
    let own = arcs
        .strip_prefix(&ATTRIBUTE_ARCS[..])
        .or_else(|| arcs.strip_prefix(&ATTRIBUTE_ARCS_V1[..]));
    let number = own.filter(|own| own.len() == 1);
    let number = number.and_then(|own| u16::try_from(own[0]).ok()).ok_or_else(|| {
        let reason = format!("no service instance attribute has the identifier {arcs:?}");
        DecodeError::Content { operation: "BIND invocation", reason }
    })?;
    Ok((SiAttribute(number), text(attribute.value.clone())))
}

fn bind_diagnostic(value: i64) -> Result<BindDiagnostic, DecodeError> {
    Ok(match value {
        0 => BindDiagnostic::AccessDenied,
        1 => BindDiagnostic::ServiceTypeNotSupported,
        2 => BindDiagnostic::VersionNotSupported,
        3 => BindDiagnostic::NoSuchServiceInstance,
        4 => BindDiagnostic::AlreadyBound,
        5 => BindDiagnostic::SiNotAccessibleToThisInitiator,
        6 => BindDiagnostic::InconsistentServiceType,
        7 => BindDiagnostic::InvalidTime,
        8 => BindDiagnostic::OutOfService,
        127 => BindDiagnostic::OtherReason,
        value => return Err(DecodeError::Value { field: "BindDiagnostic", value }),
    })
}
