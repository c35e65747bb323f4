//! One recorded input, read as it is delivered: never more than one file's next packet in memory.

use crate::capture::{Arrival, ArrivalContent, Arrivals, CaptureError, CaptureReader};
use crate::journal::{self, Input, JournalError, JournalReader, Tail};
use crate::wire::Endpoint;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Transport of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// UDP datagrams.
    Udp,
    /// TCP streams.
    Tcp,
}

/// Purpose of an input: thinning the load leaves queries out.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum FeedKind {
    /// The input changes the state of the system.
    #[default]
    State,
    /// The input is a query.
    Query,
}

/// Selection from a recording: `udp 8600`, `tcp 10.0.0.9:80`, `8600`, `channel NAME` of a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Select {
    transport: Option<Transport>,
    address: Option<IpAddr>,
    port: Option<u16>,
    channel: Option<String>,
}

impl FromStr for Select {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut select = Self::default();
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "udp" => select.transport = Some(Transport::Udp),
                "tcp" => select.transport = Some(Transport::Tcp),
                "channel" => select.channel = Some(words.by_ref().collect::<Vec<_>>().join(" ")),
                _ => {
                    if let Ok(at) = word.parse::<SocketAddr>() {
                        (select.address, select.port) = (Some(at.ip()), Some(at.port()));
                    } else if let Ok(port) = word.parse() {
                        select.port = Some(port);
                    } else if let Ok(address) = word.parse() {
                        select.address = Some(address);
                    } else {
                        return Err(format!(
                            "\"{word}\" in \"{text}\" is neither udp, tcp, a port, an address nor \
                             `channel NAME`"
                        ));
                    }
                }
            }
        }
        Ok(select)
    }
}

impl Select {
    fn takes(&self, arrival: &Arrival) -> bool {
        let transport = match arrival.what {
            ArrivalContent::Datagram(_) => Transport::Udp,
            _ => Transport::Tcp,
        };
        let address = self.address.map(|ip| Endpoint::from(SocketAddr::new(ip, 0)).address);
        self.transport.is_none_or(|wanted| wanted == transport)
            && address.is_none_or(|wanted| wanted == arrival.to.address)
            && self.port.is_none_or(|wanted| wanted == arrival.to.port)
    }
}

/// Reasons why an input cannot be read further.
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    /// A capture is refused.
    #[error("{}: {error}", path.display())]
    Capture {
        /// Path of the file.
        path: PathBuf,
        /// Fault of the capture.
        error: CaptureError,
    },
    /// A journal is refused.
    #[error("{}: {error}", path.display())]
    Journal {
        /// Path of the file.
        path: PathBuf,
        /// Fault of the journal.
        error: JournalError,
    },
    /// The file is missing or empty.
    #[error("{}: {error}", path.display())]
    Io {
        /// File or folder.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
}

/// Result of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Delivered {
    /// Name of the input.
    pub name: String,
    /// Purpose of the input.
    pub kind: FeedKind,
    /// Datagrams, and pieces, beginnings and ends of streams delivered.
    pub inputs: u64,
    /// Octets of them.
    pub bytes: u64,
    /// Recorded arrivals that could not be delivered: of the wrong transport, of a stream whose
    /// beginning is missing, or not accepted by any process.
    pub undelivered: u64,
    /// Octets of replies.
    pub answer_bytes: u64,
}

#[derive(Debug)]
enum Source {
    Capture(Arrivals<BufReader<File>>),
    Journal { reader: JournalReader<BufReader<File>>, open: VecDeque<String> },
}

/// One recorded input and its destination.
#[derive(Debug)]
pub struct Feed {
    /// Deliveries so far.
    pub delivered: Delivered,
    /// Destination address.
    pub target: SocketAddr,
    /// Transport protocol.
    pub transport: Transport,
    select: Select,
    files: VecDeque<PathBuf>,
    path: PathBuf,
    source: Source,
    waiting: VecDeque<Arrival>,
    until_ns: Option<i64>,
    /// Latest time seen, of anybody's arrivals.
    last_ns: i64,
    over: bool,
    /// Reason why it cannot be read further; due at `last_ns`.
    failed: Option<FeedError>,
    /// Files that end within a block or frame, and what the capture lacks.
    pub remarks: Vec<String>,
}

impl Feed {
    /// An input from a capture, a folder of captures (read in the order of their names), a
    /// journal's file or a journal's folder.
    ///
    /// # Errors
    /// [`FeedError`] when there is nothing or the first file is refused.
    pub fn open(
        name: &str,
        kind: FeedKind,
        path: &Path,
        select: Select,
        (transport, target): (Transport, SocketAddr),
    ) -> Result<Self, FeedError> {
        let mut files =
            files(path).map_err(|error| FeedError::Io { path: path.to_owned(), error })?;
        let first = files.pop_front().ok_or_else(|| FeedError::Io {
            path: path.to_owned(),
            error: io::Error::new(
                io::ErrorKind::NotFound,
                "the folder holds no capture and no journal",
            ),
        })?;
        let mut feed = Self {
            delivered: Delivered { name: name.to_owned(), kind, ..Delivered::default() },
            target,
            transport,
            select,
            files,
            source: source(&first)?,
            path: first,
            waiting: VecDeque::new(),
            until_ns: None,
            last_ns: i64::MIN,
            over: false,
            failed: None,
            remarks: Vec::new(),
        };
        feed.fill();
        Ok(feed)
    }

    /// Recorded time of the next arrival, UTC ns; never before the one before it. Of a recording
    /// that cannot be read further, the time of that place. `None` at the end.
    #[must_use]
    pub fn next_ns(&self) -> Option<i64> {
        let failed = self.failed.as_ref().map(|_| self.last_ns);
        self.waiting.front().map(|arrival| arrival.at_ns).or(failed)
    }

    /// Ends the delivery at this instant.
    pub fn cut(&mut self, until_ns: i64) {
        self.until_ns = Some(until_ns);
        self.stop_at_cut();
    }

    /// The next arrival; reads on for the one after it.
    ///
    /// # Errors
    /// [`FeedError`] when the recording cannot be read on.
    pub fn take(&mut self) -> Result<Option<Arrival>, FeedError> {
        let Some(taken) = self.waiting.pop_front() else {
            return self.failed.take().map_or(Ok(None), Err);
        };
        if self.waiting.is_empty() {
            self.fill();
        }
        Ok(Some(taken))
    }

    fn stop_at_cut(&mut self) {
        let cut = self.until_ns.is_some_and(|until| self.next_ns().is_some_and(|at| at >= until));
        if cut {
            self.waiting.clear();
            (self.over, self.failed) = (true, None);
        }
    }

    fn fill(&mut self) {
        while self.waiting.is_empty() && !self.over {
            match self.read().and_then(|some| if some { Ok(true) } else { self.next_file() }) {
                Ok(more) => self.over = !more,
                Err(error) => (self.over, self.failed) = (true, Some(error)),
            }
        }
        self.stop_at_cut();
    }

    fn keep(&mut self, mut arrival: Arrival) {
        arrival.at_ns = arrival.at_ns.max(self.last_ns);
        self.last_ns = arrival.at_ns;
        self.waiting.push_back(arrival);
    }

    /// Reads until something arrived; false at the end of the file.
    fn read(&mut self) -> Result<bool, FeedError> {
        let path = || self.path.clone();
        match &mut self.source {
            Source::Capture(arrivals) => loop {
                match arrivals.next() {
                    None => return Ok(false),
                    Some(Ok(arrival)) if self.select.takes(&arrival) => {
                        self.keep(arrival);
                        return Ok(true);
                    }
                    Some(Ok(other)) => self.last_ns = self.last_ns.max(other.at_ns),
                    Some(Err(error @ CaptureError::Truncated { .. })) => {
                        let remark = format!("{}: {error}: replayed until there", path().display());
                        self.remarks.push(remark);
                        return Ok(false);
                    }
                    Some(Err(error)) => return Err(FeedError::Capture { path: path(), error }),
                }
            },
            Source::Journal { reader, open } => {
                match reader.next() {
                    None => {}
                    Some(Err(error)) => return Err(FeedError::Journal { path: path(), error }),
                    Some(Ok(input)) => {
                        let wanted = self.select.channel.as_ref();
                        if wanted.is_none_or(|name| *name == input.channel) {
                            for arrival in arrivals_of(input, self.transport, open) {
                                self.keep(arrival);
                            }
                        }
                        return Ok(true);
                    }
                }
                if let Some(Tail::Torn { position, octets }) = reader.tail {
                    let path = path();
                    self.remarks.push(format!(
                        "{}: ends within the frame at octet {position} ({octets} octets of it are \
                         there): replayed until there",
                        path.display()
                    ));
                }
                Ok(false)
            }
        }
    }

    /// Goes on with the next file, a stream's octets where they were; false after the last one.
    fn next_file(&mut self) -> Result<bool, FeedError> {
        let Some(path) = self.files.pop_front() else {
            if let Source::Capture(arrivals) = &self.source {
                let (fragments, octets, segments) = arrivals.lost();
                if fragments + octets + segments > 0 {
                    self.remarks.push(format!(
                        "{}: {fragments} fragmented packets, {octets} octets of streams and \
                         {segments} segments are not in the capture or were not followed",
                        self.delivered.name
                    ));
                }
            }
            return Ok(false);
        };
        match (&mut self.source, source(&path)?) {
            (Source::Capture(arrivals), Source::Capture(next)) => arrivals.continue_with(next),
            (Source::Journal { reader, .. }, Source::Journal { reader: next, .. }) => {
                *reader = next;
            }
            (now, next) => *now = next,
        }
        self.path = path;
        Ok(true)
    }
}

/// Files of an input, in order.
fn files(path: &Path) -> io::Result<VecDeque<PathBuf>> {
    if !path.is_dir() {
        return Ok([path.to_owned()].into());
    }
    let journal = journal::files(path)?;
    if !journal.is_empty() {
        return Ok(journal.into());
    }
    let entries = std::fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    let mut captures: Vec<_> = entries.into_iter().map(|entry| entry.path()).collect();
    captures.retain(|path| {
        path.extension().is_some_and(|suffix| suffix == "pcapng" || suffix == "pcap")
    });
    captures.sort();
    Ok(captures.into())
}

fn source(path: &Path) -> Result<Source, FeedError> {
    let io = |error| FeedError::Io { path: path.to_owned(), error };
    let mut magic = Vec::new();
    File::open(path).map_err(io)?.take(7).read_to_end(&mut magic).map_err(io)?;
    if magic == journal::MAGIC[..7] || path.extension().is_some_and(|suffix| suffix == "journal") {
        let reader = JournalReader::open(path)
            .map_err(|error| FeedError::Journal { path: path.to_owned(), error })?;
        return Ok(Source::Journal { reader, open: VecDeque::new() });
    }
    let file = BufReader::with_capacity(1 << 18, File::open(path).map_err(io)?);
    let reader = CaptureReader::new(file)
        .map_err(|error| FeedError::Capture { path: path.to_owned(), error })?;
    Ok(Source::Capture(Arrivals::new(reader)))
}

/// Channels of a journal whose streams are kept open.
const CHANNELS_MAX: usize = 1024;

/// An input of a journal is a datagram, or octets of its channel's one stream.
fn arrivals_of(input: Input, transport: Transport, open: &mut VecDeque<String>) -> Vec<Arrival> {
    let known = open.iter().position(|name| *name == input.channel);
    let number = known.unwrap_or(open.len().min(CHANNELS_MAX - 1));
    let port = 1024 + u16::try_from(number).unwrap_or(0);
    let from = Endpoint { address: Ipv6Addr::UNSPECIFIED, port };
    let to = Endpoint { address: Ipv6Addr::UNSPECIFIED, port: 0 };
    let arrival = |what| Arrival { at_ns: input.at_ns, from, to, what };
    let begins = known.is_none() && open.len() < CHANNELS_MAX;
    if begins {
        open.push_back(input.channel.clone());
    }
    match transport {
        Transport::Udp => vec![arrival(ArrivalContent::Datagram(input.octets.clone()))],
        Transport::Tcp if begins => {
            vec![
                arrival(ArrivalContent::Opened),
                arrival(ArrivalContent::Octets(input.octets.clone())),
            ]
        }
        Transport::Tcp => vec![arrival(ArrivalContent::Octets(input.octets.clone()))],
    }
}
