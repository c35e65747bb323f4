//! The command line of `chronoscope track`.

pub(crate) mod bisect;
pub(crate) mod compare;
pub(crate) mod diff;
pub(crate) mod gate;
pub(crate) mod history;
pub(crate) mod profile;
pub(crate) mod run;

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// What a version of a program costs, and what moved between two.
#[derive(Debug, Subcommand)]
pub(crate) enum Track {
    /// Measure the project's performance suite for one version, and keep the run
    Run(run::Run),
    /// Two runs: a verdict for each process, and with --detail where it moved
    Compare(compare::Compare),
    /// What each process cost in run after run, and where it moved
    History(history::History),
    /// Which commit made it move
    Bisect(bisect::Bisect),
    /// Judge a change before it is merged: for CI, of any project
    Gate(gate::Gate),
    /// What classes of transactions cost: a day against another, over weeks, and X times more
    Profile(profile::Profile),
    /// What moved between two Callgrind profiles: by function, call and source line
    Diff(diff::Diff),
}

/// The suite, and where its runs are kept.
#[derive(Debug, Args)]
pub(crate) struct Runs {
    /// What is measured (TOML; docs/track.md)
    #[arg(long, value_name = "FILE", default_value = "performance.toml")]
    pub(crate) suite: PathBuf,
    /// Where runs are kept, a folder each [default: runs/NAME in $CHRONOSCOPE_DATA, else in
    /// ~/.local/share/chronoscope, NAME being the suite's]
    #[arg(long, value_name = "DIR")]
    pub(crate) runs: Option<PathBuf>,
}

/// How instructions are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Method {
    /// By the processor's counters where it has some, else by Callgrind
    Auto,
    /// By the processor's counters
    Counters,
    /// By Callgrind: exact, some fifty times slower, with profiles that are kept
    Callgrind,
}
