//! `chronoscope track`: what a version of a program costs, and what moved between two.

mod bisect;
mod compare;
mod diff;
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
    }
}

/// Whatever keeps a verdict from being made has the exit code that no verdict has, so that who asks
/// can tell it from "moved".
fn verdict(done: Result<Exit>) -> Result<Exit> {
    match done {
        Err(error) if !crate::is_closed_pipe(&error) => {
            say!("chronoscope: {}", crate::usage::joined(&error));
            Ok(Exit::NoVerdict)
        }
        done => done,
    }
}
