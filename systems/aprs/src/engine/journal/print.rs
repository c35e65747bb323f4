//! Readable form of a replay: all output, and whether it was the same.

use super::frame::JournalError;
use super::replay::{Action, Replayed, replay};
use crate::config::Config;
use crate::engine::DatagramPort;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// Replays `journal` and writes a line for each piece of output: seconds since the first piece,
/// receiver, and the octets, with those that are not printable escaped.
///
/// # Errors
/// When the journal cannot be read or is not of this configuration, or `to` cannot be written.
pub fn print(
    journal: impl Read,
    config: Arc<Config>,
    to: &mut dyn Write,
) -> Result<Replayed, JournalError> {
    let mut first_ns = None;
    let mut failed: io::Result<()> = Ok(());
    let mut line = String::new();
    let replayed = replay(journal, config, &mut |now, action| {
        let since_ns = now.monotonic_ns - *first_ns.get_or_insert(now.monotonic_ns);
        line.clear();
        describe(&mut line, since_ns, &action);
        if failed.is_ok() {
            failed = writeln!(to, "{}", chronoscope_escape::terminal(&line));
        }
    })?;
    failed?;
    to.flush()?;
    Ok(replayed)
}

fn describe(line: &mut String, since_ns: u64, action: &Action<'_>) {
    let (seconds, fraction) = (since_ns / 1_000_000_000, since_ns % 1_000_000_000);
    // Text cannot fail to take text.
    let _ = write!(line, "{seconds}.{fraction:09} ");
    let _ = match action {
        Action::Write { conn, bytes } => write!(line, "{} {}", conn.0, bytes.escape_ascii()),
        Action::Send { port, to, bytes } => {
            let kind = match port {
                DatagramPort::Listener(_) => "udp",
                DatagramPort::PeerGroup(_) => "peer",
            };
            write!(line, "{kind} {to} {}", bytes.escape_ascii())
        }
        Action::Close { conn, how, reason } => {
            write!(line, "{} closed ({how:?}): {reason}", conn.0)
        }
        Action::Log { level, line: text } => write!(line, "log {level:?}: {text}"),
    };
}

impl Replayed {
    /// Result of the replay, in one line.
    pub fn summary(&self) -> String {
        let Self { events, span_ns, sent, .. } = self;
        let seconds = span_ns / 1_000_000_000;
        let same = match &self.difference {
            None => "the same as recorded".to_owned(),
            Some(difference) => format!(
                "NOT the same as recorded: event at octet {}: {}",
                difference.at, difference.what
            ),
        };
        let end = if self.complete { "" } else { "; the recording breaks off" };
        format!(
            "{events} events of {seconds} s, {} octets sent, CRC-32 {:08x}: {same}{end}",
            sent.octets, sent.crc
        )
    }
}
