//! Command line of path questions: predict, measure, watch, discover.

use crate::args::StoreArgs;
use crate::text::parse_duration;
use chronoscope_net::path::message::{Message, Transport};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Commands about paths.
#[derive(Debug, Subcommand)]
pub(crate) enum Path {
    /// Predict the round-trip time between two hosts, for the present network and for changes to it
    Predict(Predict),
    /// Measure the delays of gateways, links and hosts, with two probes around each
    Measure(Measure),
    /// Compare paths with their prediction continuously, and name the element that changed
    Watch(Watch),
    /// Find the gateways on the way to hosts: a topology to start from
    Discover(Discover),
}

/// Description of the network.
#[derive(Debug, Args)]
pub(crate) struct Network {
    /// Segments, gateways, bridges and hosts, with their known properties (TOML;
    /// docs/formats/topology.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) topology: PathBuf,
    /// Properties of types as measured by `net measure`, in place of the topology's
    #[arg(long, value_name = "FILE")]
    pub(crate) measured: Option<PathBuf>,
}

/// Predicts the time of a request and its reply between two hosts, from the properties of the
/// elements between them.
#[derive(Debug, Args)]
pub(crate) struct Predict {
    #[command(flatten)]
    pub(crate) network: Network,
    /// Name of the requesting host in the topology
    #[arg(long, value_name = "HOST")]
    pub(crate) from: String,
    /// Name of the replying host in the topology
    #[arg(long, value_name = "HOST")]
    pub(crate) to: String,
    /// Size of the request and of the reply, in octets, without headers
    #[arg(long, value_name = "OCTETS", default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(..=16_777_216))]
    pub(crate) size: u32,
    /// Protocol that carries them: messages longer than a packet of the path (mtu, else 1500 octets)
    /// are cut [default: that of the replying host's address, else udp]
    #[arg(long, value_enum)]
    pub(crate) by: Option<By>,
    /// Packets that a connection sends before the first acknowledgement; every acknowledged one lets
    /// two more go. Linux: 10 after it was made or has rested [default: no limit]
    #[arg(long, value_name = "PACKETS", value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) window: Option<u32>,
    /// Take the utilisation of elements that name scanned hosts from scans since this time (-10min)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) utilisation_from_store: Option<String>,
    /// Store the prediction (of the present network, without replacements): the page compares
    /// measured round trips with it
    #[arg(long)]
    pub(crate) keep: bool,
    #[command(flatten)]
    pub(crate) data: StoreArgs,
    /// Replace this element by one of that type (may be given several times)
    #[arg(long, value_name = "ELEMENT=TYPE", value_parser = replacement)]
    pub(crate) replace: Vec<(String, String)>,
    /// Add one more element of this type to the path (may be given several times)
    #[arg(long, value_name = "TYPE")]
    pub(crate) add: Vec<String>,
    /// Multiply the utilisation of everything by this factor
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    pub(crate) load: Option<f64>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Protocol of requests and replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Datagrams
    Udp,
    /// A connection that is kept
    Tcp,
}

impl By {
    /// A message of so many octets; `window` counts for connections only.
    pub(crate) const fn message(self, octets: u32, window: Option<u32>) -> Message {
        let transport = match self {
            Self::Udp => Transport::Udp,
            Self::Tcp => Transport::Tcp { window },
        };
        Message { octets, transport }
    }
}

fn replacement(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(element, by)| !element.is_empty() && !by.is_empty());
    let (element, by) =
        parts.ok_or(format!("{text:?}: expected ELEMENT=TYPE, such as gw1=router"))?;
    Ok((element.to_owned(), by.to_owned()))
}

fn factor(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or(format!("{text:?} is not a factor of 0 or more, such as 2"))
}

/// Measures the properties of elements by round trips around them: from this host to those of the
/// topology that have an address (where `net answer` listens there), with and without each element.
/// Probes are sparse and come at random times, so that they do not load the network they measure;
/// it is assumed to be idle otherwise.
#[derive(Debug, Args)]
pub(crate) struct Measure {
    /// Segments, gateways, bridges and hosts (TOML; docs/formats/topology.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) topology: PathBuf,
    /// Write the measured types to this file, for --measured of the other commands; it is replaced
    /// at the end of the measurement
    #[arg(long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Name of this host in the topology [default: the one whose address is one of this machine]
    #[arg(long, value_name = "HOST")]
    pub(crate) from: Option<String>,
    /// Only this element
    #[arg(long, value_name = "NAME")]
    pub(crate) element: Option<String>,
    /// Size of requests and of replies, in octets. One of 3000 or more tells for how long each
    /// packet occupies a gateway, where that is the slowest element between the hosts
    #[arg(long, value_name = "OCTETS", value_delimiter = ',', default_values_t = [64_u32, 512, 1400])]
    pub(crate) size: Vec<u32>,
    /// Round trips to each host with each size, after the first
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub(crate) rounds: u32,
    /// Mean pause between two probes, over all hosts
    #[arg(long, value_name = "TIME", default_value = "10ms", value_parser = parse_duration)]
    pub(crate) pause: Duration,
    /// Stop probing after this time, even if results are missing
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = parse_duration)]
    pub(crate) at_most: Duration,
    /// A reply later than this counts as lost
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub(crate) timeout: Duration,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Compares paths from this host with their predictions continuously, and names the element that
/// deviates from its measured properties.
#[derive(Debug, Args)]
pub(crate) struct Watch {
    #[command(flatten)]
    pub(crate) network: Network,
    #[command(flatten)]
    pub(crate) data: StoreArgs,
    /// Name of this host in the topology [default: the one whose address is one of this machine]
    #[arg(long, value_name = "HOST")]
    pub(crate) from: Option<String>,
    /// Only paths to these hosts
    #[arg(long, value_name = "HOST")]
    pub(crate) to: Vec<String>,
    /// Size of requests and of replies, in octets
    #[arg(long, value_name = "OCTETS", default_value_t = 64)]
    pub(crate) size: u32,
    /// Mean time between two probes of a path
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub(crate) every: Duration,
    /// Round trips of each path that are judged together
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(5..=10_000))]
    pub(crate) window: u32,
    /// Consecutive windows that must deviate before a path is reported
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) windows: u32,
    /// Accepted deviation from the predicted band, as a share of the prediction
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    pub(crate) tolerance: f64,
    /// A reply later than this counts as lost
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub(crate) timeout: Duration,
    /// Stop after this time
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,
    /// Do not store round trips
    #[arg(long)]
    pub(crate) no_store: bool,
    /// Print a line of JSON for each window
    #[arg(long)]
    pub(crate) json: bool,
}

/// Finds the gateways between this host and others (as traceroute does, but without privileges),
/// and writes a first topology.
#[derive(Debug, Args)]
pub(crate) struct Discover {
    /// Destination hosts, by name or IPv4 address
    #[arg(long, value_name = "HOST", required = true, num_args = 1..)]
    pub(crate) to: Vec<String>,
    /// Write the topology to this file, which must not exist [default: to stdout]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Name of this host in the topology
    #[arg(long, value_name = "NAME", default_value = "here")]
    pub(crate) name: String,
    /// Largest number of gateways on a path
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) hops: u8,
    /// Largest number of requests for each distance
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10))]
    pub(crate) tries: u32,
    /// Time to wait for the replies to each request
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub(crate) timeout: Duration,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
