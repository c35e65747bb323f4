//! Annotated dumps: the messages of every ISP1 connection in a capture, and the operations in them with
//! their fields, times and octets; and the lines of a transfer's journal.
//!
//! ```no_run
//! use chronoscope_sle::dump::{CaptureDump, DumpParts, DumpSettings};
//!
//! let capture = std::fs::File::open("station.pcapng")?;
//! for entry in CaptureDump::new(capture, DumpSettings::default())? {
//!     print!("{}", entry?.text(DumpParts { fields: true, octets: false }));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Fields are annotated along the specifications' modules (`schema`), not by the codec: octets that
//! are no valid operation are annotated as far as they are understood. The codec then decodes the
//! operation as a whole, and its error is told.
//!
//! A stream with gaps, or one that is damaged, is read on from the next message that is found; the
//! position and the reason are told. Memory is bounded: a PDU has 64 MiB at the most, and an entry
//! 20,000 fields.
//!
//! Not here: encrypted connections; the check of credentials, which needs the passwords.

mod annotate;
mod ber;
mod capture;
mod connection;
mod field;
mod html;
mod journal;
mod message;
mod pdu;
mod schema;
mod stream;
mod text;

pub use capture::{CaptureDump, DumpCounts, DumpSettings};
pub use field::DumpField;
pub use html::page;
pub use journal::{JournalLine, journal_lines};
pub use message::{AnsweredInvocation, DumpContent, DumpEntry, DumpService, DumpedPdu};
pub use pdu::annotate;
pub use text::DumpParts;
