//! The local link: a Unix socket between an application and its communication server.
//!
//! It carries the messages of ISP1 as TCP does. A Unix socket has no urgent data, and its end does not
//! tell a process that closed it from one that died: two more messages say these things.
//!
//! ```text
//! abort   type 4, 3 octets 0, length 1 (32 bits), the diagnostic     PEER-ABORT
//! end     type 5, 3 octets 0, length 0                               the sender closes, in order
//! ```
//!
//! An abort comes behind what was written before it; on TCP it overtakes that. A stream that ends
//! without `end` is the death of the process at its other end.

use std::io;
use std::path::Path;
use std::time::Duration;

use socket2::{Domain, SockAddr, Socket, Type};

use crate::tml::HEADER_BYTES;

/// First octet of an abort's header.
const ABORT: u8 = 4;
/// First octet of an end's header.
const END: u8 = 5;
/// An abort in octets, without its diagnostic.
const ABORT_HEADER: [u8; HEADER_BYTES] = [ABORT, 0, 0, 0, 0, 0, 0, 1];
/// An end in octets.
const END_HEADER: [u8; HEADER_BYTES] = [END, 0, 0, 0, 0, 0, 0, 0];

/// Content of a local link's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LocalItem<'a> {
    /// Octets of messages of ISP1, or of none.
    Octets(&'a [u8]),
    /// PEER-ABORT with its diagnostic.
    Abort(u8),
}

/// Splits the stream of a local link into messages of ISP1 and what is said between them.
#[derive(Debug, Default)]
pub(crate) struct LocalReader {
    position: Position,
    /// The header of the message that is being read.
    header: [u8; HEADER_BYTES],
    /// The peer said that it closes.
    is_released: bool,
}

/// Place in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// So many octets of a header were read.
    Header(usize),
    /// So many octets of a message of ISP1 are to come.
    Body(usize),
    /// The diagnostic of an abort is to come.
    Diagnostic,
}

impl Default for Position {
    fn default() -> Self {
        Self::Header(0)
    }
}

impl LocalReader {
    /// For a socket that is a local link; `None` for any other.
    pub(crate) fn of(socket: &Socket) -> Option<Self> {
        (socket.domain().ok()? == Domain::UNIX).then(Self::default)
    }

    /// Whether the peer said that it closes the link.
    pub(crate) fn is_released(&self) -> bool {
        self.is_released
    }

    /// Gives what comes next in the stream to `item`, in its order. What is no message at all is
    /// given as octets: the TML knows what to say of it.
    pub(crate) fn read(&mut self, mut octets: &[u8], mut item: impl FnMut(LocalItem<'_>)) {
        while !octets.is_empty() {
            let taken = match self.position {
                Position::Body(left) => {
                    let taken = left.min(octets.len());
                    item(LocalItem::Octets(&octets[..taken]));
                    self.position = match left - taken {
                        0 => Position::Header(0),
                        left => Position::Body(left),
                    };
                    taken
                }
                Position::Diagnostic => {
                    item(LocalItem::Abort(octets[0]));
                    self.position = Position::Header(0);
                    1
                }
                Position::Header(0) => match ordinary(octets) {
                    0 => self.header(octets, 0, &mut item),
                    whole => {
                        item(LocalItem::Octets(&octets[..whole]));
                        whole
                    }
                },
                Position::Header(had) => self.header(octets, had, &mut item),
            };
            octets = &octets[taken..];
        }
    }

    /// Reads on in a header of which there were `had` octets; how many were taken.
    fn header(&mut self, octets: &[u8], had: usize, item: &mut impl FnMut(LocalItem<'_>)) -> usize {
        let taken = octets.len().min(HEADER_BYTES - had);
        self.header[had..had + taken].copy_from_slice(&octets[..taken]);
        if had + taken < HEADER_BYTES {
            self.position = Position::Header(had + taken);
            return taken;
        }
        self.position = match self.header {
            ABORT_HEADER => Position::Diagnostic,
            END_HEADER => {
                self.is_released = true;
                Position::Header(0)
            }
            header => {
                item(LocalItem::Octets(&header));
                match body_bytes(&header) {
                    0 => Position::Header(0),
                    bytes => Position::Body(bytes),
                }
            }
        };
        taken
    }
}

/// Octets of the whole messages of ISP1 with which `octets` begin: they are passed on as one slice.
fn ordinary(octets: &[u8]) -> usize {
    let mut at = 0;
    while let Some(header) = octets[at..].first_chunk::<HEADER_BYTES>() {
        let end = at.saturating_add(HEADER_BYTES).saturating_add(body_bytes(header));
        if matches!(header[0], ABORT | END) || end > octets.len() {
            break;
        }
        at = end;
    }
    at
}

fn body_bytes(header: &[u8; HEADER_BYTES]) -> usize {
    let [.., a, b, c, d] = *header;
    u32::from_be_bytes([a, b, c, d]) as usize
}

/// Appends what a side says last: PEER-ABORT, if it aborts, and the end.
pub(crate) fn say_last(abort: Option<u8>, out: &mut Vec<u8>) {
    if let Some(diagnostic) = abort {
        out.extend_from_slice(&ABORT_HEADER);
        out.push(diagnostic);
    }
    out.extend_from_slice(&END_HEADER);
}

/// Connects to a local link, for at most `timeout`.
///
/// # Errors
/// The kernel's: nobody listens there, or this user may not connect.
pub fn connect_local(path: &Path, timeout: Duration) -> io::Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.connect_timeout(&SockAddr::unix(path)?, timeout)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::{LocalItem, LocalReader, say_last};
    use proptest::prelude::*;

    /// What a reader says of a stream that comes in pieces of `size` octets; neighbouring octets
    /// are joined.
    fn read(stream: &[u8], size: usize) -> (Vec<u8>, Vec<(usize, u8)>, bool) {
        let (mut octets, mut aborts) = (Vec::new(), Vec::new());
        let mut reader = LocalReader::default();
        for piece in stream.chunks(size) {
            reader.read(piece, |item| match item {
                LocalItem::Octets(more) => octets.extend_from_slice(more),
                LocalItem::Abort(diagnostic) => aborts.push((octets.len(), diagnostic)),
            });
        }
        (octets, aborts, reader.is_released())
    }

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        [&[kind, 0, 0, 0], &length[..], body].concat()
    }

    #[test]
    fn messages_pass_and_what_is_said_between_them_does_not() {
        let isp1 = [message(2, &[7; 12]), message(1, &[4; 40]), message(3, &[]), message(1, b"x")];
        let isp1 = isp1.concat();
        let mut stream = isp1.clone();
        say_last(Some(131), &mut stream);
        for size in 1..=stream.len() {
            assert_eq!(read(&stream, size), (isp1.clone(), vec![(isp1.len(), 131)], true));
        }
    }

    #[test]
    fn a_stream_without_its_end_is_not_released() {
        let cut = &message(1, b"half of it")[..11];
        assert_eq!(read(cut, 3), (cut.to_vec(), vec![], false));
        assert_eq!(read(&[5, 0, 0], 1), (vec![], vec![], false), "half an end is none");
    }

    /// What only looks like an abort or an end is the TML's to refuse.
    #[test]
    fn garbage_passes_as_it_came() {
        let long = message(5, b"an end with a body");
        let odd = [4, 1, 0, 0, 0, 0, 0, 0];
        let http = b"GET / HTTP/1.1\r\n\r\n".as_slice();
        for garbage in [&long[..], &odd, http] {
            for size in [1, 7, 64] {
                assert_eq!(read(garbage, size), (garbage.to_vec(), vec![], false));
            }
        }
    }

    proptest! {
        /// Octets that are often headers: what is read does not depend on how they come, and is no
        /// more than what came.
        #[test]
        fn pieces_do_not_matter(stream in prop::collection::vec(0u8..6, 0..120), size in 1usize..40) {
            let whole = read(&stream, 120);
            prop_assert!(whole.0.len() + 9 * whole.1.len() <= stream.len());
            prop_assert_eq!(read(&stream, size), whole);
        }
    }
}
