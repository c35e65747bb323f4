//! Plays a journal again.

use super::digest::{Digest, Sent};
use super::frame::{Frame, Header, JournalError, Reader, What, parse};
use crate::config::Config;
use crate::engine::seam::{Close, ConnId, DatagramPort, Input, LogLevel, Now, Output};
use crate::engine::server::{Identity, Server};
use crate::engine::worker::Worker;
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, IoSlice, Read};
use std::net::SocketAddr;
use std::sync::Arc;

/// Most answers of an output within one event: one a connection and flush, with room.
const ANSWERS_MAX: usize = 1 << 20;

/// Action of a replayed server.
#[derive(Debug)]
pub enum Action<'a> {
    /// A connection took octets.
    Write {
        /// The connection.
        conn: ConnId,
        /// Octets that the connection accepted.
        bytes: &'a [u8],
    },
    /// A datagram went out.
    Send {
        /// Port that sends.
        port: DatagramPort,
        /// Address of the receiver.
        to: SocketAddr,
        /// Octets of the datagram.
        bytes: &'a [u8],
    },
    /// A connection was ended.
    Close {
        /// The connection.
        conn: ConnId,
        /// Kind of close.
        how: Close,
        /// Reason of the close.
        reason: &'a str,
    },
    /// A log line was written.
    Log {
        /// Level of the line.
        level: LogLevel,
        /// Text of the line.
        line: fmt::Arguments<'a>,
    },
}

/// First difference between a replay and its recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Position in the journal, in octets from its beginning, of the event in or after which the
    /// output differs.
    pub at: u64,
    /// Time of that event, UTC nanoseconds since 1970.
    pub utc_ns: i64,
    /// Description of the difference.
    pub what: String,
}

/// Result of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// Header of the recording.
    pub header: Header,
    /// Number of events replayed.
    pub events: u64,
    /// Time from the first event to the last, in nanoseconds.
    pub span_ns: u64,
    /// Digest and counts of all output.
    pub sent: Sent,
    /// The journal has its end: the recorded program was not killed.
    pub complete: bool,
    /// The first difference; `None` where the output is the same to the last octet.
    pub difference: Option<Difference>,
}

/// Replays `journal` on a server with `config`, and reports all its actions to `watch`. Output
/// after the first difference is reported too, but means little: the kernel's recorded answers then
/// belong to other calls.
///
/// # Errors
/// When the journal cannot be read, or is not of this configuration.
pub fn replay(
    journal: impl Read,
    config: Arc<Config>,
    watch: &mut dyn FnMut(Now, Action<'_>),
) -> Result<Replayed, JournalError> {
    let (mut reader, header) = Reader::new(journal)?;
    if config.workers > 1 {
        return Err(JournalError::Workers(config.workers));
    }
    let found = Header::config_crc(&config);
    if found != header.config_crc {
        return Err(JournalError::OtherConfiguration { found, wanted: header.config_crc });
    }
    let identity = Identity {
        software: header.software.as_str().into(),
        version: header.version.as_str().into(),
    };
    let server = Server::new(Arc::clone(&config), header.seed, identity, header.started);
    let mut player = Player {
        worker: server.worker(0, Box::new(|| ())),
        config,
        answers: Answers::new(watch),
        first_ns: None,
        replayed: Replayed {
            header,
            events: 0,
            span_ns: 0,
            sent: Sent::default(),
            complete: false,
            difference: None,
        },
    };
    let (mut event, mut event_at, mut body) = (Vec::new(), None, Vec::new());
    loop {
        let at = reader.at();
        let more = reader.body(&mut body)?;
        if more {
            match parse(&body, at)? {
                Frame::Event { .. } => {}
                answer => {
                    if event_at.is_none() {
                        let what = "an answer before any event";
                        return Err(JournalError::Order { at, what });
                    }
                    player.answers.expect(answer, at)?;
                    continue;
                }
            }
        }
        // The last event of a program that was killed may lack its answers: it is not played.
        if let Some(at) = event_at.filter(|_| more || is_end(&event)) {
            player.play(&event, at)?;
        }
        if !more || player.replayed.complete {
            return Ok(player.end());
        }
        std::mem::swap(&mut event, &mut body);
        event_at = Some(at);
    }
}

fn is_end(event: &[u8]) -> bool {
    matches!(parse(event, 0), Ok(Frame::Event { what: What::End, .. }))
}

struct Player<'a> {
    worker: Worker,
    config: Arc<Config>,
    answers: Answers<'a>,
    first_ns: Option<u64>,
    replayed: Replayed,
}

impl Player<'_> {
    /// Plays an event, whose answers were read already.
    fn play(&mut self, body: &[u8], at: u64) -> Result<(), JournalError> {
        let Frame::Event { now, sent, what } = parse(body, at)? else { return Ok(()) };
        (self.answers.now, self.answers.at) = (now, at);
        let found = self.answers.digest.sent();
        if found != sent {
            self.answers.differs(|| {
                format!("until here {found:?} was put out, and {sent:?} when it was recorded")
            });
        }
        let first_ns = *self.first_ns.get_or_insert(now.monotonic_ns);
        self.replayed.span_ns = now.monotonic_ns.saturating_sub(first_ns);
        self.replayed.events += 1;
        match what {
            What::End => self.replayed.complete = true,
            What::Tick => self.worker.tick(now, &mut self.answers),
            What::Mail => self.worker.mail(now, &mut self.answers),
            What::Input(input) => {
                self.check(&input, at)?;
                self.worker.input(now, input, &mut self.answers);
                // The sender of the upload is not part of a replay, so nobody waits for the result.
                let _ = self.worker.posted();
            }
        }
        if !self.answers.expected.is_empty() {
            let left = self.answers.expected.len();
            self.answers.expected.clear();
            self.answers.differs(|| format!("{left} writes less than when it was recorded"));
        }
        Ok(())
    }

    /// Indices in a file may be anything; in the engine they are of its own making.
    fn check(&self, input: &Input<'_>, at: u64) -> Result<(), JournalError> {
        let (index, count) = match input {
            Input::Opened { listener, .. } | Input::Datagram { listener, .. } => {
                (*listener, self.config.listeners.len())
            }
            Input::UplinkOpened { uplink, .. } => (*uplink, self.config.uplinks.len()),
            Input::PeerDatagram { group, .. } => (*group, self.config.peer_groups.len()),
            _ => return Ok(()),
        };
        let what = "there is no such port, uplink or group";
        if index < count { Ok(()) } else { Err(JournalError::Order { at, what }) }
    }

    fn end(mut self) -> Replayed {
        self.replayed.sent = self.answers.digest.sent();
        self.replayed.difference = self.answers.difference;
        self.replayed
    }
}

/// The kernel's recorded answers.
struct Answers<'a> {
    watch: &'a mut dyn FnMut(Now, Action<'_>),
    expected: VecDeque<Frame<'static>>,
    digest: Digest,
    difference: Option<Difference>,
    now: Now,
    at: u64,
    taken: Vec<u8>,
}

impl<'a> Answers<'a> {
    fn new(watch: &'a mut dyn FnMut(Now, Action<'_>)) -> Self {
        Self {
            watch,
            expected: VecDeque::new(),
            digest: Digest::default(),
            difference: None,
            now: Now { monotonic_ns: 0, utc_ns: 0 },
            at: 0,
            taken: Vec::new(),
        }
    }

    fn expect(&mut self, answer: Frame<'_>, at: u64) -> Result<(), JournalError> {
        if self.expected.len() >= ANSWERS_MAX {
            return Err(JournalError::Order { at, what: "too many answers within one event" });
        }
        self.expected.extend(match answer {
            Frame::Wrote { conn, offered, taken } => Some(Frame::Wrote { conn, offered, taken }),
            Frame::Unacknowledged { conn, octets } => Some(Frame::Unacknowledged { conn, octets }),
            Frame::Event { .. } => None,
        });
        Ok(())
    }

    fn differs(&mut self, what: impl FnOnce() -> String) {
        if self.difference.is_none() {
            let (at, utc_ns) = (self.at, self.now.utc_ns);
            self.difference = Some(Difference { at, utc_ns, what: what() });
        }
    }
}

impl Output for Answers<'_> {
    fn write(&mut self, conn: ConnId, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let now_offered: usize = slices.iter().map(|slice| slice.len()).sum();
        let recorded = self.expected.pop_front();
        let taken = match recorded {
            Some(Frame::Wrote { conn: of, offered, taken })
                if of == conn && offered == now_offered as u64 =>
            {
                // At most `offered`, which the frame's parser checked.
                taken.map(|taken| usize::try_from(taken).unwrap_or(now_offered))
            }
            other => {
                let what = || format!("{now_offered} octets to {conn:?}, recorded {other:?}");
                self.differs(what);
                Some(now_offered)
            }
        };
        self.digest.wrote(conn, slices, taken.unwrap_or(0));
        let Some(taken) = taken else {
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, "as it was recorded"));
        };
        self.taken.clear();
        for slice in slices {
            let left = taken - self.taken.len();
            self.taken.extend_from_slice(&slice[..slice.len().min(left)]);
        }
        (self.watch)(self.now, Action::Write { conn, bytes: &self.taken });
        Ok(taken)
    }

    fn unacknowledged(&mut self, conn: ConnId) -> usize {
        match self.expected.pop_front() {
            Some(Frame::Unacknowledged { conn: of, octets }) if of == conn => {
                usize::try_from(octets).unwrap_or(usize::MAX)
            }
            other => {
                self.differs(|| format!("{conn:?} was asked about, recorded {other:?}"));
                0
            }
        }
    }

    fn send(&mut self, port: DatagramPort, to: SocketAddr, bytes: &[u8]) {
        self.digest.sent_datagram(port, to, bytes);
        (self.watch)(self.now, Action::Send { port, to, bytes });
    }

    fn close(&mut self, conn: ConnId, how: Close, reason: &str) {
        self.digest.closed(conn, how, reason);
        (self.watch)(self.now, Action::Close { conn, how, reason });
    }

    fn log(&mut self, level: LogLevel, line: fmt::Arguments<'_>) {
        (self.watch)(self.now, Action::Log { level, line });
    }
}
