//! The journal of a transfer of CLTUs: what may have been sent, and the fate of each CLTU, in a file that
//! survives the end of the program and of the host.
//!
//! **Promise.** A CLTU is sent only after a reservation that names it is durable (`fdatasync`). So a
//! program that goes on from a journal knows every CLTU that may be on its way, and sends none of them
//! again unless it is told to. A reservation is made for many CLTUs, ahead of them: after a kill those
//! that were reserved and not sent are unknown, too, which errs on the safe side.
//!
//! **Limits.** A fate is written when it is reported, and durable with the next reservation, or after
//! 200 ms. A fate that a crash of the host took away leaves its CLTU unknown; a kill of the program
//! takes none that was written.
//!
//! The lines of the file are in `docs/formats/sle-transfer.md`.

mod entry;
mod fates;
mod file;
mod plan;
mod state;
mod writer;

pub use entry::{FateEntry, GivenEntry, JournalEntry, LineError, SessionEntry, TransferIdentity};
pub use fates::{FateRun, FateWord, RecordedFate, TransferFates};
pub use file::{JournalError, TransferJournal};
pub use plan::SendPlan;
pub use state::{EntryOutOfPlace, TransferState};
pub use writer::{JournalFailed, JournalWriter};
