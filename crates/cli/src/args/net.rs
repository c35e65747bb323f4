//! The command line of `chronoscope net`.

use super::Data;
use crate::text::parse_duration;
use clap::{Args, Subcommand, ValueEnum};
use std::net::SocketAddr;
use std::time::Duration;

/// Load and response time of a network.
#[derive(Debug, Subcommand)]
pub(crate) enum Net {
    /// Reply to probes, over UDP and TCP on one port, until stopped
    Answer(Answer),
    /// Who loads the network: all hosts, the most active, and activity over time, from scans
    Table(Table),
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

#[derive(Debug, Args)]
pub(crate) struct Table {
    #[command(flatten)]
    pub(crate) data: Data,
    /// Only scans from then on: 14:01:17 (today), "2026-11-21 14:01", RFC 3339, or a time ago
    #[arg(long, value_name = "TIME", default_value = "-1h", allow_hyphen_values = true)]
    pub(crate) from: String,
    /// Only scans before then [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    /// Read and print times in UTC instead of the local time zone
    #[arg(long)]
    pub(crate) utc: bool,
    /// Print the table of all hosts; without this and the next two, all three tables
    #[arg(long)]
    pub(crate) hosts: bool,
    /// Print the table of the most active hosts
    #[arg(long)]
    pub(crate) active: bool,
    /// Print the table of activity over time
    #[arg(long)]
    pub(crate) over_time: bool,
    /// What activity is a share of: in the table of the most active hosts packets and bytes show
    /// both directions, over time their sum
    #[arg(long, value_enum, default_value_t = Direction::Bytes)]
    pub(crate) measure: Direction,
    /// From this share of the total on a host is among the most active, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.5)]
    pub(crate) threshold: f64,
    /// Length of the intervals of activity over time [default: the scans' own, and where more than
    /// ten would stand side by side, as many scans together as needed]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) interval: Option<Duration>,
    /// What bars are made of
    #[arg(long, value_enum, default_value_t = Bars::Blocks)]
    pub(crate) bars: Bars,
    /// Print JSON (version 1): all three tables, every interval
    #[arg(long)]
    pub(crate) json: bool,
    /// Print comma-separated values: all hosts, with --active the most active, with --over-time
    /// the shares of every interval
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
}

/// What hosts count, in one direction or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Direction {
    /// In and out
    Bytes,
    /// In and out
    Packets,
    /// That came in
    InBytes,
    /// That went out
    OutBytes,
    /// That came in
    InPackets,
    /// That went out
    OutPackets,
}

/// What bars are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Bars {
    /// Eighths of cells
    Blocks,
    /// The letter, for those who see no blocks
    X,
}
