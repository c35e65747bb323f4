//! The command line of `chronoscope track run`.

use super::{Method, Runs};
use clap::Args;
use std::path::PathBuf;

/// Measures the project's performance suite for one version, and stores the run: for each process
/// instructions, branches, cycles, times, page faults, context switches, memory, allocations,
/// system calls. Each program has the same environment every time: address randomisation off, fixed
/// environment variables, paths of one length. Completed measurements survive an interruption.
#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) runs: Runs,
    /// Folder of the programs, {bin} in the suite [default: that of the suite]
    #[arg(long, value_name = "DIR")]
    pub(crate) bin: Option<PathBuf>,
    /// Name of the version [default: the commit that is checked out where the suite is]
    #[arg(long, value_name = "NAME")]
    pub(crate) commit: Option<String>,
    /// Only this unit or replay (may be given several times)
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// Number of executions of each unit. How far its executions differ although nothing changed is
    /// kept, and verdicts are made by it [default: 6 by counters, 1 by Callgrind]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) repeat: Option<u16>,
    /// Method of counting instructions
    #[arg(long, value_enum, default_value_t = Method::Auto)]
    pub(crate) method: Method,
    /// Do not count heap and system calls: this saves two executions of each unit,
    /// and one of each replay
    #[arg(long)]
    pub(crate) instructions_only: bool,
    /// Also keep the stacks of each unit, sampled by perf in one more execution (`track flame`). Where
    /// perf is missing or not allowed, the run says so
    #[arg(long)]
    pub(crate) stacks: bool,
    /// Print the run as JSON (version 1; docs/formats/track-run.md) instead of words
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
