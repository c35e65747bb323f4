//! The distributed test bed of the radar chain, as the evaluation of PHOENIX had one: generator,
//! tracker, message server and many displays as processes on several hosts, each host with its own
//! clock and its own agent, one collector.
//!
//! The hosts are network namespaces ([`hosts`]); without the right to make them everything is on
//! one host, which is reported. Every update reaches every display and is redrawn, and every
//! process records. Results come from queries to the store, and from the programs' own counts.
//!
//! It is here and not in `systems/radar` because it queries the store and makes networks, on which
//! a measured system must not depend.
//!
//! Not here: loss and delay of the network, several computers.

pub mod args;
pub mod buffering;
pub mod chain;
pub mod cost;
pub mod heavy;
pub mod hosts;
mod limit;
pub mod live;
mod one_display;
pub mod program;
mod replayed;
mod report;
mod split;
mod statistics;
mod swing;
mod throttle;

use crate::programs::Programs;
use crate::run::Interrupted;
use anyhow::{Context, Result, bail};
use chronoscope_clock::monotonic_ns;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Between two lines of progress.
const SAY_EVERY_NS: u64 = 5_000_000_000;
/// In a folder that the test bed has made, and may make anew.
const MARK: &str = ".radar-testbed";

/// Environment and settings of a test bed.
#[derive(Debug)]
pub struct Bed {
    /// Folder for the programs' output and recordings.
    pub out: PathBuf,
    /// The programs of the chain.
    pub programs: Programs,
    /// The root of the repository: `tools/flights` is there.
    pub root: PathBuf,
    /// Recorded flights, where they are known.
    pub recording: Option<PathBuf>,
    /// Everything on one host, with one clock.
    pub one_host: bool,
    /// The short form.
    pub quick: bool,
    /// Speed of aircraft and antennas relative to real time.
    pub speed: f64,
    /// Says no progress.
    pub quiet: bool,
    /// Set by a signal.
    pub stop: Arc<AtomicBool>,
    /// Time of the last report of progress.
    pub said_ns: Cell<u64>,
}

impl Bed {
    /// A program, as a command to be.
    ///
    /// # Errors
    /// When it was not built.
    pub fn program(&self, name: &str) -> Result<Command> {
        Ok(Command::new(self.programs.path(name)?))
    }

    /// A folder of this name, empty. One that the test bed has made itself is made anew.
    ///
    /// # Errors
    /// When it cannot be made, or there is one that the test bed has not made.
    pub fn fresh(&self, name: &str) -> Result<PathBuf> {
        let path = std::path::absolute(self.out.join(name))?;
        if path.exists() {
            if !path.join(MARK).is_file() {
                let path = path.display();
                bail!(
                    "{path} exists and was not written by a test bed: name another folder with \
                     --out"
                );
            }
            std::fs::remove_dir_all(&path).with_context(|| path.display().to_string())?;
        }
        let make = |path: &Path| -> std::io::Result<()> {
            std::fs::create_dir_all(path)?;
            std::fs::write(path.join(MARK), "")
        };
        make(&path).with_context(|| path.display().to_string())?;
        Ok(path)
    }

    /// Checks for an interruption.
    ///
    /// # Errors
    /// [`Interrupted`] once a signal arrived.
    pub fn go_on(&self) -> Result<()> {
        if self.is_interrupted() { bail!(Interrupted) } else { Ok(()) }
    }

    /// Whether a signal arrived.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Reports the present step.
    pub fn say(&self, what: &str) {
        self.said_ns.set(monotonic_ns());
        if !self.quiet {
            eprintln!("radar-testbed: {what}");
        }
    }

    /// Reports the present step, but not too often.
    pub fn say_sometimes(&self, what: &str) {
        if monotonic_ns() >= self.said_ns.get() + SAY_EVERY_NS {
            self.say(what);
        }
    }

    /// The full value, or the one of the short form, unless one was given.
    fn either<T>(&self, given: Option<T>, quick: T, full: T) -> T {
        given.unwrap_or(if self.quick { quick } else { full })
    }
}

/// Sending policy of tracker and message server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Sending {
    /// Nagle's algorithm is left on.
    pub nagle: bool,
    /// Output is held and sent so often, in ms; 0: at once.
    pub flush_ms: u16,
}

impl Sending {
    fn options(self) -> Vec<String> {
        let mut options = vec!["--flush-ms".to_owned(), self.flush_ms.to_string()];
        if self.nagle {
            options.push("--nagle".to_owned());
        }
        options
    }
}
