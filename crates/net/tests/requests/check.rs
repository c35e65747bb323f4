//! Any octets as what a client sends to the permanent server: shared by the replay of the corpus
//! and the fuzz target.

use chronoscope_net::answer::frame::{self, Frame, PREFIX};
use chronoscope_net::answer::request::{self, Request};

/// Result of a stream of octets: the frames that were read, then the reason of its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Checked {
    /// Echoes, hellos and questions in it.
    pub(crate) frames: usize,
    /// The fault of the frame or question that ended it; `None`: it ended normally.
    pub(crate) error: Option<String>,
}

/// Reads frames one after the other, as the server does, and panics where it promises what does
/// not hold.
pub(crate) fn check(octets: &[u8]) -> Checked {
    let (mut rest, mut frames) = (octets, 0);
    let error = loop {
        let Some((prefix, body)) = rest.split_first_chunk::<PREFIX>() else { break None };
        let length = match frame::length(*prefix) {
            Ok(length) => length,
            Err(error) => break Some(error.to_string()),
        };
        let Some((body, more)) = body.split_at_checked(length) else { break None };
        let mut frame = body.to_vec();
        match frame::read(&mut frame) {
            Err(error) => break Some(error.to_string()),
            Ok(Frame::Echo(reply)) => {
                assert_eq!(reply.len(), body.len(), "as long as its request");
                assert_eq!(reply[4..], body[4..]);
                let answered = frame::read(&mut reply.to_vec()).is_err();
                assert!(answered, "a reply is never answered");
            }
            Ok(Frame::Hello) => assert_eq!(body, b"CHRh"),
            Ok(Frame::Ask { json, .. }) => match request::read(json) {
                Ok(ask) => assert_is_bounded(&ask),
                Err(error) => break Some(error.to_string()),
            },
        }
        frames += 1;
        rest = more;
    };
    Checked { frames, error }
}

fn assert_is_bounded(ask: &Request) {
    match ask {
        Request::Sink(bulk) | Request::Source(bulk) => {
            assert!(bulk.octets <= request::BULK_OCTETS_MAX && bulk.at_most_ms <= 30_000);
        }
        Request::Probe(probe) => {
            let load = probe.load();
            assert!(
                load.count <= request::PROBE_COUNT_MAX && load.every >= request::PROBE_EVERY_MIN
            );
            assert!(load.timeout <= request::PROBE_TIMEOUT_MAX);
            assert!(["udp:", "tcp:", "connect:"].iter().any(|kind| probe.target.starts_with(kind)));
        }
    }
}
