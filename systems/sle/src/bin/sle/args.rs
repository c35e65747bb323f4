//! The command line of `sle`.

use chronoscope_sle::dump::DumpService;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Tools for the space link extension: annotated dumps, and configurations of other programs.
///
/// Results go to standard output, with --json one object a line (stable within its "format": 1).
/// Other messages go to standard error.
///
/// Exit codes: 0 done; 1 failed; 2 wrong arguments; 3 dump: a stream is broken or a PDU is wrong,
/// config: something of the input has no place in the output.
#[derive(Debug, Parser)]
#[command(name = "sle", version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: ToolCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolCommand {
    /// Print every message of the connections in a capture (pcap, pcapng), and the operations in them
    /// with their fields; or the lines of a journal of sle-user send
    Dump(DumpArgs),
    /// Convert configurations from and into the formats of other programs
    #[command(subcommand)]
    Config(ConfigCommand),
}

/// `dump`.
#[derive(Debug, ClapArgs)]
pub(crate) struct DumpArgs {
    /// Capture or journal; - is a capture on standard input
    pub(crate) file: PathBuf,

    /// Print the octets of each message with their positions
    #[arg(long)]
    pub(crate) hex: bool,

    /// Print one line for each message, without its fields
    #[arg(long)]
    pub(crate) brief: bool,

    /// Print messages as JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,

    /// Write a page for a browser (one file, nothing is fetched) instead: the list of messages, the
    /// fields of one and its octets
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) html: Option<PathBuf>,

    /// Messages at most [default: no limit; 10000 with --html]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Only this connection
    #[arg(long, value_name = "N")]
    pub(crate) connection: Option<u32>,

    /// Only what is wrong: broken streams, missing octets, wrong PDUs
    #[arg(long)]
    pub(crate) faults: bool,

    /// Read all connections with this TCP port, and no others; by default those that begin with a
    /// message of ISP1
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Vec<u16>,

    /// Service of connections whose BIND is not in the capture: raf, rcf, rocf, fcltu, fsp or csts
    #[arg(long, value_name = "SERVICE", value_parser = service)]
    pub(crate) service: Option<DumpService>,

    /// Version of the service of these connections [default: 5]
    #[arg(long, value_name = "1-5", value_parser = clap::value_parser!(u16).range(1..=5))]
    pub(crate) service_version: Option<u16>,
}

fn service(name: &str) -> Result<DumpService, String> {
    let known = "use raf, rcf, rocf, fcltu, fsp or csts";
    DumpService::named(name).ok_or_else(|| format!("{name:?} is no service: {known}"))
}

/// `config`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Convert files of another program into a configuration of sle-user and sle-provider
    Import(ImportArgs),
    /// Convert a configuration into files of another program
    Export(ExportArgs),
}

/// A foreign format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// SLE User Test Library: one XML file
    Utl,
    /// ESA SLE API: text files of the proxy and of the service element
    Esa,
}

/// `config import`.
#[derive(Debug, ClapArgs)]
pub(crate) struct ImportArgs {
    /// Format of the files
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: FormatArg,

    /// utl: one file; esa: the proxy's file, and the service element's if there is one
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Write to this file, readable by its owner only, because it has passwords; by default to
    /// standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// utl: role of the program whose file it is [default: the one whose identifier the file has]
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Option<RoleArg>,
}

/// `config export`.
#[derive(Debug, ClapArgs)]
pub(crate) struct ExportArgs {
    /// Format of the output
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: FormatArg,

    /// Configuration of sle-user and sle-provider
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Role whose files are written [default: the one that the configuration has]
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Option<RoleArg>,

    /// utl: the file, by default standard output; esa: the folder for proxy.txt and
    /// service-element.txt. Files are readable by their owner only
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
}

/// A role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleArg {
    /// Initiator: uses the service
    User,
    /// Responder: provides the service
    Provider,
}
