//! The command line of `chronoscope track`.

pub(crate) mod allocators;
pub(crate) mod bisect;
pub(crate) mod compare;
pub(crate) mod diff;
pub(crate) mod flame;
pub(crate) mod gate;
pub(crate) mod history;
pub(crate) mod profile;
pub(crate) mod run;

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Cost of a program's version, and changes between two versions.
#[derive(Debug, Subcommand)]
pub(crate) enum Track {
    /// Measure the project's performance suite for one version, and keep the run
    Run(run::Run),
    /// Compare two runs: a verdict for each process, and with --detail the functions that changed
    Compare(compare::Compare),
    /// Cost of each process in run after run, with its change points
    History(history::History),
    /// Find the commit that changed a count
    Bisect(bisect::Bisect),
    /// Judge a change before it is merged: for CI, of any project
    Gate(gate::Gate),
    /// Cost of classes of transactions: one day against another, over weeks, and at X times the
    /// load
    Profile(profile::Profile),
    /// Differences between two Callgrind profiles: by function, call and source line
    Diff(diff::Diff),
    /// Allocators compared over a replayed day: CPU time, most memory, fragmentation
    Allocators(allocators::Allocators),
    /// Where the cost is, by path of calls: a flame graph, a function with its callers and callees,
    /// a profile for the Firefox Profiler
    Flame(flame::Flame),
}

/// The suite, and where its runs are kept.
#[derive(Debug, Args)]
pub(crate) struct Runs {
    /// Suite to measure (TOML; docs/track.md)
    #[arg(long, value_name = "FILE", default_value = "performance.toml")]
    pub(crate) suite: PathBuf,
    /// Folder of the runs, one subfolder each [default: runs/NAME in $CHRONOSCOPE_DATA, else in
    /// ~/.local/share/chronoscope, NAME being the suite's]
    #[arg(long, value_name = "DIR")]
    pub(crate) runs: Option<PathBuf>,
}

/// Method of counting instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Method {
    /// The processor's counters where it has some, else Callgrind
    Auto,
    /// The processor's counters
    Counters,
    /// Callgrind: exact, some fifty times slower, with profiles that are kept
    Callgrind,
}

/// A number of percent, from 0 to `most`.
fn percent(text: &str, most: f64) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| (0.0..=most).contains(number));
    number.ok_or(format!("{text:?} is not a number of percent, such as 0.5"))
}
