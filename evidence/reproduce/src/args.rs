//! Command-line arguments.

use chronoscope_reproduce::experiments::network::lab::LabPlan;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Measures the published figures of five documents, and compares ours with them.
///
/// Experiments run the programs of this repository one after the other; each outcome is stored as
/// it ends. The same command continues where it was interrupted, and repeats only experiments whose
/// programs were built anew. The report is OUT/report/index.html, for programs
/// OUT/report/figures.json.
///
/// After the experiments it runs the commands of the coverage (docs/coverage.md), within a minute;
/// `--only coverage` runs these alone.
///
/// Exit codes: 0 done; 1 an experiment or a command of the coverage failed, the report says why; 2
/// usage; 4 error; 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "reproduce", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) part: Option<Subprogram>,
    /// The short form: within ten minutes instead of two hours
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only this experiment, the one of this item, or those of this document; `coverage`: only the
    /// commands of the coverage (may be given several times)
    #[arg(long, value_name = "ID")]
    pub(crate) only: Vec<String>,
    /// Say what there is to do and how long it takes, and do nothing
    #[arg(long)]
    pub(crate) list: bool,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
    /// Measure again even if the same programs were measured before, from the beginning
    #[arg(long)]
    pub(crate) again: bool,
    /// Measure nothing: write the report from stored outcomes
    #[arg(long, conflicts_with_all = ["again", "list"])]
    pub(crate) report_only: bool,
    /// Also write the results into the documents' pages in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) pages: Option<PathBuf>,
    /// Measure nothing: write the page of the coverage, what of the documents works here, into this
    /// file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["again", "list", "report_only"])]
    pub(crate) coverage: Option<PathBuf>,
    /// Folder of outcomes and report
    #[arg(long, default_value = "out/reproduce", value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The folder of the measured programs [default: that of this program]
    #[arg(long, value_name = "DIR")]
    pub(crate) bin: Option<PathBuf>,
    /// Output of `cargo build --message-format=json`, which names the benches
    #[arg(long, value_name = "FILE")]
    pub(crate) messages: Option<PathBuf>,
    /// The root of the repository: scenarios and tools are there
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub(crate) root: PathBuf,
    /// Commit of the measured version
    #[arg(long, default_value = concat!("version ", env!("CARGO_PKG_VERSION")), value_name = "NAME")]
    pub(crate) commit: String,
}

/// Parts that are programs of their own.
#[derive(Debug, Subcommand)]
pub(crate) enum Subprogram {
    /// A network of namespaces that is measured.
    #[command(hide = true)]
    Lab(LabPlan),
}
