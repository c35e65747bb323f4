//! The command line of `chronoscope track bisect`.

use super::Method;
use clap::Args;
use std::path::PathBuf;

/// Finds the commit that changed a count: builds and measures commits between a good and a bad one,
/// each time the middle of the remaining range, until one remains. A commit is bad when its count
/// differs from the good one's by more than the threshold, in the same direction as the bad one's.
/// Commits that do not build are skipped.
///
/// All are built in one folder, a worktree of the repository in the cache folder; measurements are
/// kept there too, so that the same command continues after an interruption.
///
/// Exits with 0 when the commit was found, with 3 when no count changed between the two, with 2
/// when it cannot be found.
#[derive(Debug, Args)]
pub(crate) struct Bisect {
    /// A commit before the change
    #[arg(value_name = "GOOD")]
    pub(crate) good: String,
    /// A commit after the change
    #[arg(value_name = "BAD")]
    pub(crate) bad: String,
    /// Suite to measure, the same for all commits (TOML; docs/track.md)
    #[arg(long, value_name = "FILE", default_value = "performance.toml")]
    pub(crate) suite: PathBuf,
    /// Only this unit or replay of the suite
    #[arg(long, value_name = "NAME")]
    pub(crate) unit: Option<String>,
    /// Of a replay, this process, as ITEM/PROCESS [default: the one that changed most]
    #[arg(long, value_name = "NAME")]
    pub(crate) process: Option<String>,
    /// Folder of the programs in a commit's folder, {bin} in the suite
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) bin: PathBuf,
    /// The repository
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) repo: PathBuf,
    /// Folder of builds and runs [default: bisect in $CHRONOSCOPE_CACHE, else in
    /// ~/.cache/chronoscope]
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    /// Number of executions of each unit [default: 6 by counters, 1 by Callgrind]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) repeat: Option<u16>,
    /// Method of counting instructions
    #[arg(long, value_enum, default_value_t = Method::Auto)]
    pub(crate) method: Method,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// The command that builds a commit, in its folder
    #[arg(value_name = "CMD", last = true, required = true)]
    pub(crate) build: Vec<String>,
}
