//! The command line of `chronoscope track gate`.

use super::Method;
use clap::Args;
use std::path::PathBuf;

/// Judges a change before it is merged: builds the checked-out commit and its merge base with the
/// base branch, executes both in turns, and reports the differences in words and as Markdown.
///
/// Exits with 0 when nothing became more expensive, with 1 when something did, with 2 when there is
/// no verdict.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Example: chronoscope track gate --base origin/main --build 'make' -- ./benchmark --size 9"
)]
pub(crate) struct Gate {
    /// Base of the comparison: a branch, a tag, a commit
    #[arg(long, value_name = "REF")]
    pub(crate) base: String,
    /// Commit with the change
    #[arg(long, value_name = "REF", default_value = "HEAD")]
    pub(crate) head: String,
    /// The command that builds a commit, in its folder, by sh
    #[arg(long, value_name = "CMD")]
    pub(crate) build: Option<String>,
    /// Measure this suite, by its path from the top of the repository, instead of one program
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "command",
        required_unless_present = "command"
    )]
    pub(crate) suite: Option<PathBuf>,
    /// With --suite: only this unit or replay (may be given several times)
    #[arg(long, value_name = "NAME", requires = "suite")]
    pub(crate) only: Vec<String>,
    /// Folder of the programs in a commit's folder, {bin} in the suite
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) bin: PathBuf,
    /// Accepted increase of cost, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = |text: &str| super::percent(text, 1e6))]
    pub(crate) allow: f64,
    /// Also refuse a change that became cheaper
    #[arg(long)]
    pub(crate) any: bool,
    /// Number of executions of each version, in turns [default: 6 by counters, 3 by Callgrind]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) pairs: Option<u16>,
    /// Method of counting instructions
    #[arg(long, value_enum, default_value_t = Method::Auto)]
    pub(crate) method: Method,
    /// Append the verdict as Markdown to this file [default: $GITHUB_STEP_SUMMARY, if any]
    #[arg(long, value_name = "FILE")]
    pub(crate) summary: Option<PathBuf>,
    /// Do not profile the changed processes
    #[arg(long)]
    pub(crate) no_detail: bool,
    /// The repository
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) repo: PathBuf,
    /// Folder of both builds [default: gate in $CHRONOSCOPE_CACHE, else in ~/.cache/chronoscope]
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    /// Keep both folders, so that the next build reuses them
    #[arg(long)]
    pub(crate) keep: bool,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// The program to measure and its arguments, from the top of the repository
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<String>,
}
