//! `chronoscope token`: its flags.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    /// Make a token and print it once: the file holds only its hash
    Add(Add),
    /// List the tokens by name, with their rights
    List(List),
    /// Revoke a token; a running server applies this on SIGHUP
    Revoke(Revoke),
}

#[derive(Debug, Args)]
pub(crate) struct TokenFile {
    /// The file of tokens that `serve --tokens` reads; created with mode 0600 if it does not exist
    #[arg(long, value_name = "FILE")]
    pub(crate) tokens: PathBuf,
}

#[derive(Debug, Args)]
#[group(id = "rights", required = true, multiple = true, args = ["write", "read"])]
pub(crate) struct Add {
    /// Name of the token's owner. An agent with this token must run on the host of this name
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) file: TokenFile,
    /// Allow delivery of rows, by agents and as OpenTelemetry spans
    #[arg(long)]
    pub(crate) write: bool,
    /// Allow reading: the page, its API, /status, /metrics, /classes, /chains
    #[arg(long)]
    pub(crate) read: bool,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) file: TokenFile,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Revoke {
    /// Name of the token
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) file: TokenFile,
}
