//! Command line of `sle-series`.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Measures what the CSTS prototyping of 2011 measured, with this SLE user and provider, and prints
/// its figures beside: throughput of space link services against length, delay, windows,
/// confirmation, buffering and encoding, and what limits it.
///
/// Delay is made by a program between two network namespaces (needs root, or the right to make
/// them), else between sockets, which is said. iperf3 and the Java peer are measured in the same run
/// where they are there. A signal ends it with what it has.
#[derive(Debug, Parser)]
#[command(name = "sle-series", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) part: Option<MeasuredProgram>,
    /// Fewer points and shorter rounds: minutes less, and wider spreads.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only these steps (0 to 5), as in 0,2; the verdict is over those.
    #[arg(long, value_delimiter = ',', value_name = "STEP")]
    pub(crate) only: Vec<u8>,
    /// Rounds of a measurement; the median counts, the spread is shown.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,
    /// Length of a round in ms, instead of 1000 (400 with --quick).
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(10..=600_000))]
    pub(crate) round_ms: Option<u64>,
    /// Without the Java peer and iperf3.
    #[arg(long)]
    pub(crate) no_peers: bool,
    /// Folder for series.txt, series.md, series.json and the pictures
    #[arg(long, default_value = "out/sle-series", value_name = "FOLDER")]
    pub(crate) out: PathBuf,
    /// Prints JSON on standard output instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The measured programs: this one, started again.
#[derive(Debug, Subcommand)]
pub(crate) enum MeasuredProgram {
    /// A provider, until its standard input ends.
    #[command(hide = true)]
    Provide {
        /// Its configuration, as a file would have it.
        config: String,
        #[command(flatten)]
        api: Api,
    },
    /// A user that works in rounds.
    #[command(hide = true)]
    Use(Use),
}

/// Work of a user.
#[derive(Debug, Args)]
pub(crate) struct Use {
    /// Its configuration, as a file would have it.
    pub(crate) config: String,
    #[arg(long)]
    pub(crate) octets: u32,
    #[arg(long)]
    pub(crate) window: usize,
    #[arg(long, default_value_t = 1)]
    pub(crate) together: usize,
    #[arg(long, default_value = "none")]
    pub(crate) reports: String,
    #[arg(long)]
    pub(crate) warm_ms: u64,
    #[arg(long)]
    pub(crate) round_ms: u64,
    #[arg(long)]
    pub(crate) rounds: u32,
    #[arg(long)]
    pub(crate) fresh: bool,
    #[command(flatten)]
    pub(crate) api: Api,
}

/// Switches of a measured program besides its configuration.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Api {
    /// Operations are read and written by the ASN.1 declarations alone.
    #[arg(long)]
    pub(crate) declared: bool,
    /// All threads of the program share this CPU.
    #[arg(long)]
    pub(crate) cpu: Option<usize>,
}
