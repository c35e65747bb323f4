//! Reading rings from outside: of a running process, of one that was killed, or out of its core
//! file.
//!
//! ```no_run
//! use chronoscope_record::read::{self, Cursors, Ring};
//! use chronoscope_model::Batch;
//!
//! for path in read::find_rings(&read::default_folder()) {
//!     let mut ring = Ring::open(&path)?;
//!     let (mut cursors, mut batch) = (Cursors::default(), Batch::default());
//!     let drained = ring.drain(&mut cursors, 10_000, &mut batch)?;
//!     println!("{}: {} records", ring.process().application, drained.read);
//! }
//! # Ok::<(), read::RingError>(())
//! ```
//!
//! Reading never stops or slows the process that writes. Every offset is checked and every copy
//! bounded: a ring that another process has truncated or overwritten gives an error with the
//! position of the byte, and nothing worse.

mod core_file;
mod counters;
mod directory;
mod drain;
mod error;
mod folder;
mod names;
mod open;
mod owner;
mod ring;
mod ring_bytes;
mod statistics;

pub use counters::Counters;
pub use drain::{Cursors, Drained};
pub use error::RingError;
pub use folder::{default_folder, find_rings, remove_if_stale, rings_of};
pub use open::OpenTransaction;
pub use ring::{MEMORY_BYTES_MAX, Ring};
pub use statistics::ClassStatistics;

use crate::os;
use chronoscope_model::ProcessName;

/// Largest difference by which a process may seem to have begun after its ring: the kernel counts
/// in ticks, and the clock may have been set since.
const START_WITHIN_NS: i64 = 2_000_000_000;

/// Whether a process that recorded still runs on this host: there is one of its number that began
/// no later than its ring. Not where its ring is: [`Ring::is_alive`] asks more exactly.
pub fn is_running(process: &ProcessName) -> bool {
    let age_ns = || os::uptime_ns()?.checked_sub(os::running_since_boot_ns(process.pid)?);
    process.host == os::host()
        && age_ns().is_some_and(|age_ns| {
            let began_ns = chronoscope_clock::utc_now_ns().saturating_sub_unsigned(age_ns);
            began_ns <= process.start_ns.saturating_add(START_WITHIN_NS)
        })
}
