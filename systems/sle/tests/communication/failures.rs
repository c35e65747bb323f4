//! The end of one side, and what the other is told.

use crate::ends::{CONTEXT, Raw, Waiting, framed};
use crate::server::{Between, KINDS, Kind, start};
use chronoscope_sle::communication::{CommunicationError, SessionLimits};
use std::os::unix::net::UnixListener;
use std::sync::{Arc, Mutex};

#[test]
fn a_peer_abort_passes_with_its_diagnostic() {
    for kinds in KINDS {
        for is_initiators in [true, false] {
            let between = Between::new(kinds);
            let [mut initiator, mut responder] = between.session();
            let (from, to) = match is_initiators {
                true => (&mut initiator, &mut responder),
                false => (&mut responder, &mut initiator),
            };
            from.abort(7);
            to.expect_abort(7);
            to.close();
            from.expect_end();
            let outcome = between.outcome();
            assert!(outcome.contains("aborted, diagnostic 7"), "{kinds:?}: {outcome}");
        }
    }
}

/// A process that dies is a PEER-ABORT for its peer, whichever side it was on.
#[test]
fn the_death_of_a_side_is_said_to_the_other() {
    for kinds in KINDS {
        let between = Between::new(kinds);
        let [initiator, mut responder] = between.session();
        initiator.die();
        responder.expect_abort(199);
        drop(responder);
        assert!(between.outcome().contains("the initiator: connection: "), "{kinds:?}");

        let between = Between::new(kinds);
        let [mut initiator, responder] = between.session();
        responder.die();
        initiator.expect_abort(199);
        drop(initiator);
        assert!(between.outcome().contains("the responder: connection: "), "{kinds:?}");
    }
}

/// What is no ISP1 reaches no application, and is answered by a reset, as it is directly.
#[test]
fn garbage_reaches_nobody() {
    for garbage in [&b"GET / HTTP/1.1\r\nHost: sle\r\n\r\n"[..], &[0xff; 64], &framed(b"early")] {
        let between = Between::new([Kind::Tcp, Kind::Local]);
        let mut initiator = Raw::connect(&between.address());
        initiator.write(garbage);
        assert_eq!(initiator.rest(), None);
        assert!(between.outcome().contains("the first message is no context message"));
        assert!(!between.responder.was_reached());
    }
}

/// Garbage within a session: its sender gets the fault's diagnostic, and so does the other.
#[test]
fn garbage_within_a_session_ends_it_for_both() {
    for kinds in KINDS {
        for is_initiators in [true, false] {
            let between = Between::new(kinds);
            let [mut initiator, mut responder] = between.session();
            let (from, to) = match is_initiators {
                true => (&mut initiator, &mut responder),
                false => (&mut responder, &mut initiator),
            };
            from.write(&[&framed(b"good")[..], b"\x09bad octets"].concat());
            to.expect_abort_behind(&framed(b"good"), 129);
            from.expect_abort(129);
            drop((initiator, responder));
            let outcome = between.outcome();
            assert!(outcome.contains("has the type 0x09626164"), "{kinds:?}: {outcome}");
        }
    }
}

#[test]
fn an_announced_gigabyte_is_refused() {
    let between = Between::new([Kind::Tcp, Kind::Local]);
    let [mut initiator, mut responder] = between.session();
    initiator.write(&[1, 0, 0, 0, 0x40, 0, 0, 0]);
    responder.expect_abort(129);
    initiator.expect_abort(129);
}

#[test]
fn a_responder_that_is_not_there_is_said() {
    for kinds in KINDS {
        let between = Between::new(kinds);
        let address = between.address();
        let Between { server: _server, responder, folder, .. } = between;
        drop(responder);
        let _ = std::fs::remove_file(folder.path().join("responder.sock"));
        let mut initiator = Raw::connect(&address);
        initiator.write(&CONTEXT);
        initiator.expect_abort(199);
    }
}

#[test]
fn the_end_of_the_server_is_a_peer_abort_for_both() {
    for kinds in KINDS {
        let mut between = Between::new(kinds);
        let [mut initiator, mut responder] = between.session();
        let ends = std::thread::spawn(move || {
            between.server.end();
            between
        });
        initiator.expect_abort(2);
        responder.expect_abort(2);
        drop((initiator, responder));
        let between = ends.join().unwrap();
        assert!(between.outcome().contains("the communication server ends"));
        assert_eq!(between.server.relayed().1, 1);
    }
}

/// A path where a server was killed is taken over; one where another listens is not.
#[test]
fn a_local_link_is_taken_over_from_the_dead_only() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("link.sock");
    // A dropped listener leaves its file behind, as a killed process does.
    drop(UnixListener::bind(&path).unwrap());
    let responder = Waiting::tcp();
    let route = format!("unix:{}={}", path.display(), responder.address());
    let log = Arc::new(Mutex::new(Vec::new()));
    let server = start(&[&route], SessionLimits::default(), &log);
    let settings = chronoscope_sle::communication::CommunicationSettings {
        routes: vec![route.parse().unwrap()],
        options: Default::default(),
        sessions: 4,
        limits: SessionLimits::default(),
    };
    let none = chronoscope_sle::provider::ProviderLog::none();
    let second = chronoscope_sle::communication::CommunicationServer::start(&settings, none);
    let Err(CommunicationError::Listener(error)) = second else { panic!("{second:?}") };
    assert!(error.to_string().contains("link.sock"), "{error}");
    let mut initiator = Raw::connect(&format!("unix:{}", path.display()));
    initiator.write(&[&CONTEXT[..], &framed(b"there")].concat());
    let mut reached = responder.accept();
    assert_eq!(reached.read_exact(33)[20..], framed(b"there"));
    drop(server);
    assert!(!path.exists(), "a server that ends removes its link");
}
