//! Cost of a version of a program, and changes between two versions.
//!
//! * [`callgrind`] reads profiles that Valgrind's Callgrind wrote: exact instruction counts by
//!   function, by call and by source line; [`callgrind::diff`] says what moved between two.
//! * [`flame`] has a profile as a tree of calls, and single functions with callers and callees.
//! * [`compare`] gives verdicts on pairs and histories, with how often they are wrong.
//! * [`profile`] compares what classes of transactions cost, and says how that grows.
//! * [`counters`] runs a program and counts what it costs, by the processor's counters or, without
//!   them, by Callgrind.
//! * [`suite`] is what a project runs to know what a version costs, [`run`] executes and keeps it,
//!   [`report`] holds two runs against each other, [`history`] all of them.
//! * [`allocators`] compares those of malloc libraries over a replayed day.
//! * [`bisect`] finds the commit that made it move, [`gate`] judges one before it is merged.
//!
//! ```
//! use chronoscope_track::callgrind::{self, Limits};
//! let text = "events: Ir\nfl=main.c\nfn=main\n3 10\ncfn=work\ncalls=2 8\n4 90\nfn=work\n8 90\n";
//! let profile = callgrind::read(text.as_bytes(), Limits::default())?;
//! assert_eq!(profile.total("Ir"), Some(100));
//! # Ok::<(), callgrind::ReadError>(())
//! ```
//!
//! Limits: Linux; what is counted is user space. Costs are those of one run on one machine:
//! instruction counts repeat to parts per million, times do not.
//!
//! Not here: making a system run (that is a replay).
//!
//! # Where to look
//!
//! * suites, verdicts, bisection: `docs/track.md`
//! * where the time of a system goes, and capacity: `profile/mod.rs`, `docs/profile.md`

pub mod allocators;
pub mod bisect;
pub mod callgrind;
pub mod compare;
pub mod counters;
pub mod flame;
pub mod gate;
pub mod git;
pub mod history;
mod lines;
mod lock;
pub mod profile;
pub mod report;
pub mod run;
pub mod suite;
pub mod system;
mod xml;

pub use lock::LockError;
