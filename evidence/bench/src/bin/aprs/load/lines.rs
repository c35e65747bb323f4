//! Source of the lines that are sent.

use crate::packets::Packets;
use crate::recording::Recording;
use std::fmt::Write as _;
use std::sync::Arc;

/// Stations whose packets are made.
const STATIONS: usize = 20_000;

/// Lines to send, each ending in its mark.
#[derive(Debug)]
pub(super) enum Lines {
    /// Made from a seed.
    Made(Packets),
    /// Those of a recording, over and over, and which is next.
    Recorded(Arc<Recording>, usize),
}

impl Lines {
    pub(super) fn new(recording: Option<&Arc<Recording>>) -> Self {
        match recording {
            None => Self::Made(Packets::new(7, STATIONS)),
            Some(recording) => Self::Recorded(Arc::clone(recording), 0),
        }
    }

    /// Puts a new line, CR LF included, into `line`: the `number`th of `sender` at `time_ns`, which
    /// `login` puts on the network.
    pub(super) fn next(
        &mut self,
        login: &str,
        sender: u8,
        number: u32,
        time_ns: u64,
        line: &mut String,
    ) {
        line.clear();
        match self {
            Self::Made(packets) => packets.line(login, sender, number, time_ns, line),
            Self::Recorded(recording, next) => {
                let packet = &recording.packets()[*next];
                *next = (*next + 1) % recording.packets().len();
                // Writing into a string cannot fail.
                let _ = write!(line, "{}{login}:{}", packet.header, packet.payload);
                crate::packets::write_mark(line, sender, number, time_ns);
            }
        }
    }
}
