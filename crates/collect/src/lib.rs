//! The collector: rings of programs in, durable transactions out.
//!
//! A [`Collector`] finds the rings in a folder, reads what is new in them, appends it to a store
//! together with how far it read, and syncs. So a transaction is in the store exactly once,
//! however often the collector is killed in between; and a program that is being measured never
//! waits for it: what the collector cannot take in time is overwritten in the ring and counted.
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
//! Once a week it reads the whole store, slowly, and tells what is not what was written.
//!
//! Limits: rings of this host; one collector to a store and to a folder of rings.
//!
//! Not here: what is done with rows (`store`), other sources than rings, and signals: the caller
//! sets `stop`.

mod agent;
mod agents;
mod collector;
mod descriptors;
mod disk;
mod gaps;
mod ingest;
mod intake;
mod maintenance;
pub mod protocol;
mod ring_destination;
mod ring_source;
mod ring_sources;
mod scrub;
mod share;
mod status;
mod vocabulary;

pub use agent::{Agent, AgentError, AgentOptions, Target, TargetError};
pub use collector::{CollectError, Collector, Options};
pub use descriptors::raise_open_files;
pub use ingest::{Ingest, IngestError, Receipt, RowSource};
pub use status::{AgentStatus, DeliveryStatus, FailedRing, ProcessStatus, ScrubStatus, Status};

use std::time::Duration;

/// Whole nanoseconds of a duration far below 584 years.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
