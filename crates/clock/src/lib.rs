//! The only place that reads time.
//!
//! All other crates read time here (a lint refuses the rest): UTC, the monotonic clock, CPU time of
//! the thread and of the process, and *ticks*, the cheapest stamp of the machine with the scale and
//! the anchor that turn it into nanoseconds. A [`UtcLine`] turns stamps of all threads of a process
//! into UTC and keeps their order.
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
//! In a replay (`CHRONOSCOPE_TIME` names its folder), [`utc_now_ns`] and [`monotonic_ns`] are loads
//! from the coordinator's page, behind one predictable branch; [`sleep`] and [`sleep_until`] wait in
//! libc, where the preload library sees them. [`ticks`], [`thread_cpu_ns`] and [`process_cpu_ns`]
//! stay real, because the cost of a piece of code is real in a replay too; an [`Anchor`] is the
//! clock's last move, and the [`Scale`] the coordinator's. Callers change nothing.

// Every program of ours has this crate: elsewhere this sentence is all that its build says. The
// modules are left out there, so that their errors do not bury it.
#[cfg(not(target_os = "linux"))]
compile_error!(
    "Chronoscope and its systems are for Linux only; docs/aprs.md, \"Linux only\", lists what a port to \
     another operating system has to replace"
);

#[cfg(target_os = "linux")]
mod anchor;
#[cfg(target_os = "linux")]
mod line;
#[cfg(target_os = "linux")]
mod lines;
#[cfg(target_os = "linux")]
mod os;
#[cfg(target_os = "linux")]
mod replay;
#[cfg(target_os = "linux")]
mod ticks;

#[cfg(target_os = "linux")]
pub use anchor::{Anchor, Scale};
#[cfg(target_os = "linux")]
pub use line::UtcLine;
#[cfg(target_os = "linux")]
pub use os::{
    monotonic_ns, process_cpu_ns, sleep, sleep_until, thread_cpu_ns, thread_cpu_ns_of, utc_now_ns,
};
#[cfg(target_os = "linux")]
pub use replay::is_virtual;
#[cfg(target_os = "linux")]
pub use ticks::{TickSource, counter, tick_source, ticks};
