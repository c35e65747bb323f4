//! Recordings of one input, read one after the other: never more than one file's next packet in
//! memory.

use super::delivered::RecordingReport;
use super::select::{Select, Transport};
use crate::capture::{Arrival, ArrivalContent, Arrivals, CaptureError, CaptureReader};
use crate::journal::{self, Input, JournalError, JournalReader, Tail};
use crate::wire::Endpoint;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};

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
    /// A recording begins before the one that is named before it.
    #[error(
        "{} begins before {}: write recordings in the order of their times",
        path.display(), before.display()
    )]
    Order {
        /// The recording.
        path: PathBuf,
        /// The one before it in the list.
        before: PathBuf,
    },
}

#[derive(Debug)]
enum Source {
    Capture(Arrivals<BufReader<File>>),
    Journal { reader: JournalReader<BufReader<File>>, open: VecDeque<String> },
}

/// The selected arrivals of a list of recordings.
#[derive(Debug)]
pub(super) struct Recordings {
    name: String,
    select: Select,
    transport: Transport,
    /// Files to come, with the number of their recording.
    files: VecDeque<(usize, PathBuf)>,
    path: PathBuf,
    source: Source,
    number: usize,
    /// Latest time of the recordings before this one.
    before_ns: i64,
    /// Latest time seen, of anybody's arrivals.
    pub(super) last_ns: i64,
    waiting: VecDeque<Arrival>,
    /// One of each recording.
    pub(super) reports: Vec<RecordingReport>,
    /// Files that end within a block or frame, and what the capture lacks.
    pub(super) remarks: Vec<String>,
}

impl Recordings {
    /// Opens the first file. Each path is a capture, a folder of captures (read in the order of
    /// their names), a journal's file or a journal's folder.
    pub(super) fn open(
        name: &str,
        paths: &[PathBuf],
        select: Select,
        transport: Transport,
    ) -> Result<Self, FeedError> {
        let mut all = VecDeque::new();
        for (number, path) in paths.iter().enumerate() {
            let io = |error| FeedError::Io { path: path.clone(), error };
            let files = files(path).map_err(io)?;
            if files.is_empty() {
                let what = "the folder holds no capture and no journal";
                return Err(io(io::Error::new(io::ErrorKind::NotFound, what)));
            }
            all.extend(files.into_iter().map(|file| (number, file)));
        }
        in_order(paths, &all)?;
        let (number, first) = all.pop_front().ok_or_else(|| FeedError::Io {
            path: PathBuf::new(),
            error: io::Error::new(io::ErrorKind::NotFound, "the input has no recording"),
        })?;
        let report = |path: &PathBuf| RecordingReport { path: path.clone(), ..Default::default() };
        Ok(Self {
            name: name.to_owned(),
            select,
            transport,
            files: all,
            source: source(&first)?,
            path: first,
            number,
            before_ns: i64::MIN,
            last_ns: i64::MIN,
            waiting: VecDeque::new(),
            reports: paths.iter().map(report).collect(),
            remarks: Vec::new(),
        })
    }

    /// The next arrival, never before the one before it; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Arrival>, FeedError> {
        loop {
            if let Some(arrival) = self.waiting.pop_front() {
                return Ok(Some(arrival));
            }
            if !self.read()? && !self.next_file()? {
                return Ok(None);
            }
        }
    }

    fn keep(&mut self, mut arrival: Arrival) {
        let report = &mut self.reports[self.number];
        if report.first_utc_ns.is_none() && self.before_ns != i64::MIN {
            let gap_ns = arrival.at_ns.saturating_sub(self.before_ns);
            report.gap_ns = Some(u64::try_from(gap_ns).unwrap_or(0));
        }
        report.arrivals += 1;
        report.overlapping += u64::from(arrival.at_ns < self.before_ns);
        report.first_utc_ns.get_or_insert(arrival.at_ns);
        report.last_utc_ns = report.last_utc_ns.max(Some(arrival.at_ns));
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
        let Some((number, path)) = self.files.pop_front() else {
            if let Source::Capture(arrivals) = &self.source {
                let (fragments, octets, segments) = arrivals.lost();
                if fragments + octets + segments > 0 {
                    self.remarks.push(format!(
                        "{}: {fragments} fragmented packets, {octets} octets of streams and \
                         {segments} segments are not in the capture or were not followed",
                        self.name
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
        if number != self.number {
            (self.number, self.before_ns) = (number, self.last_ns);
        }
        Ok(true)
    }
}

/// Refuses recordings that do not begin one after the other.
fn in_order(paths: &[PathBuf], files: &VecDeque<(usize, PathBuf)>) -> Result<(), FeedError> {
    if paths.len() < 2 {
        return Ok(());
    }
    let mut before: Option<(i64, usize)> = None;
    for (number, path) in paths.iter().enumerate() {
        let first = files.iter().find(|(of, _)| *of == number);
        let Some(at_ns) = first.map(|(_, file)| first_ns(file)).transpose()?.flatten() else {
            continue; // it holds nothing
        };
        if let Some((before_ns, other)) = before
            && at_ns < before_ns
        {
            return Err(FeedError::Order { path: path.clone(), before: paths[other].clone() });
        }
        before = Some((at_ns, number));
    }
    Ok(())
}

/// Recorded time of a file's first arrival, of anybody's.
fn first_ns(path: &Path) -> Result<Option<i64>, FeedError> {
    match source(path)? {
        Source::Capture(mut arrivals) => {
            let first = arrivals.next().transpose();
            let first =
                first.map_err(|error| FeedError::Capture { path: path.to_owned(), error })?;
            Ok(first.map(|arrival| arrival.at_ns))
        }
        Source::Journal { mut reader, .. } => {
            let first = reader.next().transpose();
            let first =
                first.map_err(|error| FeedError::Journal { path: path.to_owned(), error })?;
            Ok(first.map(|input| input.at_ns))
        }
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
