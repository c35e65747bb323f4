//! Operations of FCLTU. Source: CCSDS 912.1.

use super::service::{CltuId, Diagnostic, EventInvocationId, InvokeId};
use crate::time::Time;
use bytes::Bytes;

/// A TRANSFER-DATA invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CltuTransferData {
    /// Its invoke id.
    pub invoke_id: InvokeId,
    /// The CLTU's number.
    pub cltu: CltuId,
    /// Earliest radiation time.
    pub earliest: Option<Time>,
    /// Latest radiation time.
    pub latest: Option<Time>,
    /// Silence after it, in µs.
    pub delay_us: u32,
    /// Whether to tell when it was radiated.
    pub notify_radiated: bool,
    /// The CLTU, 1 to 65,536 octets on the wire; how long it may be the provider says.
    pub data: Bytes,
}

/// A TRANSFER-DATA return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CltuTransferDataReturn {
    /// Invoke id of the invocation.
    pub invoke_id: InvokeId,
    /// The next CLTU that is expected; where it was refused, the one that was expected.
    pub next_cltu: CltuId,
    /// Octets of the provider's buffer that are free.
    pub buffer_available: u32,
    /// The result, or its diagnostic.
    pub result: Result<(), Diagnostic>,
}

/// Several CLTUs in one invocation, acknowledged by one TRANSFER-DATA return once the last of
/// them is taken, or with the first that is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CltuTransferBuffer {
    /// Its invoke id.
    pub invoke_id: InvokeId,
    /// Whether to tell when each was radiated, the last, or none.
    pub notify_radiated: BufferNotification,
    /// Numbers, one after the other, and octets.
    pub cltus: Vec<(CltuId, Bytes)>,
}

/// The CLTUs of a buffer whose radiation is notified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum BufferNotification {
    /// No CLTU.
    None = 0,
    /// Only the last.
    Last = 1,
    /// Every CLTU.
    Every = 2,
}

/// A THROW-EVENT invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThrowEvent {
    /// Its invoke id.
    pub invoke_id: InvokeId,
    /// Its event invocation identification.
    pub event_invocation_id: EventInvocationId,
    /// Event identifier, in [1, 65535].
    pub event: u16,
    /// Event qualifier, 1 to 1024 octets.
    pub qualifier: Bytes,
}

/// Content of ASYNC-NOTIFY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CltuNotification {
    /// A CLTU was radiated.
    CltuRadiated,
    /// A CLTU's latest time came before its turn.
    SlduExpired,
    /// Production was interrupted while, or before, a CLTU was radiated.
    ProductionInterrupted,
    /// Production was halted.
    ProductionHalted,
    /// Production is operational (again).
    ProductionOperational,
    /// The buffer is empty.
    BufferEmpty,
    /// An event's actions were done.
    ActionListCompleted(EventInvocationId),
    /// An event's actions were not all done.
    ActionListNotCompleted(EventInvocationId),
    /// An event's condition was false.
    EventConditionEvFalse(EventInvocationId),
}

/// Status of a CLTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CltuStatus {
    /// The CLTU was radiated.
    Radiated = 0,
    /// Too late to be radiated.
    Expired = 1,
    /// The radiation of the CLTU was interrupted.
    Interrupted = 2,
    /// Its radiation has begun.
    RadiationStarted = 4,
    /// Its radiation could not begin.
    RadiationNotStarted = 5,
}

/// The CLTU that was processed last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CltuLastProcessed {
    /// Its CLTU identification.
    pub cltu: CltuId,
    /// Start of its radiation; `None`: not started.
    pub start_radiation: Option<Time>,
    /// Its status.
    pub status: CltuStatus,
}

/// The CLTU that was radiated last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CltuLastOk {
    /// Its CLTU identification.
    pub cltu: CltuId,
    /// End of its radiation.
    pub stop_radiation: Time,
}

/// Whether CLTUs can be radiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CltuProductionStatus {
    /// CLTUs are radiated.
    Operational = 0,
    /// Everything is set up; the uplink is not there yet.
    Configured = 1,
    /// Production is interrupted.
    Interrupted = 2,
    /// No, an operator wished so.
    Halted = 3,
}

/// Status of the uplink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum UplinkStatus {
    /// The status is not known.
    NotAvailable = 0,
    /// The spacecraft says: no radio frequency.
    NoRfAvailable = 1,
    /// The spacecraft says: no bit lock.
    NoBitLock = 2,
    /// The uplink is nominal.
    Nominal = 3,
}

/// An ASYNC-NOTIFY invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CltuAsyncNotify {
    /// The notification.
    pub notification: CltuNotification,
    /// The CLTU that was processed last.
    pub last_processed: Option<CltuLastProcessed>,
    /// The CLTU that was radiated last.
    pub last_ok: Option<CltuLastOk>,
    /// Whether CLTUs can be radiated.
    pub production: CltuProductionStatus,
    /// Status of the uplink.
    pub uplink: UplinkStatus,
}

/// A STATUS-REPORT invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CltuStatusReport {
    /// The CLTU that was processed last.
    pub last_processed: Option<CltuLastProcessed>,
    /// The CLTU that was radiated last.
    pub last_ok: Option<CltuLastOk>,
    /// Whether CLTUs can be radiated.
    pub production: CltuProductionStatus,
    /// Status of the uplink.
    pub uplink: UplinkStatus,
    /// Number of accepted CLTUs.
    pub received: u32,
    /// CLTUs whose radiation was tried.
    pub processed: u32,
    /// Number of radiated CLTUs.
    pub radiated: u32,
    /// Octets of the buffer that are free.
    pub buffer_available: u32,
}
