//! PROCESS-DATA, its return, the forward buffer, and NOTIFY, with what data processing adds to them.
//!
//! Source: CCSDS 921.1-B-2, annexes F3.4, F3.8, F3.9, F3.10.

use super::common::{Extended, InvocationHeader, WireData, WireEmbedded, WireName, embed, open};
use super::diagnostic::ReturnHeader;
use super::list::WireEventValue;
use super::outcome::{Coded, DecodedOperation};
use crate::codec::common::{ConditionalTime, Credentials, WireTime, read, write};
use crate::codec::{DecodeError, EncodeError};
use crate::csts::pdu::{
    BufferedOperation, Embedded, LastOk, LastProcessed, NotifyExtension, NotifyPdu, Pdu,
    ProcessData, ProcessDataExtension, ProcessDataReturn, ProcessDataReturnExtension,
    ProcessingNotification, ProcessingStatus, ProductionStatus, names,
};
use bytes::Bytes;
use rasn::prelude::*;

#[derive(AsnType, Decode, Encode)]
struct ProcessInvocation {
    header: InvocationHeader,
    data_unit: u32,
    data: WireData,
    extension: Extended,
}

/// `DataProcProcDataInvocExt`.
#[derive(AsnType, Decode, Encode)]
struct DataProcessing {
    report: Report,
    extension: Extended,
}

#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum Report {
    #[rasn(tag(context, 0))]
    DoNotProduce(()),
    #[rasn(tag(context, 1))]
    Produce(()),
}

/// `SequContrDataProcProcDataInvocExt`.
#[derive(AsnType, Decode, Encode)]
struct SequenceControlled {
    earliest: ConditionalTime,
    latest: ConditionalTime,
    extension: Extended,
}

impl ProcessInvocation {
    fn new(credentials: Option<&Bytes>, pdu: &ProcessData) -> Result<Self, EncodeError> {
        Ok(Self {
            header: InvocationHeader::new(credentials, pdu.invoke_id, &pdu.procedure)?,
            data_unit: pdu.data_unit,
            data: WireData::new(&pdu.data)?,
            extension: Extended::new(process_embedded(&pdu.extension)?.as_ref())?,
        })
    }

    fn take(self) -> Result<(Credentials, ProcessData), DecodeError> {
        let pdu = ProcessData {
            invoke_id: self.header.invoke_id,
            procedure: self.header.procedure.take()?,
            data_unit: self.data_unit,
            data: self.data.take()?,
            extension: process_extension(self.extension.take()?)?,
        };
        Ok((self.header.credentials, pdu))
    }
}

/// The extension of PROCESS-DATA, for the wire.
fn process_embedded(extension: &ProcessDataExtension) -> Result<Option<Embedded>, EncodeError> {
    use ProcessDataExtension as E;
    let (report, extension) = match extension {
        E::NotUsed => return Ok(None),
        E::Other(embedded) => return Ok(Some(embedded.clone())),
        E::DataProcessing { report, extension } => (*report, extension.clone()),
        E::SequenceControlled { report, earliest, latest, extension } => {
            let wire = SequenceControlled {
                earliest: (*earliest).into(),
                latest: (*latest).into(),
                extension: Extended::new(extension.as_ref())?,
            };
            (*report, Some(embed(names::SCDP_PROCESS_DATA, &wire)?))
        }
    };
    let report = if report { Report::Produce(()) } else { Report::DoNotProduce(()) };
    let wire = DataProcessing { report, extension: Extended::new(extension.as_ref())? };
    embed(names::DP_PROCESS_DATA, &wire).map(Some)
}

/// The extension of PROCESS-DATA, from the wire.
pub(super) fn process_extension(
    embedded: Option<Embedded>,
) -> Result<ProcessDataExtension, DecodeError> {
    let embedded = match embedded {
        None => return Ok(ProcessDataExtension::NotUsed),
        Some(embedded) if embedded.syntax != names::DP_PROCESS_DATA => {
            return Ok(ProcessDataExtension::Other(embedded));
        }
        Some(embedded) => embedded,
    };
    let wire: DataProcessing = open("dpProcDataInvocExt", &embedded)?;
    let report = matches!(wire.report, Report::Produce(()));
    Ok(match wire.extension.take()? {
        Some(embedded) if embedded.syntax == names::SCDP_PROCESS_DATA => {
            let wire: SequenceControlled = open("scdpProcDataInvocExt", &embedded)?;
            ProcessDataExtension::SequenceControlled {
                report,
                earliest: wire.earliest.into(),
                latest: wire.latest.into(),
                extension: wire.extension.take()?,
            }
        }
        extension => ProcessDataExtension::DataProcessing { report, extension },
    })
}

pub(super) fn process(tag: u32, octets: &[u8]) -> DecodedOperation {
    let wire: ProcessInvocation = read("PROCESS-DATA invocation", tag, octets)?;
    let (credentials, pdu) = wire.take()?;
    Ok((credentials, Pdu::ProcessData(pdu)))
}

pub(super) fn put_process(
    credentials: Option<&Bytes>,
    pdu: &ProcessData,
    out: &mut Vec<u8>,
) -> Coded {
    write("PROCESS-DATA invocation", 60, &ProcessInvocation::new(credentials, pdu)?, out)
}

pub(super) fn forward_buffer(tag: u32, octets: &[u8]) -> DecodedOperation {
    let wire: Vec<ProcessInvocation> = read("forward buffer", tag, octets)?;
    let parts = wire.into_iter().map(|wire| {
        let (credentials, operation) = wire.take()?;
        Ok(BufferedOperation { credentials: credentials.into(), operation })
    });
    let parts = parts.collect::<Result<_, DecodeError>>()?;
    Ok((Credentials::Unused(()), Pdu::ForwardBuffer(parts)))
}

pub(super) fn put_forward_buffer(
    parts: &[BufferedOperation<ProcessData>],
    out: &mut Vec<u8>,
) -> Coded {
    let wire =
        parts.iter().map(|part| ProcessInvocation::new(part.credentials.as_ref(), &part.operation));
    write("forward buffer", 62, &wire.collect::<Result<Vec<_>, _>>()?, out)
}

/// `SequContrDataProcProcDataPosReturnExt` and `SequContrDataProcProcDataNegReturnExt`, which are
/// the same.
#[derive(AsnType, Decode, Encode)]
struct SequenceReturn {
    data_unit: u32,
    extension: Extended,
}

pub(super) fn process_return(tag: u32, octets: &[u8]) -> DecodedOperation {
    let header: ReturnHeader = read("PROCESS-DATA return", tag, octets)?;
    let (credentials, invoke_id) = (header.credentials.clone(), header.invoke_id);
    let (result, embedded) = header.take()?;
    let sequence =
        if result.is_ok() { names::SCDP_POSITIVE_RETURN } else { names::SCDP_NEGATIVE_RETURN };
    let extension = match embedded {
        None => ProcessDataReturnExtension::NotUsed,
        Some(embedded) if embedded.syntax == sequence => {
            let wire: SequenceReturn = open("scdpProcDataReturnExt", &embedded)?;
            let (data_unit, extension) = (wire.data_unit, wire.extension.take()?);
            ProcessDataReturnExtension::SequenceControlled { data_unit, extension }
        }
        Some(embedded) => ProcessDataReturnExtension::Other(embedded),
    };
    let pdu = ProcessDataReturn { invoke_id, result, extension };
    Ok((credentials, Pdu::ProcessDataReturn(pdu)))
}

pub(super) fn put_process_return(
    credentials: Option<&Bytes>,
    pdu: &ProcessDataReturn,
    out: &mut Vec<u8>,
) -> Coded {
    let embedded = match &pdu.extension {
        ProcessDataReturnExtension::NotUsed => None,
        ProcessDataReturnExtension::Other(embedded) => Some(embedded.clone()),
        ProcessDataReturnExtension::SequenceControlled { data_unit, extension } => {
            let extension = Extended::new(extension.as_ref())?;
            let wire = SequenceReturn { data_unit: *data_unit, extension };
            let positive = pdu.result.is_ok();
            let syntax =
                if positive { names::SCDP_POSITIVE_RETURN } else { names::SCDP_NEGATIVE_RETURN };
            Some(embed(syntax, &wire)?)
        }
    };
    let result = pdu.result.as_ref().copied();
    let header = ReturnHeader::new(credentials, pdu.invoke_id, result, embedded.as_ref())?;
    write("PROCESS-DATA return", 61, &header, out)
}

/// `NotifyInvocation`.
#[derive(AsnType, Decode, Encode)]
pub(super) struct NotifyInvocation {
    header: InvocationHeader,
    time: WireTime,
    event: WireName,
    value: WireEventValue,
    extension: Extended,
}

/// `DataProcNotifyInvocExt`.
#[derive(AsnType, Decode, Encode)]
struct ProcessingNotify {
    last_processed: WireLastProcessed,
    last_ok: WireLastOk,
    production: WireProduction,
    extension: Extended,
}

#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum WireLastProcessed {
    #[rasn(tag(context, 0))]
    None(()),
    #[rasn(tag(context, 1))]
    Last(WireLast),
}

#[derive(AsnType, Decode, Encode)]
struct WireLast {
    data_unit: u32,
    status: WireStatus,
}

#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum WireStatus {
    #[rasn(tag(explicit(context, 0)))]
    Processed(WireTime),
    #[rasn(tag(explicit(context, 1)))]
    Interrupted(WireTime),
    #[rasn(tag(explicit(context, 2)))]
    Started(WireTime),
    #[rasn(tag(context, 100))]
    Extension(WireEmbedded),
}

/// `SequContrDataProcStatus`.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum SequenceStatus {
    #[rasn(tag(context, 1))]
    Expired(()),
    #[rasn(tag(context, 2))]
    NotStarted(()),
    #[rasn(tag(context, 100))]
    Extension(WireEmbedded),
}

#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum WireLastOk {
    #[rasn(tag(context, 0))]
    None(()),
    #[rasn(tag(context, 1))]
    Last(WireOk),
}

#[derive(AsnType, Decode, Encode)]
struct WireOk {
    data_unit: u32,
    stop_time: WireTime,
}

#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum WireProduction {
    #[rasn(tag(context, 0))]
    Change(()),
    #[rasn(tag(context, 1))]
    Status(WireProductionStatus),
}

#[derive(AsnType, Decode, Encode, Clone, Copy, Debug, PartialEq, Eq)]
#[rasn(enumerated)]
enum WireProductionStatus {
    Configured = 0,
    Operational = 1,
    Interrupted = 2,
    Halted = 3,
}

impl WireStatus {
    fn new(status: &ProcessingStatus) -> Result<Self, EncodeError> {
        use ProcessingStatus as S;
        let sequence = match status {
            S::SuccessfullyProcessed(start) => return Ok(Self::Processed((*start).into())),
            S::ProcessingInterrupted(start) => return Ok(Self::Interrupted((*start).into())),
            S::ProcessingStarted(start) => return Ok(Self::Started((*start).into())),
            S::Other(embedded) => return Ok(Self::Extension(WireEmbedded::new(embedded)?)),
            S::Expired => SequenceStatus::Expired(()),
            S::ProcessingNotStarted => SequenceStatus::NotStarted(()),
            S::SequenceControlledOther(embedded) => {
                SequenceStatus::Extension(WireEmbedded::new(embedded)?)
            }
        };
        let embedded = embed(names::SCDP_STATUS, &sequence)?;
        Ok(Self::Extension(WireEmbedded::new(&embedded)?))
    }

    fn take(self) -> Result<ProcessingStatus, DecodeError> {
        use ProcessingStatus as S;
        Ok(match self {
            Self::Processed(start) => S::SuccessfullyProcessed(start.into()),
            Self::Interrupted(start) => S::ProcessingInterrupted(start.into()),
            Self::Started(start) => S::ProcessingStarted(start.into()),
            Self::Extension(embedded) => {
                let embedded = embedded.take()?;
                if embedded.syntax != names::SCDP_STATUS {
                    return Ok(S::Other(embedded));
                }
                match open("scdpNotifyProcStatusExt", &embedded)? {
                    SequenceStatus::Expired(()) => S::Expired,
                    SequenceStatus::NotStarted(()) => S::ProcessingNotStarted,
                    SequenceStatus::Extension(embedded) => {
                        S::SequenceControlledOther(embedded.take()?)
                    }
                }
            }
        })
    }
}

impl ProcessingNotify {
    fn new(notification: &ProcessingNotification) -> Result<Self, EncodeError> {
        let last_processed = match &notification.last_processed {
            None => WireLastProcessed::None(()),
            Some(LastProcessed { data_unit, status }) => {
                let status = WireStatus::new(status)?;
                WireLastProcessed::Last(WireLast { data_unit: *data_unit, status })
            }
        };
        let last_ok = match notification.last_ok {
            None => WireLastOk::None(()),
            Some(LastOk { data_unit, stop_time }) => {
                WireLastOk::Last(WireOk { data_unit, stop_time: stop_time.into() })
            }
        };
        let production = match notification.production {
            None => WireProduction::Change(()),
            Some(status) => WireProduction::Status(match status {
                ProductionStatus::Configured => WireProductionStatus::Configured,
                ProductionStatus::Operational => WireProductionStatus::Operational,
                ProductionStatus::Interrupted => WireProductionStatus::Interrupted,
                ProductionStatus::Halted => WireProductionStatus::Halted,
            }),
        };
        let extension = Extended::new(notification.extension.as_ref())?;
        Ok(Self { last_processed, last_ok, production, extension })
    }

    fn take(self) -> Result<ProcessingNotification, DecodeError> {
        let last_processed = match self.last_processed {
            WireLastProcessed::None(()) => None,
            WireLastProcessed::Last(WireLast { data_unit, status }) => {
                Some(LastProcessed { data_unit, status: status.take()? })
            }
        };
        let last_ok = match self.last_ok {
            WireLastOk::None(()) => None,
            WireLastOk::Last(WireOk { data_unit, stop_time }) => {
                Some(LastOk { data_unit, stop_time: stop_time.into() })
            }
        };
        let production = match self.production {
            WireProduction::Change(()) => None,
            WireProduction::Status(status) => Some(match status {
                WireProductionStatus::Configured => ProductionStatus::Configured,
                WireProductionStatus::Operational => ProductionStatus::Operational,
                WireProductionStatus::Interrupted => ProductionStatus::Interrupted,
                WireProductionStatus::Halted => ProductionStatus::Halted,
            }),
        };
        let extension = self.extension.take()?;
        Ok(ProcessingNotification { last_processed, last_ok, production, extension })
    }
}

impl NotifyInvocation {
    pub(super) fn new(credentials: Option<&Bytes>, pdu: &NotifyPdu) -> Result<Self, EncodeError> {
        let embedded = match &pdu.extension {
            NotifyExtension::NotUsed => None,
            NotifyExtension::DataProcessing(notification) => {
                Some(embed(names::DP_NOTIFY, &ProcessingNotify::new(notification)?)?)
            }
            NotifyExtension::Other(embedded) => Some(embedded.clone()),
        };
        Ok(Self {
            header: InvocationHeader::new(credentials, pdu.invoke_id, &pdu.procedure)?,
            time: pdu.time.into(),
            event: WireName::new(&pdu.event)?,
            value: WireEventValue::new(&pdu.value)?,
            extension: Extended::new(embedded.as_ref())?,
        })
    }

    pub(super) fn take(self) -> Result<(Credentials, NotifyPdu), DecodeError> {
        let extension = match self.extension.take()? {
            None => NotifyExtension::NotUsed,
            Some(embedded) if embedded.syntax == names::DP_NOTIFY => {
                let wire: ProcessingNotify = open("dpNotifyInvocExt", &embedded)?;
                NotifyExtension::DataProcessing(wire.take()?)
            }
            Some(embedded) => NotifyExtension::Other(embedded),
        };
        let pdu = NotifyPdu {
            invoke_id: self.header.invoke_id,
            procedure: self.header.procedure.take()?,
            time: self.time.into(),
            event: self.event.take()?,
            value: self.value.take()?,
            extension,
        };
        Ok((self.header.credentials, pdu))
    }
}

pub(super) fn notify(tag: u32, octets: &[u8]) -> DecodedOperation {
    let wire: NotifyInvocation = read("NOTIFY invocation", tag, octets)?;
    let (credentials, pdu) = wire.take()?;
    Ok((credentials, Pdu::Notify(pdu)))
}

pub(super) fn put_notify(credentials: Option<&Bytes>, pdu: &NotifyPdu, out: &mut Vec<u8>) -> Coded {
    write("NOTIFY invocation", 50, &NotifyInvocation::new(credentials, pdu)?, out)
}
