//! What both ends see are the octets of the other, as on one connection.

use crate::ends::{CONTEXT, Raw, framed};
use crate::server::{Between, KINDS, Kind};
use chronoscope_sle::communication::SessionLimits;

/// The PDUs of the recorded sessions of another implementation, by who said them.
fn golden() -> Vec<Vec<(bool, Vec<u8>)>> {
    let mut sessions = Vec::<Vec<_>>::new();
    let files = [include_str!("../golden/cltu.txt"), include_str!("../golden/raf.txt")];
    for line in files.iter().flat_map(|file| file.lines()) {
        if line.starts_with("### ") {
            sessions.push(Vec::new());
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        let hex = words[3];
        let octet = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        let octets = (0..hex.len()).step_by(2).map(octet).collect();
        sessions.last_mut().unwrap().push((words[0] == "TX", octets));
    }
    sessions
}

/// Each PDU is sent when the one before has arrived, and is there octet for octet.
#[test]
fn recorded_sessions_pass_octet_for_octet() {
    for kinds in KINDS {
        for session in golden() {
            let between = Between::new(kinds);
            let mut initiator = Raw::connect(&between.address());
            initiator.write(&CONTEXT);
            let mut responder = between.responder.accept();
            assert_eq!(responder.read_exact(CONTEXT.len()), CONTEXT);
            for (is_initiators, pdu) in session {
                let message = framed(&pdu);
                let (from, to) = match is_initiators {
                    true => (&mut initiator, &mut responder),
                    false => (&mut responder, &mut initiator),
                };
                from.write(&message);
                assert_eq!(to.read_exact(message.len()), message, "{kinds:?}");
            }
            initiator.close();
            responder.expect_end();
            responder.close();
            initiator.expect_end();
            assert!(between.outcome().contains("the initiator closed"), "{kinds:?}");
        }
    }
}

/// Octets that come one by one, or all at once, leave as the same messages.
#[test]
fn the_pieces_of_a_stream_do_not_matter() {
    let stream = [&CONTEXT[..], &framed(&[7; 300]), &framed(b"x"), &framed(&[9; 5000])].concat();
    for kinds in KINDS {
        for size in [1, 9, 1000, stream.len()] {
            let between = Between::new(kinds);
            let mut initiator = Raw::connect(&between.address());
            for piece in stream.chunks(size) {
                initiator.write(piece);
            }
            let mut responder = between.responder.accept();
            assert_eq!(responder.read_exact(stream.len()), stream, "{kinds:?}, {size}");
        }
    }
}

/// Who does not read makes the other wait, within a bound, and loses nothing.
#[test]
fn a_slow_reader_makes_its_peer_wait() {
    let limits = SessionLimits { buffer_bytes: 64 << 10, ..SessionLimits::default() };
    for responder_kind in [Kind::Tcp, Kind::Local] {
        let between = Between::with([Kind::Tcp, responder_kind], limits);
        let [mut initiator, mut responder] = between.session();
        let most = 4096;
        let message = framed(&[3; 16 << 10]);
        let written = initiator.flood(&message, most);
        assert!(written < most, "64 MB were taken for a reader that reads nothing");
        for number in 0..written {
            assert!(responder.read_exact(message.len()) == message, "message {number}");
        }
        // The other direction was free all the time, and is.
        responder.write(&framed(b"at last"));
        assert_eq!(initiator.read_exact(15), framed(b"at last"));
    }
}
