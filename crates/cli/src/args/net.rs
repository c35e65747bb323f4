//! The command line of `chronoscope net`.

pub(crate) mod groups;
pub(crate) mod path;

use super::StoreArgs;
use crate::text::{parse_duration, parse_size};
use chronoscope_net::probe::{Peer, Target};
use chronoscope_net::scan::hosts;
use clap::{Args, Subcommand, ValueEnum};
use groups::{GroupArgs, ListedGroupArgs};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Load and response time of a network.
#[derive(Debug, Subcommand)]
pub(crate) enum Net {
    /// Reply to probes, over UDP and TCP on one port, until stopped
    Answer(Answer),
    /// Load of the network by host: all hosts, the most active, and activity over time, from scans
    Table(Table),
    /// Speed of bulk transfer to another host and back, and what limits the path to it
    Bulk(Bulk),
    /// Round trips between all pairs of hosts that answer
    Matrix(Matrix),
    /// Read the counters of all hosts of a list or network at an interval, into the store
    Scan(Scan),
    /// Round-trip response time of servers: the first request, the best, quantiles, losses
    Rtt(Rtt),
    /// Tables and figures of the published study (SPS/LEP, 1989), with ours beside
    Report(Report),
    #[command(flatten)]
    Path(path::Path),
}

#[derive(Debug, Args)]
pub(crate) struct Scan {
    #[command(flatten)]
    pub(crate) data: StoreArgs,
    /// Hosts to scan: a file with one host per line (docs/net-scan.md), - for stdin, or a network
    /// such as 10.1.0.0/24, all of whose hosts are queried by SNMP
    #[arg(long, value_name = "FILE|CIDR")]
    pub(crate) hosts: String,
    /// Interval from the start of one scan to the start of the next
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub(crate) every: Duration,
    /// Stop after this many scans, not counting the first reading, which is the reference
    /// [default: until stopped]
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u64>,
    /// Timeout of each host; a host without a reply by then is listed as silent
    #[arg(long, value_name = "TIME", default_value = "400ms", value_parser = parse_duration)]
    pub(crate) timeout: Duration,
    /// SNMP community of hosts for which the list has none
    #[arg(long, value_name = "WORD", default_value = hosts::COMMUNITY)]
    pub(crate) community: String,
    #[command(flatten)]
    pub(crate) groups: GroupArgs,
    /// List each interface below its host
    #[arg(long)]
    pub(crate) interfaces: bool,
    /// Print each scan as a line of JSON (version 1) instead of the list at the end
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Answer {
    /// Address to reply at; port 0 lets the kernel choose one that is free over UDP and TCP, and
    /// the choice is printed on stderr (with --json on stdout)
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Clients that send the token in this file may request bulk data and probes of other hosts
    /// [default: $CHRONOSCOPE_TOKEN, if any]; without a token, only programs on this host may. Echo
    /// is open to all
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Hold the port, and start the answering process when the first request arrives; it ends after
    /// --idle without a request. The first request then includes the activation
    #[arg(long)]
    pub(crate) on_demand: bool,
    /// With --on-demand: time that the started process stays without a request
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    pub(crate) idle: Duration,
    /// Internal: the process that --on-demand starts, with the port already open
    #[arg(long, hide = true, conflicts_with = "on_demand")]
    pub(crate) activated: bool,
    /// Use this much CPU time before each reply, to simulate a slow host
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
    pub(crate) data: StoreArgs,
    /// Only scans at this time or later: 14:01:17 (today), "2026-11-21 14:01", RFC 3339, or
    /// relative to now
    #[arg(long, value_name = "TIME", default_value = "-1h", allow_hyphen_values = true)]
    pub(crate) from: String,
    /// Only scans before this time [default: now]
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
    /// Quantity whose shares are shown: in the table of the most active hosts packets and bytes
    /// show both directions, over time their sum
    #[arg(long, value_enum, default_value_t = Direction::Bytes)]
    pub(crate) measure: Direction,
    #[command(flatten)]
    pub(crate) groups: ListedGroupArgs,
    /// Share of the total from which a host is among the most active, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.5)]
    pub(crate) threshold: f64,
    /// Length of the intervals of activity over time [default: the interval of the scans; with more
    /// than ten columns, several scans together]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) interval: Option<Duration>,
    /// Characters to draw the bars with
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

/// Traffic counters of hosts, in one direction or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Direction {
    /// Bytes in and out
    Bytes,
    /// Packets in and out
    Packets,
    /// Bytes in
    InBytes,
    /// Bytes out
    OutBytes,
    /// Packets in
    InPackets,
    /// Packets out
    OutPackets,
}

/// Characters of bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Bars {
    /// Eighths of cells
    Blocks,
    /// A letter, for terminals without block characters
    X,
}

/// Direction of bulk data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BulkDirection {
    /// To the other host
    To,
    /// From the other host
    From,
    /// Both, one after the other
    Both,
}

/// Measures bulk transfer and names what limits the path: link, gateway or host.
///
/// Round trips of two sizes are measured between the hosts, and on each host with itself; then bulk
/// data is sent each way, with its cost to the processors at both ends. With a topology the parts
/// of its gateways are known, too; without one, links and gateways are not distinguished. It takes
/// about five seconds. Transfers are recorded.
#[derive(Debug, Args)]
pub(crate) struct Bulk {
    #[command(flatten)]
    pub(crate) data: StoreArgs,
    /// The other host, where `chronoscope net answer` listens
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) to: Peer,
    /// Largest number of octets each way
    #[arg(long, value_name = "SIZE", default_value = "25M", value_parser = parse_size)]
    pub(crate) octets: u64,
    /// Longest time each way in seconds, up to 30
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    pub(crate) seconds: f64,
    /// Direction of the transfer
    #[arg(long, value_enum, default_value = "both")]
    pub(crate) direction: BulkDirection,
    /// Sizes of the round trips, in octets: a small and a large one
    #[arg(long, value_name = "OCTETS", num_args = 2, default_values_t = [64, 1400])]
    pub(crate) sizes: Vec<u32>,
    /// Round trips of each size
    #[arg(long, value_name = "N", default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) count: u32,
    /// The network's topology, with the types of its elements (docs/formats/topology.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) topology: Option<PathBuf>,
    /// Types that were measured, instead of those in the topology
    #[arg(long, value_name = "FILE", requires = "topology")]
    pub(crate) measured: Option<PathBuf>,
    /// Name of this host, in the topology and in the record [default: its host name]
    #[arg(long, value_name = "NAME")]
    pub(crate) from_name: Option<String>,
    /// Name of the other host there [default: as in --to, without the port]
    #[arg(long, value_name = "NAME")]
    pub(crate) to_name: Option<String>,
    /// Send the token in this file [default: $CHRONOSCOPE_TOKEN, if any]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

/// Round trip that a matrix shows for each pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shown {
    /// Median of the steady round trips
    Median,
    /// The shortest round trip
    Best,
    /// The first round trip
    First,
    /// All three, one matrix each
    All,
}

/// Measures round trips between all pairs of hosts and prints them as a matrix.
///
/// Each host runs `chronoscope net answer` (or `chronoscope agent --answer`), and receives the list
/// of others to probe. A host is in one pair at a time. The diagonal shows each host with itself:
/// the reference for that type of machine. Round trips are recorded.
#[derive(Debug, Args)]
pub(crate) struct Matrix {
    #[command(flatten)]
    pub(crate) data: StoreArgs,
    /// Hosts, each by the address where `net answer` listens
    #[arg(value_name = "HOST:PORT", required_unless_present = "hosts")]
    pub(crate) to: Vec<String>,
    /// A file of hosts, one `HOST:PORT [NAME]` per line
    #[arg(long, value_name = "FILE", conflicts_with = "to")]
    pub(crate) hosts: Option<PathBuf>,
    /// Size of a request, in octets
    #[arg(long, value_name = "OCTETS", default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(12..=8192))]
    pub(crate) size: u32,
    /// Steady round trips of each pair
    #[arg(long, value_name = "N", default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) count: u32,
    /// Interval between requests of a pair, at least 1ms
    #[arg(long, value_name = "TIME", default_value = "2ms", value_parser = parse_duration)]
    pub(crate) every: Duration,
    /// A reply later than this counts as lost; at most 2s
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = parse_duration)]
    pub(crate) timeout: Duration,
    /// Number of pairs that are measured at the same time
    #[arg(long, value_name = "N", default_value_t = 8,
        value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) at_once: u32,
    /// Round trip to show for each pair
    #[arg(long, value_enum, default_value = "median")]
    pub(crate) show: Shown,
    /// Send the token in this file to all hosts [default: $CHRONOSCOPE_TOKEN, if any]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

/// Measures the round-trip time of servers with one request after the other.
///
/// The first request is kept apart from the steady ones: it includes name resolution, routes,
/// connections and whatever the server has to start for it. The best of many shows hardware and
/// software without any disturbance. Targets take turns, so that a disturbance affects all of them.
/// Each round trip is recorded and stored.
///
/// A reply later than --timeout is lost, and no request is repeated. The next request waits for the
/// reply to the one before: turns that passed meanwhile are counted as missed.
#[derive(Debug, Args)]
pub(crate) struct Rtt {
    #[command(flatten)]
    pub(crate) data: StoreArgs,
    /// Target: udp:HOST:PORT and tcp:HOST:PORT (our own echo, `chronoscope net answer`),
    /// connect:HOST:PORT (opening a TCP connection), http://HOST/PATH, dns:SERVER/NAME,
    /// snmp:HOST?community=WORD, ftp://HOST/PATH, rpc:HOST/PROGRAM/VERSION (Sun RPC), icmp:HOST,
    /// exec:PROGRAM (its protocol: docs/net-rtt.md)
    #[arg(value_name = "TARGET", required_unless_present = "from_store")]
    pub(crate) targets: Vec<Target>,
    /// Measure nothing: show the stored round trips of all hosts since this time (-1h)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, conflicts_with = "targets")]
    pub(crate) from_store: Option<String>,
    /// Steady requests to each target, after the first
    #[arg(long, value_name = "N", default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) count: u32,
    /// Shortest interval between requests to the same target; less than 1ms requires --flood
    #[arg(long, value_name = "TIME", default_value = "5ms", value_parser = parse_duration)]
    pub(crate) every: Duration,
    /// Send no request later than this after the start [default: the time for --count and --every,
    /// plus 1.5s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) at_most: Option<Duration>,
    /// A reply later than this counts as lost
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub(crate) timeout: Duration,
    /// Size of a request in octets (udp, tcp and icmp only)
    #[arg(long, value_name = "OCTETS", default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(12..=65_507))]
    pub(crate) size: u32,
    /// Allow more than 1,000 requests or 10 MB a second to a target; use it for your own targets
    /// only
    #[arg(long)]
    pub(crate) flood: bool,
    /// Name of this host in the record [default: its host name]
    #[arg(long, value_name = "NAME")]
    pub(crate) from_name: Option<String>,
    /// Draw the distribution of the steady round trips of each target
    #[arg(long)]
    pub(crate) histogram: bool,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

/// Repeats J. Navratil's measurements of the SPS/LEP control system (1989) on this network:
/// distribution of load, activity over time, response times, types of machines, gateways, the first
/// request. The published figures stand beside ours; missing measurements are listed, with the
/// command that makes them.
#[derive(Debug, Args)]
pub(crate) struct Report {
    #[command(flatten)]
    pub(crate) data: StoreArgs,
    /// Only measurements at this time or later: 14:01:17 (today), "2026-11-21 14:01", RFC 3339, or
    /// relative to now
    #[arg(long, value_name = "TIME", default_value = "-1h", allow_hyphen_values = true)]
    pub(crate) from: String,
    /// Only measurements before this time [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    /// Read and print times in UTC instead of the local time zone
    #[arg(long)]
    pub(crate) utc: bool,
    #[command(flatten)]
    pub(crate) groups: ListedGroupArgs,
    /// Types of hosts, bridges and gateways: a topology, or what net measure wrote
    #[arg(long, value_name = "FILE")]
    pub(crate) topology: Option<PathBuf>,
    /// Types that were measured, instead of those in the topology
    #[arg(long, value_name = "FILE", requires = "topology")]
    pub(crate) measured: Option<PathBuf>,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
}
