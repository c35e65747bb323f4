//! Recorder of a system's input from outside.
//!
//! Network input goes into captures (pcapng, which Wireshark opens), other input into a
//! [`crate::journal`]; both into one folder, as files of bounded size and age.
//!
//! * [`Relay`]: receives datagrams and connections in the system's place and passes them on. It
//!   needs no privilege.
//! * [`Sniffer`]: captures packets at an interface, without touching them. It needs a privilege.
//! * [`import`]: reads captures of other programs.
//! * [`InputSource`]: standard input, a pipe, a file that grows.
//!
//! All of them write through one [`Log`], which never makes them wait: when the disk is full or too
//! slow, inputs are passed on, not recorded, and counted.
//!
//! Durable means that `fdatasync` returned: [`Recorded::durable_count`] inputs survive any crash.
//! Inputs that are written and not yet durable survive the recorder's own death.
//!
//! Limits: IP only. Packets of a relay have the headers of a quiet network; the times of datagrams
//! are the kernel's, those of streams are the times of reading.

mod folder;
mod import;
mod input_source;
mod limits;
mod log;
mod relay;
mod segments;
mod sniffer;

pub use folder::Repair;
pub use import::{ImportError, Imported, import};
pub use input_source::{InputSource, SourceCounts, SourceError};
pub use limits::Limits;
pub use log::{DiskOutage, Log, Recorded, RecorderError};
pub use relay::{Relay, RelayCounts, RelayError, allow_connections};
pub use sniffer::{Sniffed, Sniffer, SnifferError};
