//! States, errors and events of a user of FCLTU.

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
    /// The user is not bound.
    Unbound,
    /// Bound, not started.
    Ready,
    /// START's return is to come.
    StartPending,
    /// Started: CLTUs may be sent.
    Active,
    /// STOP's return is to come.
    StopPending,
}

/// Why an operation cannot be invoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UseError {
    /// The state does not allow it.
    #[error("the operation is not allowed in the state {state:?}")]
    State {
        /// The present state.
        state: UserState,
    },
    /// The window is full: wait for a return.
    #[error("the window of {window} TRANSFER-DATA invocations without a return is full")]
    WindowFull {
        /// The window.
        window: usize,
    },
    /// Too many other returns are open: wait for one.
    #[error("{ASKED_MAX} invocations have no return yet, which is the limit")]
    TooManyOpen,
    /// A CLTU was refused, and returns of those sent after it are to come: wait for them. The next
    /// one will have the number that the provider expects.
    #[error("a CLTU was refused: wait for {open} more returns, then send number {expected}")]
    Refused {
        /// Returns to come.
        open: usize,
        /// The number that comes next.
        expected: CltuId,
    },
    /// A transfer buffer needs a CLTU, and at most 2^31 of them.
    #[error("a transfer buffer has 1 to 2^31 CLTUs, not {count}")]
    BufferCount {
        /// Number of CLTUs.
        count: usize,
    },
}

/// A CLTU to be sent, without its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CltuTransfer {
    /// The octets of the CLTU.
    pub data: Bytes,
    /// Earliest radiation time.
    pub earliest: Option<Time>,
    /// Latest radiation time.
    pub latest: Option<Time>,
    /// Silence after it, µs.
    pub delay_us: u32,
    /// Whether to be told when it was radiated.
    pub notify_radiated: bool,
}

/// Event for a user of FCLTU.
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
        /// The accepted CLTUs.
        cltus: CltuRange,
        /// Octets of the provider's buffer that are free.
        buffer_available: u32,
    },
    /// CLTUs were not taken. They have to be sent again where they are wanted; with them go those
    /// that were sent after them, by returns of their own.
    Refused {
        /// The refused CLTUs.
        cltus: CltuRange,
        /// Those of the same buffer that were taken.
        taken: Option<CltuRange>,
        /// Diagnostic of the return.
        diagnostic: Diagnostic,
        /// The number that the provider expects.
        expected: CltuId,
        /// Octets of the provider's buffer that are free.
        buffer_available: u32,
    },
    /// ASYNC-NOTIFY, and what it says of CLTUs.
    Notified {
        /// The ASYNC-NOTIFY invocation.
        notify: CltuAsyncNotify,
        /// Fates that became known.
        settled: Vec<SettledCltus>,
        /// A CLTU that it tells as radiated, though its loss was told before. Its fate stays.
        contradicted: Option<CltuId>,
    },
    /// STATUS-REPORT, and what it says of CLTUs.
    Report {
        /// The STATUS-REPORT invocation.
        report: CltuStatusReport,
        /// Fates that became known.
        settled: Vec<SettledCltus>,
        /// As of [`Self::Notified`].
        contradicted: Option<CltuId>,
    },
    /// SCHEDULE-STATUS-REPORT was answered.
    Scheduled(Result<(), Diagnostic>),
    /// GET-PARAMETER was answered.
    Parameter {
        /// Name of the requested parameter.
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
