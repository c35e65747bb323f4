//! GET over HTTP/1.1 on a kept connection: a reply is a whole response, its body included.
//!
//! Source: RFC 9112. A response of 400 or more is a loss, because it is not the requested page; a
//! redirect is a reply and is not followed, because another server's time is another measurement.
//! Not here: TLS, HTTP/2.

use super::Peer;
use super::deadline::{Deadline, Loss, ProbeResult, loss_of};
use super::stream::Connection;
use std::io::{self, ErrorKind};

/// Largest head of a response, in octets.
const HEAD_OCTETS_MAX: usize = 16 * 1024;
/// Most header fields of a response.
const FIELDS_MAX: usize = 96;
/// Largest body, in octets: it is counted and not kept.
const BODY_OCTETS_MAX: u64 = 16 * 1024 * 1024;

/// A client on one connection.
#[derive(Debug)]
pub(crate) struct Client {
    connection: Connection,
    request: Vec<u8>,
    /// Received octets that were not parsed yet: `octets[at..have]`.
    octets: Vec<u8>,
    at: usize,
    have: usize,
}

/// Delimiter of a body.
enum Body {
    Octets(u64),
    Chunks,
    UntilClosed,
}

/// Parsed head of a response.
struct Head {
    octets: usize,
    status: u16,
    body: Body,
    closes: bool,
}

impl Client {
    pub(crate) fn new(connection: Connection, request: Vec<u8>) -> Self {
        Self { connection, request, octets: vec![0; HEAD_OCTETS_MAX], at: 0, have: 0 }
    }

    /// Whether the connection can carry another request: it is open, and has received nothing
    /// unrequested.
    pub(crate) fn is_fresh(&self) -> bool {
        self.at == self.have && self.connection.is_quiet()
    }

    /// One request and its response; and whether the connection can be used again.
    pub(crate) fn probe(&mut self, deadline: Deadline) -> io::Result<(ProbeResult, bool)> {
        match self.exchange(deadline) {
            Ok(Ok((status, reusable))) if status < 400 => Ok((Ok(()), reusable)),
            Ok(Ok((status, reusable))) => {
                Ok((Err(Loss::Denied(format!("HTTP status {status}"))), reusable))
            }
            Ok(Err(wrong)) => Ok((Err(Loss::Wrong(wrong)), false)),
            Err(error) => Ok((Err(loss_of(error)?), false)),
        }
    }

    /// Status of the response, and whether the connection stays open; or the fault of the response.
    fn exchange(&mut self, deadline: Deadline) -> io::Result<Result<(u16, bool), String>> {
        self.connection.write_all(&self.request, deadline)?;
        let head = loop {
            match self.head(deadline)? {
                Ok(head) if (100..200).contains(&head.status) => self.at += head.octets,
                Ok(head) => break head,
                Err(wrong) => return Ok(Err(wrong)),
            }
        };
        self.at += head.octets;
        let ended = match head.body {
            Body::Octets(octets) => self.skip(octets, deadline)?,
            Body::Chunks => self.chunks(deadline)?,
            Body::UntilClosed => self.until_closed(deadline)?,
        };
        let stays = !head.closes && self.at == self.have;
        Ok(ended.map(|()| (head.status, stays)))
    }

    /// Reads until a head is whole, which stays unread.
    fn head(&mut self, deadline: Deadline) -> io::Result<Result<Head, String>> {
        self.octets.copy_within(self.at..self.have, 0);
        (self.at, self.have) = (0, self.have - self.at);
        loop {
            let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
            let mut response = httparse::Response::new(&mut fields);
            match response.parse(&self.octets[..self.have]) {
                Ok(httparse::Status::Complete(octets)) => return Ok(head_of(&response, octets)),
                Ok(httparse::Status::Partial) if self.have == self.octets.len() => {
                    return Ok(Err(format!("a head of more than {HEAD_OCTETS_MAX} octets")));
                }
                Ok(httparse::Status::Partial) => {}
                Err(error) => {
                    let have = self.have;
                    return Ok(Err(format!("in the first {have} octets of its head: {error}")));
                }
            }
            self.have += self.connection.read(&mut self.octets[self.have..], deadline)?;
        }
    }

    /// Reads more, once all received octets were parsed.
    fn more(&mut self, deadline: Deadline) -> io::Result<()> {
        debug_assert_eq!(self.at, self.have);
        self.at = 0;
        self.have = 0;
        self.have = self.connection.read(&mut self.octets, deadline)?;
        Ok(())
    }

    fn skip(&mut self, octets: u64, deadline: Deadline) -> io::Result<Result<(), String>> {
        if octets > BODY_OCTETS_MAX {
            return Ok(Err(format!("a body of {octets} octets: at most {BODY_OCTETS_MAX}")));
        }
        let mut left = usize::try_from(octets).unwrap_or(usize::MAX);
        while left > 0 {
            if self.at == self.have {
                self.more(deadline)?;
            }
            let here = left.min(self.have - self.at);
            self.at += here;
            left -= here;
        }
        Ok(Ok(()))
    }

    fn until_closed(&mut self, deadline: Deadline) -> io::Result<Result<(), String>> {
        let mut octets = (self.have - self.at) as u64;
        self.at = self.have;
        while octets <= BODY_OCTETS_MAX {
            match self.more(deadline) {
                Ok(()) => octets += self.have as u64,
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(Ok(())),
                Err(error) => return Err(error),
            }
            self.at = self.have;
        }
        Ok(Err(format!("a body of more than {BODY_OCTETS_MAX} octets")))
    }

    /// A body in chunks (RFC 9112 §7.1), to the end of its trailers.
    fn chunks(&mut self, deadline: Deadline) -> io::Result<Result<(), String>> {
        let mut octets = 0_u64;
        loop {
            let line = match self.line(deadline)? {
                Ok(line) => line,
                Err(wrong) => return Ok(Err(wrong)),
            };
            let size = match httparse::parse_chunk_size(&line) {
                Ok(httparse::Status::Complete((_, size))) => size,
                _ => return Ok(Err(format!("no size of a chunk after {octets} octets of body"))),
            };
            octets = octets.saturating_add(size);
            if octets > BODY_OCTETS_MAX {
                return Ok(Err(format!("a body of more than {BODY_OCTETS_MAX} octets")));
            }
            if size == 0 {
                return self.trailers(deadline);
            }
            if let Err(wrong) = self.skip(size, deadline)? {
                return Ok(Err(wrong));
            }
            match self.line(deadline)? {
                Ok(end) if end == b"\r\n" => {}
                Ok(_) => {
                    return Ok(Err(format!("a chunk longer than it says, {octets} octets in")));
                }
                Err(wrong) => return Ok(Err(wrong)),
            }
        }
    }

    fn trailers(&mut self, deadline: Deadline) -> io::Result<Result<(), String>> {
        for _ in 0..FIELDS_MAX {
            match self.line(deadline)? {
                Ok(line) if line == b"\r\n" => return Ok(Ok(())),
                Ok(_) => {}
                Err(wrong) => return Ok(Err(wrong)),
            }
        }
        Ok(Err(format!("more than {FIELDS_MAX} trailers")))
    }

    /// A line with its end, of a size that a chunk's has.
    fn line(&mut self, deadline: Deadline) -> io::Result<Result<Vec<u8>, String>> {
        const LINE_OCTETS_MAX: usize = 4096;
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') {
            if line.len() == LINE_OCTETS_MAX {
                return Ok(Err(format!("a line of more than {LINE_OCTETS_MAX} octets")));
            }
            if self.at == self.have {
                self.more(deadline)?;
            }
            line.push(self.octets[self.at]);
            self.at += 1;
        }
        Ok(Ok(line))
    }
}

fn head_of(response: &httparse::Response<'_, '_>, octets: usize) -> Result<Head, String> {
    let status = response.code.unwrap_or(0);
    let mut head =
        Head { octets, status, body: Body::UntilClosed, closes: response.version == Some(0) };
    let mut length = None;
    let mut chunks = false;
    for field in response.headers.iter() {
        let text = String::from_utf8_lossy(field.value);
        let text = text.trim();
        if field.name.eq_ignore_ascii_case("content-length") {
            let octets = text.parse::<u64>();
            let octets = octets.map_err(|_| format!("a content length of {text:.20?}"))?;
            if length.is_some_and(|before| before != octets) {
                return Err("two content lengths".to_owned());
            }
            length = Some(octets);
        } else if field.name.eq_ignore_ascii_case("transfer-encoding") {
            if !text.eq_ignore_ascii_case("chunked") {
                return Err(format!("a transfer encoding that was not asked for: {text:.20?}"));
            }
            chunks = true;
        } else if field.name.eq_ignore_ascii_case("connection") {
            let says = |word: &str| text.split(',').any(|w| w.trim().eq_ignore_ascii_case(word));
            head.closes = says("close") || head.closes && !says("keep-alive");
        }
    }
    head.body = match (status, chunks, length) {
        (100..200 | 204 | 304, ..) => Body::Octets(0),
        (_, true, _) => Body::Chunks,
        (_, false, Some(octets)) => Body::Octets(octets),
        (_, false, None) => Body::UntilClosed,
    };
    head.closes |= matches!(head.body, Body::UntilClosed);
    Ok(head)
}

/// Octets of the request.
pub(crate) fn request(peer: &Peer, path: &str) -> Vec<u8> {
    let host = if peer.port == 80 {
        peer.to_string().trim_end_matches(":80").to_owned()
    } else {
        peer.to_string()
    };
    format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: chronoscope\r\nAccept: */*\r\n\r\n")
        .into_bytes()
}
