//! Frames of a journal as octets, and back.

use super::digest::Sent;
use crate::callsign::Callsign;
use crate::config::Config;
use crate::engine::seam::{ConnId, Input, Now};
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};

/// First octets of a journal: format and version.
pub(super) const MAGIC: [u8; 8] = *b"APRSJRN\x01";
/// Longest body of a frame, in octets: input is read in smaller pieces.
const BODY_LEN_MAX: usize = 1 << 20;
const HEADER: u8 = 0;
const OPENED: u8 = 1;
const UPLINK_OPENED: u8 = 2;
const RECEIVED: u8 = 3;
const WRITABLE: u8 = 4;
const CLOSED: u8 = 5;
const DATAGRAM: u8 = 6;
const PEER_DATAGRAM: u8 = 7;
const POSTED: u8 = 8;
const TICK: u8 = 9;
const MAIL: u8 = 10;
const END: u8 = 11;
const WROTE: u8 = 16;
const UNACKNOWLEDGED: u8 = 17;

/// Properties that must be equal for a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The seed that the server was made with.
    pub seed: u64,
    /// Start of the recording.
    pub started: Now,
    /// CRC-32 of its configuration, as [`Header::config_crc`] makes it.
    pub config_crc: u32,
    /// Name of the recorded program.
    pub software: String,
    /// Version of the recorded program.
    pub version: String,
}

impl Header {
    /// Checksum that tells whether two configurations are equal. Warnings are left out, because
    /// they contain file names.
    pub fn config_crc(config: &Config) -> u32 {
        let config = Config { warnings: Vec::new(), ..config.clone() };
        crc32fast::hash(format!("{config:?}").as_bytes())
    }
}

/// Reasons why a journal cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file could not be read or written.
    #[error("the recording: {0}")]
    Io(#[from] io::Error),
    /// The file does not begin as a journal of this version does.
    #[error("not a recording that this version can read: it begins with {0:02x?}")]
    NotAJournal([u8; 8]),
    /// A frame's length is 0 or too large.
    #[error("frame at octet {at} has {len} octets: 1 to {BODY_LEN_MAX} expected")]
    Length {
        /// Begin of the frame, in octets from the beginning of the file.
        at: u64,
        /// Length in the frame's header.
        len: u32,
    },
    /// A frame's octets are not those that were written.
    #[error("frame at octet {at} has CRC-32 {found:08x}, expected {wanted:08x}")]
    Checksum {
        /// Begin of the frame, in octets from the beginning of the file.
        at: u64,
        /// Checksum as computed.
        found: u32,
        /// Checksum as in the file.
        wanted: u32,
    },
    /// A frame's body makes no sense.
    #[error("frame at octet {at} of kind {kind}: {what}")]
    Body {
        /// Begin of the frame, in octets from the beginning of the file.
        at: u64,
        /// Kind of the frame.
        kind: u8,
        /// Description of the fault.
        what: &'static str,
    },
    /// Frames are in an order in which nothing writes them.
    #[error("frame at octet {at}: {what}")]
    Order {
        /// Begin of the frame, in octets from the beginning of the file.
        at: u64,
        /// Description of the fault.
        what: &'static str,
    },
    /// The recording was made with another configuration.
    #[error(
        "the configuration differs from the recorded one (CRC-32 {found:08x}, recorded \
         {wanted:08x}): replay with the same file and options"
    )]
    OtherConfiguration {
        /// Checksum of the given configuration.
        found: u32,
        /// Checksum of the recorded configuration.
        wanted: u32,
    },
    /// Number of workers: only with one worker does the output depend on the input alone.
    #[error("recording and replay need one worker, not {0}: give --workers 1")]
    Workers(usize),
}

/// An event in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What<'a> {
    Input(Input<'a>),
    Tick,
    Mail,
    End,
}

/// Content of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Frame<'a> {
    Event { now: Now, sent: Sent, what: What<'a> },
    Wrote { conn: ConnId, offered: u64, taken: Option<u64> },
    Unacknowledged { conn: ConnId, octets: u64 },
}

/// The body of the frame that is being written.
#[derive(Clone, Debug, Default)]
pub(super) struct Body {
    octets: Vec<u8>,
}

impl Body {
    /// Writes the frame.
    pub(super) fn write_to(&self, file: &mut impl Write) -> io::Result<()> {
        let len = u32::try_from(self.octets.len()).ok().filter(|len| *len as usize <= BODY_LEN_MAX);
        let len = len.ok_or_else(|| io::Error::other("an input of more than 1 MiB"))?;
        file.write_all(&len.to_le_bytes())?;
        file.write_all(&crc32fast::hash(&self.octets).to_le_bytes())?;
        file.write_all(&self.octets)
    }

    pub(super) fn header(&mut self, header: &Header) {
        self.begin(HEADER);
        self.u64(header.seed);
        self.now(header.started);
        self.octets.extend_from_slice(&header.config_crc.to_le_bytes());
        self.short_text(header.software.as_bytes());
        self.short_text(header.version.as_bytes());
    }

    pub(super) fn event(&mut self, now: Now, sent: Sent, what: &What<'_>) {
        self.begin(match what {
            What::Input(Input::Opened { .. }) => OPENED,
            What::Input(Input::UplinkOpened { .. }) => UPLINK_OPENED,
            What::Input(Input::Received { .. }) => RECEIVED,
            What::Input(Input::Writable { .. }) => WRITABLE,
            What::Input(Input::Closed { .. }) => CLOSED,
            What::Input(Input::Datagram { .. }) => DATAGRAM,
            What::Input(Input::PeerDatagram { .. }) => PEER_DATAGRAM,
            What::Input(Input::Posted { .. }) => POSTED,
            What::Tick => TICK,
            What::Mail => MAIL,
            What::End => END,
        });
        self.now(now);
        self.u64(sent.octets);
        self.octets.extend_from_slice(&sent.crc.to_le_bytes());
        if let What::Input(input) = what {
            self.input(input);
        }
    }

    fn input(&mut self, input: &Input<'_>) {
        match input {
            Input::Opened { conn, listener, remote, local, certificate } => {
                self.u64(conn.0);
                self.u64(*listener as u64);
                self.address(*remote);
                self.address(*local);
                self.short_text(certificate.as_ref().map_or(&[][..], Callsign::as_bytes));
            }
            Input::UplinkOpened { conn, uplink, remote, local, certificate } => {
                self.u64(conn.0);
                self.u64(*uplink as u64);
                self.address(*remote);
                self.address(*local);
                self.octets.push(u8::from(*certificate));
            }
            Input::Received { conn, bytes } => {
                self.u64(conn.0);
                self.octets.extend_from_slice(bytes);
            }
            Input::Writable { conn } => self.u64(conn.0),
            Input::Closed { conn, reason } => {
                self.u64(conn.0);
                self.octets.extend_from_slice(reason.as_bytes());
            }
            Input::Datagram { listener: index, from, bytes }
            | Input::PeerDatagram { group: index, from, bytes } => {
                self.u64(*index as u64);
                self.address(*from);
                self.octets.extend_from_slice(bytes);
            }
            Input::Posted { from, bytes } => {
                self.address(*from);
                self.octets.extend_from_slice(bytes);
            }
        }
    }

    /// `taken`: `None` where the connection was broken.
    pub(super) fn wrote(&mut self, conn: ConnId, offered: usize, taken: Option<usize>) {
        self.begin(WROTE);
        self.u64(conn.0);
        self.u64(offered as u64);
        self.u64(taken.map_or(u64::MAX, |taken| taken as u64));
    }

    pub(super) fn unacknowledged(&mut self, conn: ConnId, octets: usize) {
        self.begin(UNACKNOWLEDGED);
        self.u64(conn.0);
        self.u64(octets as u64);
    }

    fn begin(&mut self, kind: u8) {
        self.octets.clear();
        self.octets.push(kind);
    }

    fn u64(&mut self, number: u64) {
        self.octets.extend_from_slice(&number.to_le_bytes());
    }

    fn now(&mut self, now: Now) {
        self.u64(now.monotonic_ns);
        self.octets.extend_from_slice(&now.utc_ns.to_le_bytes());
    }

    /// Writes a text of at most 255 octets; a longer one is cut.
    fn short_text(&mut self, text: &[u8]) {
        let len = u8::try_from(text.len()).unwrap_or(u8::MAX);
        self.octets.push(len);
        self.octets.extend_from_slice(&text[..usize::from(len)]);
    }

    fn address(&mut self, address: SocketAddr) {
        match address {
            SocketAddr::V4(four) => {
                self.octets.push(4);
                self.octets.extend_from_slice(&four.ip().octets());
            }
            SocketAddr::V6(six) => {
                self.octets.push(6);
                self.octets.extend_from_slice(&six.ip().octets());
            }
        }
        self.octets.extend_from_slice(&address.port().to_le_bytes());
    }
}

/// Reads the frames of a journal one after the other.
pub(super) struct Reader<R> {
    file: R,
    /// Begin of the next frame.
    at: u64,
}

impl<R: Read> Reader<R> {
    pub(super) fn new(mut file: R) -> Result<(Self, Header), JournalError> {
        let mut magic = [0; 8];
        file.read_exact(&mut magic)?;
        if magic != MAGIC {
            return Err(JournalError::NotAJournal(magic));
        }
        let mut reader = Self { file, at: MAGIC.len() as u64 };
        let (mut body, at) = (Vec::new(), reader.at);
        if !reader.body(&mut body)? {
            return Err(JournalError::Order { at, what: "there is no header" });
        }
        let header =
            header(&body).map_err(|what| JournalError::Body { at, kind: kind(&body), what })?;
        Ok((reader, header))
    }

    /// Begin of the next frame.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Reads a body; `false` at the end, be it in the middle of a frame.
    pub(super) fn body(&mut self, body: &mut Vec<u8>) -> Result<bool, JournalError> {
        let mut head = [0; 8];
        if !fill(&mut self.file, &mut head)? {
            return Ok(false);
        }
        let (len, crc) = head.split_at(4);
        let (len, wanted) = (le_u32(len), le_u32(crc));
        if len == 0 || len as usize > BODY_LEN_MAX {
            return Err(JournalError::Length { at: self.at, len });
        }
        body.resize(len as usize, 0);
        if !fill(&mut self.file, body)? {
            return Ok(false);
        }
        let found = crc32fast::hash(body);
        if found != wanted {
            return Err(JournalError::Checksum { at: self.at, found, wanted });
        }
        self.at += head.len() as u64 + u64::from(len);
        Ok(true)
    }
}

/// Whether there was enough.
fn fill(file: &mut impl Read, octets: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(octets) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn kind(body: &[u8]) -> u8 {
    body.first().copied().unwrap_or(u8::MAX)
}

fn le_u32(octets: &[u8]) -> u32 {
    octets.iter().rev().fold(0, |number, octet| number << 8 | u32::from(*octet))
}

fn header(body: &[u8]) -> Result<Header, &'static str> {
    let mut rest = Rest(body);
    if rest.u8()? != HEADER {
        return Err("the header is missing");
    }
    let seed = rest.u64()?;
    let started = rest.now()?;
    let config_crc = le_u32(rest.take(4)?);
    let text = |octets: &[u8]| String::from_utf8(octets.to_vec()).map_err(|_| "is not UTF-8");
    let software = text(rest.short_text()?)?;
    let version = text(rest.short_text()?)?;
    rest.end()?;
    Ok(Header { seed, started, config_crc, software, version })
}

/// Reads the body of the frame at octet `at`.
pub(super) fn parse(body: &[u8], at: u64) -> Result<Frame<'_>, JournalError> {
    frame(body).map_err(|what| JournalError::Body { at, kind: kind(body), what })
}

fn frame(body: &[u8]) -> Result<Frame<'_>, &'static str> {
    let mut rest = Rest(body);
    let kind = rest.u8()?;
    let frame = match kind {
        WROTE => {
            let (conn, offered, taken) = (rest.conn()?, rest.u64()?, rest.u64()?);
            let taken = (taken != u64::MAX).then_some(taken);
            if taken.is_some_and(|taken| taken > offered) {
                return Err("more was taken than offered");
            }
            Frame::Wrote { conn, offered, taken }
        }
        UNACKNOWLEDGED => Frame::Unacknowledged { conn: rest.conn()?, octets: rest.u64()? },
        _ => {
            let now = rest.now()?;
            let sent = Sent { octets: rest.u64()?, crc: le_u32(rest.take(4)?) };
            let what = match kind {
                TICK => What::Tick,
                MAIL => What::Mail,
                END => What::End,
                _ => What::Input(input(kind, &mut rest)?),
            };
            Frame::Event { now, sent, what }
        }
    };
    rest.end()?;
    Ok(frame)
}

fn input<'a>(kind: u8, rest: &mut Rest<'a>) -> Result<Input<'a>, &'static str> {
    Ok(match kind {
        OPENED => Input::Opened {
            conn: rest.conn()?,
            listener: rest.index()?,
            remote: rest.address()?,
            local: rest.address()?,
            certificate: match rest.short_text()? {
                [] => None,
                call => Some(Callsign::new(call).ok_or("the certificate has no callsign")?),
            },
        },
        UPLINK_OPENED => Input::UplinkOpened {
            conn: rest.conn()?,
            uplink: rest.index()?,
            remote: rest.address()?,
            local: rest.address()?,
            certificate: rest.u8()? != 0,
        },
        RECEIVED => Input::Received { conn: rest.conn()?, bytes: rest.all() },
        WRITABLE => Input::Writable { conn: rest.conn()? },
        CLOSED => Input::Closed {
            conn: rest.conn()?,
            reason: std::str::from_utf8(rest.all()).map_err(|_| "the reason is not UTF-8")?,
        },
        DATAGRAM => {
            Input::Datagram { listener: rest.index()?, from: rest.address()?, bytes: rest.all() }
        }
        PEER_DATAGRAM => {
            Input::PeerDatagram { group: rest.index()?, from: rest.address()?, bytes: rest.all() }
        }
        POSTED => Input::Posted { from: rest.address()?, bytes: rest.all() },
        _ => return Err("no such kind"),
    })
}

/// The part of a body that was not read yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], &'static str> {
        let (part, rest) = self.0.split_at_checked(len).ok_or("is too short")?;
        self.0 = rest;
        Ok(part)
    }

    fn all(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    fn end(&self) -> Result<(), &'static str> {
        if self.0.is_empty() { Ok(()) } else { Err("is too long") }
    }

    fn u8(&mut self) -> Result<u8, &'static str> {
        Ok(self.take(1)?[0])
    }

    fn u64(&mut self) -> Result<u64, &'static str> {
        let octets = self.take(8)?;
        Ok(octets.iter().rev().fold(0, |number, octet| number << 8 | u64::from(*octet)))
    }

    fn index(&mut self) -> Result<usize, &'static str> {
        usize::try_from(self.u64()?).map_err(|_| "an index is too large")
    }

    fn conn(&mut self) -> Result<ConnId, &'static str> {
        self.u64().map(ConnId)
    }

    fn now(&mut self) -> Result<Now, &'static str> {
        Ok(Now { monotonic_ns: self.u64()?, utc_ns: self.u64()?.cast_signed() })
    }

    fn short_text(&mut self) -> Result<&'a [u8], &'static str> {
        let len = self.u8()?;
        self.take(usize::from(len))
    }

    fn address(&mut self) -> Result<SocketAddr, &'static str> {
        let ip = match self.u8()? {
            4 => IpAddr::from(self.array::<4>()?),
            6 => IpAddr::from(self.array::<16>()?),
            _ => return Err("an address is neither IPv4 nor IPv6"),
        };
        Ok(SocketAddr::new(ip, u16::from_le_bytes(self.array()?)))
    }

    fn array<const LEN: usize>(&mut self) -> Result<[u8; LEN], &'static str> {
        self.take(LEN)?.try_into().map_err(|_| "is too short")
    }
}
