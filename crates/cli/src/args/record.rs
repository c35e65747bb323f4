//! Arguments of `chronoscope record`.

use crate::text::{parse_duration, parse_size};
use clap::Args;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

/// Records the input of a system as it arrives, for a later replay.
///
/// Network input goes into captures (pcapng, which Wireshark opens), other input into a journal
/// beside them. A relay takes the system's place and passes everything on; a capture only listens.
/// A full or slow disk stops the recording, never the relay, and missing input is counted.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
pub(crate) struct Record {
    /// Folder of the recording; it is created if necessary, and existing files are kept
    #[arg(long, short, value_name = "DIR")]
    pub(crate) into: PathBuf,
    /// Take datagrams at LISTEN (ADDRESS:PORT; a multicast group is joined), pass them on to DEST,
    /// and its answers back
    #[arg(long, value_name = "LISTEN=DEST", value_parser = relay, group = "what")]
    pub(crate) udp: Vec<(SocketAddr, SocketAddr)>,
    /// Accept connections at LISTEN and pass them on to DEST, both ways; port 0 lets the kernel
    /// choose, and the choice is printed on stderr
    #[arg(long, value_name = "LISTEN=DEST", value_parser = relay, group = "what")]
    pub(crate) tcp: Vec<(SocketAddr, SocketAddr)>,
    /// Capture the packets that arrive at this interface; needs CAP_NET_RAW
    #[arg(long, value_name = "IFACE", group = "what")]
    pub(crate) capture: Vec<String>,
    /// With --capture: only TCP and UDP to this port
    #[arg(long, value_name = "N", requires = "capture")]
    pub(crate) port: Vec<u16>,
    /// Import a capture of tcpdump or Wireshark (pcap, pcapng; `-` is standard input), with its
    /// own times
    #[arg(long, value_name = "FILE", group = "what")]
    pub(crate) import: Vec<PathBuf>,
    /// Record standard input and pass it on to standard output
    #[arg(long, group = "what", conflicts_with = "json")]
    pub(crate) stdin: bool,
    /// Record the output of named pipe FROM and pass it on to named pipe TO
    #[arg(long, value_name = "FROM=TO", value_parser = pipe, group = "what")]
    pub(crate) pipe: Vec<(PathBuf, PathBuf)>,
    /// Record lines appended to this file from now on, also across rotation
    #[arg(long, value_name = "FILE", group = "what")]
    pub(crate) follow: Vec<PathBuf>,
    /// Start a new file when the current one reaches this size
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = parse_size)]
    pub(crate) file_size: u64,
    /// Start a new file when the first input of the current one is this old
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = parse_duration)]
    pub(crate) file_age: Duration,
    /// Remove files that were last written longer ago than this
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) keep_age: Option<Duration>,
    /// Remove the oldest files when all files together are larger than this: 500M, 20G, 1T
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) keep_size: Option<u64>,
    /// Interval at which written input is made durable
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub(crate) sync_every: Duration,
    /// Number of inputs that may wait in memory for a slow disk
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = parse_size)]
    pub(crate) queue: u64,
    /// Stop after this time
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,
    /// Interval between progress lines
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    pub(crate) every: Duration,
    /// Print no progress, only errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Print a summary as JSON (version 1) on stdout at the end
    #[arg(long)]
    pub(crate) json: bool,
}

/// `LISTEN=DEST`; a destination may be a name.
fn relay(text: &str) -> Result<(SocketAddr, SocketAddr), String> {
    let form = || format!("{text:?}: expected LISTEN=DEST, as in 0.0.0.0:8600=127.0.0.1:18600");
    let (listen, to) = text.split_once('=').ok_or_else(form)?;
    let listen = listen.parse().map_err(|_| form())?;
    let resolved = to.to_socket_addrs().map_err(|error| format!("{to}: {error}"))?.next();
    Ok((listen, resolved.ok_or_else(form)?))
}

fn pipe(text: &str) -> Result<(PathBuf, PathBuf), String> {
    let (from, to) = text.split_once('=').ok_or(format!("{text:?}: expected FROM=TO"))?;
    Ok((from.into(), to.into()))
}
