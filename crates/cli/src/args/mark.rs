//! `chronoscope mark`: its flags.

use super::StoreArgs;
use clap::Args;
use std::path::PathBuf;

/// An instant with a text, such as a deployment. Marks are kept beside the stored transactions and
/// shown on every time axis of the page.
#[derive(Debug, Args)]
pub(crate) struct Mark {
    /// What happened, such as "v4.2 on shop"; at most 200 characters
    #[arg(required_unless_present_any = ["list", "remove"], conflicts_with_all = ["list", "remove"])]
    pub(crate) text: Option<String>,
    /// When it happened: 14:01:17 (today), "2026-11-21 14:01", RFC 3339, or relative to now as in
    /// -10min [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, conflicts_with_all = ["list", "remove"])]
    pub(crate) at: Option<String>,
    /// The service that it is about [default: all]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["list", "remove"])]
    pub(crate) service: Option<String>,
    /// List the marks, the earliest first
    #[arg(long, conflicts_with = "remove")]
    pub(crate) list: bool,
    /// Remove the mark with this number
    #[arg(long, value_name = "NUMBER")]
    pub(crate) remove: Option<u64>,
    #[command(flatten)]
    pub(crate) data: StoreArgs,
    /// Ask this server instead: http://HOST:PORT, where `serve --listen` listens
    #[arg(long, value_name = "URL", conflicts_with_all = ["data", "store"])]
    pub(crate) server: Option<String>,
    /// Send the token in this file to the server; it must allow writing [default:
    /// $CHRONOSCOPE_TOKEN, if any]
    #[arg(long, value_name = "FILE", requires = "server")]
    pub(crate) token_file: Option<PathBuf>,
    /// Read and print times in UTC instead of the local time zone
    #[arg(long)]
    pub(crate) utc: bool,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
}
