//! Configuration of a service instance.

use crate::csts::pdu::DataTransferMode;
use crate::pdu::CltuProductionStatus;
use crate::service::fcltu::{BufferLimits, LossDiscipline, NotificationMode, RadiationConfig};
use std::ops::RangeInclusive;

/// Configuration of a service instance. [`ForwardFrameConfig::default`] has values that need no
/// spacecraft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardFrameConfig {
    /// Its prime procedure.
    pub procedure: ProcedureConfig,
    /// Bounds of the input queue. GET tells the number of data units.
    pub limits: BufferLimits,
    /// Octets of a frame; one length for frames of fixed length.
    pub frame_octets: RangeInclusive<usize>,
    /// Bits of the uplink in a second; `None`: a frame is radiated at once.
    pub bit_rate: Option<u64>,
    /// Production status at the start.
    pub production: CltuProductionStatus,
    /// Whether what waits is discarded when the association is aborted or lost.
    pub discard_after_abort: bool,
}

/// The prime procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcedureConfig {
    /// Buffered Data Processing.
    Buffered {
        /// Behaviour when the queue is full.
        mode: DataTransferMode,
        /// Frames of a forward buffer at most.
        forward_buffer_max: u32,
        /// Timely: frames that wait longer are discarded, ms; 0: they are not.
        latency_limit_ms: u32,
    },
    /// Sequence-Controlled Data Processing.
    SequenceControlled,
}

impl Default for ForwardFrameConfig {
    fn default() -> Self {
        Self {
            procedure: ProcedureConfig::Buffered {
                mode: DataTransferMode::Complete,
                forward_buffer_max: 80,
                latency_limit_ms: 0,
            },
            limits: BufferLimits::default(),
            frame_octets: 1..=65_536,
            bit_rate: None,
            production: CltuProductionStatus::Operational,
            discard_after_abort: true,
        }
    }
}

impl From<&ForwardFrameConfig> for RadiationConfig {
    fn from(config: &ForwardFrameConfig) -> Self {
        Self {
            limits: config.limits,
            bit_rate: config.bit_rate,
            notification_mode: NotificationMode::Deferred,
            notify_buffer_empty: false,
            production: config.production,
            discipline: match config.procedure {
                ProcedureConfig::Buffered { .. } => LossDiscipline::Each,
                ProcedureConfig::SequenceControlled => LossDiscipline::Sequence,
            },
        }
    }
}
