//! The command line of `chronoscope track flame`.

use super::Runs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Where the cost of a program is, by path of calls: of a profile in a file, of a stored run, or of
/// a program that is run now. Callgrind knows callers and not stacks: the cost of a function is
/// divided among its callers as the costs of their calls are. perf samples whole stacks.
#[derive(Debug, Args)]
#[command(after_help = "Examples: chronoscope track flame latest --process parser --svg parser.svg
          chronoscope track flame callgrind.out --function parse_line
          chronoscope track flame --to firefox:profile.json -- ./program --size 9")]
pub(crate) struct Flame {
    /// A Callgrind profile, text of `perf script`, or a stored run: its name, commit, `latest`
    #[arg(value_name = "PROFILE", required_unless_present = "command")]
    pub(crate) profile: Option<String>,
    /// The process of a run, as ITEM or ITEM/PROCESS; needed when it has several profiles
    #[arg(long, value_name = "NAME", conflicts_with = "command")]
    pub(crate) process: Option<String>,
    /// Counted calls or sampled stacks of a run, or how a program is measured [default: of a run
    /// calls where it has them, of a program stacks where perf may]
    #[arg(long, value_enum)]
    pub(crate) of: Option<Of>,
    /// The event, as the profile names it [default: its first]
    #[arg(long, value_name = "NAME")]
    pub(crate) event: Option<String>,
    /// Show this function with its callers, callees and source lines instead of the tree
    #[arg(long, value_name = "NAME")]
    pub(crate) function: Option<String>,
    /// With --function: the last part of its file's path, where several have that name
    #[arg(long, value_name = "FILE", requires = "function")]
    pub(crate) file: Option<String>,
    /// With --function: the last part of the path of its program or library
    #[arg(long, value_name = "FILE", requires = "function")]
    pub(crate) object: Option<String>,
    /// Paths of less than this part of the total are not shown, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = |text: &str| super::percent(text, 100.0))]
    pub(crate) min: f64,
    /// Number of lines of the tree, or of callers and callees
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub(crate) rows: usize,
    /// Draw a flame graph into this SVG file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write it for another program: firefox:FILE, for profiler.firefox.com
    #[arg(long, value_name = "FORMAT:FILE", value_parser = destination)]
    pub(crate) to: Option<Destination>,
    /// Print JSON (version 1) instead of words, with all paths down to a 5,000th of the total
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) runs: Runs,
    /// A program to run now, with its arguments, once
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "profile")]
    pub(crate) command: Vec<String>,
}

/// What a profile is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Of {
    /// Calls, counted exactly by Callgrind
    Calls,
    /// Stacks, sampled by perf
    Stacks,
}

/// A file of another program's format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// The Firefox Profiler's processed profile.
    Firefox(PathBuf),
}

fn destination(text: &str) -> Result<Destination, String> {
    match text.split_once(':') {
        Some(("firefox", file)) if !file.is_empty() => Ok(Destination::Firefox(file.into())),
        _ => Err(format!("{text:?}: expected firefox:FILE, as in firefox:profile.json")),
    }
}
