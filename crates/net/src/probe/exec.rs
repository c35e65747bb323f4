//! Probe through a program, which may use any protocol.
//!
//! Lines of text over its standard input and output. Once it is ready it prints `ready`; then it
//! reads a number, makes one round trip, and prints that number with the outcome:
//!
//! ```text
//! ready
//! 7            (read)
//! 7 ok 152000 ns
//! 8            (read)
//! 8 lost no such channel
//! ```
//!
//! A measured duration in nanoseconds may follow `ok`, and is then the duration of the round trip:
//! the pipe's own cost is known and kept apart. Without it the time from writing the number to
//! reading the line is taken. At the end of its input the program ends. Its start is not part of
//! the first round trip.

use super::deadline::{Deadline, Loss, ProbeResult, loss_of};
use super::stream::Waits;
use chronoscope_clock as clock;
use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Longest time for a program to be ready, and to end.
const READY: Duration = Duration::from_secs(15);
const END: Duration = Duration::from_millis(500);
/// Longest line.
const LINE_OCTETS_MAX: usize = 1024;

/// The program, running.
#[derive(Debug)]
pub(crate) struct Client {
    child: Child,
    stream: UnixStream,
    waits: Waits,
    octets: Vec<u8>,
    number: u64,
    reported_ns: Option<u64>,
}

impl Client {
    /// Starts `words[0]` with the other words as its arguments, and waits until it is ready.
    ///
    /// # Errors
    /// When it cannot be started, ends, or prints something else.
    pub(crate) fn start(words: &[String]) -> io::Result<Self> {
        let (program, arguments) = words.split_first().ok_or(ErrorKind::InvalidInput)?;
        let (ours, theirs) = UnixStream::pair()?;
        let output = theirs.try_clone()?;
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(OwnedFd::from(output)))
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("{program}: {error}")))?;
        let mut client = Self {
            child,
            stream: ours,
            waits: Waits::default(),
            octets: Vec::new(),
            number: 0,
            reported_ns: None,
        };
        let said = client.line(Deadline::after(READY)).map_err(|error| {
            let what = format!("{program} was not ready: {}", ended(&mut client.child, &error));
            io::Error::new(error.kind(), what)
        })?;
        if said != "ready" {
            let what = format!("{program} wrote {said:.60?} first: expected ready");
            return Err(io::Error::new(ErrorKind::InvalidData, what));
        }
        Ok(client)
    }

    /// Duration of the last round trip as the program measured it, `None` where it did not.
    pub(crate) const fn reported_ns(&self) -> Option<u64> {
        self.reported_ns
    }

    pub(crate) fn probe(&mut self, deadline: Deadline) -> io::Result<ProbeResult> {
        self.number += 1;
        self.reported_ns = None;
        let began_ns = clock::monotonic_ns();
        match self.round_trip(deadline) {
            Ok(Ok(reported_ns)) => {
                let took_ns = reported_ns.unwrap_or_else(|| clock::monotonic_ns() - began_ns);
                self.reported_ns = Some(took_ns);
                Ok(Ok(()))
            }
            Ok(Err(loss)) => Ok(Err(loss)),
            Err(error) => match loss_of(error)? {
                Loss::Closed => {
                    let what = ended(&mut self.child, &ErrorKind::UnexpectedEof.into());
                    Err(io::Error::new(ErrorKind::BrokenPipe, format!("the program {what}")))
                }
                loss => Ok(Err(loss)),
            },
        }
    }

    fn round_trip(&mut self, deadline: Deadline) -> io::Result<Result<Option<u64>, Loss>> {
        // Short lines to somebody who reads them: it never waits.
        writeln!(self.stream, "{}", self.number)?;
        loop {
            let line = self.line(deadline)?;
            match outcome(&line, self.number) {
                Outcome::Replied(took_ns) => return Ok(Ok(took_ns)),
                Outcome::Lost(why) if why.is_empty() => return Ok(Err(Loss::Late)),
                Outcome::Lost(why) => return Ok(Err(Loss::Denied(why))),
                Outcome::OfAnother => {}
                Outcome::Strange => {
                    return Ok(Err(Loss::Wrong(format!(
                        "the line {line:.60?}: expected {} ok or {} lost",
                        self.number, self.number
                    ))));
                }
            }
        }
    }

    /// The next line, without its end.
    fn line(&mut self, deadline: Deadline) -> io::Result<String> {
        loop {
            if let Some(end) = self.octets.iter().position(|octet| *octet == b'\n') {
                let line = String::from_utf8_lossy(&self.octets[..end]).trim().to_owned();
                self.octets.drain(..=end);
                return Ok(line);
            }
            if self.octets.len() > LINE_OCTETS_MAX {
                self.octets.clear();
                let what = format!("it wrote a line of more than {LINE_OCTETS_MAX} octets");
                return Err(io::Error::new(ErrorKind::InvalidData, what));
            }
            if let Some(left) = self.waits.until(deadline)? {
                self.stream.set_read_timeout(Some(left))?;
            }
            let mut more = [0; 512];
            match self.stream.read(&mut more) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(len) => self.octets.extend_from_slice(&more[..len]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Description of a program's end, if it has ended.
fn ended(child: &mut Child, error: &io::Error) -> String {
    if error.kind() != ErrorKind::UnexpectedEof {
        return error.to_string();
    }
    match wait(child) {
        Some(status) => format!("ended ({status})"),
        None => "closed its output".to_owned(),
    }
}

/// Exit status of the program, if it ends soon.
fn wait(child: &mut Child) -> Option<std::process::ExitStatus> {
    let deadline = Deadline::after(END);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if deadline.left().is_some() => clock::sleep(Duration::from_millis(2)),
            Ok(None) | Err(_) => return None,
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Its input ends; then it has a moment to end by itself. Errors here say that it has.
        let _ = self.stream.shutdown(Shutdown::Both);
        if wait(&mut self.child).is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Judges `line` as the answer to number 1.
pub(crate) fn judge(line: &[u8]) -> ProbeResult {
    match outcome(&String::from_utf8_lossy(line), 1) {
        Outcome::Replied(_) => Ok(()),
        Outcome::Lost(why) => Err(Loss::Denied(why)),
        Outcome::OfAnother => Err(Loss::Late),
        Outcome::Strange => Err(Loss::Wrong("a line".to_owned())),
    }
}

/// Meaning of a line for one number.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Replied(Option<u64>),
    Lost(String),
    OfAnother,
    Strange,
}

fn outcome(line: &str, number: u64) -> Outcome {
    let mut words = line.split_whitespace();
    let of = words.next().and_then(|word| word.parse::<u64>().ok());
    let Some(of) = of else { return Outcome::Strange };
    match (words.next(), words.next(), words.next(), words.next()) {
        // Of one that was no longer waited for.
        (Some("ok" | "lost"), ..) if of < number => Outcome::OfAnother,
        _ if of != number => Outcome::Strange,
        (Some("ok"), None, ..) => Outcome::Replied(None),
        (Some("ok"), Some(took), Some("ns"), None) => match took.parse() {
            Ok(took_ns) => Outcome::Replied(Some(took_ns)),
            Err(_) => Outcome::Strange,
        },
        (Some("lost"), ..) => {
            let why = line.split_once("lost").map_or("", |(_, why)| why.trim());
            Outcome::Lost(why.to_owned())
        }
        _ => Outcome::Strange,
    }
}

/// Splits a command into words at blanks outside quotes; the error is the fault.
pub(crate) fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    match (quote, words.is_empty()) {
        (Some(open), _) => Err(format!("the quote {open} is not closed")),
        (None, true) => Err("the program is missing: expected exec:PROGRAM ARGUMENTS".to_owned()),
        (None, false) => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        assert_eq!(outcome("7 ok", 7), Outcome::Replied(None));
        assert_eq!(outcome("7 ok 152000 ns", 7), Outcome::Replied(Some(152_000)));
        assert_eq!(outcome("7 lost no channel", 7), Outcome::Lost("no channel".to_owned()));
        assert_eq!(outcome("7 lost", 7), Outcome::Lost(String::new()));
        assert_eq!(outcome("6 ok 5 ns", 7), Outcome::OfAnother);
        for strange in ["", "ok", "8 ok", "7", "7 yes", "7 ok 5", "7 ok 5 ms", "7 ok -5 ns", "x ok"]
        {
            assert_eq!(outcome(strange, 7), Outcome::Strange, "{strange}");
        }
    }

    #[test]
    fn words_are_apart_at_blanks_and_together_in_quotes() {
        let all = words("python3  'a file.py' --name=\"x y\" ''").unwrap();
        assert_eq!(all, ["python3", "a file.py", "--name=x y", ""]);
        assert!(words("a 'b").unwrap_err().contains("not closed"));
        assert!(words("  ").unwrap_err().contains("missing"));
    }
}
