//! The command line of `chronoscope net`.

pub(crate) mod path;

use super::Data;
use crate::text::{parse_duration, parse_size};
use chronoscope_net::probe::{Peer, Target};
use chronoscope_net::scan::hosts;
use clap::{Args, Subcommand, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Load and response time of a network.
#[derive(Debug, Subcommand)]
pub(crate) enum Net {
    /// Reply to probes, over UDP and TCP on one port, until stopped
    Answer(Answer),
    /// Who loads the network: all hosts, the most active, and activity over time, from scans
    Table(Table),
    /// Speed of bulk transfer to another host and back, and what limits the path to it
    Bulk(Bulk),
    /// Round trips between all pairs of hosts that answer
    Matrix(Matrix),
    /// Counters of all hosts of a list or network, again and again, into the store
    Scan(Scan),
    /// Round-trip response time of servers: the first request, the best, quantiles, losses
    Rtt(Rtt),
    /// Tables and figures of the document this follows, ours beside the published ones
    Report(Report),
    #[command(flatten)]
    Path(path::Path),
}

#[derive(Debug, Args)]
pub(crate) struct Scan {
    #[command(flatten)]
    pub(crate) data: Data,
    /// Who is asked: a file with one host a line (docs/net-scan.md), - for stdin, or a network as
    /// 10.1.0.0/24, all of whose hosts are asked by SNMP
    #[arg(long, value_name = "FILE|CIDR")]
    pub(crate) hosts: String,
    /// From the beginning of one scan to that of the next
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub(crate) every: Duration,
    /// Stop after this many scans; one before them is the reading that the first is compared with
    /// [default: until stopped]
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u64>,
    /// How long each host has; who says nothing by then is listed as silent
    #[arg(long, value_name = "TIME", default_value = "400ms", value_parser = parse_duration)]
    pub(crate) timeout: Duration,
    /// SNMP community of hosts for which the list has none
    #[arg(long, value_name = "WORD", default_value = hosts::COMMUNITY)]
    pub(crate) community: String,
    /// List each interface below its host
    #[arg(long)]
    pub(crate) interfaces: bool,
    /// Print each scan as a line of JSON (version 1) instead of the list at the end
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Answer {
    /// Where; port 0 lets the kernel choose one that is free over UDP and TCP, and the choice is
    /// said on stderr (with --json on stdout)
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Who shows the token in this file may ask for bulk data and probes of other hosts [default:
    /// $CHRONOSCOPE_TOKEN, if any]; without a token, only programs on this host may. Echo is for
    /// everybody
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Keep the port, and start the answering process when the first request comes; it ends when
    /// none came for --idle. Thus the first request has the activation in it
    #[arg(long)]
    pub(crate) on_demand: bool,
    /// With --on-demand: how long the started process stays without a request
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    pub(crate) idle: Duration,
    /// The process that --on-demand started: it has the port already
    #[arg(long, hide = true, conflicts_with = "on_demand")]
    pub(crate) activated: bool,
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

/// Which ways bulk data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ways {
    /// To the other host
    To,
    /// From it
    From,
    /// One after the other
    Both,
}

/// Measures bulk transfer and says what limits the path: link, gateway or host.
///
/// Round trips of two sizes are measured between the hosts, and on each host with itself; then bulk
/// data is sent each way, with what it costs the processors at both ends. With a topology the parts
/// of its gateways are known, too; without one, links and gateways are not told apart.
/// Takes some five seconds. Transfers are recorded.
#[derive(Debug, Args)]
pub(crate) struct Bulk {
    #[command(flatten)]
    pub(crate) data: Data,
    /// The other host, where `chronoscope net answer` listens
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) to: Peer,
    /// Most octets each way
    #[arg(long, value_name = "SIZE", default_value = "25M", value_parser = parse_size)]
    pub(crate) octets: u64,
    /// Most seconds each way, up to 30
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    pub(crate) seconds: f64,
    /// Which ways
    #[arg(long, value_enum, default_value = "both")]
    pub(crate) direction: Ways,
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
    /// What this host is called, in the topology and in what is recorded [default: its host name]
    #[arg(long, value_name = "NAME")]
    pub(crate) from_name: Option<String>,
    /// What the other host is called there [default: as in --to, without the port]
    #[arg(long, value_name = "NAME")]
    pub(crate) to_name: Option<String>,
    /// Show the token in this file [default: $CHRONOSCOPE_TOKEN, if any]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a matrix shows of each pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shown {
    /// Median of the steady round trips
    Median,
    /// The shortest
    Best,
    /// The first
    First,
    /// All three, one matrix each
    All,
}

/// Lets every host probe every other one, and prints the round trips as a matrix.
///
/// Each host runs `chronoscope net answer` (or `chronoscope agent --answer`), and is told which
/// others to probe. A host is in one pair at a time. On the diagonal is each host with itself: the
/// reference of that type of machine. Round trips are recorded.
#[derive(Debug, Args)]
pub(crate) struct Matrix {
    #[command(flatten)]
    pub(crate) data: Data,
    /// Hosts, each where it answers
    #[arg(value_name = "HOST:PORT", required_unless_present = "hosts")]
    pub(crate) to: Vec<String>,
    /// A file with them: `HOST:PORT [NAME]` a line
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
    /// From one to the next of a pair, at least 1ms
    #[arg(long, value_name = "TIME", default_value = "2ms", value_parser = parse_duration)]
    pub(crate) every: Duration,
    /// A later reply is lost; at most 2s
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = parse_duration)]
    pub(crate) timeout: Duration,
    /// Pairs that are measured at the same time
    #[arg(long, value_name = "N", default_value_t = 8,
        value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) at_once: u32,
    /// What is shown of each pair
    #[arg(long, value_enum, default_value = "median")]
    pub(crate) show: Shown,
    /// Show the token in this file to all hosts [default: $CHRONOSCOPE_TOKEN, if any]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

/// Asks servers, one request after the other, and says how long each reply took.
///
/// The first request is kept apart from the steady ones: names, routes, connections and whatever
/// the server has to start for it are in it. The best of many is what hardware and software take
/// when nothing else happens. Targets are asked in turn, so that whatever else happens meets all.
/// Each round trip is recorded and kept in the store.
///
/// A reply later than --timeout is lost, and no request is sent twice. The next request waits for
/// the reply to the one before: turns that passed meanwhile are counted as missed.
#[derive(Debug, Args)]
pub(crate) struct Rtt {
    #[command(flatten)]
    pub(crate) data: Data,
    /// What is asked: udp:HOST:PORT and tcp:HOST:PORT (our own echo, `chronoscope net answer`),
    /// connect:HOST:PORT (making a TCP connection), http://HOST/PATH, dns:SERVER/NAME,
    /// snmp:HOST?community=WORD, icmp:HOST, exec:PROGRAM (docs/net-rtt.md says how it is spoken to)
    #[arg(value_name = "TARGET", required_unless_present = "from_store")]
    pub(crate) targets: Vec<Target>,
    /// Measure nothing: show what the store has from then on, of all hosts (-1h)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, conflicts_with = "targets")]
    pub(crate) from_store: Option<String>,
    /// Steady requests to each target, after the first
    #[arg(long, value_name = "N", default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) count: u32,
    /// From one request to the next of the same target, at least; less than 1ms wants --flood
    #[arg(long, value_name = "TIME", default_value = "5ms", value_parser = parse_duration)]
    pub(crate) every: Duration,
    /// No request later than this after the beginning [default: what --count and --every take,
    /// and 1.5s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) at_most: Option<Duration>,
    /// A later reply is lost
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub(crate) timeout: Duration,
    /// Octets of a request, where its kind leaves that open (udp, tcp, icmp)
    #[arg(long, value_name = "OCTETS", default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(12..=65_507))]
    pub(crate) size: u32,
    /// Ask a target more than 1,000 times or with more than 10 MB a second: only one's own
    #[arg(long)]
    pub(crate) flood: bool,
    /// What this host is called in what is recorded [default: its host name]
    #[arg(long, value_name = "NAME")]
    pub(crate) from_name: Option<String>,
    /// Draw how the steady round trips of each target are distributed
    #[arg(long)]
    pub(crate) histogram: bool,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

/// Everything that J. Navratil measured in the SPS/LEP control system in 1989, of this network:
/// distribution of load, activity over time, response times, types of machines, gateways, the
/// first request. The published figures stand beside ours; what is not in the store is named, with
/// the command that measures it.
#[derive(Debug, Args)]
pub(crate) struct Report {
    #[command(flatten)]
    pub(crate) data: Data,
    /// Only what was measured from then on: 14:01:17 (today), "2026-11-21 14:01", RFC 3339, or a
    /// time ago
    #[arg(long, value_name = "TIME", default_value = "-1h", allow_hyphen_values = true)]
    pub(crate) from: String,
    /// Only what was measured before then [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    /// Read and print times in UTC instead of the local time zone
    #[arg(long)]
    pub(crate) utc: bool,
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
