//! ASN.1 types that all services share, and how a declared type is read and written.
//!
//! Source: modules `COMMON-TYPES` and `COMMON-PDUS` of CCSDS 911.1, annex A. IMPLICIT TAGS: a tag on
//! a CHOICE is explicit all the same (X.680 §31.2.7).

use super::error::{DecodeError, EncodeError};
use crate::pdu::{Diagnostic, Pdu, ReportRequest};
use crate::time::Time;
use bytes::Bytes;
use rasn::prelude::*;
use rasn::types::{Class, FixedOctetString, OctetString};

/// Result of decoding: the credentials and the operation.
pub(super) type Decoded = Result<(Credentials, Pdu), DecodeError>;

/// Reads a declared type under the operation's tag. `octets` have been walked over: they are one
/// value and no deeper than allowed.
pub(crate) fn read<T: Decode>(
    operation: &'static str,
    tag: u32,
    octets: &[u8],
) -> Result<T, DecodeError> {
    let mut decoder = rasn::ber::de::Decoder::new(octets, rasn::ber::de::DecoderOptions::ber());
    T::decode_with_tag(&mut decoder, Tag::new(Class::Context, tag))
        .map_err(|error| DecodeError::Content { operation, reason: error.kind.to_string() })
}

/// Appends a declared type under the operation's tag.
pub(crate) fn write<T: Encode>(
    operation: &'static str,
    tag: u32,
    value: &T,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let mut encoder = rasn::ber::enc::Encoder::new(rasn::ber::enc::EncoderOptions::der());
    value
        .encode_with_tag(&mut encoder, Tag::new(Class::Context, tag))
        .map_err(|error| EncodeError::Content { operation, reason: error.to_string() })?;
    out.extend_from_slice(&encoder.output());
    Ok(())
}

/// Refuses what the books do not allow to be sent.
pub(crate) fn in_range(
    field: &'static str,
    value: impl TryInto<u64>,
    min: u64,
    max: u64,
) -> Result<(), EncodeError> {
    let value = value.try_into().unwrap_or(u64::MAX);
    if value < min || value > max {
        return Err(EncodeError::OutOfRange { field, value, min, max });
    }
    Ok(())
}

/// Text for the wire.
pub(crate) fn visible(
    field: &'static str,
    text: &str,
    max: u64,
) -> Result<VisibleString, EncodeError> {
    in_range(field, text.len(), 1, max)?;
    VisibleString::from_iso646_bytes(text.as_bytes())
        .map_err(|_| EncodeError::Text { field, text: text.to_owned() })
}

/// Text from the wire.
pub(crate) fn text(visible: VisibleString) -> String {
    visible.to_string()
}

/// `Credentials`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
#[rasn(choice)]
pub(crate) enum Credentials {
    #[rasn(tag(context, 0))]
    Unused(()),
    #[rasn(tag(context, 1), size("8..=256"))]
    Used(OctetString),
}

impl Credentials {
    /// Conversion for the wire.
    pub(crate) fn new(octets: Option<&Bytes>) -> Result<Self, EncodeError> {
        let Some(octets) = octets else { return Ok(Self::Unused(())) };
        in_range("credentials", octets.len(), 8, 256)?;
        Ok(Self::Used(octets.clone().into()))
    }
}

impl From<Credentials> for Option<Bytes> {
    fn from(credentials: Credentials) -> Self {
        match credentials {
            Credentials::Unused(()) => None,
            Credentials::Used(octets) => Some(octets.into()),
        }
    }
}

/// `Time`.
#[derive(AsnType, Decode, Encode, Clone, Copy, Debug, PartialEq, Eq)]
#[rasn(choice)]
pub(crate) enum WireTime {
    #[rasn(tag(context, 0))]
    Ccsds(FixedOctetString<8>),
    #[rasn(tag(context, 1))]
    CcsdsPico(FixedOctetString<10>),
}

impl From<Time> for WireTime {
    fn from(time: Time) -> Self {
        match time {
            Time::Micro(octets) => Self::Ccsds(octets.into()),
            Time::Pico(octets) => Self::CcsdsPico(octets.into()),
        }
    }
}

impl From<WireTime> for Time {
    fn from(time: WireTime) -> Self {
        match time {
            WireTime::Ccsds(octets) => Self::Micro(*octets),
            WireTime::CcsdsPico(octets) => Self::Pico(*octets),
        }
    }
}

/// `ConditionalTime`.
#[derive(AsnType, Decode, Encode, Clone, Copy, Debug, PartialEq, Eq)]
#[rasn(choice)]
pub(crate) enum ConditionalTime {
    #[rasn(tag(context, 0))]
    Undefined(()),
    #[rasn(tag(explicit(context, 1)))]
    Known(WireTime),
}

impl From<Option<Time>> for ConditionalTime {
    fn from(time: Option<Time>) -> Self {
        time.map_or(Self::Undefined(()), |time| Self::Known(time.into()))
    }
}

impl From<ConditionalTime> for Option<Time> {
    fn from(time: ConditionalTime) -> Self {
        match time {
            ConditionalTime::Undefined(()) => None,
            ConditionalTime::Known(time) => Some(time.into()),
        }
    }
}

/// `Diagnostics`: the common ones.
fn common_diagnostic(value: i64) -> Result<Diagnostic, DecodeError> {
    match value {
        100 => Ok(Diagnostic::DuplicateInvokeId),
        127 => Ok(Diagnostic::OtherReason),
        value => Err(DecodeError::Value { field: "common diagnostic", value }),
    }
}

/// The diagnostics of an operation that has some of its own: all but STOP.
#[derive(AsnType, Decode, Encode, Clone, Copy, Debug, PartialEq, Eq)]
#[rasn(choice)]
pub(super) enum DiagnosticChoice {
    #[rasn(tag(context, 0))]
    Common(i64),
    #[rasn(tag(context, 1))]
    Specific(i64),
}

impl From<Diagnostic> for DiagnosticChoice {
    fn from(diagnostic: Diagnostic) -> Self {
        match diagnostic {
            Diagnostic::DuplicateInvokeId => Self::Common(100),
            Diagnostic::OtherReason => Self::Common(127),
            Diagnostic::Specific(number) => Self::Specific(number.into()),
        }
    }
}

impl TryFrom<DiagnosticChoice> for Diagnostic {
    type Error = DecodeError;

    fn try_from(diagnostic: DiagnosticChoice) -> Result<Self, DecodeError> {
        match diagnostic {
            DiagnosticChoice::Common(value) => common_diagnostic(value),
            DiagnosticChoice::Specific(value) => u8::try_from(value)
                .map(Self::Specific)
                .map_err(|_| DecodeError::Value { field: "specific diagnostic", value }),
        }
    }
}

/// A result that says nothing when it is positive.
#[derive(AsnType, Decode, Encode, Clone, Copy, Debug, PartialEq, Eq)]
#[rasn(choice)]
pub(super) enum Outcome {
    #[rasn(tag(context, 0))]
    Positive(()),
    #[rasn(tag(explicit(context, 1)))]
    Negative(DiagnosticChoice),
}

impl From<Result<(), Diagnostic>> for Outcome {
    fn from(result: Result<(), Diagnostic>) -> Self {
        match result {
            Ok(()) => Self::Positive(()),
            Err(diagnostic) => Self::Negative(diagnostic.into()),
        }
    }
}

impl Outcome {
    /// Conversion into the version-independent result.
    pub(super) fn result(self) -> Result<Result<(), Diagnostic>, DecodeError> {
        match self {
            Self::Positive(()) => Ok(Ok(())),
            Self::Negative(diagnostic) => Ok(Err(diagnostic.try_into()?)),
        }
    }
}

/// STOP's result: its diagnostics are the common ones alone, without a choice around.
#[derive(AsnType, Decode, Encode, Clone, Copy, Debug, PartialEq, Eq)]
#[rasn(choice)]
pub(super) enum Acknowledged {
    #[rasn(tag(context, 0))]
    Positive(()),
    #[rasn(tag(context, 1))]
    Negative(i64),
}

impl Acknowledged {
    /// Conversion for the wire. STOP has only the common diagnostics.
    pub(super) fn new(result: Result<(), Diagnostic>) -> Result<Self, EncodeError> {
        match result {
            Ok(()) => Ok(Self::Positive(())),
            Err(Diagnostic::DuplicateInvokeId) => Ok(Self::Negative(100)),
            Err(Diagnostic::OtherReason) => Ok(Self::Negative(127)),
            Err(Diagnostic::Specific(number)) => Err(EncodeError::OutOfRange {
                field: "STOP's diagnostic",
                value: number.into(),
                min: 100,
                max: 127,
            }),
        }
    }

    /// Conversion into the version-independent result.
    pub(super) fn result(self) -> Result<Result<(), Diagnostic>, DecodeError> {
        match self {
            Self::Positive(()) => Ok(Ok(())),
            Self::Negative(value) => Ok(Err(common_diagnostic(value)?)),
        }
    }
}

/// `SleAcknowledgement`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
pub(super) struct Acknowledgement {
    pub(super) credentials: Credentials,
    pub(super) invoke_id: u16,
    pub(super) result: Acknowledged,
}

/// `SleStopInvocation`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
pub(super) struct StopInvocation {
    pub(super) credentials: Credentials,
    pub(super) invoke_id: u16,
}

/// `SleScheduleStatusReportInvocation`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
pub(super) struct ScheduleInvocation {
    pub(super) credentials: Credentials,
    pub(super) invoke_id: u16,
    pub(super) request: ReportRequestType,
}

/// `ReportRequestType`. The cycle's range, 2 to 600 s, is answered by `invalidReportingCycle`.
#[derive(AsnType, Decode, Encode, Clone, Copy, Debug, PartialEq, Eq)]
#[rasn(choice)]
pub(super) enum ReportRequestType {
    #[rasn(tag(context, 0))]
    Immediately(()),
    #[rasn(tag(context, 1))]
    Periodically(u16),
    #[rasn(tag(context, 2))]
    Stop(()),
}

impl From<ReportRequest> for ReportRequestType {
    fn from(request: ReportRequest) -> Self {
        match request {
            ReportRequest::Immediately => Self::Immediately(()),
            ReportRequest::Periodically(cycle_s) => Self::Periodically(cycle_s),
            ReportRequest::Stop => Self::Stop(()),
        }
    }
}

impl From<ReportRequestType> for ReportRequest {
    fn from(request: ReportRequestType) -> Self {
        match request {
            ReportRequestType::Immediately(()) => Self::Immediately,
            ReportRequestType::Periodically(cycle_s) => Self::Periodically(cycle_s),
            ReportRequestType::Stop(()) => Self::Stop,
        }
    }
}

/// Return with nothing but a result: SCHEDULE-STATUS-REPORT's, RAF's START's.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
pub(super) struct OutcomeReturn {
    pub(super) credentials: Credentials,
    pub(super) invoke_id: u16,
    pub(super) result: Outcome,
}

/// GET-PARAMETER invocation: any number may be asked for, an unknown one is answered so.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
pub(super) struct GetParameterInvocation {
    pub(super) credentials: Credentials,
    pub(super) invoke_id: u16,
    pub(super) parameter: u16,
}

/// `GvcId`.
#[derive(AsnType, Decode, Encode, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WireGvcId {
    #[rasn(value("0..=1023"))]
    pub(super) spacecraft: u16,
    #[rasn(value("0..=3"))]
    pub(super) version: u8,
    pub(super) channel: VirtualChannel,
}

/// The `vcId` of a `GvcId`.
#[derive(AsnType, Decode, Encode, Clone, Copy, Debug, PartialEq, Eq)]
#[rasn(choice)]
pub(super) enum VirtualChannel {
    #[rasn(tag(context, 0))]
    Master(()),
    #[rasn(tag(context, 1), value("0..=63"))]
    Virtual(u8),
}

impl WireGvcId {
    /// Conversion for the wire.
    pub(super) fn new(gvcid: crate::pdu::GvcId) -> Result<Self, EncodeError> {
        in_range("spacecraftId", gvcid.spacecraft, 0, 1023)?;
        in_range("transfer frame version number", gvcid.version, 0, 3)?;
        in_range("virtual channel", gvcid.virtual_channel.unwrap_or(0), 0, 63)?;
        let channel =
            gvcid.virtual_channel.map_or(VirtualChannel::Master(()), VirtualChannel::Virtual);
        Ok(Self { spacecraft: gvcid.spacecraft, version: gvcid.version, channel })
    }
}

impl From<WireGvcId> for crate::pdu::GvcId {
    fn from(wire: WireGvcId) -> Self {
        let virtual_channel = match wire.channel {
            VirtualChannel::Master(()) => None,
            VirtualChannel::Virtual(number) => Some(number),
        };
        Self { spacecraft: wire.spacecraft, version: wire.version, virtual_channel }
    }
}
