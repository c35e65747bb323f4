//! What radiation is told, what it takes, and what it answers.

use super::config::{FcltuConfig, NotificationMode};
use super::limits::BufferLimits;
use crate::pdu::{CltuId, CltuProductionStatus};
use crate::time::Time;
use bytes::Bytes;

/// What the loss of one means to those behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossDiscipline {
    /// They are lost with it, and none is taken until the user has started again.
    #[default]
    Sequence,
    /// Nothing. They wait while production is interrupted or halted; their latest time is that of
    /// being kept, and whoever is too late is thrown away without a word.
    Each,
}

/// What radiation is told beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadiationConfig {
    /// Bounds of the buffer.
    pub limits: BufferLimits,
    /// Bits of the uplink in a second; `None`: all is radiated at once.
    pub bit_rate: Option<u64>,
    /// When an interruption is told.
    pub notification_mode: NotificationMode,
    /// Whether it is told that the buffer has become empty.
    pub notify_buffer_empty: bool,
    /// How production is in the beginning.
    pub production: CltuProductionStatus,
    /// What a loss means.
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

/// What the association waits for, besides notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwaitedCondition {
    /// Room for so many octets in so many data units.
    Room {
        /// In octets.
        octets: usize,
        /// Data units.
        units: usize,
    },
    /// Nothing is being radiated.
    Silence,
}

/// A CLTU that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedCltu {
    /// Its number.
    pub cltu: CltuId,
    /// It.
    pub data: Bytes,
    /// Not to be radiated before, UTC in ns since 1970.
    pub earliest_utc_ns: Option<u64>,
    /// Not to be radiated after, UTC in ns since 1970.
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
    /// No room.
    UnableToStore,
}

/// What radiation does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RadiationStep {
    /// Give this to the modem, and ask again.
    Radiate(QueuedCltu),
    /// Nothing before that instant of the monotonic clock (ns), unless something changes.
    Wait(u64),
    /// Nothing until something changes.
    Idle,
    /// Nothing any more.
    Closed,
}
