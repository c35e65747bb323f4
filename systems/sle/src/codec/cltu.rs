//! Operations of FCLTU. Source: CCSDS 912.1, annex A; what differs from version to version is said
//! where it does.

use super::cltu_parameter;
use super::common::{
    ConditionalTime, Credentials, Decoded, DiagnosticChoice, Outcome, WireTime, in_range, read,
    write,
};
use super::{Codec, DecodeError, EncodeError};
use crate::pdu::{
    AssociationRole, BufferNotification, CltuAsyncNotify, CltuLastOk, CltuLastProcessed,
    CltuNotification, CltuProductionStatus, CltuStatus, CltuStatusReport, CltuTransferBuffer,
    CltuTransferData, CltuTransferDataReturn, Message, Pdu, PositiveStartReturn, StartRequest,
    ThrowEvent, UplinkStatus,
};
use bytes::Bytes;
use rasn::prelude::*;
use rasn::types::OctetString;

/// Tag of the invocation that no book has: several CLTUs at once.
const TRANSFER_BUFFER: u32 = 64;

/// `CltuStartInvocation`, from version 2.
#[derive(AsnType, Decode, Encode)]
struct StartInvocation {
    credentials: Credentials,
    invoke_id: u16,
    first_cltu: u32,
}

/// `CltuStartInvocation` of version 1: the first CLTU's number may be left out.
#[derive(AsnType, Decode, Encode)]
struct StartInvocationV1 {
    credentials: Credentials,
    invoke_id: u16,
    first_cltu: ConditionalCltuId,
}

#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum ConditionalCltuId {
    #[rasn(tag(context, 0))]
    None(()),
    #[rasn(tag(context, 1))]
    Known(u32),
}

#[derive(AsnType, Decode, Encode)]
struct StartReturn {
    credentials: Credentials,
    invoke_id: u16,
    result: StartResult,
}

#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum StartResult {
    #[rasn(tag(context, 0))]
    Positive(RadiationPeriod),
    #[rasn(tag(explicit(context, 1)))]
    Negative(DiagnosticChoice),
}

#[derive(AsnType, Decode, Encode)]
struct RadiationPeriod {
    start: WireTime,
    stop: ConditionalTime,
}

#[derive(AsnType, Decode, Encode)]
struct TransferDataInvocation {
    credentials: Credentials,
    invoke_id: u16,
    cltu: u32,
    earliest: ConditionalTime,
    latest: ConditionalTime,
    delay_us: u32,
    /// 0 is yes.
    #[rasn(value("0..=1"))]
    notification: u8,
    #[rasn(size("1..=65536"))]
    data: OctetString,
}

#[derive(AsnType, Decode, Encode)]
struct TransferDataReturn {
    credentials: Credentials,
    invoke_id: u16,
    next_cltu: u32,
    buffer_available: u32,
    result: Outcome,
}

/// Ours: no book has it.
#[derive(AsnType, Decode, Encode)]
struct TransferBufferInvocation {
    credentials: Credentials,
    invoke_id: u16,
    #[rasn(value("0..=2"))]
    notification: u8,
    #[rasn(size("1..=65536"))]
    cltus: Vec<BufferedCltu>,
}

#[derive(AsnType, Decode, Encode)]
struct BufferedCltu {
    cltu: u32,
    #[rasn(size("1..=65536"))]
    data: OctetString,
}

#[derive(AsnType, Decode, Encode)]
struct ThrowEventInvocation {
    credentials: Credentials,
    invoke_id: u16,
    event_invocation_id: u32,
    #[rasn(value("1..=65535"))]
    event: u16,
    #[rasn(size("1..=1024"))]
    qualifier: OctetString,
}

#[derive(AsnType, Decode, Encode)]
struct ThrowEventReturn {
    credentials: Credentials,
    invoke_id: u16,
    event_invocation_id: u32,
    result: Outcome,
}

#[derive(AsnType, Decode, Encode)]
struct AsyncNotifyInvocation {
    credentials: Credentials,
    notification: Notification,
    last_processed: LastProcessed,
    last_ok: LastOk,
    production: i64,
    uplink: i64,
}

#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum Notification {
    #[rasn(tag(context, 0))]
    CltuRadiated(()),
    #[rasn(tag(context, 1))]
    SlduExpired(()),
    #[rasn(tag(context, 2))]
    ProductionInterrupted(()),
    #[rasn(tag(context, 3))]
    ProductionHalted(()),
    #[rasn(tag(context, 4))]
    ProductionOperational(()),
    #[rasn(tag(context, 5))]
    BufferEmpty(()),
    #[rasn(tag(context, 6))]
    ActionListCompleted(u32),
    #[rasn(tag(context, 7))]
    ActionListNotCompleted(u32),
    #[rasn(tag(context, 8))]
    EventConditionEvFalse(u32),
}

#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum LastProcessed {
    #[rasn(tag(context, 0))]
    None(()),
    #[rasn(tag(context, 1))]
    Processed(Processed),
}

#[derive(AsnType, Decode, Encode)]
struct Processed {
    cltu: u32,
    start_radiation: ConditionalTime,
    status: i64,
}

#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum LastOk {
    #[rasn(tag(context, 0))]
    None(()),
    #[rasn(tag(context, 1))]
    Ok(Radiated),
}

#[derive(AsnType, Decode, Encode)]
struct Radiated {
    cltu: u32,
    stop_radiation: WireTime,
}

#[derive(AsnType, Decode, Encode)]
struct StatusReportInvocation {
    credentials: Credentials,
    last_processed: LastProcessed,
    last_ok: LastOk,
    production: i64,
    uplink: i64,
    received: u32,
    processed: u32,
    radiated: u32,
    buffer_available: u32,
}

/// The operation with this tag.
pub(super) fn decode(
    codec: Codec,
    tag: u32,
    sender: AssociationRole,
    octets: &Bytes,
) -> Result<Message, DecodeError> {
    let (credentials, pdu) = match (sender, tag) {
        (AssociationRole::User, 0) if codec.version == 1 => start_v1(tag, octets)?,
        (AssociationRole::User, 0) => start(tag, octets)?,
        (AssociationRole::Provider, 1) => start_return(tag, octets)?,
        (AssociationRole::Provider, 7) => cltu_parameter::decode(codec.version, tag, octets)?,
        (AssociationRole::User, 8) => throw_event(tag, octets)?,
        (AssociationRole::Provider, 9) => throw_event_return(tag, octets)?,
        (AssociationRole::User, 10) => transfer_data(tag, octets)?,
        (AssociationRole::Provider, 11) => transfer_data_return(tag, octets)?,
        (AssociationRole::Provider, 12) => async_notify(tag, octets)?,
        (AssociationRole::Provider, 13) => status_report(tag, octets)?,
        (AssociationRole::User, TRANSFER_BUFFER) => transfer_buffer(tag, octets)?,
        _ => return Err(codec.unknown(tag, sender)),
    };
    Ok(Message { credentials: credentials.into(), pdu })
}

/// Appends the operation.
pub(super) fn encode(
    codec: Codec,
    message: &Message,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let name = message.pdu.name();
    let credentials = Credentials::new(message.credentials.as_ref())?;
    match &message.pdu {
        Pdu::Start { invoke_id, start: StartRequest::Cltu { first_cltu } } => {
            let (invoke_id, first_cltu) = (*invoke_id, *first_cltu);
            if codec.version == 1 {
                let first_cltu = ConditionalCltuId::Known(first_cltu);
                write(name, 0, &StartInvocationV1 { credentials, invoke_id, first_cltu }, out)
            } else {
                write(name, 0, &StartInvocation { credentials, invoke_id, first_cltu }, out)
            }
        }
        Pdu::StartReturn { invoke_id, result } => {
            let result = match result {
                Ok(PositiveStartReturn::Cltu { start_radiation, stop_radiation }) => {
                    let (start, stop) = ((*start_radiation).into(), (*stop_radiation).into());
                    StartResult::Positive(RadiationPeriod { start, stop })
                }
                Ok(PositiveStartReturn::Return) => return Err(codec.not_of_service(&message.pdu)),
                Err(diagnostic) => StartResult::Negative((*diagnostic).into()),
            };
            write(name, 1, &StartReturn { credentials, invoke_id: *invoke_id, result }, out)
        }
        Pdu::GetParameterReturn { invoke_id, result } => {
            cltu_parameter::encode(codec, credentials, *invoke_id, result, out)
        }
        Pdu::ThrowEvent(event) => write(name, 8, &throw_event_wire(credentials, event)?, out),
        Pdu::ThrowEventReturn { invoke_id, event_invocation_id, result } => {
            let wire = ThrowEventReturn {
                credentials,
                invoke_id: *invoke_id,
                event_invocation_id: *event_invocation_id,
                result: (*result).into(),
            };
            write(name, 9, &wire, out)
        }
        Pdu::CltuTransferData(data) => {
            write(name, 10, &transfer_data_wire(credentials, data)?, out)
        }
        Pdu::CltuTransferBuffer(buffer) => {
            write(name, TRANSFER_BUFFER, &transfer_buffer_wire(credentials, buffer)?, out)
        }
        pdu => encode_from_provider(codec, pdu, credentials, out),
    }
}

/// Appends an operation that tells the user where CLTUs are.
fn encode_from_provider(
    codec: Codec,
    pdu: &Pdu,
    credentials: Credentials,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let name = pdu.name();
    match pdu {
        Pdu::CltuTransferDataReturn(answer) => {
            let wire = TransferDataReturn {
                credentials,
                invoke_id: answer.invoke_id,
                next_cltu: answer.next_cltu,
                buffer_available: answer.buffer_available,
                result: answer.result.into(),
            };
            write(name, 11, &wire, out)
        }
        Pdu::CltuAsyncNotify(notify) => {
            let wire = AsyncNotifyInvocation {
                credentials,
                notification: notify.notification.into(),
                last_processed: notify.last_processed.into(),
                last_ok: notify.last_ok.into(),
                production: notify.production as i64,
                uplink: notify.uplink as i64,
            };
            write(name, 12, &wire, out)
        }
        Pdu::CltuStatusReport(report) => {
            let wire = StatusReportInvocation {
                credentials,
                last_processed: report.last_processed.into(),
                last_ok: report.last_ok.into(),
                production: report.production as i64,
                uplink: report.uplink as i64,
                received: report.received,
                processed: report.processed,
                radiated: report.radiated,
                buffer_available: report.buffer_available,
            };
            write(name, 13, &wire, out)
        }
        pdu => Err(codec.not_of_service(pdu)),
    }
}

fn start(tag: u32, octets: &[u8]) -> Decoded {
    let wire: StartInvocation = read("START invocation", tag, octets)?;
    let start = StartRequest::Cltu { first_cltu: wire.first_cltu };
    Ok((wire.credentials, Pdu::Start { invoke_id: wire.invoke_id, start }))
}

/// In version 1 the first CLTU's number is optional; without it the first CLTU may have any number.
/// Such a START is not supported and is refused with an error that names the field, because any
/// number would be one that the user did not choose.
fn start_v1(tag: u32, octets: &[u8]) -> Decoded {
    let operation = "START invocation (version 1)";
    let wire: StartInvocationV1 = read(operation, tag, octets)?;
    let ConditionalCltuId::Known(first_cltu) = wire.first_cltu else {
        let reason = "without firstCltuIdentification it is not supported".to_owned();
        return Err(DecodeError::Content { operation, reason });
    };
    let start = StartRequest::Cltu { first_cltu };
    Ok((wire.credentials, Pdu::Start { invoke_id: wire.invoke_id, start }))
}

fn start_return(tag: u32, octets: &[u8]) -> Decoded {
    let wire: StartReturn = read("START return", tag, octets)?;
    let result = match wire.result {
        StartResult::Positive(RadiationPeriod { start, stop }) => Ok(PositiveStartReturn::Cltu {
            start_radiation: start.into(),
            stop_radiation: stop.into(),
        }),
        StartResult::Negative(diagnostic) => Err(diagnostic.try_into()?),
    };
    Ok((wire.credentials, Pdu::StartReturn { invoke_id: wire.invoke_id, result }))
}

fn transfer_data(tag: u32, octets: &[u8]) -> Decoded {
    let wire: TransferDataInvocation = read("TRANSFER-DATA invocation", tag, octets)?;
    let data = CltuTransferData {
        invoke_id: wire.invoke_id,
        cltu: wire.cltu,
        earliest: wire.earliest.into(),
        latest: wire.latest.into(),
        delay_us: wire.delay_us,
        notify_radiated: wire.notification == 0,
        data: wire.data.into(),
    };
    Ok((wire.credentials, Pdu::CltuTransferData(data)))
}

fn transfer_data_wire(
    credentials: Credentials,
    data: &CltuTransferData,
) -> Result<TransferDataInvocation, EncodeError> {
    in_range("cltuData", data.data.len(), 1, 65_536)?;
    Ok(TransferDataInvocation {
        credentials,
        invoke_id: data.invoke_id,
        cltu: data.cltu,
        earliest: data.earliest.into(),
        latest: data.latest.into(),
        delay_us: data.delay_us,
        notification: u8::from(!data.notify_radiated),
        data: data.data.clone().into(),
    })
}

fn transfer_data_return(tag: u32, octets: &[u8]) -> Decoded {
    let wire: TransferDataReturn = read("TRANSFER-DATA return", tag, octets)?;
    let answer = CltuTransferDataReturn {
        invoke_id: wire.invoke_id,
        next_cltu: wire.next_cltu,
        buffer_available: wire.buffer_available,
        result: wire.result.result()?,
    };
    Ok((wire.credentials, Pdu::CltuTransferDataReturn(answer)))
}

fn transfer_buffer(tag: u32, octets: &[u8]) -> Decoded {
    let wire: TransferBufferInvocation = read("TRANSFER-BUFFER invocation", tag, octets)?;
    let notify_radiated = match wire.notification {
        0 => BufferNotification::None,
        1 => BufferNotification::Last,
        _ => BufferNotification::Every, // 2: the declaration allows no more
    };
    let cltus = wire.cltus.into_iter().map(|cltu| (cltu.cltu, cltu.data.into())).collect();
    let buffer = CltuTransferBuffer { invoke_id: wire.invoke_id, notify_radiated, cltus };
    Ok((wire.credentials, Pdu::CltuTransferBuffer(buffer)))
}

fn transfer_buffer_wire(
    credentials: Credentials,
    buffer: &CltuTransferBuffer,
) -> Result<TransferBufferInvocation, EncodeError> {
    in_range("CLTUs of a buffer", buffer.cltus.len(), 1, 65_536)?;
    let cltus = buffer.cltus.iter().map(|(cltu, data)| {
        in_range("cltuData", data.len(), 1, 65_536)?;
        Ok(BufferedCltu { cltu: *cltu, data: data.clone().into() })
    });
    Ok(TransferBufferInvocation {
        credentials,
        invoke_id: buffer.invoke_id,
        notification: buffer.notify_radiated as u8,
        cltus: cltus.collect::<Result<_, _>>()?,
    })
}

fn throw_event(tag: u32, octets: &[u8]) -> Decoded {
    let wire: ThrowEventInvocation = read("THROW-EVENT invocation", tag, octets)?;
    let event = ThrowEvent {
        invoke_id: wire.invoke_id,
        event_invocation_id: wire.event_invocation_id,
        event: wire.event,
        qualifier: wire.qualifier.into(),
    };
    Ok((wire.credentials, Pdu::ThrowEvent(event)))
}

fn throw_event_wire(
    credentials: Credentials,
    event: &ThrowEvent,
) -> Result<ThrowEventInvocation, EncodeError> {
    in_range("eventIdentifier", event.event, 1, 65_535)?;
    in_range("eventQualifier", event.qualifier.len(), 1, 1024)?;
    Ok(ThrowEventInvocation {
        credentials,
        invoke_id: event.invoke_id,
        event_invocation_id: event.event_invocation_id,
        event: event.event,
        qualifier: event.qualifier.clone().into(),
    })
}

fn throw_event_return(tag: u32, octets: &[u8]) -> Decoded {
    let wire: ThrowEventReturn = read("THROW-EVENT return", tag, octets)?;
    let pdu = Pdu::ThrowEventReturn {
        invoke_id: wire.invoke_id,
        event_invocation_id: wire.event_invocation_id,
        result: wire.result.result()?,
    };
    Ok((wire.credentials, pdu))
}

fn async_notify(tag: u32, octets: &[u8]) -> Decoded {
    let wire: AsyncNotifyInvocation = read("ASYNC-NOTIFY invocation", tag, octets)?;
    let notify = CltuAsyncNotify {
        notification: wire.notification.into(),
        last_processed: wire.last_processed.known()?,
        last_ok: wire.last_ok.into(),
        production: production(wire.production)?,
        uplink: uplink(wire.uplink)?,
    };
    Ok((wire.credentials, Pdu::CltuAsyncNotify(notify)))
}

fn status_report(tag: u32, octets: &[u8]) -> Decoded {
    let wire: StatusReportInvocation = read("STATUS-REPORT invocation", tag, octets)?;
    let report = CltuStatusReport {
        last_processed: wire.last_processed.known()?,
        last_ok: wire.last_ok.into(),
        production: production(wire.production)?,
        uplink: uplink(wire.uplink)?,
        received: wire.received,
        processed: wire.processed,
        radiated: wire.radiated,
        buffer_available: wire.buffer_available,
    };
    Ok((wire.credentials, Pdu::CltuStatusReport(report)))
}

impl From<CltuNotification> for Notification {
    fn from(notification: CltuNotification) -> Self {
        match notification {
            CltuNotification::CltuRadiated => Self::CltuRadiated(()),
            CltuNotification::SlduExpired => Self::SlduExpired(()),
            CltuNotification::ProductionInterrupted => Self::ProductionInterrupted(()),
            CltuNotification::ProductionHalted => Self::ProductionHalted(()),
            CltuNotification::ProductionOperational => Self::ProductionOperational(()),
            CltuNotification::BufferEmpty => Self::BufferEmpty(()),
            CltuNotification::ActionListCompleted(id) => Self::ActionListCompleted(id),
            CltuNotification::ActionListNotCompleted(id) => Self::ActionListNotCompleted(id),
            CltuNotification::EventConditionEvFalse(id) => Self::EventConditionEvFalse(id),
        }
    }
}

impl From<Notification> for CltuNotification {
    fn from(notification: Notification) -> Self {
        match notification {
            Notification::CltuRadiated(()) => Self::CltuRadiated,
            Notification::SlduExpired(()) => Self::SlduExpired,
            Notification::ProductionInterrupted(()) => Self::ProductionInterrupted,
            Notification::ProductionHalted(()) => Self::ProductionHalted,
            Notification::ProductionOperational(()) => Self::ProductionOperational,
            Notification::BufferEmpty(()) => Self::BufferEmpty,
            Notification::ActionListCompleted(id) => Self::ActionListCompleted(id),
            Notification::ActionListNotCompleted(id) => Self::ActionListNotCompleted(id),
            Notification::EventConditionEvFalse(id) => Self::EventConditionEvFalse(id),
        }
    }
}

impl From<Option<CltuLastProcessed>> for LastProcessed {
    fn from(last: Option<CltuLastProcessed>) -> Self {
        last.map_or(Self::None(()), |last| {
            Self::Processed(Processed {
                cltu: last.cltu,
                start_radiation: last.start_radiation.into(),
                status: last.status as i64,
            })
        })
    }
}

impl LastProcessed {
    fn known(self) -> Result<Option<CltuLastProcessed>, DecodeError> {
        let Self::Processed(last) = self else { return Ok(None) };
        let status = match last.status {
            0 => CltuStatus::Radiated,
            1 => CltuStatus::Expired,
            2 => CltuStatus::Interrupted,
            4 => CltuStatus::RadiationStarted,
            5 => CltuStatus::RadiationNotStarted,
            value => return Err(DecodeError::Value { field: "cltuStatus", value }),
        };
        let start_radiation = last.start_radiation.into();
        Ok(Some(CltuLastProcessed { cltu: last.cltu, start_radiation, status }))
    }
}

impl From<Option<CltuLastOk>> for LastOk {
    fn from(last: Option<CltuLastOk>) -> Self {
        last.map_or(Self::None(()), |last| {
            let stop_radiation = last.stop_radiation.into();
            Self::Ok(Radiated { cltu: last.cltu, stop_radiation })
        })
    }
}

impl From<LastOk> for Option<CltuLastOk> {
    fn from(last: LastOk) -> Self {
        match last {
            LastOk::None(()) => None,
            LastOk::Ok(last) => {
                let stop_radiation = last.stop_radiation.into();
                Some(CltuLastOk { cltu: last.cltu, stop_radiation })
            }
        }
    }
}

fn production(value: i64) -> Result<CltuProductionStatus, DecodeError> {
    Ok(match value {
        0 => CltuProductionStatus::Operational,
        1 => CltuProductionStatus::Configured,
        2 => CltuProductionStatus::Interrupted,
        3 => CltuProductionStatus::Halted,
        value => return Err(DecodeError::Value { field: "productionStatus", value }),
    })
}

fn uplink(value: i64) -> Result<UplinkStatus, DecodeError> {
    Ok(match value {
        0 => UplinkStatus::NotAvailable,
        1 => UplinkStatus::NoRfAvailable,
        2 => UplinkStatus::NoBitLock,
        3 => UplinkStatus::Nominal,
        value => return Err(DecodeError::Value { field: "uplinkStatus", value }),
    })
}
