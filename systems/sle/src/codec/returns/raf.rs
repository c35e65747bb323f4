//! START and GET-PARAMETER of RAF.
//!
//! `requestedFrameQuality` while nothing is started: 3 (`undefined`) up to version 4. Version 5 has
//! no such value; it is understood there, because ESA's API declares it, and not sent.

use super::asn::{CurrentReportingCycle, LatencyLimit, Named, SetOrSequenceOf};
use super::convert::{
    cycle_in, cycle_out, delivery_in, delivery_out, latency_in, latency_out, named,
};
use crate::codec::common::{ConditionalTime, Credentials, DiagnosticChoice, read, write};
use crate::codec::{Codec, DecodeError, EncodeError};
use crate::pdu::{
    Diagnostic, InvokeId, Message, Parameter, ParameterName, Pdu, RequestedFrameQuality,
    ReturnStart, Select, Start,
};
use bytes::Bytes;
use rasn::prelude::*;

/// `RafStartInvocation`.
#[derive(AsnType, Decode, Encode)]
struct StartInvocation {
    credentials: Credentials,
    invoke_id: u16,
    start_time: ConditionalTime,
    stop_time: ConditionalTime,
    requested_frame_quality: i64,
}

/// `RafGetParameter`, with what only version 5 has.
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
    ReportingCycle(Named<CurrentReportingCycle>),
    #[rasn(tag(context, 4))]
    ReqFrameQuality(Named<i64>),
    #[rasn(tag(context, 5))]
    ReturnTimeout(Named<u16>),
    #[rasn(tag(context, 6))]
    PermittedFrameQuality(Named<SetOrSequenceOf<i64>>),
    #[rasn(tag(context, 7))]
    MinReportingCycle(Named<u16>),
}

/// `result` of `RafGetParameterReturn`.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum GetResult {
    #[rasn(tag(explicit(context, 0)))]
    Positive(GetParameter),
    #[rasn(tag(explicit(context, 1)))]
    Negative(DiagnosticChoice),
}

/// `RafGetParameterReturn`.
#[derive(AsnType, Decode, Encode)]
struct GetReturn {
    credentials: Credentials,
    invoke_id: u16,
    result: GetResult,
}

/// START.
pub(super) fn decode_start(octets: &Bytes) -> Result<Message, DecodeError> {
    let start: StartInvocation = read("START", 0, octets)?;
    let quality = quality_in(start.requested_frame_quality)?;
    let pdu = Pdu::Start {
        invoke_id: start.invoke_id,
        start: Start::Return(ReturnStart {
            start: start.start_time.into(),
            stop: start.stop_time.into(),
            select: Select::Frames(quality),
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
    let Select::Frames(quality) = start.select else {
        return Err(codec.not_in_version("a START for a channel"));
    };
    let start = StartInvocation {
        credentials,
        invoke_id,
        start_time: start.start.into(),
        stop_time: start.stop.into(),
        requested_frame_quality: quality as i64,
    };
    write("START", 0, &start, out)
}

fn quality_in(value: i64) -> Result<RequestedFrameQuality, DecodeError> {
    Ok(match value {
        0 => RequestedFrameQuality::Good,
        1 => RequestedFrameQuality::Erred,
        2 => RequestedFrameQuality::All,
        value => return Err(DecodeError::Value { field: "requestedFrameQuality", value }),
    })
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
        GetParameter::ReportingCycle(it) => {
            Parameter::ReportingCycle(cycle_in(&it.value(ParameterName::REPORTING_CYCLE)?))
        }
        GetParameter::ReqFrameQuality(it) => Parameter::RequestedFrameQuality(
            match it.value(ParameterName::REQUESTED_FRAME_QUALITY)? {
                3 => None,
                value => Some(quality_in(value)?),
            },
        ),
        GetParameter::ReturnTimeout(it) => {
            Parameter::ReturnTimeoutPeriod(it.value(ParameterName::RETURN_TIMEOUT_PERIOD)?)
        }
        GetParameter::PermittedFrameQuality(it) => Parameter::PermittedFrameQuality(
            it.value(ParameterName::PERMITTED_FRAME_QUALITY)?
                .into_inner()
                .into_iter()
                .map(quality_in)
                .collect::<Result<_, _>>()?,
        ),
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
    let since_5 = codec.version >= 5;
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
        Parameter::ReportingCycle(cycle) => {
            GetParameter::ReportingCycle(named(ParameterName::REPORTING_CYCLE, cycle_out(*cycle)))
        }
        Parameter::RequestedFrameQuality(None) if since_5 => {
            return Err(codec.not_in_version("an undefined requestedFrameQuality"));
        }
        Parameter::RequestedFrameQuality(quality) => GetParameter::ReqFrameQuality(named(
            ParameterName::REQUESTED_FRAME_QUALITY,
            quality.map_or(3, |quality| quality as i64),
        )),
        Parameter::ReturnTimeoutPeriod(seconds) => {
            GetParameter::ReturnTimeout(named(ParameterName::RETURN_TIMEOUT_PERIOD, *seconds))
        }
        Parameter::PermittedFrameQuality(set) if since_5 => {
            let set = set.iter().map(|quality| *quality as i64).collect();
            GetParameter::PermittedFrameQuality(named(
                ParameterName::PERMITTED_FRAME_QUALITY,
                SetOrSequenceOf::Set(set),
            ))
        }
        Parameter::MinReportingCycle(seconds) if since_5 => {
            GetParameter::MinReportingCycle(named(ParameterName::MIN_REPORTING_CYCLE, *seconds))
        }
        _ => return Err(codec.not_in_version("this parameter")),
    })
}
