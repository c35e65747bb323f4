//! The command line of `chronoscope track compare`.

use super::Runs;
use clap::Args;
use std::path::PathBuf;

/// Compares two runs: a verdict for each process, with its magnitude, the threshold, by what that
/// was chosen, and how often such a verdict is wrong; cycles with their confidence interval beside
/// it, where they were counted.
///
/// Exits with 0 when nothing moved, with 1 when something did, with 2 when there is no verdict.
///
/// A run is meant by its name or folder, by `latest` or `latest~1`, by its commit, or by the
/// beginning of either.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The run before
    #[arg(value_name = "A")]
    pub(crate) before: String,
    /// The run after
    #[arg(value_name = "B")]
    pub(crate) after: String,
    #[command(flatten)]
    pub(crate) runs: Runs,
    /// Where it moved: profile what did, and only that, under Callgrind, and print what moved by
    /// function; profiles that were kept with the runs are used
    #[arg(long)]
    pub(crate) detail: bool,
    /// With --detail: the programs of A are there now
    #[arg(long, value_name = "DIR", requires = "detail")]
    pub(crate) bin_before: Option<PathBuf>,
    /// With --detail: the programs of B are there now
    #[arg(long, value_name = "DIR", requires = "detail")]
    pub(crate) bin_after: Option<PathBuf>,
    /// With --detail: draw a differential flame graph of each process that moved into this folder
    #[arg(long, value_name = "DIR", requires = "detail")]
    pub(crate) svg: Option<PathBuf>,
    /// With --detail: the largest changes of each kind, so many
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) rows: usize,
    /// Print Markdown instead of words
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
}
