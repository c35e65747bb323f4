//! Results of FCLTU's GET-PARAMETER: three sets of parameters, of versions 1 to 3, 4, and 5.
//!
//! Source: `CltuGetParameter` of CCSDS 912.1, annex A, in its issues. The sets differ in their tags,
//! in the parameters that there are, and in whether the CLCW's channel can be unconfigured (version
//! 5). In versions 1 to 3 an implementation has numbered the later parameters 12 to 18: these are
//! read, and not sent.
//!
//! `maximumSlduLength` is 12 to 4096 (4098 up to version 3) in the books; a provider that takes
//! longer CLTUs says so, so any 32-bit length goes through.

use super::common::{
    Credentials, Decoded, DiagnosticChoice, WireGvcId, in_range, read, text, visible, write,
};
use super::{Codec, DecodeError, EncodeError};
use crate::pdu::{DeliveryMode, Diagnostic, GvcId, InvokeId, Parameter, ParameterName, Pdu};
use rasn::prelude::*;

/// Decodes a GET-PARAMETER return.
pub(super) fn decode(version: u16, tag: u32, octets: &[u8]) -> Decoded {
    match version {
        1..=3 => returned(read::<GetParameterReturn<ParameterV1To3>>(OPERATION, tag, octets)?),
        4 => returned(read::<GetParameterReturn<ParameterV4>>(OPERATION, tag, octets)?),
        _ => returned(read::<GetParameterReturn<ParameterV5>>(OPERATION, tag, octets)?),
    }
}

/// Appends the answer.
pub(super) fn encode(
    codec: Codec,
    credentials: Credentials,
    invoke_id: InvokeId,
    result: &Result<Parameter, Diagnostic>,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    match codec.version {
        1..=3 => answer::<ParameterV1To3>(codec, credentials, invoke_id, result, out),
        4 => answer::<ParameterV4>(codec, credentials, invoke_id, result, out),
        _ => answer::<ParameterV5>(codec, credentials, invoke_id, result, out),
    }
}

const OPERATION: &str = "GET-PARAMETER return";
const TAG: u32 = 7;

#[derive(AsnType, Decode, Encode)]
struct GetParameterReturn<C: Decode + Encode> {
    credentials: Credentials,
    invoke_id: u16,
    result: GetResult<C>,
}

#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum GetResult<C: Decode + Encode> {
    #[rasn(tag(explicit(context, 0)))]
    Positive(C),
    #[rasn(tag(explicit(context, 1)))]
    Negative(DiagnosticChoice),
}

fn returned<C: ParameterSet>(wire: GetParameterReturn<C>) -> Decoded {
    let result = match wire.result {
        GetResult::Positive(parameter) => Ok(parameter.parameter()?),
        GetResult::Negative(diagnostic) => Err(diagnostic.try_into()?),
    };
    Ok((wire.credentials, Pdu::GetParameterReturn { invoke_id: wire.invoke_id, result }))
}

fn answer<C: ParameterSet>(
    codec: Codec,
    credentials: Credentials,
    invoke_id: InvokeId,
    result: &Result<Parameter, Diagnostic>,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let Codec { service, version } = codec;
    let result = match result {
        Ok(parameter) => {
            let what = parameter.name().name();
            let absent = EncodeError::NotInVersion { what, service, version };
            GetResult::Positive(C::wire(parameter)?.ok_or(absent)?)
        }
        Err(diagnostic) => GetResult::Negative((*diagnostic).into()),
    };
    write(OPERATION, TAG, &GetParameterReturn { credentials, invoke_id, result }, out)
}

/// The parameters that a version has.
trait ParameterSet: Decode + Encode {
    /// Conversion into the version-independent parameter.
    fn parameter(self) -> Result<Parameter, DecodeError>;
    /// Conversion for the wire; `None` if the version does not have the parameter.
    fn wire(parameter: &Parameter) -> Result<Option<Self>, EncodeError>;
}

/// A parameter's name, which the tag tells once more, and its value.
#[derive(AsnType, Decode, Encode)]
struct Named<T: Decode + Encode> {
    name: u16,
    value: T,
}

/// The value of a parameter as declared, and as `P` for a state machine.
trait Value<P>: Decode + Encode {
    fn value(self) -> P;
    /// `None` where the version cannot say it.
    fn wire(value: &P) -> Result<Option<Self>, EncodeError>;
}

/// Declares a set: variant of [`Parameter`], its name, its tag, the ASN.1 type of its value; tags
/// beyond the last that the book has are read only.
macro_rules! parameter_set {
    ($set:ident, last $last:literal: $($variant:ident $name:ident [$tag:tt] $value:ty,)*) => {
        #[derive(AsnType, Decode, Encode)]
        #[rasn(choice)]
        enum $set {
            $(#[rasn(tag(context, $tag))] $variant(Named<$value>),)*
        }

        impl ParameterSet for $set {
            fn parameter(self) -> Result<Parameter, DecodeError> {
                match self {
                    $(Self::$variant(named) => {
                        if named.name != ParameterName::$name.0 {
                            let value = named.name.into();
                            return Err(DecodeError::Value { field: "parameterName", value });
                        }
                        Ok(Parameter::$variant(Value::value(named.value)))
                    })*
                }
            }

            fn wire(parameter: &Parameter) -> Result<Option<Self>, EncodeError> {
                match parameter {
                    $(Parameter::$variant(value) if $tag <= $last => {
                        let value = <$value as Value<_>>::wire(value)?;
                        let name = ParameterName::$name.0;
                        Ok(value.map(|value| Self::$variant(Named { name, value })))
                    })*
                    _ => Ok(None),
                }
            }
        }
    };
}

parameter_set! { ParameterV5, last 19:
    AcquisitionSequenceLength ACQUISITION_SEQUENCE_LENGTH [0] u16,
    BitLockRequired BIT_LOCK_REQUIRED [1] YesNo,
    ClcwGlobalVcid CLCW_GLOBAL_VCID [2] ClcwGvcId,
    ClcwPhysicalChannel CLCW_PHYSICAL_CHANNEL [3] ClcwChannel,
    DeliveryMode DELIVERY_MODE [4] ForwardDelivery,
    ExpectedSlduIdentification EXPECTED_SLDU_IDENTIFICATION [5] u32,
    ExpectedEventInvocationIdentification EXPECTED_EVENT_INVOCATION_IDENTIFICATION [6] u32,
    MaximumSlduLength MAXIMUM_SLDU_LENGTH [7] u32,
    MinimumDelayTime MINIMUM_DELAY_TIME [8] u32,
    ModulationFrequency MODULATION_FREQUENCY [9] u32,
    ModulationIndex MODULATION_INDEX [10] u16,
    NotificationModeImmediate NOTIFICATION_MODE [11] SecondOfTwo,
    Plop1IdleSequenceLength PLOP1_IDLE_SEQUENCE_LENGTH [12] u16,
    PlopInEffect2 PLOP_IN_EFFECT [13] SecondOfTwo,
    ProtocolAbortModeContinue PROTOCOL_ABORT_MODE [14] SecondOfTwo,
    ReportingCycle REPORTING_CYCLE [15] CurrentReportingCycle,
    ReturnTimeoutPeriod RETURN_TIMEOUT_PERIOD [16] u16,
    RfAvailableRequired RF_AVAILABLE_REQUIRED [17] YesNo,
    SubcarrierToBitRateRatio SUBCARRIER_TO_BIT_RATE_RATIO [18] u16,
    MinReportingCycle MIN_REPORTING_CYCLE [19] u16,
}

parameter_set! { ParameterV4, last 18:
    AcquisitionSequenceLength ACQUISITION_SEQUENCE_LENGTH [0] u16,
    BitLockRequired BIT_LOCK_REQUIRED [1] YesNo,
    ClcwGlobalVcid CLCW_GLOBAL_VCID [2] WireGvcId,
    ClcwPhysicalChannel CLCW_PHYSICAL_CHANNEL [3] ChannelName,
    DeliveryMode DELIVERY_MODE [4] ForwardDelivery,
    ExpectedSlduIdentification EXPECTED_SLDU_IDENTIFICATION [5] u32,
    ExpectedEventInvocationIdentification EXPECTED_EVENT_INVOCATION_IDENTIFICATION [6] u32,
    MaximumSlduLength MAXIMUM_SLDU_LENGTH [7] u32,
    MinimumDelayTime MINIMUM_DELAY_TIME [8] u32,
    ModulationFrequency MODULATION_FREQUENCY [9] u32,
    ModulationIndex MODULATION_INDEX [10] u16,
    NotificationModeImmediate NOTIFICATION_MODE [11] SecondOfTwo,
    Plop1IdleSequenceLength PLOP1_IDLE_SEQUENCE_LENGTH [12] u16,
    PlopInEffect2 PLOP_IN_EFFECT [13] SecondOfTwo,
    ProtocolAbortModeContinue PROTOCOL_ABORT_MODE [14] SecondOfTwo,
    ReportingCycle REPORTING_CYCLE [15] CurrentReportingCycle,
    ReturnTimeoutPeriod RETURN_TIMEOUT_PERIOD [16] u16,
    RfAvailableRequired RF_AVAILABLE_REQUIRED [17] YesNo,
    SubcarrierToBitRateRatio SUBCARRIER_TO_BIT_RATE_RATIO [18] u16,
}

parameter_set! { ParameterV1To3, last 11:
    BitLockRequired BIT_LOCK_REQUIRED [0] YesNo,
    ExpectedSlduIdentification EXPECTED_SLDU_IDENTIFICATION [1] u32,
    ExpectedEventInvocationIdentification EXPECTED_EVENT_INVOCATION_IDENTIFICATION [2] u32,
    SubcarrierToBitRateRatio SUBCARRIER_TO_BIT_RATE_RATIO [3] u16,
    DeliveryMode DELIVERY_MODE [4] ForwardDelivery,
    MaximumSlduLength MAXIMUM_SLDU_LENGTH [5] u32,
    ModulationFrequency MODULATION_FREQUENCY [6] u32,
    ModulationIndex MODULATION_INDEX [7] u16,
    PlopInEffect2 PLOP_IN_EFFECT [8] SecondOfTwo,
    ReportingCycle REPORTING_CYCLE [9] CurrentReportingCycle,
    ReturnTimeoutPeriod RETURN_TIMEOUT_PERIOD [10] u16,
    RfAvailableRequired RF_AVAILABLE_REQUIRED [11] YesNo,
    AcquisitionSequenceLength ACQUISITION_SEQUENCE_LENGTH [12] u16,
    ClcwGlobalVcid CLCW_GLOBAL_VCID [13] WireGvcId,
    ClcwPhysicalChannel CLCW_PHYSICAL_CHANNEL [14] ChannelName,
    MinimumDelayTime MINIMUM_DELAY_TIME [15] u32,
    NotificationModeImmediate NOTIFICATION_MODE [16] SecondOfTwo,
    Plop1IdleSequenceLength PLOP1_IDLE_SEQUENCE_LENGTH [17] u16,
    ProtocolAbortModeContinue PROTOCOL_ABORT_MODE [18] SecondOfTwo,
}

impl Value<u16> for u16 {
    fn value(self) -> u16 {
        self
    }
    fn wire(value: &u16) -> Result<Option<Self>, EncodeError> {
        Ok(Some(*value))
    }
}

impl Value<u32> for u32 {
    fn value(self) -> u32 {
        self
    }
    fn wire(value: &u32) -> Result<Option<Self>, EncodeError> {
        Ok(Some(*value))
    }
}

/// `INTEGER {yes (0), no (1)}`.
#[derive(AsnType, Decode, Encode)]
#[rasn(delegate, value("0..=1"))]
struct YesNo(u8);

impl Value<bool> for YesNo {
    fn value(self) -> bool {
        self.0 == 0
    }
    fn wire(value: &bool) -> Result<Option<Self>, EncodeError> {
        Ok(Some(Self(u8::from(!value))))
    }
}

/// `INTEGER {plop1 (0), plop2 (1)}`, `{deferred (0), immediate (1)}`, `{abort (0), continue (1)}`.
#[derive(AsnType, Decode, Encode)]
#[rasn(delegate, value("0..=1"))]
struct SecondOfTwo(u8);

impl Value<bool> for SecondOfTwo {
    fn value(self) -> bool {
        self.0 == 1
    }
    fn wire(value: &bool) -> Result<Option<Self>, EncodeError> {
        Ok(Some(Self(u8::from(*value))))
    }
}

/// `CltuDeliveryMode`: there is one.
#[derive(AsnType, Decode, Encode)]
#[rasn(delegate, value("3"))]
struct ForwardDelivery(u8);

impl Value<DeliveryMode> for ForwardDelivery {
    fn value(self) -> DeliveryMode {
        DeliveryMode::ForwardOnline
    }
    fn wire(value: &DeliveryMode) -> Result<Option<Self>, EncodeError> {
        let mode = *value as u8;
        in_range("deliveryMode", mode, 3, 3)?;
        Ok(Some(Self(mode)))
    }
}

/// `CurrentReportingCycle`.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum CurrentReportingCycle {
    #[rasn(tag(context, 0))]
    Off(()),
    #[rasn(tag(context, 1))]
    On(u16),
}

impl Value<Option<u16>> for CurrentReportingCycle {
    fn value(self) -> Option<u16> {
        match self {
            Self::Off(()) => None,
            Self::On(cycle_s) => Some(cycle_s),
        }
    }
    fn wire(value: &Option<u16>) -> Result<Option<Self>, EncodeError> {
        Ok(Some(value.map_or(Self::Off(()), Self::On)))
    }
}

/// `ClcwGvcId`, in version 5.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum ClcwGvcId {
    #[rasn(tag(context, 0))]
    Configured(WireGvcId),
    #[rasn(tag(context, 1))]
    NotConfigured(()),
}

impl Value<Option<GvcId>> for ClcwGvcId {
    fn value(self) -> Option<GvcId> {
        match self {
            Self::Configured(channel) => Some(channel.into()),
            Self::NotConfigured(()) => None,
        }
    }
    fn wire(value: &Option<GvcId>) -> Result<Option<Self>, EncodeError> {
        let channel = value.map(WireGvcId::new).transpose()?;
        Ok(Some(channel.map_or(Self::NotConfigured(()), Self::Configured)))
    }
}

/// Up to version 4 the channel is always configured.
impl Value<Option<GvcId>> for WireGvcId {
    fn value(self) -> Option<GvcId> {
        Some(self.into())
    }
    fn wire(value: &Option<GvcId>) -> Result<Option<Self>, EncodeError> {
        value.map(Self::new).transpose()
    }
}

/// `ClcwPhysicalChannel`, in version 5.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum ClcwChannel {
    #[rasn(tag(context, 0), size("1..=32"))]
    Configured(VisibleString),
    #[rasn(tag(context, 1))]
    NotConfigured(()),
}

impl Value<Option<String>> for ClcwChannel {
    fn value(self) -> Option<String> {
        match self {
            Self::Configured(name) => Some(text(name)),
            Self::NotConfigured(()) => None,
        }
    }
    fn wire(value: &Option<String>) -> Result<Option<Self>, EncodeError> {
        let name = value.as_deref().map(|name| visible("clcwPhysicalChannel", name, 32));
        Ok(Some(name.transpose()?.map_or(Self::NotConfigured(()), Self::Configured)))
    }
}

/// Up to version 4 the channel is always configured.
#[derive(AsnType, Decode, Encode)]
#[rasn(delegate, size("1..=32"))]
struct ChannelName(VisibleString);

impl Value<Option<String>> for ChannelName {
    fn value(self) -> Option<String> {
        Some(text(self.0))
    }
    fn wire(value: &Option<String>) -> Result<Option<Self>, EncodeError> {
        let name = value.as_deref().map(|name| visible("clcwPhysicalChannel", name, 32));
        Ok(name.transpose()?.map(Self))
    }
}
