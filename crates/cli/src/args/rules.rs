//! `chronoscope rules`: its flags.

use super::StoreArgs;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Rules {
    /// Say what each rule of a file means, or what is wrong in which line
    Check(Check),
    /// Say when each rule of a file would have fired and cleared on stored transactions
    Test(Test),
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The file of rules, as for `serve --limits` (docs/rules.md)
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// The file of rules, as for `serve --limits` (docs/rules.md)
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) data: StoreArgs,
    /// Evaluate from this time on: 14:01:17 (today), "2026-11-21 14:01", RFC 3339, or relative to
    /// now as in -10min [default: the first stored transaction]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// Evaluate until this time [default: the last stored transaction]
    #[arg(long, value_name = "TIME", visible_alias = "to", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    /// Read and print times in UTC instead of the local time zone
    #[arg(long)]
    pub(crate) utc: bool,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
}
