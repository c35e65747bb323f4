//! Command line of `sle-series`.

use clap::{Args, Parser, Subcommand, ValueEnum};
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
    pub(crate) part: Option<Subprogram>,
    /// Fewer points and shorter rounds: minutes less, and wider spreads.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only these steps (0 to 5, and 7), as in 0,2; the verdict is over those.
    #[arg(long, value_delimiter = ',', value_name = "STEP")]
    pub(crate) only: Vec<u8>,
    /// Rounds of a measurement; the median counts, the spread is shown.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,
    /// Length of a round in ms, instead of 1000 (400 with --quick).
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(10..=600_000))]
    pub(crate) round_ms: Option<u64>,
    /// Without the Java peer and iperf3; as --without java,iperf3.
    #[arg(long)]
    pub(crate) no_peers: bool,
    /// Leaves out a part of all steps, as in java,verdict.
    #[arg(long, value_delimiter = ',', value_name = "PART")]
    pub(crate) without: Vec<Part>,
    /// Folder for series.txt, series.md, series.json and the pictures
    #[arg(long, default_value = "out/sle-series", value_name = "FOLDER")]
    pub(crate) out: PathBuf,
    /// Prints JSON on standard output instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a series may do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// The Java peer: its tables are missing.
    Java,
    /// iperf3: its columns are empty.
    Iperf3,
    /// The communication server (step 7).
    Server,
    /// What limits throughput (step 6): no point is measured once more with the recorder on.
    Verdict,
}

/// Subcommands: the question of the window, and the measured programs (this one, started again).
#[derive(Debug, Subcommand)]
pub(crate) enum Subprogram {
    /// How big the window must be: operations and octets under way for a rate over a round trip
    Window(WindowQuestion),
    /// A provider, until its standard input ends.
    #[command(hide = true)]
    Provide {
        /// Its configuration, as a file would have it.
        config: String,
        #[command(flatten)]
        api: Api,
    },
    /// A communication server, until its standard input ends.
    #[command(hide = true)]
    Communicate {
        /// Its route, LISTEN=TO.
        route: chronoscope_sle::communication::Route,
    },
    /// A user that works in rounds.
    #[command(hide = true)]
    Use(Use),
}

/// A rate, a round trip and a length.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct WindowQuestion {
    /// Rate of user data, in 10^6 bits a second.
    #[arg(long, value_name = "MBIT")]
    pub(crate) rate: f64,
    /// Round trip time, in milliseconds.
    #[arg(long, value_name = "MS")]
    pub(crate) rtt: f64,
    /// Octets of a CLTU.
    #[arg(long, default_value_t = 1544, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) octets: u32,
    /// Also measures what the answer carries, over a path with that round trip.
    #[arg(long)]
    pub(crate) measure: bool,
}

/// Work of a user.
#[derive(Debug, Args)]
pub(crate) struct Use {
    /// Its configuration, as a file would have it.
    pub(crate) config: String,
    #[arg(long)]
    pub(crate) octets: u32,
    /// Without it: what the configuration says, or the path allows.
    #[arg(long)]
    pub(crate) window: Option<usize>,
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
