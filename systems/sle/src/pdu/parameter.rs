//! Parameters of GET-PARAMETER: names and values.

use super::returned::RequestedFrameQuality;
use super::service::{CltuId, EventInvocationId};
use super::{DeliveryMode, GvcId, UpdateMode};

/// Name of a parameter, by its number in `ParameterName` of the books (also such as no service of
/// ours has: they are refused as unknown, not as garbage).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParameterName(pub u16);

#[allow(missing_docs)] // named as in the books
impl ParameterName {
    pub const BIT_LOCK_REQUIRED: Self = Self(3);
    pub const BUFFER_SIZE: Self = Self(4);
    pub const DELIVERY_MODE: Self = Self(6);
    pub const EXPECTED_EVENT_INVOCATION_IDENTIFICATION: Self = Self(9);
    pub const EXPECTED_SLDU_IDENTIFICATION: Self = Self(10);
    pub const LATENCY_LIMIT: Self = Self(15);
    pub const MAXIMUM_SLDU_LENGTH: Self = Self(21);
    pub const MODULATION_FREQUENCY: Self = Self(22);
    pub const MODULATION_INDEX: Self = Self(23);
    pub const PERMITTED_GVCID_SET: Self = Self(24);
    pub const PLOP_IN_EFFECT: Self = Self(25);
    pub const REPORTING_CYCLE: Self = Self(26);
    pub const REQUESTED_FRAME_QUALITY: Self = Self(27);
    pub const REQUESTED_GVCID: Self = Self(28);
    pub const RETURN_TIMEOUT_PERIOD: Self = Self(29);
    pub const RF_AVAILABLE_REQUIRED: Self = Self(31);
    pub const SUBCARRIER_TO_BIT_RATE_RATIO: Self = Self(34);
    pub const PERMITTED_CONTROL_WORD_TYPE_SET: Self = Self(101);
    pub const PERMITTED_TC_VCID_SET: Self = Self(102);
    pub const PERMITTED_UPDATE_MODE_SET: Self = Self(103);
    pub const REQUESTED_CONTROL_WORD_TYPE: Self = Self(104);
    pub const REQUESTED_TC_VCID: Self = Self(105);
    pub const REQUESTED_UPDATE_MODE: Self = Self(106);
    pub const ACQUISITION_SEQUENCE_LENGTH: Self = Self(201);
    pub const CLCW_GLOBAL_VCID: Self = Self(202);
    pub const CLCW_PHYSICAL_CHANNEL: Self = Self(203);
    pub const MINIMUM_DELAY_TIME: Self = Self(204);
    pub const NOTIFICATION_MODE: Self = Self(205);
    pub const PLOP1_IDLE_SEQUENCE_LENGTH: Self = Self(206);
    pub const PROTOCOL_ABORT_MODE: Self = Self(207);
    pub const MIN_REPORTING_CYCLE: Self = Self(301);
    pub const PERMITTED_FRAME_QUALITY: Self = Self(302);

    /// Name in the specification.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BIT_LOCK_REQUIRED => "bitLockRequired",
            Self::BUFFER_SIZE => "bufferSize",
            Self::DELIVERY_MODE => "deliveryMode",
            Self::EXPECTED_EVENT_INVOCATION_IDENTIFICATION => {
                "expectedEventInvocationIdentification"
            }
            Self::EXPECTED_SLDU_IDENTIFICATION => "expectedSlduIdentification",
            Self::LATENCY_LIMIT => "latencyLimit",
            Self::MAXIMUM_SLDU_LENGTH => "maximumSlduLength",
            Self::MODULATION_FREQUENCY => "modulationFrequency",
            Self::MODULATION_INDEX => "modulationIndex",
            Self::PERMITTED_GVCID_SET => "permittedGvcidSet",
            Self::PLOP_IN_EFFECT => "plopInEffect",
            Self::REPORTING_CYCLE => "reportingCycle",
            Self::REQUESTED_FRAME_QUALITY => "requestedFrameQuality",
            Self::REQUESTED_GVCID => "requestedGvcid",
            Self::RETURN_TIMEOUT_PERIOD => "returnTimeoutPeriod",
            Self::RF_AVAILABLE_REQUIRED => "rfAvailableRequired",
            Self::SUBCARRIER_TO_BIT_RATE_RATIO => "subcarrierToBitRateRatio",
            Self::PERMITTED_CONTROL_WORD_TYPE_SET => "permittedControlWordTypeSet",
            Self::PERMITTED_TC_VCID_SET => "permittedTcVcidSet",
            Self::PERMITTED_UPDATE_MODE_SET => "permittedUpdateModeSet",
            Self::REQUESTED_CONTROL_WORD_TYPE => "requestedControlWordType",
            Self::REQUESTED_TC_VCID => "requestedTcVcid",
            Self::REQUESTED_UPDATE_MODE => "requestedUpdateMode",
            Self::ACQUISITION_SEQUENCE_LENGTH => "acquisitionSequenceLength",
            Self::CLCW_GLOBAL_VCID => "clcwGlobalVcid",
            Self::CLCW_PHYSICAL_CHANNEL => "clcwPhysicalChannel",
            Self::MINIMUM_DELAY_TIME => "minimumDelayTime",
            Self::NOTIFICATION_MODE => "notificationMode",
            Self::PLOP1_IDLE_SEQUENCE_LENGTH => "plop1IdleSequenceLength",
            Self::PROTOCOL_ABORT_MODE => "protocolAbortMode",
            Self::MIN_REPORTING_CYCLE => "minReportingCycle",
            Self::PERMITTED_FRAME_QUALITY => "permittedFrameQuality",
            _ => "a parameter of none of these services",
        }
    }
}

/// A parameter with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named as in the books; units where there are any
pub enum Parameter {
    BitLockRequired(bool),
    /// Invocations that a transfer buffer holds.
    BufferSize(u16),
    DeliveryMode(DeliveryMode),
    ExpectedEventInvocationIdentification(EventInvocationId),
    ExpectedSlduIdentification(CltuId),
    /// Seconds; `None` offline.
    LatencyLimit(Option<u16>),
    /// Maximum length of a CLTU, in octets.
    MaximumSlduLength(u32),
    ModulationFrequency(u32),
    ModulationIndex(u16),
    PermittedGvcidSet(Vec<PermittedChannel>),
    /// Whether PLOP-2 is in effect.
    PlopInEffect2(bool),
    /// Seconds; `None`: off.
    ReportingCycle(Option<u16>),
    /// `None`: not started (up to version 4).
    RequestedFrameQuality(Option<RequestedFrameQuality>),
    /// `None`: not started.
    RequestedGvcid(Option<GvcId>),
    /// Seconds, in [1, 600].
    ReturnTimeoutPeriod(u16),
    RfAvailableRequired(bool),
    SubcarrierToBitRateRatio(u16),
    /// 0 all, 1 CLCW, 2 not CLCW.
    PermittedControlWordTypeSet(Vec<u8>),
    /// `None`: no virtual channel of telecommand.
    PermittedTcVcidSet(Option<Vec<u8>>),
    PermittedUpdateModeSet(Vec<UpdateMode>),
    /// 0 all, 1 CLCW, 2 not CLCW; `None`: not started.
    RequestedControlWordType(Option<u8>),
    /// Outer `None`: not started; inner: no virtual channel.
    RequestedTcVcid(Option<Option<u8>>),
    /// `None`: not started.
    RequestedUpdateMode(Option<UpdateMode>),
    AcquisitionSequenceLength(u16),
    /// `None`: not configured.
    ClcwGlobalVcid(Option<GvcId>),
    /// `None`: not configured.
    ClcwPhysicalChannel(Option<String>),
    /// Minimum delay between two CLTUs, in µs.
    MinimumDelayTime(u32),
    /// Whether notifications are immediate rather than deferred.
    NotificationModeImmediate(bool),
    Plop1IdleSequenceLength(u16),
    /// Whether the service goes on after an abort.
    ProtocolAbortModeContinue(bool),
    /// Seconds, in [1, 600].
    MinReportingCycle(u16),
    PermittedFrameQuality(Vec<RequestedFrameQuality>),
}

impl Parameter {
    /// Name of the parameter.
    #[must_use]
    pub fn name(&self) -> ParameterName {
        match self {
            Self::BitLockRequired(_) => ParameterName::BIT_LOCK_REQUIRED,
            Self::BufferSize(_) => ParameterName::BUFFER_SIZE,
            Self::DeliveryMode(_) => ParameterName::DELIVERY_MODE,
            Self::ExpectedEventInvocationIdentification(_) => {
                ParameterName::EXPECTED_EVENT_INVOCATION_IDENTIFICATION
            }
            Self::ExpectedSlduIdentification(_) => ParameterName::EXPECTED_SLDU_IDENTIFICATION,
            Self::LatencyLimit(_) => ParameterName::LATENCY_LIMIT,
            Self::MaximumSlduLength(_) => ParameterName::MAXIMUM_SLDU_LENGTH,
            Self::ModulationFrequency(_) => ParameterName::MODULATION_FREQUENCY,
            Self::ModulationIndex(_) => ParameterName::MODULATION_INDEX,
            Self::PermittedGvcidSet(_) => ParameterName::PERMITTED_GVCID_SET,
            Self::PlopInEffect2(_) => ParameterName::PLOP_IN_EFFECT,
            Self::ReportingCycle(_) => ParameterName::REPORTING_CYCLE,
            Self::RequestedFrameQuality(_) => ParameterName::REQUESTED_FRAME_QUALITY,
            Self::RequestedGvcid(_) => ParameterName::REQUESTED_GVCID,
            Self::ReturnTimeoutPeriod(_) => ParameterName::RETURN_TIMEOUT_PERIOD,
            Self::RfAvailableRequired(_) => ParameterName::RF_AVAILABLE_REQUIRED,
            Self::SubcarrierToBitRateRatio(_) => ParameterName::SUBCARRIER_TO_BIT_RATE_RATIO,
            Self::PermittedControlWordTypeSet(_) => ParameterName::PERMITTED_CONTROL_WORD_TYPE_SET,
            Self::PermittedTcVcidSet(_) => ParameterName::PERMITTED_TC_VCID_SET,
            Self::PermittedUpdateModeSet(_) => ParameterName::PERMITTED_UPDATE_MODE_SET,
            Self::RequestedControlWordType(_) => ParameterName::REQUESTED_CONTROL_WORD_TYPE,
            Self::RequestedTcVcid(_) => ParameterName::REQUESTED_TC_VCID,
            Self::RequestedUpdateMode(_) => ParameterName::REQUESTED_UPDATE_MODE,
            Self::AcquisitionSequenceLength(_) => ParameterName::ACQUISITION_SEQUENCE_LENGTH,
            Self::ClcwGlobalVcid(_) => ParameterName::CLCW_GLOBAL_VCID,
            Self::ClcwPhysicalChannel(_) => ParameterName::CLCW_PHYSICAL_CHANNEL,
            Self::MinimumDelayTime(_) => ParameterName::MINIMUM_DELAY_TIME,
            Self::NotificationModeImmediate(_) => ParameterName::NOTIFICATION_MODE,
            Self::Plop1IdleSequenceLength(_) => ParameterName::PLOP1_IDLE_SEQUENCE_LENGTH,
            Self::ProtocolAbortModeContinue(_) => ParameterName::PROTOCOL_ABORT_MODE,
            Self::MinReportingCycle(_) => ParameterName::MIN_REPORTING_CYCLE,
            Self::PermittedFrameQuality(_) => ParameterName::PERMITTED_FRAME_QUALITY,
        }
    }
}

/// Channels of one spacecraft that may be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermittedChannel {
    /// Spacecraft id, in [0, 1023].
    pub spacecraft: u16,
    /// Transfer frame version number, in [0, 3].
    pub version: u8,
    /// Virtual channels; `None` for the master channel.
    pub virtual_channels: Option<Vec<u8>>,
}
