//! The framework's data processing procedures as state machines, each of one procedure instance,
//! without sockets, threads or clocks: Data Processing, which the others are derived from, Buffered
//! and Sequence-Controlled Data Processing. Source: CCSDS 921.1-B-2, §4.6 to §4.8.
//!
//! A provider is in two parts, for two threads, as FCLTU's is: the procedure is with the
//! association, and what it takes goes into the [`RadiationQueue`](crate::service::fcltu::RadiationQueue) of
//! production, from which the radiating thread takes it in its time.
//!
//! | | buffered | sequence-controlled |
//! |---|---|---|
//! | PROCESS-DATA | not returned; alone, or several in a forward buffer | returned, one by one |
//! | data unit ids | any | each is the one before, plus 1 |
//! | queue full | complete: nothing more is read; timely: the oldest are discarded | refused |
//! | too late | timely: after the processing latency limit, discarded alone | by its own latest time: locked |
//! | production interrupted | what is being processed is lost, the rest waits | locked, where something was hit |
//! | production halted | as interrupted | locked |
//! | locked | never | until STOP, or the directive `reset` |
//!
//! The book's text was not at hand, its ASN.1 was, and what ESA's implementation does. What neither
//! says is decided here:
//! - STOP discards what waits, as FCLTU's does; what is being processed is processed to its end, and
//!   no longer told of;
//! - nobody is told of data units that are discarded for newer ones, or for their age: the book has
//!   no event for it. A user finds them by the completion reports that are missing;
//! - data that cannot be a data unit (empty, or of another length than agreed on) are thrown away
//!   and counted by the buffered procedure, which cannot refuse anything;
//! - a PROCESS-DATA return names the data unit that is expected next, as ESA's positive one does and
//!   FCLTU's do;
//! - `reset` is acknowledged at once and returned when nothing is being processed and production is
//!   operational; until then the procedure is locked.

mod action;
mod buffered;
mod common;
mod fate;
mod sequenced;
mod user;
pub mod value;

pub use action::{ProcedureAction, ProcedureState};
pub use buffered::{BufferedConfig, BufferedProvider};
pub(crate) use common::status_of;
pub use common::{DataUnitCounts, DataUnitLengths};
pub use fate::{DataUnitFate, DataUnits, SettledUnits};
pub use sequenced::SequencedProvider;
pub use user::{
    BlockingLimits, CompletionReports, DataUnit, ProcedureKind, ProcessingUser, UseError,
    UserEvent, UserState,
};
