//! The command line of `chronoscope net`.

use clap::Subcommand;

/// Load and response time of a network.
#[derive(Debug, Subcommand)]
pub(crate) enum Net {}
