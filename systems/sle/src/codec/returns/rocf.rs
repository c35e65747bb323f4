//! START and GET-PARAMETER of ROCF.
//!
//! `minReportingCycle`: the book of version 5 gives it tag [7], which is also `reportingCycle`'s, so
//! that no decoder could be made of it; implementations agreed on [13]. We send [13] and understand
//! both, [7] by the parameter's name.
//!
//! What was requested while nothing is started: up to version 4 `undefined` (3, or a CHOICE).
//! Version 5 has no such value; it is understood there, and not sent.

use super::asn::{LatencyLimit, Named, RequestedGvcId};
use super::convert::{
    GvcIdSet, bare_gvcid_out, channels_in, channels_out, chosen_gvcid_out, gvcid_set_in,
    gvcid_set_out, it_is, named, requested_gvcid_in, update_in,
};
use super::parameter::{CommonParameter, GetParameter, from_common};
use super::start;
use crate::codec::common::{ConditionalTime, Credentials, WireGvcId, in_range, read, write};
use crate::codec::{Codec, DecodeError, EncodeError};
use crate::pdu::{
    ControlWordType, InvokeId, Message, Parameter, ParameterName, ReturnSelection, ReturnStart,
};
use bytes::Bytes;
use rasn::prelude::*;

/// `TcVcid`.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
pub(super) enum TcVcid {
    #[rasn(tag(context, 0))]
    NoTcVc(()),
    #[rasn(tag(context, 1), value("0..=63"))]
    TcVcid(u8),
}

/// `RequestedTcVcid` of versions 1 to 4. In version 5 it is the bare `TcVcid`; the tags are the same
/// and what they hold is not, so that it takes the version to tell them apart.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
pub(super) enum RequestedTcVcid {
    #[rasn(tag(explicit(context, 0)))]
    TcVcid(TcVcid),
    #[rasn(tag(context, 1))]
    Undefined(()),
}

/// `ControlWordType`.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum WireControlWordType {
    #[rasn(tag(context, 0))]
    AllControlWords(()),
    #[rasn(tag(explicit(context, 1)))]
    Clcw(TcVcid),
    #[rasn(tag(context, 2))]
    NotClcw(()),
}

/// `RocfStartInvocation`.
#[derive(AsnType, Decode, Encode)]
struct StartInvocation {
    credentials: Credentials,
    invoke_id: u16,
    start_time: ConditionalTime,
    stop_time: ConditionalTime,
    requested_gvcid: WireGvcId,
    control_word_type: WireControlWordType,
    update_mode: i64,
}

/// `TcVcidSet`.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
pub(super) enum TcVcidSet {
    #[rasn(tag(context, 0))]
    NoTcVc(()),
    #[rasn(tag(context, 1))]
    TcVcids(SequenceOf<u8>),
}

/// The content of tag [7]: `reportingCycle`, or `minReportingCycle` as in the specification.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
pub(super) enum SomeCycle {
    #[rasn(tag(context, 0))]
    PeriodicReportingOff(()),
    #[rasn(tag(context, 1), value("2..=600"))]
    PeriodicReportingOn(u16),
    #[rasn(tag(universal, 2))]
    Least(u16),
}

/// `RocfGetParameter` of all versions; `R` is the version's `RequestedTcVcid`.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
pub(super) enum RocfParameter<R: AsnType + Decode + Encode> {
    #[rasn(tag(context, 0))]
    BufferSize(Named<u16>),
    #[rasn(tag(context, 1))]
    DeliveryMode(Named<i64>),
    #[rasn(tag(context, 2))]
    LatencyLimit(Named<LatencyLimit>),
    #[rasn(tag(context, 3))]
    PermittedGvcidSet(Named<GvcIdSet>),
    #[rasn(tag(context, 4))]
    PermittedRprtTypeSet(Named<SequenceOf<u8>>),
    #[rasn(tag(context, 5))]
    PermittedTcVcidSet(Named<TcVcidSet>),
    #[rasn(tag(context, 6))]
    PermittedUpdModeSet(Named<SequenceOf<i64>>),
    #[rasn(tag(context, 7))]
    SomeCycle(Named<SomeCycle>),
    #[rasn(tag(context, 8))]
    ReqGvcId(Named<RequestedGvcId>),
    #[rasn(tag(context, 9))]
    ReqControlWordType(Named<u8>),
    #[rasn(tag(context, 10))]
    ReqTcVcid(Named<R>),
    #[rasn(tag(context, 11))]
    ReqUpdateMode(Named<i64>),
    #[rasn(tag(context, 12))]
    ReturnTimeout(Named<u16>),
    #[rasn(tag(context, 13))]
    MinReportingCycle(Named<u16>),
}

/// A version's form of the requested virtual channel of telecommand.
pub(super) trait Requested: AsnType + Decode + Encode {
    fn take(self) -> Option<Option<u8>>;
    /// `None` where the form cannot say so.
    fn give(value: Option<Option<u8>>) -> Option<Self>;
}

impl Requested for TcVcid {
    fn take(self) -> Option<Option<u8>> {
        Some(self.into())
    }

    fn give(value: Option<Option<u8>>) -> Option<Self> {
        value.map(Self::from)
    }
}

impl Requested for RequestedTcVcid {
    fn take(self) -> Option<Option<u8>> {
        match self {
            Self::TcVcid(channel) => Some(channel.into()),
            Self::Undefined(()) => None,
        }
    }

    fn give(value: Option<Option<u8>>) -> Option<Self> {
        Some(value.map_or(Self::Undefined(()), |channel| Self::TcVcid(channel.into())))
    }
}

impl From<TcVcid> for Option<u8> {
    fn from(channel: TcVcid) -> Self {
        match channel {
            TcVcid::NoTcVc(()) => None,
            TcVcid::TcVcid(channel) => Some(channel),
        }
    }
}

impl From<Option<u8>> for TcVcid {
    fn from(channel: Option<u8>) -> Self {
        channel.map_or(Self::NoTcVc(()), Self::TcVcid)
    }
}

/// Decodes a START invocation.
pub(super) fn decode_start(octets: &Bytes) -> Result<Message, DecodeError> {
    let start: StartInvocation = read(start::NAME, start::TAG, octets)?;
    let select = ReturnSelection::Ocf {
        channel: start.requested_gvcid.into(),
        control_word: match start.control_word_type {
            WireControlWordType::AllControlWords(()) => ControlWordType::All,
            WireControlWordType::Clcw(channel) => ControlWordType::Clcw(channel.into()),
            WireControlWordType::NotClcw(()) => ControlWordType::NotClcw,
        },
        update: update_in(start.update_mode)?,
    };
    let times = (start.start_time, start.stop_time);
    Ok(start::message(start.credentials, start.invoke_id, times, select))
}

/// Appends a START invocation.
pub(super) fn encode_start(
    codec: Codec,
    credentials: Credentials,
    invoke_id: InvokeId,
    start: &ReturnStart,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let ReturnSelection::Ocf { channel, control_word, update } = start.select else {
        return Err(codec.not_in_version("a START for anything but control fields"));
    };
    let start = StartInvocation {
        credentials,
        invoke_id,
        start_time: start.start.into(),
        stop_time: start.stop.into(),
        requested_gvcid: WireGvcId::new(channel)?,
        control_word_type: match control_word {
            ControlWordType::All => WireControlWordType::AllControlWords(()),
            ControlWordType::Clcw(channel) => WireControlWordType::Clcw(channel.into()),
            ControlWordType::NotClcw => WireControlWordType::NotClcw(()),
        },
        update_mode: update as i64,
    };
    write(start::NAME, start::TAG, &start, out)
}

impl<R: Requested> GetParameter for RocfParameter<R> {
    fn parameter(self) -> Result<Parameter, DecodeError> {
        Ok(match self {
            Self::BufferSize(it) => CommonParameter::BufferSize(it).parameter()?,
            Self::DeliveryMode(it) => CommonParameter::DeliveryMode(it).parameter()?,
            Self::LatencyLimit(it) => CommonParameter::LatencyLimit(it).parameter()?,
            Self::PermittedGvcidSet(it) => Parameter::PermittedGvcidSet(gvcid_set_in(
                it.value(ParameterName::PERMITTED_GVCID_SET)?,
            )?),
            Self::PermittedRprtTypeSet(it) => Parameter::PermittedControlWordTypeSet(
                it.value(ParameterName::PERMITTED_CONTROL_WORD_TYPE_SET)?
                    .into_iter()
                    .map(control_word_in)
                    .collect::<Result<_, _>>()?,
            ),
            Self::PermittedTcVcidSet(it) => Parameter::PermittedTcVcidSet(
                match it.value(ParameterName::PERMITTED_TC_VCID_SET)? {
                    TcVcidSet::NoTcVc(()) => None,
                    TcVcidSet::TcVcids(channels) => Some(channels_in(channels)?),
                },
            ),
            Self::PermittedUpdModeSet(it) => Parameter::PermittedUpdateModeSet(
                it.value(ParameterName::PERMITTED_UPDATE_MODE_SET)?
                    .into_iter()
                    .map(update_in)
                    .collect::<Result<_, _>>()?,
            ),
            Self::SomeCycle(it) => some_cycle_in(it)?,
            Self::ReqGvcId(it) => Parameter::RequestedGvcid(requested_gvcid_in(
                it.value(ParameterName::REQUESTED_GVCID)?,
            )),
            Self::ReqControlWordType(it) => Parameter::RequestedControlWordType(
                match it.value(ParameterName::REQUESTED_CONTROL_WORD_TYPE)? {
                    3 => None,
                    number => Some(control_word_in(number)?),
                },
            ),
            Self::ReqTcVcid(it) => {
                Parameter::RequestedTcVcid(it.value(ParameterName::REQUESTED_TC_VCID)?.take())
            }
            Self::ReqUpdateMode(it) => Parameter::RequestedUpdateMode(
                match it.value(ParameterName::REQUESTED_UPDATE_MODE)? {
                    3 => None,
                    number => Some(update_in(number)?),
                },
            ),
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
            Parameter::PermittedControlWordTypeSet(set) => {
                let set = set.iter().map(|number| control_word_out(*number));
                Self::PermittedRprtTypeSet(named(
                    ParameterName::PERMITTED_CONTROL_WORD_TYPE_SET,
                    set.collect::<Result<_, _>>()?,
                ))
            }
            Parameter::PermittedTcVcidSet(set) => {
                let set = match set {
                    None => TcVcidSet::NoTcVc(()),
                    Some(channels) => TcVcidSet::TcVcids(channels_out(channels)?),
                };
                Self::PermittedTcVcidSet(named(ParameterName::PERMITTED_TC_VCID_SET, set))
            }
            Parameter::PermittedUpdateModeSet(set) => Self::PermittedUpdModeSet(named(
                ParameterName::PERMITTED_UPDATE_MODE_SET,
                set.iter().map(|mode| *mode as i64).collect(),
            )),
            Parameter::ReportingCycle(cycle) => {
                let cycle = cycle
                    .map_or(SomeCycle::PeriodicReportingOff(()), SomeCycle::PeriodicReportingOn);
                Self::SomeCycle(named(ParameterName::REPORTING_CYCLE, cycle))
            }
            parameter => requested_out(codec, parameter)?,
        })
    }
}

from_common!(RocfParameter<R: Requested>);

/// Under [7]: the value must be the one of the name.
fn some_cycle_in(it: Named<SomeCycle>) -> Result<Parameter, DecodeError> {
    let minimum = i64::from(ParameterName::MIN_REPORTING_CYCLE.0);
    let name = it.parameter_name;
    match it.parameter_value {
        SomeCycle::Least(seconds) if name == minimum => Ok(Parameter::MinReportingCycle(seconds)),
        SomeCycle::Least(_) => Err(DecodeError::Value { field: "parameterName", value: name }),
        cycle => {
            it_is(ParameterName::REPORTING_CYCLE, name)?;
            Ok(Parameter::ReportingCycle(match cycle {
                SomeCycle::PeriodicReportingOn(seconds) => Some(seconds),
                _ => None,
            }))
        }
    }
}

fn control_word_in(number: u8) -> Result<u8, DecodeError> {
    if number > 2 {
        return Err(DecodeError::Value { field: "control word type", value: number.into() });
    }
    Ok(number)
}

fn control_word_out(number: u8) -> Result<u8, EncodeError> {
    in_range("control word type", number, 0, 2)?;
    Ok(number)
}

/// A parameter that says what START asked for; before version 5 it may be undefined.
fn requested_out<R: Requested>(
    codec: Codec,
    parameter: &Parameter,
) -> Result<RocfParameter<R>, EncodeError> {
    let since_5 = codec.version >= 5;
    let undefined = |what| codec.not_in_version(what);
    Ok(match parameter {
        Parameter::RequestedGvcid(channel) => {
            let value = if since_5 {
                bare_gvcid_out(codec, *channel)?
            } else {
                chosen_gvcid_out(*channel)?
            };
            RocfParameter::ReqGvcId(named(ParameterName::REQUESTED_GVCID, value))
        }
        Parameter::RequestedControlWordType(None) if since_5 => {
            return Err(undefined("an undefined requestedControlWordType"));
        }
        Parameter::RequestedControlWordType(number) => {
            let number = number.map_or(Ok(3), control_word_out)?;
            RocfParameter::ReqControlWordType(named(
                ParameterName::REQUESTED_CONTROL_WORD_TYPE,
                number,
            ))
        }
        Parameter::RequestedTcVcid(channel) => {
            let value =
                R::give(*channel).ok_or_else(|| undefined("an undefined requestedTcVcid"))?;
            RocfParameter::ReqTcVcid(named(ParameterName::REQUESTED_TC_VCID, value))
        }
        Parameter::RequestedUpdateMode(None) if since_5 => {
            return Err(undefined("an undefined requestedUpdateMode"));
        }
        Parameter::RequestedUpdateMode(mode) => RocfParameter::ReqUpdateMode(named(
            ParameterName::REQUESTED_UPDATE_MODE,
            mode.map_or(3, |mode| mode as i64),
        )),
        parameter => CommonParameter::of(codec, parameter)?.into(),
    })
}
