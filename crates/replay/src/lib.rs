//! A recorded day, replayed through the real processes in minutes.
//!
//! A *coordinator* owns the clock. Processes take part by the protocol of
//! `docs/formats/virtual-clock.md`: they run until every thread waits, then report their next
//! timeout and what they sent; the coordinator wakes those that have something to read, and when
//! none has it moves the clock to the next timeout or input.
//!
//! ```no_run
//! use chronoscope_replay::coordinator::{Coordinator, Settings};
//! use chronoscope_replay::{player::Player, process::Program};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut replay = Coordinator::new("/tmp/replay".as_ref(), Settings::default())?;
//! let command = vec!["/bin/sleep".into(), "86400".into()];
//! let folder = "/tmp".into();
//! replay.start(&Program { name: "day".into(), command, folder, ..Program::default() })?;
//! let outcome = replay.run(&mut Player::none());
//! assert_eq!(outcome.elapsed.as_secs(), 86400); // after a few milliseconds
//! # Ok(()) }
//! ```
//!
//! * [`coordinator`]: starts the processes, owns their clock; outcome of the replay.
//! * [`scenario`]: everything of a replay in one file: programs, state, inputs; its report.
//! * [`schedule`]: decides which process runs next and when time moves, as pure code.
//! * [`wire`], [`page`]: the octets between coordinator and process.
//! * [`preload`]: lets unmodified programs take part.
//! * [`capture`], [`journal`]: recorded inputs, of the network and others.
//! * [`recorder`]: records a system's input in these forms.
//! * [`player`]: delivers recorded inputs, cut to a window and thinned.
//! * [`moment`]: moments of a recording as people write them.
//! * [`counters`]: instructions executed by each process; [`heap`]: its allocations.
//! * [`parent`]: children that end with their parent.
//!
//! Limits: Linux; all system calls of other programs are seen on x86-64 from Linux 5.11, elsewhere
//! only their calls of libc. Static programs and those that read the processor's time stamp counter
//! for the time cannot take part. `docs/replay.md` names the rest.
//!
//! # Where to look
//!
//! * recording the input of a system: `recorder/mod.rs`, `docs/record.md`
//! * the part of a process in a replay: `preload/part.h`, `docs/formats/virtual-clock.md`

pub mod capture;
pub mod coordinator;
pub mod counters;
pub mod heap;
pub mod journal;
pub mod moment;
pub mod page;
pub mod parent;
pub mod player;
pub mod preload;
pub mod process;
pub mod recorder;
pub mod scenario;
pub mod schedule;
pub mod wire;
