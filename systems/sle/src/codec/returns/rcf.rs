//! START and GET-PARAMETER of RCF.
//!
//! `requestedGvcid`: version 1 has the bare `GvcId`; from version 2 on it is a CHOICE with
//! `undefined`, as in ESA's API and the book of version 5 (an older module of another implementation
//! has the bare one up to version 4). Both are understood in all versions.

use super::asn::{CurrentReportingCycle, LatencyLimit, Named, RequestedGvcId};
use super::convert::{
    GvcIdSet, bare_gvcid_out, chosen_gvcid_out, cycle_in, cycle_out, gvcid_set_in, gvcid_set_out,
    named, requested_gvcid_in,
};
use super::parameter::{CommonParameter, GetParameter, from_common};
use super::start;
use crate::codec::common::{Credentials, WireGvcId};
use crate::codec::{Codec, DecodeError, EncodeError};
use crate::pdu::{InvokeId, Message, Parameter, ParameterName, ReturnSelection, ReturnStart};
use bytes::Bytes;
use rasn::prelude::*;

/// `RcfGetParameter`, with what only version 5 has.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
pub(super) enum RcfParameter {
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

/// Decodes a START invocation.
pub(super) fn decode_start(octets: &Bytes) -> Result<Message, DecodeError> {
    start::decode(octets, |channel: WireGvcId| Ok(ReturnSelection::Channel(channel.into())))
}

/// Appends a START invocation.
pub(super) fn encode_start(
    codec: Codec,
    credentials: Credentials,
    invoke_id: InvokeId,
    start: &ReturnStart,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let ReturnSelection::Channel(channel) = start.select else {
        return Err(codec.not_in_version("a START for anything but a channel"));
    };
    start::encode(credentials, invoke_id, start, WireGvcId::new(channel)?, out)
}

impl GetParameter for RcfParameter {
    fn parameter(self) -> Result<Parameter, DecodeError> {
        Ok(match self {
            Self::BufferSize(it) => CommonParameter::BufferSize(it).parameter()?,
            Self::DeliveryMode(it) => CommonParameter::DeliveryMode(it).parameter()?,
            Self::LatencyLimit(it) => CommonParameter::LatencyLimit(it).parameter()?,
            Self::PermittedGvcidSet(it) => Parameter::PermittedGvcidSet(gvcid_set_in(
                it.value(ParameterName::PERMITTED_GVCID_SET)?,
            )?),
            Self::ReportingCycle(it) => {
                Parameter::ReportingCycle(cycle_in(&it.value(ParameterName::REPORTING_CYCLE)?))
            }
            Self::ReqGvcId(it) => Parameter::RequestedGvcid(requested_gvcid_in(
                it.value(ParameterName::REQUESTED_GVCID)?,
            )),
            Self::ReturnTimeout(it) => CommonParameter::ReturnTimeout(it).parameter()?,
            Self::MinReportingCycle(it) => CommonParameter::MinReportingCycle(it).parameter()?,
        })
    }

    fn of(codec: Codec, parameter: &Parameter) -> Result<Self, EncodeError> {
        Ok(match parameter {
            Parameter::PermittedGvcidSet(set) => Self::PermittedGvcidSet(named(
                ParameterName::PERMITTED_GVCID_SET,
                gvcid_set_out(set, codec.version)?,
            )),
            Parameter::ReportingCycle(cycle) => {
                Self::ReportingCycle(named(ParameterName::REPORTING_CYCLE, cycle_out(*cycle)))
            }
            Parameter::RequestedGvcid(channel) => {
                let value = if codec.version == 1 {
                    bare_gvcid_out(codec, *channel)?
                } else {
                    chosen_gvcid_out(*channel)?
                };
                Self::ReqGvcId(named(ParameterName::REQUESTED_GVCID, value))
            }
            parameter => CommonParameter::of(codec, parameter)?.into(),
        })
    }
}

from_common!(RcfParameter);
