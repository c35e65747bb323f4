//! Records what a system receives from outside, as it arrived.
//!
//! What comes over the network goes into captures (pcapng: Wireshark opens them), what comes
//! otherwise into a [`crate::journal`]; both into one folder, as files of bounded size and age.
//!
//! * [`Relay`]: takes datagrams and connections in the system's place and passes them on. It needs
//!   no privilege.
//! * [`Sniffer`]: sees what arrives at an interface, without touching it. It needs one.
//! * [`import`]: what others captured.
//! * [`Source`]: standard input, a pipe, a file that grows.
//!
//! All of them write through one [`Log`], which never makes them wait: when the disk is full or too
//! slow, inputs are passed on, not recorded, and counted.
//!
//! Durable means that `fdatasync` returned: [`Recorded::durable_count`] inputs survive any crash.
//! What is written and not yet durable survives the recorder's own death.
//!
//! Limits: IP only. Packets of a relay have headers as a quiet network would have written them; the
//! times of datagrams are the kernel's, those of streams when they were read.

mod folder;
mod import;
mod limits;
mod log;
mod relay;
mod segments;
mod sniffer;
mod source;

pub use folder::Repair;
pub use import::{ImportError, Imported, import};
pub use limits::Limits;
pub use log::{Log, Recorded, RecorderError, Trouble};
pub use relay::{Passed, Relay, RelayError, allow_connections};
pub use sniffer::{Sniffed, Sniffer, SnifferError};
pub use source::{Read, Source, SourceError};
