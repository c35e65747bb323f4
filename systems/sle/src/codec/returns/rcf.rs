//! START and GET-PARAMETER of RCF.
//!
//! `requestedGvcid`: version 1 has the bare `GvcId`; from version 2 on it is a CHOICE with
//! `undefined`, as in ESA's API and the book of version 5 (an older module of another implementation
//! has the bare one up to version 4). Both are understood in all versions.

use super::asn::{CurrentReportingCycle, LatencyLimit, Named, RequestedGvcId};
use super::convert::{
    GvcIdSet, bare_gvcid_out, chosen_gvcid_out, cycle_in, cycle_out, delivery_in, delivery_out,
    gvcid_set_in, gvcid_set_out, latency_in, latency_out, named, requested_gvcid_in,
};
use crate::codec::common::{
    ConditionalTime, Credentials, DiagnosticChoice, WireGvcId, read, write,
};
use crate::codec::{Codec, DecodeError, EncodeError};
use crate::pdu::{
    Diagnostic, InvokeId, Message, Parameter, ParameterName, Pdu, ReturnStart, Select, Start,
};
use bytes::Bytes;
use rasn::prelude::*;

/// `RcfStartInvocation`.
#[derive(AsnType, Decode, Encode)]
struct StartInvocation {
    credentials: Credentials,
    invoke_id: u16,
    start_time: ConditionalTime,
    stop_time: ConditionalTime,
    requested_gvcid: WireGvcId,
}

/// `RcfGetParameter`, with what only version 5 has.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum GetParameter {
    #[rasn(tag(context, 0))]
    BufferSize(Named<u16>),
    #[rasn(tag(context, 1))]
    DeliveryMode(Named<i64>),
    #[rasn(tag(context, 2))]
    LatencyLimit(Named<LatencyLimit>),
    #[rasn(tag(context, 3))]
    PermittedGvcidSet(Named<GvcIdSet>),
    #[rasn(tag(context, 4))]
    ReportingCycle(Named<CurrentReportingCycle>),
    #[rasn(tag(context, 5))]
    ReqGvcId(Named<RequestedGvcId>),
    #[rasn(tag(context, 6))]
    ReturnTimeout(Named<u16>),
    #[rasn(tag(context, 7))]
    MinReportingCycle(Named<u16>),
}

/// `result` of `RcfGetParameterReturn`.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum GetResult {
    #[rasn(tag(explicit(context, 0)))]
    Positive(GetParameter),
    #[rasn(tag(explicit(context, 1)))]
    Negative(DiagnosticChoice),
}

/// `RcfGetParameterReturn`.
#[derive(AsnType, Decode, Encode)]
struct GetReturn {
    credentials: Credentials,
    invoke_id: u16,
    result: GetResult,
}

/// START.
pub(super) fn decode_start(octets: &Bytes) -> Result<Message, DecodeError> {
    let start: StartInvocation = read("START", 0, octets)?;
    let pdu = Pdu::Start {
        invoke_id: start.invoke_id,
        start: Start::Return(ReturnStart {
            start: start.start_time.into(),
            stop: start.stop_time.into(),
            select: Select::Channel(start.requested_gvcid.into()),
        }),
    };
    Ok(Message { credentials: start.credentials.into(), pdu })
}

/// Appends START.
pub(super) fn encode_start(
    codec: Codec,
    credentials: Credentials,
    invoke_id: InvokeId,
    start: &ReturnStart,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let Select::Channel(channel) = start.select else {
        return Err(codec.not_in_version("a START for anything but a channel"));
    };
    let start = StartInvocation {
        credentials,
        invoke_id,
        start_time: start.start.into(),
        stop_time: start.stop.into(),
        requested_gvcid: WireGvcId::new(channel)?,
    };
    write("START", 0, &start, out)
}

/// GET-PARAMETER return.
pub(super) fn decode_parameter(octets: &Bytes) -> Result<Message, DecodeError> {
    let done: GetReturn = read("GET-PARAMETER return", 7, octets)?;
    let result = match done.result {
        GetResult::Positive(parameter) => Ok(parameter_in(parameter)?),
        GetResult::Negative(diagnostic) => Err(diagnostic.try_into()?),
    };
    let pdu = Pdu::GetParameterReturn { invoke_id: done.invoke_id, result };
    Ok(Message { credentials: done.credentials.into(), pdu })
}

fn parameter_in(parameter: GetParameter) -> Result<Parameter, DecodeError> {
    Ok(match parameter {
        GetParameter::BufferSize(it) => {
            Parameter::BufferSize(it.value(ParameterName::BUFFER_SIZE)?)
        }
        GetParameter::DeliveryMode(it) => {
            Parameter::DeliveryMode(delivery_in(it.value(ParameterName::DELIVERY_MODE)?)?)
        }
        GetParameter::LatencyLimit(it) => {
            Parameter::LatencyLimit(latency_in(&it.value(ParameterName::LATENCY_LIMIT)?))
        }
        GetParameter::PermittedGvcidSet(it) => Parameter::PermittedGvcidSet(gvcid_set_in(
            it.value(ParameterName::PERMITTED_GVCID_SET)?,
        )?),
        GetParameter::ReportingCycle(it) => {
            Parameter::ReportingCycle(cycle_in(&it.value(ParameterName::REPORTING_CYCLE)?))
        }
        GetParameter::ReqGvcId(it) => {
            Parameter::RequestedGvcid(requested_gvcid_in(it.value(ParameterName::REQUESTED_GVCID)?))
        }
        GetParameter::ReturnTimeout(it) => {
            Parameter::ReturnTimeoutPeriod(it.value(ParameterName::RETURN_TIMEOUT_PERIOD)?)
        }
        GetParameter::MinReportingCycle(it) => {
            Parameter::MinReportingCycle(it.value(ParameterName::MIN_REPORTING_CYCLE)?)
        }
    })
}

/// Appends GET-PARAMETER's return.
pub(super) fn encode_parameter(
    codec: Codec,
    credentials: Credentials,
    invoke_id: InvokeId,
    result: &Result<Parameter, Diagnostic>,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let result = match result {
        Ok(parameter) => GetResult::Positive(parameter_out(codec, parameter)?),
        Err(diagnostic) => GetResult::Negative((*diagnostic).into()),
    };
    write("GET-PARAMETER return", 7, &GetReturn { credentials, invoke_id, result }, out)
}

fn parameter_out(codec: Codec, parameter: &Parameter) -> Result<GetParameter, EncodeError> {
    Ok(match parameter {
        Parameter::BufferSize(parts) => {
            GetParameter::BufferSize(named(ParameterName::BUFFER_SIZE, *parts))
        }
        Parameter::DeliveryMode(mode) => {
            GetParameter::DeliveryMode(named(ParameterName::DELIVERY_MODE, delivery_out(*mode)?))
        }
        Parameter::LatencyLimit(limit) => {
            GetParameter::LatencyLimit(named(ParameterName::LATENCY_LIMIT, latency_out(*limit)))
        }
        Parameter::PermittedGvcidSet(set) => GetParameter::PermittedGvcidSet(named(
            ParameterName::PERMITTED_GVCID_SET,
            gvcid_set_out(set, codec.version)?,
        )),
        Parameter::ReportingCycle(cycle) => {
            GetParameter::ReportingCycle(named(ParameterName::REPORTING_CYCLE, cycle_out(*cycle)))
        }
        Parameter::RequestedGvcid(channel) => {
            let value = if codec.version == 1 {
                bare_gvcid_out(codec, *channel)?
            } else {
                chosen_gvcid_out(*channel)?
            };
            GetParameter::ReqGvcId(named(ParameterName::REQUESTED_GVCID, value))
        }
        Parameter::ReturnTimeoutPeriod(seconds) => {
            GetParameter::ReturnTimeout(named(ParameterName::RETURN_TIMEOUT_PERIOD, *seconds))
        }
        Parameter::MinReportingCycle(seconds) if codec.version >= 5 => {
            GetParameter::MinReportingCycle(named(ParameterName::MIN_REPORTING_CYCLE, *seconds))
        }
        _ => return Err(codec.not_in_version("this parameter")),
    })
}
