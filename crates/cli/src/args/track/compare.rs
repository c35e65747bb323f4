//! The command line of `chronoscope track compare`.

use super::Runs;
use clap::Args;
use std::path::PathBuf;

/// Compares two runs: a verdict for each process, with its magnitude, the threshold and its origin,
/// and the rate of false verdicts; also cycles with their confidence interval, if they were
/// counted.
///
/// Exits with 0 when nothing moved, with 1 when something did, with 2 when there is no verdict.
///
/// A run is given by its name or folder, by `latest` or `latest~1`, by its commit, or by the
/// beginning of a name or commit.
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
    /// Profile each process that changed, and only these, under Callgrind, and print the changes by
    /// function; profiles that were kept with the runs are used
    #[arg(long)]
    pub(crate) detail: bool,
    /// With --detail: folder to which the programs of A have moved
    #[arg(long, value_name = "DIR", requires = "detail")]
    pub(crate) bin_before: Option<PathBuf>,
    /// With --detail: folder to which the programs of B have moved
    #[arg(long, value_name = "DIR", requires = "detail")]
    pub(crate) bin_after: Option<PathBuf>,
    /// With --detail: draw a differential flame graph of each process that changed into this folder
    #[arg(long, value_name = "DIR", requires = "detail")]
    pub(crate) svg: Option<PathBuf>,
    /// With --detail: number of largest changes of each kind to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) rows: usize,
    /// Print Markdown instead of words
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
}
