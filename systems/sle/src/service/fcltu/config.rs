//! Configuration of a service instance of FCLTU, and its parameters by name.

use super::limits::BufferLimits;
use crate::pdu::{
    CltuId, CltuProductionStatus, DeliveryMode, EventInvocationId, GvcId, Parameter, ParameterName,
};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// When the user is told that production is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotificationMode {
    /// When it is.
    Immediate,
    /// When a CLTU is hit by it: one that is being radiated, or one whose turn it is.
    Deferred,
}

/// Treatment of the CLTUs in the buffer when the association is aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolAbortMode {
    /// The CLTUs are discarded.
    Abort,
    /// The CLTUs are radiated.
    Continue,
}

/// Effect of a thrown event on this provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventAction {
    /// No effect; the event is reported as completed.
    Complete,
    /// No effect; the event is reported as not completed.
    Fail,
    /// Its condition is false.
    ConditionFalse,
    /// Production becomes so; then it is completed.
    SetProduction(CltuProductionStatus),
}

/// Configuration of a service instance. [`FcltuConfig::default`] has values that need no
/// spacecraft.
#[derive(Clone, Debug)]
pub struct FcltuConfig {
    /// Bounds of the buffer.
    pub limits: BufferLimits,
    /// Octets of the longest CLTU, in [1, 65,536]. The books allow 12 to 4096; what is beyond is
    /// for measuring, and told by GET-PARAMETER as the most that the version can say.
    pub maximum_cltu_length: u32,
    /// Whether a CLTU must be one: start sequence, code blocks without errors, tail.
    pub check_cltu: bool,
    /// Bits of the uplink in a second; `None`: a CLTU is radiated at once.
    pub bit_rate: Option<u64>,
    /// The shortest silence after a CLTU, µs.
    pub minimum_delay_us: u32,
    /// Numbers that START may begin with.
    pub first_cltu_ids: RangeInclusive<CltuId>,
    /// From when production goes on, UTC in ns since 1970.
    pub production_start_utc_ns: Option<u64>,
    /// Until when production goes on, UTC in ns since 1970.
    pub production_stop_utc_ns: Option<u64>,
    /// Production status at the start.
    pub production: CltuProductionStatus,
    /// Time of the notification of an interruption.
    pub notification_mode: NotificationMode,
    /// Whether the user is notified that the buffer is empty. The specification requires it; a user
    /// that measures may switch it off.
    pub notify_buffer_empty: bool,
    /// Effect of an abort on the buffer.
    pub protocol_abort_mode: ProtocolAbortMode,
    /// Whether several CLTUs may come in one invocation (no book has that).
    pub transfer_buffers: bool,
    /// Events by number; `None`: THROW-EVENT is not supported.
    pub events: Option<BTreeMap<u16, EventAction>>,
    /// The shortest cycle of status reports, seconds in [1, 600]. Versions before 5 cannot ask for
    /// it, and the cycle is in [2, 600] in all.
    pub minimum_reporting_cycle_s: u16,
    /// Seconds in which a return has to come, in [1, 600].
    pub return_timeout_s: u16,
    /// As GET-PARAMETER tells it.
    pub bit_lock_required: bool,
    /// As GET-PARAMETER tells it.
    pub rf_available_required: bool,
    /// As GET-PARAMETER tells it: frequency of the subcarrier, or the bit rate with direct
    /// modulation, in tenths of a Hz.
    pub modulation_frequency: u32,
    /// As GET-PARAMETER tells it, milliradians.
    pub modulation_index: u16,
    /// As GET-PARAMETER tells it.
    pub subcarrier_to_bit_rate_ratio: u16,
    /// As GET-PARAMETER tells it: PLOP-2 rather than PLOP-1.
    pub plop_2: bool,
    /// As GET-PARAMETER tells it, octets.
    pub acquisition_sequence_length: u16,
    /// As GET-PARAMETER tells it, octets.
    pub plop1_idle_sequence_length: u16,
    /// As GET-PARAMETER tells it.
    pub clcw_global_vcid: Option<GvcId>,
    /// As GET-PARAMETER tells it, 1 to 32 characters.
    pub clcw_physical_channel: Option<String>,
}

impl Default for FcltuConfig {
    fn default() -> Self {
        Self {
            limits: BufferLimits::default(),
            maximum_cltu_length: 4096,
            check_cltu: false,
            bit_rate: None,
            minimum_delay_us: 0,
            first_cltu_ids: 0..=CltuId::MAX,
            production_start_utc_ns: None,
            production_stop_utc_ns: None,
            production: CltuProductionStatus::Operational,
            notification_mode: NotificationMode::Immediate,
            notify_buffer_empty: true,
            protocol_abort_mode: ProtocolAbortMode::Abort,
            transfer_buffers: false,
            events: None,
            minimum_reporting_cycle_s: 2,
            return_timeout_s: 60,
            bit_lock_required: false,
            rf_available_required: false,
            modulation_frequency: 2_000_000_000,
            modulation_index: 1000,
            subcarrier_to_bit_rate_ratio: 1,
            plop_2: true,
            acquisition_sequence_length: 16,
            plop1_idle_sequence_length: 8,
            clcw_global_vcid: None,
            clcw_physical_channel: None,
        }
    }
}

/// The parameters of a service instance that change.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurrentParameters {
    pub(super) version: u16,
    pub(super) expected_cltu: CltuId,
    pub(super) expected_event: EventInvocationId,
    pub(super) reporting_cycle_s: Option<u16>,
}

impl FcltuConfig {
    /// A parameter's value; `None` where the service has none of that name in that version, or the
    /// version has no way to say that there is none.
    pub(super) fn parameter(
        &self,
        name: ParameterName,
        current: CurrentParameters,
    ) -> Option<Parameter> {
        let version = current.version;
        let since_4 = |parameter| (version >= 4).then_some(parameter);
        Some(match name {
            ParameterName::BIT_LOCK_REQUIRED => Parameter::BitLockRequired(self.bit_lock_required),
            ParameterName::DELIVERY_MODE => Parameter::DeliveryMode(DeliveryMode::ForwardOnline),
            ParameterName::EXPECTED_EVENT_INVOCATION_IDENTIFICATION => {
                Parameter::ExpectedEventInvocationIdentification(current.expected_event)
            }
            ParameterName::EXPECTED_SLDU_IDENTIFICATION => {
                Parameter::ExpectedSlduIdentification(current.expected_cltu)
            }
            ParameterName::MAXIMUM_SLDU_LENGTH => {
                // Of the type in ASN.1: 12 to 4096, in the older versions to 4098.
                let most = if version >= 4 { 4096 } else { 4098 };
                Parameter::MaximumSlduLength(self.maximum_cltu_length.clamp(12, most))
            }
            ParameterName::MODULATION_FREQUENCY => {
                Parameter::ModulationFrequency(self.modulation_frequency)
            }
            ParameterName::MODULATION_INDEX => Parameter::ModulationIndex(self.modulation_index),
            ParameterName::PLOP_IN_EFFECT => Parameter::PlopInEffect2(self.plop_2),
            ParameterName::REPORTING_CYCLE => Parameter::ReportingCycle(current.reporting_cycle_s),
            ParameterName::RETURN_TIMEOUT_PERIOD => {
                Parameter::ReturnTimeoutPeriod(self.return_timeout_s)
            }
            ParameterName::RF_AVAILABLE_REQUIRED => {
                Parameter::RfAvailableRequired(self.rf_available_required)
            }
            ParameterName::SUBCARRIER_TO_BIT_RATE_RATIO => {
                Parameter::SubcarrierToBitRateRatio(self.subcarrier_to_bit_rate_ratio)
            }
            ParameterName::ACQUISITION_SEQUENCE_LENGTH => {
                since_4(Parameter::AcquisitionSequenceLength(self.acquisition_sequence_length))?
            }
            ParameterName::CLCW_GLOBAL_VCID => match (version, self.clcw_global_vcid) {
                (..=3, _) | (4, None) => return None,
                (_, channel) => Parameter::ClcwGlobalVcid(channel),
            },
            ParameterName::CLCW_PHYSICAL_CHANNEL => match (version, &self.clcw_physical_channel) {
                (..=3, _) | (4, None) => return None,
                (_, channel) => Parameter::ClcwPhysicalChannel(channel.clone()),
            },
            ParameterName::MINIMUM_DELAY_TIME => {
                since_4(Parameter::MinimumDelayTime(self.minimum_delay_us))?
            }
            ParameterName::NOTIFICATION_MODE => since_4(Parameter::NotificationModeImmediate(
                self.notification_mode == NotificationMode::Immediate,
            ))?,
            ParameterName::PLOP1_IDLE_SEQUENCE_LENGTH => {
                since_4(Parameter::Plop1IdleSequenceLength(self.plop1_idle_sequence_length))?
            }
            ParameterName::PROTOCOL_ABORT_MODE => since_4(Parameter::ProtocolAbortModeContinue(
                self.protocol_abort_mode == ProtocolAbortMode::Continue,
            ))?,
            ParameterName::MIN_REPORTING_CYCLE if version >= 5 => {
                Parameter::MinReportingCycle(self.minimum_reporting_cycle_s)
            }
            _ => return None,
        })
    }
}
