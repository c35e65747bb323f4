//! Links to a station that are kept up: `sle-user link`.
//!
//! **Promise.** Each link has one association at most. It is up during its passes, or always. When it is
//! lost, the next attempt comes after a pause that doubles, with jitter. Programs give CLTUs at a socket
//! and are told the fate of each; a CLTU is reserved in the journal, durably, before it is sent, and never
//! sent in a second association. Frames go to datagrams, to programs that read, and to a store; none of
//! these makes the association wait, except the disk of the store.
//!
//! **Limits.** One process, one thread for each link and each program. FCLTU, RAF, RCF and ROCF in online
//! delivery.
//!
//! ```text
//! program ─▶ door ─▶ programs: intake ─▶ forward: sender ─▶ User ─▶ station
//!         ◀─ answers ◀─ flight ◀─ journal's thread ◀─ fates ◀─┘
//! station ─▶ User ─▶ returning: sink ─▶ outlets ─▶ UDP, readers, store
//! ```
//!
//! Messages are in `docs/formats/sle-link.md`, the operator's view in `docs/sle-station.md`.

mod backoff;
mod control;
mod daemon;
mod door;
mod flight;
mod forward;
mod keeper;
mod ledger;
mod log_file;
pub mod message;
mod outlets;
mod print;
mod program;
mod programs;
mod readers;
mod returning;
mod schedule;
mod selection;
mod sender;
mod session;
mod socket;

pub use daemon::{LinkDaemon, LinkError, LinkSignals};
pub use print::effective;
pub(crate) use selection::selection;
pub(crate) use socket::LinkAddress;
