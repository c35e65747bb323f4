//! Inputs, elements and results of radiation.

use super::config::{FcltuConfig, NotificationMode};
use super::limits::BufferLimits;
use crate::pdu::{CltuId, CltuProductionStatus};
use crate::time::Time;
use bytes::Bytes;

/// Effect of the loss of a data unit on those after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossDiscipline {
    /// They are lost too, and none is accepted until the user starts again.
    #[default]
    Sequence,
    /// No effect. They wait while production is interrupted or halted. After their latest time they
    /// are discarded without a notification.
    Each,
}

/// Settings of radiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadiationConfig {
    /// Bounds of the buffer.
    pub limits: BufferLimits,
    /// Bits of the uplink in a second; `None`: all is radiated at once.
    pub bit_rate: Option<u64>,
    /// Time of the notification of an interruption.
    pub notification_mode: NotificationMode,
    /// Whether the user is notified that the buffer is empty.
    pub notify_buffer_empty: bool,
    /// Production status at the start.
    pub production: CltuProductionStatus,
    /// Effect of a loss.
    pub discipline: LossDiscipline,
}

impl From<&FcltuConfig> for RadiationConfig {
    fn from(config: &FcltuConfig) -> Self {
        Self {
            limits: config.limits,
            bit_rate: config.bit_rate,
            notification_mode: config.notification_mode,
            notify_buffer_empty: config.notify_buffer_empty,
            production: config.production,
            discipline: LossDiscipline::Sequence,
        }
    }
}

/// Condition that the association waits for, besides notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwaitedCondition {
    /// Room for so many octets in so many data units.
    Room {
        /// In octets.
        octets: usize,
        /// Number of data units.
        units: usize,
    },
    /// No data unit is being radiated.
    Silence,
}

/// A CLTU that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedCltu {
    /// Its CLTU identification.
    pub cltu: CltuId,
    /// The octets of the CLTU.
    pub data: Bytes,
    /// Earliest radiation time, UTC in nanoseconds since 1970.
    pub earliest_utc_ns: Option<u64>,
    /// Latest radiation time, UTC in nanoseconds since 1970.
    pub latest_utc_ns: Option<u64>,
    /// Silence after it, µs.
    pub delay_us: u32,
    /// Whether its radiation is told.
    pub notify: bool,
    /// The time that START's return named. With the service instance and the number it makes a
    /// name for the CLTU that is the same on both sides.
    pub session: Time,
}

/// Why a CLTU was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CltuRefusal {
    /// Production cannot, or an earlier CLTU was not radiated.
    UnableToProcess,
    /// The buffer has no space.
    UnableToStore,
}

/// Next step of radiation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RadiationStep {
    /// Give this to the modem, and ask again.
    Radiate(QueuedCltu),
    /// Wait until that instant of the monotonic clock, in nanoseconds, or until a change.
    Wait(u64),
    /// Wait until a change.
    Idle,
    /// Radiation has ended.
    Closed,
}
