//! The only place that reads time.
//!
//! Everything else in the house asks here (a lint refuses the rest): UTC, the monotonic clock, CPU
//! time of the thread and of the process, and *ticks*, the cheapest stamp of the machine with the
//! scale and the anchor that turn it into nanoseconds.
//!
//! ```
//! use chronoscope_clock as clock;
//! let begin = clock::ticks();
//! clock::sleep(std::time::Duration::from_millis(2));
//! let elapsed_ns = clock::Scale::current().to_ns(clock::ticks() - begin);
//! assert!(elapsed_ns >= 1_900_000);
//! ```
//!
//! Ticks are the processor's time stamp counter where it is constant, never stops and is what the
//! kernel itself uses (x86-64), the virtual counter on aarch64, and nanoseconds of
//! `CLOCK_MONOTONIC` anywhere else: [`tick_source`] says which.
//!
//! Limits: Linux only. Ticks order events of one host; they mean nothing on another.
//!
//! Not here: the virtual clock. Its seam is this crate's functions: under the coordinator
//! `utc_now_ns`, `monotonic_ns`, `sleep` and `sleep_until` will ask the coordinator's client (one
//! predictable branch on a static at their beginning), while `ticks`, `thread_cpu_ns` and
//! `process_cpu_ns` stay real, because the cost of a piece of code is real in a replay too.
//! Callers change nothing.

mod anchor;
mod os;
mod ticks;

pub use anchor::{Anchor, Scale};
pub use os::{
    monotonic_ns, process_cpu_ns, sleep, sleep_until, thread_cpu_ns, thread_cpu_ns_of, utc_now_ns,
};
pub use ticks::{TickSource, counter, tick_source, ticks};
