//! The collector: rows from the rings of this host, and from senders outside, into a store.
//!
//! A [`Collector`] finds the rings in a folder, reads what is new in them, appends it to a store
//! together with how far it has read, and syncs. Each transaction is in the store exactly once,
//! however often the collector is killed. A measured program never waits for the collector: rows
//! that are not read in time are overwritten in the ring and counted.
//!
//! An [`Agent`] does the same on another host, into a spool, and delivers the spool to a collector.
//! [`Ingest`] takes the rows that come from outside: it returns when they are durable, and takes
//! numbered rows once. [`rings`] is what people see of rings while their programs run, here and
//! through agents.
//!
//! ```no_run
//! use chronoscope_collect::{Collector, Options};
//! use std::sync::atomic::AtomicBool;
//!
//! let stop = AtomicBool::new(false); // to be set by a signal
//! let options = Options::new("/dev/shm/chronoscope-1000".into(), "data".into());
//! let collector = Collector::new(options)?;
//! collector.run(&stop, &mut |status| eprintln!("{} rows", status.rows));
//! # Ok::<(), chronoscope_collect::CollectError>(())
//! ```
//!
//! Once a week a collector reads its whole store slowly and reports bytes that differ from those
//! that were written.
//!
//! Limits: rings of this host only; one collector for each store and for each folder of rings.
//!
//! Not here: files (`store`), questions (`query`), the client of a cluster (any
//! [`chronoscope_store::RemoteStore`]), and signals: the caller sets `stop`.

mod agent;
mod agents;
mod collector;
mod descriptors;
mod disk;
mod duration;
mod gaps;
mod ingest;
mod intake;
mod maintenance;
pub mod protocol;
mod ring_destination;
mod ring_source;
mod ring_sources;
pub mod rings;
mod scrub;
mod status;
mod vocabulary;

pub use agent::{Agent, AgentError, AgentOptions, Target, TargetError};
pub use collector::{CollectError, Collector, Options};
pub use descriptors::raise_open_files;
pub use ingest::{Ingest, IngestError, Observer, Receipt, RowSource};
pub use status::{AgentStatus, DeliveryStatus, FailedRing, ProcessStatus, ScrubStatus, Status};
