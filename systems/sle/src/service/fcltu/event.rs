//! What a user can do, cannot do, and is told.

use super::fate::{CltuRange, SettledCltus};
use crate::pdu::{
    CltuAsyncNotify, CltuId, CltuStatusReport, Diagnostic, EventInvocationId, Parameter,
    ParameterName,
};
use crate::time::Time;
use bytes::Bytes;

/// The most other invocations that may be open.
pub(super) const ASKED_MAX: usize = 64;

/// A user's states. Those that wait for a return are not the provider's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UserState {
    /// Not bound.
    Unbound,
    /// Bound, not started.
    Ready,
    /// START's return is to come.
    StartPending,
    /// Started.
    Active,
    /// STOP's return is to come.
    StopPending,
}

/// Why an operation cannot be invoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UseError {
    /// The state does not allow it.
    #[error("not in state {state:?}")]
    State {
        /// Which it is.
        state: UserState,
    },
    /// So many CLTUs' returns are to come that no more may be sent: wait for one.
    #[error("{window} TRANSFER-DATA invocations wait for their return")]
    WindowFull {
        /// The window.
        window: usize,
    },
    /// So many other returns are to come: wait for one.
    #[error("{ASKED_MAX} invocations wait for their return")]
    TooManyOpen,
    /// A CLTU was refused, and returns of those sent after it are to come: wait for them. The next
    /// one will have the number that the provider expects.
    #[error("a CLTU was refused, {open} returns are to come before number {expected} can be sent")]
    Refused {
        /// Returns to come.
        open: usize,
        /// The number that comes next.
        expected: CltuId,
    },
    /// A transfer buffer needs a CLTU, and at most 2^31 of them.
    #[error("a transfer buffer of {count} CLTUs")]
    BufferCount {
        /// How many there were.
        count: usize,
    },
}

/// A CLTU to be sent, without its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CltuTransfer {
    /// It.
    pub data: Bytes,
    /// Not to be radiated before.
    pub earliest: Option<Time>,
    /// Not to be radiated after.
    pub latest: Option<Time>,
    /// Silence after it, µs.
    pub delay_us: u32,
    /// Whether to be told when it was radiated.
    pub notify_radiated: bool,
}

/// What has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserEvent {
    /// START was accepted.
    Started {
        /// From when CLTUs may be radiated.
        start_radiation: Time,
        /// Until when.
        stop_radiation: Option<Time>,
        /// CLTUs of before, of which no more will be told.
        settled: Vec<SettledCltus>,
    },
    /// START was refused.
    StartRefused(Diagnostic),
    /// STOP was accepted. Of CLTUs that were being radiated one may still be told.
    Stopped,
    /// STOP was refused: still active.
    StopRefused(Diagnostic),
    /// CLTUs were taken.
    Acknowledged {
        /// Which.
        cltus: CltuRange,
        /// Octets of the provider's buffer that are free.
        buffer_available: u32,
    },
    /// CLTUs were not taken. They have to be sent again where they are wanted; with them go those
    /// that were sent after them, by returns of their own.
    Refused {
        /// Which.
        cltus: CltuRange,
        /// Those of the same buffer that were taken.
        taken: Option<CltuRange>,
        /// Why.
        diagnostic: Diagnostic,
        /// The number that the provider expects.
        expected: CltuId,
    },
    /// ASYNC-NOTIFY, and what it says of CLTUs.
    Notified {
        /// It.
        notify: CltuAsyncNotify,
        /// What became of CLTUs.
        settled: Vec<SettledCltus>,
    },
    /// STATUS-REPORT, and what it says of CLTUs.
    Report {
        /// It.
        report: CltuStatusReport,
        /// What became of CLTUs.
        settled: Vec<SettledCltus>,
    },
    /// SCHEDULE-STATUS-REPORT was answered.
    Scheduled(Result<(), Diagnostic>),
    /// GET-PARAMETER was answered.
    Parameter {
        /// What was asked for.
        name: ParameterName,
        /// The answer.
        result: Result<Parameter, Diagnostic>,
    },
    /// THROW-EVENT was answered.
    Thrown {
        /// The number it had.
        event_invocation_id: EventInvocationId,
        /// The answer.
        result: Result<(), Diagnostic>,
    },
}
