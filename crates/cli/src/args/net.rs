//! The command line of `chronoscope net`.

use crate::text::parse_duration;
use clap::{Args, Subcommand};
use std::net::SocketAddr;
use std::time::Duration;

/// Load and response time of a network.
#[derive(Debug, Subcommand)]
pub(crate) enum Net {
    /// Reply to probes, over UDP and TCP on one port, until stopped
    Answer(Answer),
}

#[derive(Debug, Args)]
pub(crate) struct Answer {
    /// Where; port 0 lets the kernel choose one that is free over UDP and TCP, and the choice is
    /// said on stderr (with --json on stdout)
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Let every reply cost so much CPU time first: to see how a slow host looks, and for tests
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse_duration)]
    pub(crate) work: Duration,
    /// Stop after this time
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,
    /// Print one line of JSON (version 1) on stdout once it listens, and one with its counts at
    /// the end
    #[arg(long)]
    pub(crate) json: bool,
}
