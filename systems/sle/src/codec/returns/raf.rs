//! START and GET-PARAMETER of RAF.
//!
//! `requestedFrameQuality` while nothing is started: 3 (`undefined`) up to version 4. Version 5 has
//! no such value; it is understood there, because ESA's API declares it, and not sent.

use super::asn::{CurrentReportingCycle, LatencyLimit, Named, SetOrSequenceOf};
use super::convert::{cycle_in, cycle_out, named};
use super::parameter::{CommonParameter, GetParameter, from_common};
use super::start;
use crate::codec::common::Credentials;
use crate::codec::{Codec, DecodeError, EncodeError};
use crate::pdu::{
    InvokeId, Message, Parameter, ParameterName, RequestedFrameQuality, ReturnSelection,
    ReturnStart,
};
use bytes::Bytes;
use rasn::prelude::*;

/// `RafGetParameter`, with what only version 5 has.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
pub(super) enum RafParameter {
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

/// Decodes a START invocation.
pub(super) fn decode_start(octets: &Bytes) -> Result<Message, DecodeError> {
    start::decode(octets, |quality| Ok(ReturnSelection::Frames(quality_in(quality)?)))
}

/// Appends a START invocation.
pub(super) fn encode_start(
    codec: Codec,
    credentials: Credentials,
    invoke_id: InvokeId,
    start: &ReturnStart,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let ReturnSelection::Frames(quality) = start.select else {
        return Err(codec.not_in_version("a START for a channel"));
    };
    start::encode(credentials, invoke_id, start, quality as i64, out)
}

fn quality_in(value: i64) -> Result<RequestedFrameQuality, DecodeError> {
    Ok(match value {
        0 => RequestedFrameQuality::Good,
        1 => RequestedFrameQuality::Erred,
        2 => RequestedFrameQuality::All,
        value => return Err(DecodeError::Value { field: "requestedFrameQuality", value }),
    })
}

impl GetParameter for RafParameter {
    fn parameter(self) -> Result<Parameter, DecodeError> {
        Ok(match self {
            Self::BufferSize(it) => CommonParameter::BufferSize(it).parameter()?,
            Self::DeliveryMode(it) => CommonParameter::DeliveryMode(it).parameter()?,
            Self::LatencyLimit(it) => CommonParameter::LatencyLimit(it).parameter()?,
            Self::ReportingCycle(it) => {
                Parameter::ReportingCycle(cycle_in(&it.value(ParameterName::REPORTING_CYCLE)?))
            }
            Self::ReqFrameQuality(it) => Parameter::RequestedFrameQuality(
                match it.value(ParameterName::REQUESTED_FRAME_QUALITY)? {
                    3 => None,
                    value => Some(quality_in(value)?),
                },
            ),
            Self::ReturnTimeout(it) => CommonParameter::ReturnTimeout(it).parameter()?,
            Self::PermittedFrameQuality(it) => Parameter::PermittedFrameQuality(
                it.value(ParameterName::PERMITTED_FRAME_QUALITY)?
                    .into_inner()
                    .into_iter()
                    .map(quality_in)
                    .collect::<Result<_, _>>()?,
            ),
            Self::MinReportingCycle(it) => CommonParameter::MinReportingCycle(it).parameter()?,
        })
    }

    fn of(codec: Codec, parameter: &Parameter) -> Result<Self, EncodeError> {
        let since_5 = codec.version >= 5;
        Ok(match parameter {
            Parameter::ReportingCycle(cycle) => {
                Self::ReportingCycle(named(ParameterName::REPORTING_CYCLE, cycle_out(*cycle)))
            }
            Parameter::RequestedFrameQuality(None) if since_5 => {
                return Err(codec.not_in_version("an undefined requestedFrameQuality"));
            }
            Parameter::RequestedFrameQuality(quality) => Self::ReqFrameQuality(named(
                ParameterName::REQUESTED_FRAME_QUALITY,
                quality.map_or(3, |quality| quality as i64),
            )),
            Parameter::PermittedFrameQuality(set) if since_5 => {
                let set = set.iter().map(|quality| *quality as i64).collect();
                Self::PermittedFrameQuality(named(
                    ParameterName::PERMITTED_FRAME_QUALITY,
                    SetOrSequenceOf::Set(set),
                ))
            }
            parameter => CommonParameter::of(codec, parameter)?.into(),
        })
    }
}

from_common!(RafParameter);
