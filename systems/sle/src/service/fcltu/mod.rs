//! Forward CLTU: provider and user. Source: CCSDS 912.1.
//!
//! The provider is in two parts, for two threads. [`FcltuProvider`] is with the association: it
//! checks what comes and answers. What it takes goes into a [`RadiationQueue`], from which a thread of
//! radiation takes one CLTU after the other, in its time, and gives it to a [`Modem`]:
//!
//! ```text
//!   association's thread                         radiation's thread
//!   FcltuProvider ── take ──▶ Queue (Radiation) ── RadiationStep::Radiate ──▶ Modem
//!        ▲                        │
//!        └── notices, by a waker ─┘
//! ```
//!
//! CLTUs that were taken can be radiated from the provider's next tick on, which is due at once: a
//! driver ticks after what it has read, and the radiating thread is woken once for all of it.
//!
//! Where the book leaves room, or was not at hand in full, this is what is done here:
//! - diagnostics of TRANSFER-DATA are looked for in the order of their numbers;
//! - after `sldu expired` and interruptions, CLTUs are refused (`unable to process`) until the user
//!   has stopped and started again, also when production is operational before that;
//! - STOP is answered at once; a CLTU that is on the air ends after it, and is told where asked for;
//! - a return comes before the report that it promises, and `buffer empty` is told once for all
//!   times that the buffer became empty before the user could be told;
//! - in version 4, which cannot say that there is no CLCW channel, its parameters are unknown then.
//!
//! Production is told of by an operator ([`ProductionEvent`]): this provider has no receiver of its own
//! that would see the uplink. Thus `rf-available-required` and `bit-lock-required` are only told
//! when asked for, and what they mean is the operator's to do.

mod config;
mod event;
mod fate;
mod limits;
mod modem;
mod provider;
mod queue;
mod radiation;
mod room;
mod sizes;
mod step;
mod transfer;
mod user;

pub use config::{EventAction, FcltuConfig, NotificationMode, ProtocolAbortMode};
pub use event::{CltuTransfer, UseError, UserEvent, UserState};
pub use fate::{CltuFate, CltuRange, SettledCltus};
pub use limits::BufferLimits;
pub use modem::Modem;
pub use provider::{FcltuProvider, ProductionEvent};
pub use queue::RadiationQueue;
pub use radiation::Radiation;
pub use room::{SendPermit, StationRoom};
pub use step::{
    AwaitedCondition, CltuRefusal, LossDiscipline, QueuedCltu, RadiationConfig, RadiationStep,
};
pub use user::FcltuUser;

/// Diagnostics of the operations, as CCSDS 912.1 numbers them.
pub mod diagnostic {
    use crate::pdu::Diagnostic;

    /// START: halted.
    pub const START_OUT_OF_SERVICE: Diagnostic = Diagnostic::Specific(0);
    /// START: not now.
    pub const START_UNABLE_TO_COMPLY: Diagnostic = Diagnostic::Specific(1);
    /// START: production is over.
    pub const START_PRODUCTION_TIME_EXPIRED: Diagnostic = Diagnostic::Specific(2);
    /// START: no such number was agreed.
    pub const START_INVALID_CLTU_ID: Diagnostic = Diagnostic::Specific(3);

    /// TRANSFER-DATA: production cannot, or an earlier CLTU was not radiated.
    pub const TRANSFER_UNABLE_TO_PROCESS: Diagnostic = Diagnostic::Specific(0);
    /// TRANSFER-DATA: no room.
    pub const TRANSFER_UNABLE_TO_STORE: Diagnostic = Diagnostic::Specific(1);
    /// TRANSFER-DATA: not the number that is expected.
    pub const TRANSFER_OUT_OF_SEQUENCE: Diagnostic = Diagnostic::Specific(2);
    /// TRANSFER-DATA: earliest after latest.
    pub const TRANSFER_INCONSISTENT_TIME_RANGE: Diagnostic = Diagnostic::Specific(3);
    /// TRANSFER-DATA: a time when nothing is produced, or none.
    pub const TRANSFER_INVALID_TIME: Diagnostic = Diagnostic::Specific(4);
    /// TRANSFER-DATA: its latest time is over.
    pub const TRANSFER_LATE_SLDU: Diagnostic = Diagnostic::Specific(5);
    /// TRANSFER-DATA: less than the minimum.
    pub const TRANSFER_INVALID_DELAY_TIME: Diagnostic = Diagnostic::Specific(6);
    /// TRANSFER-DATA: too long, or no CLTU.
    pub const TRANSFER_CLTU_ERROR: Diagnostic = Diagnostic::Specific(7);

    /// SCHEDULE-STATUS-REPORT: there is no report to stop.
    pub const REPORT_ALREADY_STOPPED: Diagnostic = Diagnostic::Specific(1);
    /// SCHEDULE-STATUS-REPORT: no cycle that is allowed.
    pub const REPORT_INVALID_REPORTING_CYCLE: Diagnostic = Diagnostic::Specific(2);

    /// GET-PARAMETER: none of this service and version.
    pub const PARAMETER_UNKNOWN: Diagnostic = Diagnostic::Specific(0);

    /// THROW-EVENT: there are no events.
    pub const EVENT_OPERATION_NOT_SUPPORTED: Diagnostic = Diagnostic::Specific(0);
    /// THROW-EVENT: not the number that is expected.
    pub const EVENT_INVOC_ID_OUT_OF_SEQUENCE: Diagnostic = Diagnostic::Specific(1);
    /// THROW-EVENT: no such event.
    pub const EVENT_NO_SUCH_EVENT: Diagnostic = Diagnostic::Specific(2);
}
