//! The command line: every flag with its documentation.

pub(crate) mod configuration;
pub(crate) mod database;
pub(crate) mod demo;
pub(crate) mod mark;
pub(crate) mod net;
pub(crate) mod pages;
pub(crate) mod play;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod rules;
pub(crate) mod store;
pub(crate) mod token;
pub(crate) mod track;

use crate::environment;
use crate::exit;
use crate::text::{parse_duration, parse_size};
use crate::usage::Usage;
use chronoscope_chain::LeafLevel;
use chronoscope_formats::sql::TableName;
use chronoscope_model::ChainId;
use chronoscope_query::StoreLocation;
use chronoscope_query::{AttributeFilter, AttributeKey, Required, SlowLimit};
use chronoscope_statistics::Quantile;
use clap::{Args, Parser, Subcommand, ValueEnum};
use configuration::Configuration;
use database::Database;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Measures how long things take in distributed, message-driven systems.
///
/// Measured programs write their transactions into a ring in memory. `serve` collects the rings of
/// this host, and the rows of agents on other hosts and of OpenTelemetry SDKs, into files or a
/// ClickHouse cluster. `chains`, `chain` and `classes` read these; `live` reads the rings directly.
#[derive(Debug, Parser)]
#[command(name = "chronoscope", version, after_help = exit::sentence(), max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure a small system of four programs for ten seconds, to a verdict and the page
    Demo(demo::Demo),
    /// Collect the rings of this host into durable files, until stopped
    Serve(Serve),
    /// Collect the rings of this host and deliver them to a collector, until stopped
    Agent(Agent),
    /// Make, list and revoke the tokens that `serve --tokens` accepts
    #[command(subcommand)]
    Token(token::Token),
    /// Durations of chains from their root to a class of transactions, with a verdict on a
    /// requirement
    Chains(Chains),
    /// One chain as a waterfall, with its status
    Chain(Chain),
    /// Statistics of every class in the store
    Classes(Classes),
    /// Names of attributes in the store, or the values of one: what --where and --by can ask for
    Attributes(Attributes),
    /// Attribute values by which slow durations differ from others, or one time from another
    Contrast(Contrast),
    /// Note an instant, such as a deployment, for every time axis of the page; list and remove marks
    Mark(mark::Mark),
    /// Current activity of the programs on this host, read directly from their rings
    Live(Live),
    /// Write stored transactions as XML, CSV, Parquet, as a trace for a viewer, or into a table of
    /// SQLite or PostgreSQL
    Export(Export),
    /// Read transactions from XML, CSV or Parquet files into a store; no server may write to it
    /// meanwhile
    Import(Import),
    /// Check or repair a store
    #[command(subcommand)]
    Store(store::Store),
    /// Check the rules of `serve --limits`, or evaluate them on stored transactions
    #[command(subcommand)]
    Rules(rules::Rules),
    /// Load and response time of a network: traffic of each host, and round-trip times of paths
    #[command(subcommand)]
    Net(net::Net),
    /// Record the input of a system for a later replay
    Record(record::Record),
    /// Cost of a program's version, and changes between two versions
    #[command(subcommand)]
    Track(track::Track),
    /// Replay a recorded day through the real programs, under a virtual clock
    Replay(replay::Replay),
    /// Print the completions of a shell for this program
    Completions(pages::Completions),
    /// Print the manual page of this program, or of one of its commands
    Man(pages::Man),
}

/// Location of the stored transactions.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// Folder of the stored transactions [default: $CHRONOSCOPE_DATA, else
    /// ~/.local/share/chronoscope]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// The store by URL: file:DIR, or clickhouse://HOST,HOST…/DATABASE (docs/clickhouse.md)
    /// [default: the folder of --data, else $CHRONOSCOPE_STORE]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
}

impl StoreArgs {
    /// The store to read: from `--store`, `--data` or the environment.
    ///
    /// # Errors
    /// When the URL names no kind of store that is known here.
    pub(crate) fn source(&self) -> Result<StoreLocation, Usage> {
        let url = self.store.clone();
        let url = url.or_else(|| environment::store_url().filter(|_| self.data.is_none()));
        url.map_or_else(
            || Ok(StoreLocation::Files(self.dir())),
            |url| StoreLocation::open(&url).map_err(Usage::new),
        )
    }

    /// The folder.
    pub(crate) fn dir(&self) -> PathBuf {
        self.data.clone().unwrap_or_else(environment::data_dir)
    }
}

/// Time range of a question, and the time zone of times read and printed.
#[derive(Debug, Args)]
pub(crate) struct Span {
    /// Only chains whose root started at this time or later: 14:01:17 (today), "2026-11-21 14:01",
    /// RFC 3339, or relative to now as in -10min
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// Only chains whose root started before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    /// Read and print times in UTC instead of the local time zone
    #[arg(long)]
    pub(crate) utc: bool,
}

fn level(text: &str) -> Result<LeafLevel, String> {
    match text {
        "any" => Ok(LeafLevel::Any),
        number => number
            .parse()
            .map(LeafLevel::Exactly)
            .map_err(|_| format!("{text:?}: expected a number of steps from the root, or any")),
    }
}

/// A host's name, without a port.
fn host_name(text: &str) -> Result<String, String> {
    let may = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
    match !text.is_empty() && text.len() <= 253 && text.chars().all(may) {
        true => Ok(text.to_owned()),
        false => Err(format!("{text:?}: expected a host's name, such as collector.example")),
    }
}

/// Longest name of a store, in letters.
const STORE_NAME_MAX: usize = 64;

fn named_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| format!("{text:?}: expected NAME=VALUE, such as zone=tower"))?;
    Ok((name.to_owned(), value.to_owned()))
}

fn named_folder(text: &str) -> Result<(String, PathBuf), String> {
    let may = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
    let is_name = |name: &str| (1..=STORE_NAME_MAX).contains(&name.len()) && name.chars().all(may);
    let parts = text.split_once('=').filter(|(name, dir)| is_name(name) && !dir.is_empty());
    let (name, dir) = parts.ok_or_else(|| {
        format!(
            "{text:?}: expected NAME=DIR, such as before=/var/lib/before; a name has letters, \
             digits, '-', '.' and '_', at most {STORE_NAME_MAX}"
        )
    })?;
    Ok((name.to_owned(), PathBuf::from(dir)))
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    #[command(flatten)]
    pub(crate) data: StoreArgs,
    /// Folder of the rings [default: $CHRONOSCOPE_DIR, else /dev/shm/chronoscope-UID]
    #[arg(long, value_name = "DIR")]
    pub(crate) rings: Option<PathBuf>,
    /// Serve the page, its API and GET /status, /metrics (Prometheus), /classes and /chains over
    /// HTTP at this address, and accept rows from agents and OpenTelemetry SDKs (OTLP); port 0 lets
    /// the kernel choose, and the choice is printed on stderr. Addresses other than loopback
    /// require TLS and a token
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// Use TLS with this certificate chain (PEM)
    #[arg(long, value_name = "FILE", requires_all = ["listen", "tls_key"])]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The certificate's private key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Every request must carry the token in this file [default: $CHRONOSCOPE_TOKEN, if any]
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub(crate) token_file: Option<PathBuf>,
    /// Also accept the tokens in this file, each with a name and rights (`chronoscope token`);
    /// SIGHUP reads this file, the certificate and the key again
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub(crate) tokens: Option<PathBuf>,
    /// Also answer requests for this host name; may be given several times. Without a token
    /// only requests for an IP address, `localhost` and these names are answered
    #[arg(long, value_name = "NAME", requires = "listen", value_parser = host_name)]
    pub(crate) allow_host: Vec<String>,
    /// Allow an address other than loopback without TLS or without a token: everyone who reaches
    /// the port can read and write
    #[arg(long, requires = "listen")]
    pub(crate) insecure: bool,
    /// Check live data against the limits and rules in this TOML file (docs/rules.md); the page, GET
    /// /api/v1/now, GET /metrics and the log show the state of each
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub(crate) limits: Option<PathBuf>,
    /// Send the metrics to this receiver of Prometheus remote write 1.0, such as
    /// https://PROMETHEUS:9090/api/v1/write (docs/prometheus.md)
    #[arg(long, value_name = "URL", requires = "listen")]
    pub(crate) remote_write: Option<String>,
    /// Interval of remote write, at least 1 s
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = parse_duration,
        requires = "remote_write")]
    pub(crate) remote_write_every: Duration,
    /// Send the token in this file to the receiver; the file is read again for each request
    #[arg(long, value_name = "FILE", requires = "remote_write")]
    pub(crate) remote_write_token_file: Option<PathBuf>,
    /// Send the headers in this file to the receiver, one NAME: VALUE a line
    #[arg(long, value_name = "FILE", requires = "remote_write")]
    pub(crate) remote_write_headers: Option<PathBuf>,
    /// Give all series that are sent this label; may be given several times [default:
    /// job=chronoscope, instance=HOST with the name of this host]
    #[arg(long, value_name = "NAME=VALUE", requires = "remote_write", value_parser = named_value)]
    pub(crate) remote_write_label: Vec<(String, String)>,
    /// Also send native histograms: the receiver must accept them (Prometheus 2.42 with
    /// --enable-feature=native-histograms, or a later one)
    #[arg(long, requires = "remote_write")]
    pub(crate) remote_write_native: bool,
    /// Show the runs of `chronoscope track` in this folder [default: `runs` in the folder of
    /// $CHRONOSCOPE_DATA, else in ~/.local/share/chronoscope]
    #[arg(long, value_name = "DIR", requires = "listen")]
    pub(crate) runs: Option<PathBuf>,
    /// Let the page compare with the store in this folder, under this name; may be given several
    /// times. The page reads no other folders
    #[arg(long, value_name = "NAME=DIR", requires = "listen", value_parser = named_folder)]
    pub(crate) compare: Vec<(String, PathBuf)>,
    /// Record the counters of this host's network interfaces at this interval, for `chronoscope net
    /// table`
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) interfaces: Option<Duration>,
    /// Time that a minute stays open for late records before it is sealed
    #[arg(long, value_name = "TIME", default_value = "2min", value_parser = parse_duration)]
    pub(crate) wait_late: Duration,
    /// Delete rows that are older than this
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) keep_age: Option<Duration>,
    /// Delete the oldest rows when the store is larger than this: 500M, 20G, 1T
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) keep_size: Option<u64>,
    /// Let the group of this process read the store [default: only its user]
    #[arg(long)]
    pub(crate) group: bool,
    /// Stop after this time
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,
    /// Print no progress, and log only warnings and errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Print the final status as JSON on stdout at the end
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Agent {
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    /// The collector: https://HOST:PORT, or on this host http://127.0.0.1:PORT, where `serve
    /// --listen` listens. Several times for collectors before one cluster: the first that answers is
    /// delivered to, and the first of the list again when it answers again
    #[arg(long, value_name = "URL", required_unless_present = "probe")]
    pub(crate) to: Vec<String>,
    /// Trust the authorities in this file (PEM) instead of the system's
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Send the token in this file [default: $CHRONOSCOPE_TOKEN, if any]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Allow delivery to other hosts without TLS or without a token: everyone on the path can read
    /// the rows
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Folder of the rings [default: $CHRONOSCOPE_DIR, else /dev/shm/chronoscope-UID]
    #[arg(long, value_name = "DIR")]
    pub(crate) rings: Option<PathBuf>,
    /// Record the counters of this host's network interfaces at this interval, for `chronoscope net
    /// table`
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) interfaces: Option<Duration>,
    /// Folder of the spool: rows that are not delivered yet [default: `spool` in $CHRONOSCOPE_DATA,
    /// else in ~/.local/share/chronoscope]
    #[arg(long, value_name = "DIR")]
    pub(crate) spool: Option<PathBuf>,
    /// Drop the oldest rows when the spool is larger than this: 500M, 20G
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_size)]
    pub(crate) spool_size: u64,
    /// Start nothing: check the agent that runs with this spool, by the status that it writes every
    /// second, and exit with 0, or with 1 and the reason. `alive`: it wrote one in the last 30 s;
    /// `delivering`: it is connected to a collector, too
    #[arg(long, value_name = "WHAT", conflicts_with_all = ["check", "print_config"])]
    pub(crate) probe: Option<Probe>,
    /// Also reply to probes at this address, as `chronoscope net answer` does, and with the same
    /// token
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) answer: Option<SocketAddr>,
    /// Stop after this time
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,
    /// Print no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Print the final status as JSON on stdout at the end
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `agent --probe` asks of a running agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Probe {
    /// Whether it still reads rings.
    Alive,
    /// Whether a collector takes its rows, too.
    Delivering,
}

/// The durations of a question.
#[derive(Debug, Args)]
pub(crate) struct Measured {
    /// Class of the transaction that a chain is measured from: `decodePlots`, or with its
    /// application `MRTS::decodePlots`; it may be a transaction inside a chain
    #[arg(long, value_name = "CLASS", required_unless_present = "sync")]
    pub(crate) root: Option<String>,
    /// Class of the transactions that a chain is measured to (ACPD: one value for each)
    #[arg(long, value_name = "CLASS", required_unless_present_any = ["sync", "apcd"])]
    pub(crate) leaf: Option<String>,
    /// Steps from the root to the leaf, or `any`
    #[arg(long, value_name = "N", default_value = "any", value_parser = level)]
    pub(crate) level: LeafLevel,
    /// Measure the whole chain instead: to the end of the leaf that starts last (APCD)
    #[arg(long, conflicts_with_all = ["leaf", "sync"])]
    pub(crate) apcd: bool,
    /// Measure a class alone: its own elapsed time
    #[arg(long, value_name = "CLASS", conflicts_with_all = ["root", "leaf"])]
    pub(crate) sync: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Chains {
    #[command(flatten)]
    pub(crate) data: StoreArgs,
    #[command(flatten)]
    pub(crate) measured: Measured,
    /// Follow links as well as parents, across chains (transactions with several parents: batches,
    /// joins), and measure from these roots above each leaf; arrivals are known with "all" only
    #[arg(long, value_name = "WHICH",
          conflicts_with_all = ["apcd", "sync", "correct_clocks", "filters", "by"])]
    pub(crate) inputs: Option<Inputs>,
    /// Only durations with this attribute: of the leaf, else of the root, else of a transaction
    /// between; may be given several times. `leaf.KEY` and `root.KEY` ask one alone
    #[arg(long = "where", id = "filters", value_name = FILTER)]
    pub(crate) filters: Vec<AttributeFilter>,
    /// Group the durations by this attribute; may be given twice
    #[arg(long, value_name = "KEY")]
    pub(crate) by: Vec<AttributeKey>,
    #[command(flatten)]
    pub(crate) span: Span,
    /// The requirement: less than 0.3 % of chains take longer than this or never arrive
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub(crate) limit: Duration,
    #[command(flatten)]
    pub(crate) arrivals: Arrivals,
    /// Exit with 0 when the requirement holds, with 1 when it does not, with 5 when this is
    /// undetermined
    #[arg(long)]
    pub(crate) check: bool,
    /// Do not split the time among the hops (the split needs a second pass)
    #[arg(long)]
    pub(crate) no_split: bool,
    /// Correct durations between hosts to the root's clock, as far as the clock offsets are known;
    /// stored times do not change
    #[arg(long)]
    pub(crate) correct_clocks: bool,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
    /// Draw histogram and scattergram into this SVG file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write every duration into FILE.csv or FILE.parquet: columns start_ns (start of the root, UTC,
    /// nanoseconds since 1970) and duration_ns, in the order of the starts
    #[arg(long, value_name = "FILE")]
    pub(crate) durations: Option<PathBuf>,
    /// Draw histogram and scattergram into this PNG file
    #[arg(long, value_name = "FILE")]
    pub(crate) png: Option<PathBuf>,
}

/// The roots above a leaf that are measured from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Inputs {
    /// One duration for each root
    All,
    /// From the root that started last: the freshest input
    Best,
    /// From the root that started first: the oldest input
    Worst,
    /// Message age: from the start of each direct input of the root's class to the start of the
    /// leaf
    Age,
}

/// Required arrivals. Without any of these the verdict covers the chains that arrived, and never
/// reports that the requirement holds while a root is missing.
#[derive(Debug, Default, Args)]
#[group(id = "arrivals")]
pub(crate) struct Arrivals {
    /// Judge roots: each needs one leaf or more
    #[arg(long, conflicts_with_all = ["leaves", "arrived", "apcd", "sync"])]
    pub(crate) each_root: bool,
    /// Judge roots: each needs this many leaves, `N..` for N or more (its duration is that of the
    /// Nth), `N` for exactly N
    #[arg(long, value_name = "N|N..", conflicts_with_all = ["arrived", "apcd", "sync"])]
    pub(crate) leaves: Option<Required>,
    /// Count only the first leaf of each process or host below a root
    #[arg(long, value_name = "BY", conflicts_with_all = ["arrived", "apcd", "sync"])]
    pub(crate) distinct: Option<Distinct>,
    /// Time for which a root without its leaves counts as open, if longer than the limit
    #[arg(long, value_name = "TIME", value_parser = parse_duration,
          conflicts_with_all = ["arrived", "apcd", "sync"])]
    pub(crate) timeout: Option<Duration>,
    /// Judge only chains that arrived: pairs of a root and a leaf
    #[arg(long, conflicts_with_all = ["apcd", "sync"])]
    pub(crate) arrived: bool,
}

/// Unit that counts as one receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Distinct {
    /// Application, host and process number
    Process,
    /// Host
    Host,
}

#[derive(Debug, Args)]
pub(crate) struct Chain {
    #[command(flatten)]
    pub(crate) data: StoreArgs,
    /// The chain's id in hexadecimal digits, as `chains` and `live` print it
    #[arg(value_name = "ID")]
    pub(crate) id: ChainId,
    /// Show every attribute on its own line [default in a terminal: those that fit, and the number
    /// of the others]. Attributes of a resource (OpenTelemetry) stand once for each process
    #[arg(long)]
    pub(crate) all: bool,
    /// Print times in UTC instead of the local time zone
    #[arg(long)]
    pub(crate) utc: bool,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

/// Form of a filter.
const FILTER: &str = "KEY|KEY=VALUE|KEY!=VALUE";

#[derive(Debug, Args)]
pub(crate) struct Classes {
    #[command(flatten)]
    pub(crate) data: StoreArgs,
    /// Only transactions with this attribute; may be given several times. Reads rows instead of
    /// the sketches, as --by does
    #[arg(long = "where", id = "filters", value_name = FILTER)]
    pub(crate) filters: Vec<AttributeFilter>,
    /// Group the transactions of each class by this attribute; may be given twice
    #[arg(long, value_name = "KEY")]
    pub(crate) by: Vec<AttributeKey>,
    #[command(flatten)]
    pub(crate) span: Span,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Attributes {
    #[command(flatten)]
    pub(crate) data: StoreArgs,
    /// List the values of this attribute instead of the names
    #[arg(long, value_name = "KEY")]
    pub(crate) name: Option<AttributeKey>,
    #[command(flatten)]
    pub(crate) span: Span,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

/// A quantile as p99, or a time.
fn slow_limit(text: &str) -> Result<SlowLimit, String> {
    if text.starts_with('p') {
        let quantile = text.parse::<Quantile>().map_err(|error| error.to_string())?;
        return Ok(SlowLimit::AboveQuantile(quantile));
    }
    let limit = parse_duration(text)?;
    let ns = u64::try_from(limit.as_nanos()).map_err(|error| error.to_string())?;
    Ok(SlowLimit::Above(ns))
}

#[derive(Debug, Args)]
pub(crate) struct Contrast {
    #[command(flatten)]
    pub(crate) data: StoreArgs,
    #[command(flatten)]
    pub(crate) measured: Measured,
    /// Only durations with this attribute; may be given several times (as for `chains`)
    #[arg(long = "where", id = "filters", value_name = FILTER)]
    pub(crate) filters: Vec<AttributeFilter>,
    #[command(flatten)]
    pub(crate) span: Span,
    /// Durations above this are slow, and are compared with others of the same time: a quantile as
    /// p99 or p99.9, or a time as 250ms
    #[arg(long, value_name = "QUANTILE|TIME", default_value = "p99", value_parser = slow_limit,
          conflicts_with_all = ["b_from", "b_until", "b_data"])]
    pub(crate) above: SlowLimit,
    /// Compare the time from --from to --until (A) with another time (B) instead: chains whose root
    /// started at this time or later
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) b_from: Option<String>,
    /// B: chains whose root started before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) b_until: Option<String>,
    /// B: the store in this folder [default: that of A]
    #[arg(long, value_name = "DIR")]
    pub(crate) b_data: Option<PathBuf>,
    /// Read the attributes of at most this many durations of each of the two sets
    #[arg(long, value_name = "N", default_value = "4000",
          value_parser = clap::value_parser!(u16).range(100..=20_000))]
    pub(crate) sample: u16,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

/// What the worst transactions are worst by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorstOrder {
    /// Elapsed time
    Elapsed,
    /// CPU time of the thread
    Cpu,
}

#[derive(Debug, Args)]
pub(crate) struct Live {
    /// Only this application, or the process with this process id
    #[arg(value_name = "APP|PID")]
    pub(crate) who: Option<String>,
    /// Folder of the rings [default: $CHRONOSCOPE_DIR, else /dev/shm/chronoscope-UID]
    #[arg(long, value_name = "DIR")]
    pub(crate) rings: Option<PathBuf>,
    /// Read this ring; its process may have ended
    #[arg(long, value_name = "FILE", conflicts_with = "core")]
    pub(crate) ring: Option<PathBuf>,
    /// Read the rings inside this core dump
    #[arg(long, value_name = "FILE")]
    pub(crate) core: Option<PathBuf>,
    /// List ended programs too [default: one line with their number, while any program runs]
    #[arg(long)]
    pub(crate) ended: bool,
    /// Show the last N transactions instead of statistics
    #[arg(long, value_name = "N", group = "view")]
    pub(crate) last: Option<usize>,
    /// Show the N worst transactions of every class instead of statistics [default: 10]. A program
    /// keeps as many as its CHRONOSCOPE_WORST said when it began: 10 by each order, up to 64
    #[arg(long, value_name = "N", group = "view", num_args = 0..=1, default_missing_value = "10")]
    pub(crate) worst: Option<usize>,
    /// The order of --worst
    #[arg(long, value_name = "ORDER", default_value = "elapsed", requires = "worst")]
    pub(crate) by: WorstOrder,
    /// Show the transactions that have not ended yet instead of statistics
    #[arg(long, group = "view")]
    pub(crate) open: bool,
    /// Show the histogram of a class instead of statistics
    #[arg(long, value_name = "CLASS", group = "view")]
    pub(crate) histogram: Option<String>,
    /// Switch measurement of a class on in the running programs
    #[arg(long, value_name = "CLASS", group = "view")]
    pub(crate) enable: Option<String>,
    /// Switch measurement of a class off in the running programs
    #[arg(long, value_name = "CLASS", group = "view")]
    pub(crate) disable: Option<String>,
    /// Print times in UTC instead of the local time zone
    #[arg(long)]
    pub(crate) utc: bool,
    /// Interval between updates of the screen when stdout is a terminal; q quits
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub(crate) every: Duration,
    /// Print once and exit, also in a terminal
    #[arg(long)]
    pub(crate) once: bool,
    /// Print JSON (version 1) once instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// A folder is created if it does not exist, and the tables of a cluster are made
    #[command(flatten)]
    pub(crate) data: StoreArgs,
    /// Format of the files [default: by their names, else by their contents]
    #[arg(long, value_enum)]
    pub(crate) format: Option<ImportFormat>,
    /// Files to read. All files are checked before any is stored: after an error nothing is stored.
    /// Content that was imported before is not stored again
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

/// Formats of transactions to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ImportFormat {
    /// XML with the terms of ARM (docs/formats/arm-xml.md)
    Xml,
    /// Comma-separated values (docs/formats/csv.md)
    Csv,
    /// Parquet with the columns of the store's segments
    Parquet,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) data: StoreArgs,
    /// Format to write. xml, csv and parquet are lossless: `chronoscope import` reads them
    #[arg(long, value_enum, required_unless_present_any = ["otlp", "to"])]
    pub(crate) format: Option<ExportFormat>,
    /// Write into a new table of a database instead: sqlite:FILE, or postgresql://HOST/DATABASE, to
    /// which `psql` connects (docs/formats/sql.md). All rows or none; a table that exists is refused
    #[arg(long, value_name = "DATABASE", conflicts_with_all = ["format", "otlp", "output"])]
    pub(crate) to: Option<Database>,
    /// Name of the table of --to and of --format postgres
    #[arg(long, value_name = "NAME", default_value = "transactions")]
    pub(crate) table: TableName,
    /// Send the transactions as OTLP spans to URL/v1/traces, to an OpenTelemetry Collector or
    /// another chronoscope, instead of writing them
    #[arg(long, value_name = "URL", conflicts_with_all = ["format", "output"])]
    pub(crate) otlp: Option<String>,
    /// With --otlp: send the token in this file to the receiver
    #[arg(long, value_name = "FILE", requires = "otlp")]
    pub(crate) token_file: Option<PathBuf>,
    /// Write into this file instead of stdout; it appears when it is complete
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) span: Span,
    /// Only this chain
    #[arg(long, value_name = "ID", conflicts_with_all = ["from", "until", "root"])]
    pub(crate) chain: Option<ChainId>,
    /// Only chains whose root is of this class: `decodePlots`, or `MRTS::decodePlots`
    #[arg(long, value_name = "CLASS")]
    pub(crate) root: Option<String>,
}

/// Formats of transactions to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExportFormat {
    /// XML with the terms of ARM (docs/formats/arm-xml.md)
    Xml,
    /// Comma-separated values, one transaction per line
    Csv,
    /// Chrome trace JSON for ui.perfetto.dev; `chronoscope import` cannot read it
    Trace,
    /// One Parquet file with the store's columns; needs --output
    Parquet,
    /// A script for psql, which makes a table in one transaction (docs/formats/sql.md)
    Postgres,
}
