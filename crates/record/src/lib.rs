//! Begin and end in tens of nanoseconds, into a ring that outlives the program.
//!
//! A program declares its transaction classes, begins and ends transactions, and sends correlators
//! along with its messages. Each pair records elapsed time and thread CPU time, links the
//! transaction to its chain, and is counted in its class's statistics; all in memory that is mapped
//! from one file, which others read while the program runs, after it was killed, or out of its core
//! file ([`read`]).
//!
//! ```
//! use chronoscope_record::{self as record, Class, Correlator, Status, class, transaction};
//!
//! static DECODE: Class = class!("decodePlots");
//! static CORRELATE: Class = class!("Correlate");
//!
//! #[transaction] // one transaction a call, named after the function
//! fn update_track(number: u32) -> u32 {
//!     number + 1
//! }
//!
//! record::init("MRTS"); // first in main: the application's name
//! let mut decode = DECODE.begin();
//! decode.metric("plots", 12.0);
//! update_track(7); // a child of `decode`
//! let sent = decode.correlator().to_bytes(512); // travels with a message
//! decode.stop(Status::Good); // or drop it
//!
//! let received = Correlator::decode(&sent)?; // in another process
//! drop(CORRELATE.begin_with(&received)); // a child of `decode`, wherever it runs
//! # if let Some(ring) = record::ring_path() { std::fs::remove_file(ring)?; }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Promises
//!
//! * The hot path has no thread, system call, lock or allocation. It costs about 1.5
//!   times the two clock reads in it (`bench`, program `recorder`). Links allocate when a thread has
//!   its first ones.
//! * It never fails, blocks or ends the program. A transaction that cannot be recorded is dropped
//!   and counted ([`read::Counters`]): no room, a full or missing file system, a ring that another
//!   process truncates, misuse of guards.
//! * Stamps are UTC, right to a few microseconds: computed from an anchor at most 10 ms old, which
//!   detects a step of the clock. All threads of a process convert alike, and a new anchor does not
//!   set UTC back ([`chronoscope_clock::UtcLine`]): a child never starts before its parent, unless
//!   the clock is set in between. Elapsed times come from the monotonic ticks and are not affected
//!   by a step.
//! * CPU time of the thread is computed, without system calls, while the kernel does not switch the
//!   thread away ([`CpuMethod`]), and is read exactly at the end of a transaction longer than a
//!   millisecond. It is never above elapsed. Whenever the thread is switched away, the time away
//!   does not count, and CPU time is less than the kernel's by 2 µs at most.
//! * A forked child has a ring of its own; a thread that ends gives its block to the next.
//! * In a replay under a virtual clock stamps are its time. That clock stands while any process
//!   works: the real time since its last move is added, which keeps consecutive events of an
//!   instant in order, in all processes. Every begin then costs a system call.
//!
//! # Limits
//!
//! 64 open transactions a thread, 4095 classes, 65,536 started handles, 240 bytes of context and
//! 1,255 links to further inputs a transaction. 2.4 MB of ring a thread (`CHRONOSCOPE_SLOTS`), 36 kB
//! for each class that a thread uses. Linux, 64 bits, little-endian. Environment variables: `src/env.rs`.
//!
//! Time that a hypervisor steals between two exact reads counts as CPU. Ticks are read without a
//! barrier: durations of some tens of nanoseconds are only as exact as the processor's reordering
//! allows. Not for signal handlers, nor inside a global allocator.
//!
//! # Not here
//!
//! Sending, storing and drawing: these are done outside of the measured program.
//!
//! # Off
//!
//! With the feature `off` the recorder is not compiled; programs need no change. Cargo unites
//! features over all dependencies: the program may ask for it, a library must not.
#![cfg_attr(feature = "off", allow(dead_code))] // readers need a part of what writers need

#[cfg(not(feature = "off"))]
mod begin;
#[cfg(not(feature = "off"))]
mod binding;
#[cfg(not(feature = "off"))]
mod borrowed;
#[cfg(not(feature = "off"))]
mod capi;
#[cfg(not(feature = "off"))]
mod class;
#[cfg(not(feature = "off"))]
mod classes;
#[cfg(not(feature = "off"))]
mod close;
#[cfg(not(feature = "off"))]
mod commit;
#[cfg(not(feature = "off"))]
mod context;
#[cfg(not(feature = "off"))]
mod control;
#[cfg(not(feature = "off"))]
mod cpu;
#[cfg(not(feature = "off"))]
mod ended;
mod env;
#[cfg(not(feature = "off"))]
mod future;
#[cfg(not(feature = "off"))]
mod guard;
#[cfg(not(feature = "off"))]
mod issued;
#[cfg(not(feature = "off"))]
mod kept;
mod layout;
#[cfg(not(feature = "off"))]
mod lineage;
#[cfg(not(feature = "off"))]
mod links;
mod liveness;
#[cfg(feature = "off")]
mod off;
#[cfg(not(feature = "off"))]
mod open;
mod os;
#[cfg(not(feature = "off"))]
mod pair;
#[cfg(not(feature = "off"))]
mod per_process;
#[cfg(not(feature = "off"))]
mod process;
mod properties;
pub mod read;
#[cfg(not(feature = "off"))]
mod reckon;
#[cfg(not(feature = "off"))]
mod region;
#[cfg(not(feature = "off"))]
mod resource;
#[cfg(not(feature = "off"))]
mod say;
mod shared;
#[cfg(not(feature = "off"))]
mod sigbus;
#[cfg(not(feature = "off"))]
mod slow;
#[cfg(not(feature = "off"))]
mod stamp;
#[cfg(not(feature = "off"))]
mod started;
#[cfg(not(feature = "off"))]
mod started_slots;
#[cfg(not(feature = "off"))]
mod thread;
#[cfg(not(feature = "off"))]
mod transaction;

#[cfg(not(feature = "off"))]
pub use binding::{Bound, count_foreign_correlator, init_unless_named, thread_cpu_ns};
#[cfg(not(feature = "off"))]
pub use capi::{OpenToken, chronoscope_begin, chronoscope_class, chronoscope_end};
pub use chronoscope_model::{ChainId, Correlator, CorrelatorError, Status, TransactionId};
pub use chronoscope_record_macros::transaction;
#[cfg(not(feature = "off"))]
pub use class::Class;
#[cfg(not(feature = "off"))]
pub use future::Measured;
#[cfg(not(feature = "off"))]
pub use guard::{Guard, current};
#[cfg(not(feature = "off"))]
pub use kept::keep_ended;
#[cfg(feature = "off")]
pub use off::{Class, Guard, Measured, Started, cpu_method, current, init, keep_ended, ring_path};
#[cfg(not(feature = "off"))]
pub use process::{cpu_method, init, ring_path};
pub use properties::{CpuMethod, Removed, Storage};
#[cfg(not(feature = "off"))]
pub use started::{Parent, Started};

/// Declares a class: `static DECODE: Class = class!("decodePlots");`. With `process_cpu`
/// (`class!("decodePlots", process_cpu)`) its transactions record CPU time of the whole process
/// too, at two system calls each.
#[macro_export]
macro_rules! class {
    ($name:expr) => {
        $crate::Class::new($name, false)
    };
    ($name:expr, process_cpu) => {
        $crate::Class::new($name, true)
    };
}

/// FAILED for an `Err`, else GOOD. For the attribute [`transaction`](macro@transaction).
#[doc(hidden)]
#[inline]
pub fn status_of<T, E>(result: &Result<T, E>) -> Status {
    if result.is_ok() { Status::Good } else { Status::Failed }
}

/// Calls a closure; its result may borrow from values that were moved into it. For the attribute
/// [`transaction`](macro@transaction).
#[doc(hidden)]
#[inline(always)]
pub fn call_once<R>(body: impl FnOnce() -> R) -> R {
    body()
}
