//! `chronoscope track`: cost of a program's version, and changes between two versions.

mod allocators;
mod bisect;
mod compare;
mod diff;
mod flame;
mod gate;
mod history;
mod profile;
mod progress;
mod run;
mod runs;

use crate::args::track::Track;
use crate::exit::Exit;
use anyhow::Result;

/// Runs the command.
pub(crate) fn track(command: &Track) -> Result<Exit> {
    match command {
        Track::Run(args) => run::run(args),
        Track::Compare(args) => verdict(compare::compare(args)),
        Track::Bisect(args) => verdict(bisect::bisect(args)),
        Track::Gate(args) => verdict(gate::gate(args)),
        Track::History(args) => history::history(args),
        Track::Profile(args) => profile::profile(args),
        Track::Diff(args) => diff::diff(args),
        Track::Allocators(args) => allocators::allocators(args),
        Track::Flame(args) => flame::flame(args),
    }
}

/// Every error that prevents a verdict gets the exit code for "no verdict", so that the caller can
/// distinguish it from "changed".
fn verdict(done: Result<Exit>) -> Result<Exit> {
    match done {
        Err(error) if !crate::is_closed_pipe(&error) => {
            say!("chronoscope: {}", crate::usage::joined(&error));
            Ok(Exit::NoVerdict)
        }
        done => done,
    }
}
