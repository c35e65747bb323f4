//! Return services: return all frames (RAF), return channel frames (RCF) and return operational
//! control fields (ROCF).
//!
//! One machine serves all three, as their state tables are the same (table 4-1 of CCSDS 911.1,
//! 911.2 and 911.5); they differ in what START asks for, in what of a frame is delivered, and in
//! some parameters.
//!
//! | | unbound | ready | active |
//! |---|---|---|---|
//! | START | – | return, positive: active | PEER-ABORT protocol error |
//! | STOP | – | PEER-ABORT protocol error | what is in the transfer buffer, return: ready |
//! | SCHEDULE-STATUS-REPORT, GET-PARAMETER | – | return | return |
//! | reporting cycle | – | STATUS-REPORT | STATUS-REPORT |
//! | frame | kept (complete online) | kept (complete online) | into the transfer buffer |
//! | transfer buffer full, or as old as the latency limit | – | – | TRANSFER-BUFFER |
//! | loss of frame sync, production status | – | – | SYNC-NOTIFY, TRANSFER-BUFFER |
//! | end of data | – | – | SYNC-NOTIFY, TRANSFER-BUFFER |
//! | unbound, aborted, lost | – | unbound | transfer buffer discarded: unbound |
//!
//! Chosen where the books leave room, or could not be read: a notification of production goes
//! out at once and does not wait for the latency limit; a START whose stop time is not after its
//! start time is refused with *invalid stop time*; changes of operational control fields are
//! looked for within a virtual channel of telecommand, so that two that alternate are no changes.

mod backlog;
mod buffer;
mod config;
mod continuity;
mod diagnostic;
mod parameter;
mod provider;
mod report;
mod select;
mod user;

pub use config::{ReturnConfig, ServiceOffer};
pub use provider::{OfflineRange, ReturnCounts, ReturnProduction, ReturnProvider};
pub use report::ReceiverLocks;
pub use user::{ReturnUser, ReturnUserCounts, UseError, UserEvent, UserState};
