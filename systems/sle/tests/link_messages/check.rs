//! Any octets as messages of a program, shared by the fuzzer and by the test that replays what it kept.
//!
//! The first octet is the length of the pieces in which the rest is read.

use chronoscope_sle::link::message::{LinkRequest, MessageFault, RequestReader};

/// How many messages there were, or why there are no more; panics where a promise is broken.
pub(crate) fn check(octets: &[u8]) -> Result<usize, MessageFault> {
    let Some((piece, stream)) = octets.split_first() else { return Ok(0) };
    let whole = read(stream, stream.len().max(1));
    let pieces = read(stream, usize::from(*piece).max(1));
    assert_eq!(whole, pieces, "the pieces do not matter");
    let (requests, fault) = whole;
    for request in &requests {
        if let LinkRequest::Cltu(cltu) = request {
            assert!((1..=65_536).contains(&cltu.data.len()));
            let (again, fault) = read(&cltu.encode(), 4096);
            assert_eq!((again.first(), fault), (Some(request), None));
        }
    }
    fault.map_or(Ok(requests.len()), Err)
}

fn read(stream: &[u8], piece: usize) -> (Vec<LinkRequest>, Option<MessageFault>) {
    let mut reader = RequestReader::default();
    let mut requests = Vec::new();
    for part in stream.chunks(piece) {
        reader.extend(part);
        loop {
            match reader.next_request() {
                Ok(Some(request)) => requests.push(request),
                Ok(None) => break,
                Err(fault) => return (requests, Some(fault)),
            }
        }
    }
    (requests, None)
}
