//! START, GET, EXECUTE-DIRECTIVE and TRANSFER-DATA. Source: CCSDS 921.1-B-2, annexes F3.4, F3.10, F3.13.

use super::common::{
    Extended, InvocationHeader, WireData, WireEmbedded, WireProcedureName, WireResource, embed,
    oid, open, wire_oid,
};
use super::diagnostic::ReturnHeader;
use super::list::{WireList, WireParameter};
use super::outcome::{Coded, DecodedOperation};
use crate::codec::common::{Credentials, WireTime, read, write};
use crate::codec::{DecodeError, EncodeError};
use crate::csts::pdu::{
    BufferedOperation, DirectiveQualifier, ExecuteDirective, GetPdu, GetReturn, Pdu,
    QualifierValues, StartExtension, StartPdu, TransferData, TransferDataOrNotify, names,
};
use bytes::Bytes;
use rasn::prelude::*;

#[derive(AsnType, Decode, Encode)]
struct StartInvocation {
    header: InvocationHeader,
    extension: Extended,
}

/// `SequContrDataProcStartInvocExt`.
#[derive(AsnType, Decode, Encode)]
struct SequenceStart {
    first_data_unit: u32,
    extension: Extended,
}

/// `NotificationStartInvocExt`.
#[derive(AsnType, Decode, Encode)]
struct NotificationStart {
    events: WireList,
    extension: Extended,
}

pub(super) fn start(tag: u32, octets: &[u8]) -> DecodedOperation {
    let wire: StartInvocation = read("START invocation", tag, octets)?;
    let extension = match wire.extension.take()? {
        None => StartExtension::NotUsed,
        Some(embedded) if embedded.syntax == names::SCDP_START => {
            let wire: SequenceStart = open("scdpStartInvocExt", &embedded)?;
            let extension = wire.extension.take()?;
            let first_data_unit = wire.first_data_unit;
            StartExtension::SequenceControlled { first_data_unit, extension }
        }
        Some(embedded) if embedded.syntax == names::N_START => {
            let wire: NotificationStart = open("nStartInvocExt", &embedded)?;
            let (events, extension) = (wire.events.take()?, wire.extension.take()?);
            StartExtension::Notification { events, extension }
        }
        Some(embedded) => StartExtension::Other(embedded),
    };
    let invoke_id = wire.header.invoke_id;
    let procedure = wire.header.procedure.take()?;
    Ok((wire.header.credentials, Pdu::Start(StartPdu { invoke_id, procedure, extension })))
}

pub(super) fn put_start(credentials: Option<&Bytes>, pdu: &StartPdu, out: &mut Vec<u8>) -> Coded {
    let header = InvocationHeader::new(credentials, pdu.invoke_id, &pdu.procedure)?;
    let embedded = match &pdu.extension {
        StartExtension::NotUsed => None,
        StartExtension::SequenceControlled { first_data_unit, extension } => {
            let extension = Extended::new(extension.as_ref())?;
            let wire = SequenceStart { first_data_unit: *first_data_unit, extension };
            Some(embed(names::SCDP_START, &wire)?)
        }
        StartExtension::Notification { events, extension } => {
            let extension = Extended::new(extension.as_ref())?;
            let wire = NotificationStart { events: WireList::new(events)?, extension };
            Some(embed(names::N_START, &wire)?)
        }
        StartExtension::Other(embedded) => Some(embedded.clone()),
    };
    let extension = Extended::new(embedded.as_ref())?;
    write("START invocation", 10, &StartInvocation { header, extension }, out)
}

#[derive(AsnType, Decode, Encode)]
struct GetInvocation {
    header: InvocationHeader,
    parameters: WireList,
    extension: Extended,
}

pub(super) fn get(tag: u32, octets: &[u8]) -> DecodedOperation {
    let wire: GetInvocation = read("GET invocation", tag, octets)?;
    let get = GetPdu {
        invoke_id: wire.header.invoke_id,
        procedure: wire.header.procedure.take()?,
        parameters: wire.parameters.take()?,
        extension: wire.extension.take()?,
    };
    Ok((wire.header.credentials, Pdu::Get(get)))
}

pub(super) fn put_get(credentials: Option<&Bytes>, pdu: &GetPdu, out: &mut Vec<u8>) -> Coded {
    let header = InvocationHeader::new(credentials, pdu.invoke_id, &pdu.procedure)?;
    let parameters = WireList::new(&pdu.parameters)?;
    let extension = Extended::new(pdu.extension.as_ref())?;
    write("GET invocation", 40, &GetInvocation { header, parameters, extension }, out)
}

/// `GetPosReturnExt`.
#[derive(AsnType, Decode, Encode)]
struct GetValues {
    parameters: Vec<WireParameter>,
    extension: Extended,
}

pub(super) fn get_return(tag: u32, octets: &[u8]) -> DecodedOperation {
    let operation = "GET return";
    let header: ReturnHeader = read(operation, tag, octets)?;
    let (credentials, invoke_id) = (header.credentials.clone(), header.invoke_id);
    let (result, extension) = match header.take()? {
        (Err(diagnostic), extension) => (Err(diagnostic), extension),
        (Ok(()), Some(embedded)) if embedded.syntax == names::GET_RETURN => {
            let wire: GetValues = open("getPosReturnExt", &embedded)?;
            let values = wire.parameters.into_iter().map(WireParameter::take);
            (Ok(values.collect::<Result<_, _>>()?), wire.extension.take()?)
        }
        (Ok(()), _) => {
            let reason = "a positive result has getPosReturnExt".to_owned();
            return Err(DecodeError::Content { operation, reason });
        }
    };
    Ok((credentials, Pdu::GetReturn(GetReturn { invoke_id, result, extension })))
}

pub(super) fn put_get_return(
    credentials: Option<&Bytes>,
    pdu: &GetReturn,
    out: &mut Vec<u8>,
) -> Coded {
    let header = match &pdu.result {
        Err(diagnostic) => {
            let extension = pdu.extension.as_ref();
            ReturnHeader::new(credentials, pdu.invoke_id, Err(diagnostic), extension)?
        }
        Ok(values) => {
            let parameters = values.iter().map(WireParameter::new).collect::<Result<_, _>>()?;
            let extension = Extended::new(pdu.extension.as_ref())?;
            let values = embed(names::GET_RETURN, &GetValues { parameters, extension })?;
            ReturnHeader::new(credentials, pdu.invoke_id, Ok(()), Some(&values))?
        }
    };
    write("GET return", 41, &header, out)
}

#[derive(AsnType, Decode, Encode)]
struct DirectiveInvocation {
    header: InvocationHeader,
    directive: ObjectIdentifier,
    qualifier: WireQualifier,
    extension: Extended,
}

#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum WireQualifier {
    #[rasn(tag(explicit(context, 1)))]
    Local(WireQualifierValues),
    #[rasn(tag(context, 2))]
    Procedure(ProcedureQualifier),
    #[rasn(tag(context, 3))]
    Resource(ResourceQualifier),
    #[rasn(tag(context, 4))]
    Extension(WireEmbedded),
}

#[derive(AsnType, Decode, Encode)]
struct ProcedureQualifier {
    procedure: WireProcedureName,
    values: WireQualifierValues,
}

#[derive(AsnType, Decode, Encode)]
struct ResourceQualifier {
    resource: WireResource,
    values: WireQualifierValues,
}

/// `DirectiveQualifierValues`.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum WireQualifierValues {
    #[rasn(tag(context, 1))]
    Parameters(Vec<IdAndValue>),
    #[rasn(tag(context, 2))]
    Parameterless(WireEmbedded),
    #[rasn(tag(context, 3))]
    None(()),
}

#[derive(AsnType, Decode, Encode)]
struct IdAndValue {
    id: ObjectIdentifier,
    value: WireEmbedded,
}

impl WireQualifierValues {
    fn new(values: &QualifierValues) -> Result<Self, EncodeError> {
        Ok(match values {
            QualifierValues::Parameters(parameters) => {
                let parameters = parameters.iter().map(|(id, value)| {
                    let (id, value) = (wire_oid(id)?, WireEmbedded::new(value)?);
                    Ok(IdAndValue { id, value })
                });
                Self::Parameters(parameters.collect::<Result<_, EncodeError>>()?)
            }
            QualifierValues::Parameterless(value) => Self::Parameterless(WireEmbedded::new(value)?),
            QualifierValues::None => Self::None(()),
        })
    }

    fn take(self) -> Result<QualifierValues, DecodeError> {
        Ok(match self {
            Self::Parameters(parameters) => {
                let parameters =
                    parameters.into_iter().map(|it| Ok((oid(&it.id)?, it.value.take()?)));
                QualifierValues::Parameters(parameters.collect::<Result<_, DecodeError>>()?)
            }
            Self::Parameterless(value) => QualifierValues::Parameterless(value.take()?),
            Self::None(()) => QualifierValues::None,
        })
    }
}

pub(super) fn directive(tag: u32, octets: &[u8]) -> DecodedOperation {
    use DirectiveQualifier as Q;
    let wire: DirectiveInvocation = read("EXECUTE-DIRECTIVE invocation", tag, octets)?;
    let qualifier = match wire.qualifier {
        WireQualifier::Local(values) => Q::Local(values.take()?),
        WireQualifier::Procedure(of) => Q::Procedure(of.procedure.take()?, of.values.take()?),
        WireQualifier::Resource(of) => {
            Q::FunctionalResource(of.resource.take()?, of.values.take()?)
        }
        WireQualifier::Extension(embedded) => Q::Other(embedded.take()?),
    };
    let directive = ExecuteDirective {
        invoke_id: wire.header.invoke_id,
        procedure: wire.header.procedure.take()?,
        directive: oid(&wire.directive)?,
        qualifier,
        extension: wire.extension.take()?,
    };
    Ok((wire.header.credentials, Pdu::ExecuteDirective(directive)))
}

pub(super) fn put_directive(
    credentials: Option<&Bytes>,
    pdu: &ExecuteDirective,
    out: &mut Vec<u8>,
) -> Coded {
    use DirectiveQualifier as Q;
    let qualifier = match &pdu.qualifier {
        Q::Local(values) => WireQualifier::Local(WireQualifierValues::new(values)?),
        Q::Procedure(name, values) => {
            let procedure = WireProcedureName::new(name)?;
            let values = WireQualifierValues::new(values)?;
            WireQualifier::Procedure(ProcedureQualifier { procedure, values })
        }
        Q::FunctionalResource(name, values) => {
            let resource = WireResource::new(name)?;
            let values = WireQualifierValues::new(values)?;
            WireQualifier::Resource(ResourceQualifier { resource, values })
        }
        Q::Other(embedded) => WireQualifier::Extension(WireEmbedded::new(embedded)?),
    };
    let wire = DirectiveInvocation {
        header: InvocationHeader::new(credentials, pdu.invoke_id, &pdu.procedure)?,
        directive: wire_oid(&pdu.directive)?,
        qualifier,
        extension: Extended::new(pdu.extension.as_ref())?,
    };
    write("EXECUTE-DIRECTIVE invocation", 30, &wire, out)
}

#[derive(AsnType, Decode, Encode)]
struct TransferInvocation {
    header: InvocationHeader,
    generation_time: WireTime,
    sequence_counter: u32,
    data: WireData,
    extension: Extended,
}

impl TransferInvocation {
    fn new(credentials: Option<&Bytes>, pdu: &TransferData) -> Result<Self, EncodeError> {
        Ok(Self {
            header: InvocationHeader::new(credentials, pdu.invoke_id, &pdu.procedure)?,
            generation_time: pdu.generation_time.into(),
            sequence_counter: pdu.sequence_counter,
            data: WireData::new(&pdu.data)?,
            extension: Extended::new(pdu.extension.as_ref())?,
        })
    }

    fn take(self) -> Result<(Credentials, TransferData), DecodeError> {
        let pdu = TransferData {
            invoke_id: self.header.invoke_id,
            procedure: self.header.procedure.take()?,
            generation_time: self.generation_time.into(),
            sequence_counter: self.sequence_counter,
            data: self.data.take()?,
            extension: self.extension.take()?,
        };
        Ok((self.header.credentials, pdu))
    }
}

pub(super) fn transfer(tag: u32, octets: &[u8]) -> DecodedOperation {
    let wire: TransferInvocation = read("TRANSFER-DATA invocation", tag, octets)?;
    let (credentials, pdu) = wire.take()?;
    Ok((credentials, Pdu::TransferData(pdu)))
}

pub(super) fn put_transfer(
    credentials: Option<&Bytes>,
    pdu: &TransferData,
    out: &mut Vec<u8>,
) -> Coded {
    write("TRANSFER-DATA invocation", 70, &TransferInvocation::new(credentials, pdu)?, out)
}

/// `TransferDataOrNotification`.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum WirePart {
    #[rasn(tag(context, 0))]
    Transfer(TransferInvocation),
    #[rasn(tag(context, 1))]
    Notify(super::processing::NotifyInvocation),
}

pub(super) fn return_buffer(tag: u32, octets: &[u8]) -> DecodedOperation {
    let wire: Vec<WirePart> = read("return buffer", tag, octets)?;
    let parts = wire.into_iter().map(|part| {
        let (credentials, operation) = match part {
            WirePart::Transfer(wire) => {
                let (credentials, pdu) = wire.take()?;
                (credentials, TransferDataOrNotify::TransferData(pdu))
            }
            WirePart::Notify(wire) => {
                let (credentials, pdu) = wire.take()?;
                (credentials, TransferDataOrNotify::Notify(pdu))
            }
        };
        Ok(BufferedOperation { credentials: credentials.into(), operation })
    });
    let parts = parts.collect::<Result<_, DecodeError>>()?;
    Ok((Credentials::Unused(()), Pdu::ReturnBuffer(parts)))
}

pub(super) fn put_return_buffer(
    parts: &[BufferedOperation<TransferDataOrNotify>],
    out: &mut Vec<u8>,
) -> Coded {
    let wire = parts.iter().map(|part| {
        let credentials = part.credentials.as_ref();
        Ok(match &part.operation {
            TransferDataOrNotify::TransferData(pdu) => {
                WirePart::Transfer(TransferInvocation::new(credentials, pdu)?)
            }
            TransferDataOrNotify::Notify(pdu) => {
                WirePart::Notify(super::processing::NotifyInvocation::new(credentials, pdu)?)
            }
        })
    });
    write("return buffer", 71, &wire.collect::<Result<Vec<_>, EncodeError>>()?, out)
}
