//! A client of the server.

use super::Sends;
use chronoscope_clock as clock;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// How long a line may take that must come, on a busy machine.
const LINE_TIMEOUT: Duration = Duration::from_secs(60);

/// A connection that speaks in lines.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    waiting: Vec<u8>,
}

/// The passcode of a callsign.
pub fn passcode(call: &str) -> u16 {
    let mut hash = 0x73E2u16;
    for pair in call.split('-').next().unwrap().to_ascii_uppercase().as_bytes().chunks(2) {
        hash ^= u16::from(pair[0]) << 8;
        hash ^= pair.get(1).map_or(0, |octet| u16::from(*octet));
    }
    hash & 0x7FFF
}

/// Octets as they can be read and compared: printable ASCII as it is, the rest escaped.
pub fn text(octets: &[u8]) -> String {
    octets.escape_ascii().to_string()
}

impl Client {
    /// Connects, and nothing else.
    #[track_caller]
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap_or_else(|e| panic!("{address}: {e}"));
        Self::accepted(stream)
    }

    /// The other side of a connection that the server made.
    pub fn accepted(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        Self { stream, waiting: Vec::new() }
    }

    /// Logs in with the callsign's passcode.
    #[track_caller]
    pub fn login(address: SocketAddr, call: &str) -> Self {
        Self::login_with(address, call, "")
    }

    /// Logs in with the callsign's passcode and a filter.
    #[track_caller]
    pub fn filtered(address: SocketAddr, call: &str, filter: &str) -> Self {
        Self::login_with(address, call, &format!(" filter {filter}"))
    }

    /// Logs in with the callsign's passcode and more words.
    #[track_caller]
    pub fn login_with(address: SocketAddr, call: &str, words: &str) -> Self {
        let mut client = Self::connect(address);
        client.send(format!("user {call} pass {} vers test 1.0{words}", passcode(call)));
        let answer = client.logresp();
        assert!(answer.starts_with(&format!("# logresp {call} verified, ")), "{answer}");
        client
    }

    /// Logs in without a passcode.
    #[track_caller]
    pub fn unverified(address: SocketAddr, call: &str) -> Self {
        let mut client = Self::connect(address);
        client.send(format!("user {call} pass -1 vers test 1.0"));
        let answer = client.logresp();
        assert!(answer.starts_with(&format!("# logresp {call} unverified, ")), "{answer}");
        client
    }

    /// The answer to a login.
    #[track_caller]
    pub fn logresp(&mut self) -> String {
        self.comment("# logresp ")
    }

    /// The next comment that begins so. A packet before it fails the test.
    #[track_caller]
    pub fn comment(&mut self, beginning: &str) -> String {
        loop {
            let line = self.line();
            let line = String::from_utf8(line).unwrap();
            assert!(line.starts_with('#'), "{line:?} instead of {beginning:?}");
            if line.starts_with(beginning) {
                return line;
            }
        }
    }

    /// Changes the filter, and waits until it is in force: until a comment says something of it.
    #[track_caller]
    pub fn filter(&mut self, filter: &str) -> String {
        self.command(&format!("#filter {filter}"))
    }

    /// Sends a command about filters and returns the comment that answers it.
    #[track_caller]
    pub fn command(&mut self, command: &str) -> String {
        self.send(command);
        loop {
            let line = self.comment("#");
            if line.contains("ilter") {
                return line;
            }
        }
    }

    /// Octets as they are.
    pub fn write(&mut self, octets: impl AsRef<[u8]>) {
        self.stream.write_all(octets.as_ref()).unwrap();
    }

    /// As [`Client::write`], where the server may be gone already.
    pub fn try_write(&mut self, octets: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(octets.as_ref()).is_ok()
    }

    /// The next line without its end. Fails the test when none comes.
    #[track_caller]
    pub fn line(&mut self) -> Vec<u8> {
        match self.line_within(LINE_TIMEOUT) {
            Some(line) => line,
            None => panic!("no line within {LINE_TIMEOUT:?}, beginning: {}", text(&self.waiting)),
        }
    }

    /// The next line that is not a comment.
    #[track_caller]
    pub fn packet(&mut self) -> Vec<u8> {
        match self.packet_within(LINE_TIMEOUT) {
            Some(line) => line,
            None => panic!("no packet within {LINE_TIMEOUT:?}"),
        }
    }

    /// The next line that is not a comment, if one comes in time.
    #[track_caller]
    pub fn packet_within(&mut self, timeout: Duration) -> Option<Vec<u8>> {
        let until = clock::monotonic_ns() + u64::try_from(timeout.as_nanos()).unwrap();
        loop {
            let left = Duration::from_nanos(until.saturating_sub(clock::monotonic_ns()));
            let line = self.line_within(left)?;
            if !line.starts_with(b"#") {
                return Some(line);
            }
        }
    }

    /// Nothing but comments comes for so long.
    #[track_caller]
    pub fn silent(&mut self, time: Duration) {
        if let Some(line) = self.packet_within(time) {
            panic!("received: {}", text(&line));
        }
    }

    /// The next line, if one comes in time. The connection's end fails the test.
    #[track_caller]
    pub fn line_within(&mut self, timeout: Duration) -> Option<Vec<u8>> {
        match self.next(timeout) {
            Next::Line(line) => Some(line),
            Next::Nothing => None,
            Next::End => panic!("the server closed the connection"),
        }
    }

    /// Everything until the server closes the connection, without the lines' ends.
    #[track_caller]
    pub fn until_closed(&mut self) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        loop {
            match self.next(LINE_TIMEOUT) {
                Next::Line(line) => lines.push(line),
                Next::Nothing => panic!("the server does not close the connection"),
                Next::End => return lines,
            }
        }
    }

    fn next(&mut self, timeout: Duration) -> Next {
        let until = clock::monotonic_ns() + u64::try_from(timeout.as_nanos()).unwrap();
        loop {
            if let Some(end) = self.waiting.iter().position(|octet| *octet == b'\n') {
                let mut line: Vec<u8> = self.waiting.drain(..=end).collect();
                line.pop();
                assert_eq!(line.pop(), Some(b'\r'), "lines end with CR LF");
                return Next::Line(line);
            }
            let left = until.saturating_sub(clock::monotonic_ns());
            if left == 0 {
                return Next::Nothing;
            }
            let left = Duration::from_nanos(left).max(Duration::from_millis(1));
            self.stream.set_read_timeout(Some(left)).unwrap();
            let mut buffer = [0; 65536];
            match self.stream.read(&mut buffer) {
                Ok(0) => return Next::End,
                Ok(count) => self.waiting.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Next::End,
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Next::End,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => panic!("reading: {error}"),
            }
        }
    }

    /// The socket.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }
}

/// Result of waiting.
enum Next {
    Line(Vec<u8>),
    Nothing,
    End,
}

impl Sends for Client {
    fn send(&mut self, line: impl AsRef<[u8]>) {
        self.write([line.as_ref(), b"\r\n"].concat());
    }
}
