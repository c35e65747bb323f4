//! The command line of `chronoscope track bisect`.

use super::Method;
use clap::Args;
use std::path::PathBuf;

/// Finds the commit that made a count move: builds and measures commits between a good and a bad
/// one, each time that in the middle of what is left, until one remains. A commit is bad when its
/// count differs from the good one's by more than the threshold, the way that the bad one's does.
/// Commits that do not build are left aside.
///
/// All are built in one folder, a worktree of the repository in the cache folder; what is measured
/// is kept there too, so that the same command goes on where it was interrupted.
///
/// Exits with 0 when the commit was found, with 3 when nothing moved between the two, with 2 when
/// it cannot be found.
#[derive(Debug, Args)]
pub(crate) struct Bisect {
    /// A commit before it moved
    #[arg(value_name = "GOOD")]
    pub(crate) good: String,
    /// One after
    #[arg(value_name = "BAD")]
    pub(crate) bad: String,
    /// What is measured, the same for all commits (TOML; docs/track.md)
    #[arg(long, value_name = "FILE", default_value = "performance.toml")]
    pub(crate) suite: PathBuf,
    /// Only this unit or replay of the suite
    #[arg(long, value_name = "NAME")]
    pub(crate) unit: Option<String>,
    /// Of a replay, this process, as ITEM/PROCESS [default: what moved most]
    #[arg(long, value_name = "NAME")]
    pub(crate) process: Option<String>,
    /// Where in a commit's folder its programs are, {bin} in the suite
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) bin: PathBuf,
    /// The repository
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) repo: PathBuf,
    /// Where builds and runs are kept [default: bisect in $CHRONOSCOPE_CACHE, else in
    /// ~/.cache/chronoscope]
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    /// Execute each unit so often [default: 6 by counters, 1 by Callgrind]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) repeat: Option<u16>,
    /// How instructions are counted
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
