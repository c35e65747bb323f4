//! Octets that are no ISP1, or ISP1 that is wrong, at a running provider.

use crate::peer::{CONTEXT, End, FORWARD, Peer, bind, framed, start};
use crate::station::{Neighbour, Station};
use chronoscope_clock as clock;
use chronoscope_sle::association::BIND_BYTES_MAX;
use chronoscope_sle::pdu::{Pdu, PeerAbortDiagnostic};
use std::time::Duration;

/// A header of a PDU.
fn announced(octets: u32) -> Vec<u8> {
    [&[1, 0, 0, 0][..], &octets.to_be_bytes()].concat()
}

fn after_context(octets: &[u8]) -> Vec<u8> {
    [&CONTEXT[..], octets].concat()
}

#[test]
fn what_is_no_isp1_is_answered_as_the_book_has_it() {
    let station = Station::new();
    let neighbour = Neighbour::start(&station);
    let mut other_protocol = CONTEXT;
    other_protocol[8..12].copy_from_slice(b"ISP2");
    let mut other_version = CONTEXT;
    other_version[15] = 9;
    let mut long_context = CONTEXT;
    long_context[7] = 13;
    let mut dead_factor_of_none = CONTEXT;
    dead_factor_of_none[19] = 0;
    let cases: [(&str, Vec<u8>, End); 16] = [
        ("zeros", vec![0; 64], End::Reset),
        ("noise", (0..255).rev().cycle().take(5000).collect(), End::Reset),
        ("HTTP", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(), End::Reset),
        ("TLS", b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03".to_vec(), End::Reset),
        ("a PDU before the context message", framed(b"early"), End::Reset),
        ("a heartbeat before it", vec![3, 0, 0, 0, 0, 0, 0, 0], End::Reset),
        ("another protocol", other_protocol.to_vec(), End::Reset),
        ("another version", other_version.to_vec(), End::Reset),
        ("a long context message", [&long_context[..], &[0; 9]].concat(), End::Reset),
        ("a dead factor of 0", dead_factor_of_none.to_vec(), End::Abort(130)),
        ("two context messages", after_context(&CONTEXT), End::Abort(128)),
        ("a type that there is not", after_context(&[9, 0, 0, 0, 0, 0, 0, 1, 5]), End::Abort(129)),
        ("a heartbeat with contents", after_context(&[3, 0, 0, 0, 0, 0, 0, 1]), End::Abort(129)),
        ("an empty PDU", after_context(&announced(0)), End::Abort(129)),
        ("4 GiB announced", after_context(&announced(u32::MAX)), End::Abort(129)),
        (
            "more than a BIND announced",
            after_context(&announced(BIND_BYTES_MAX + 1)),
            End::Abort(129),
        ),
    ];
    for (name, octets, end) in cases {
        let mut peer = Peer::silent(station.address());
        peer.octets(&octets);
        assert_eq!(peer.end(), (vec![], end), "{name}");
    }
    neighbour.noticed_nothing();
}

/// Nested until nothing is left, counted until nothing fits, as long as a BIND may be.
#[test]
fn ber_that_is_a_bomb_is_an_encoding_error() {
    let station = Station::new();
    let neighbour = Neighbour::start(&station);
    let most = BIND_BYTES_MAX as usize;
    let bombs: [(&str, Vec<u8>); 9] = [
        ("nested, indefinite", [0xbf, 0x64, 0x80].into_iter().cycle().take(most).collect()),
        ("nested, sequences", [0x30, 0x80].into_iter().cycle().take(most).collect()),
        ("nested, definite", [0x30, 0x82, 0x3f, 0xf0].into_iter().cycle().take(most).collect()),
        ("a length of 2^64", vec![0x30, 0x88, 255, 255, 255, 255, 255, 255, 255, 255]),
        ("a length of 126 octets", [&[0x30, 0xfe][..], &[1; 126]].concat()),
        ("a tag without an end", [0xbf].into_iter().chain([0xff; 4000]).collect()),
        ("ends of contents", vec![0; most]),
        (
            "a million values",
            [0xa0, 0x80].into_iter().chain([5, 0].into_iter().cycle()).take(most).collect(),
        ),
        ("nothing that is BER", vec![0xff; most]),
    ];
    let bound = |peer: &mut Peer| {
        let answer = peer.bind(&format!("{FORWARD}cltu1"));
        assert!(matches!(answer, Pdu::BindReturn(answer) if answer.result.is_ok()));
    };
    for (name, bomb) in bombs {
        for is_bound in [false, true] {
            let mut peer = Peer::user(station.address());
            if is_bound {
                bound(&mut peer);
            }
            peer.octets(&framed(&bomb));
            let (_, end) = peer.end();
            // Before BIND, what is not even its tag is no operation for that state.
            let wrong = [PeerAbortDiagnostic::EncodingError, PeerAbortDiagnostic::ProtocolError]
                .map(|diagnostic| End::Abort(diagnostic.octet()));
            assert!(end == wrong[0] || !is_bound && end == wrong[1], "{name}: {end:?}");
        }
        station.serves("cltu1");
    }
    neighbour.noticed_nothing();
}

#[test]
fn who_says_nothing_or_ever_so_slowly_has_until_the_startup_time() {
    let station = Station::with("[transport]\nstartup_s = 2\n", "");
    let neighbour = Neighbour::start(&station);
    let mut silent = Peer::silent(station.address());
    let mut polite = Peer::user(station.address());
    let mut dripping = Peer::silent(station.address());
    let slow = dripping.stream.try_clone().unwrap();
    let drip = std::thread::spawn(move || {
        let mut peer = Peer::new(slow, chronoscope_sle::pdu::AssociationRole::User);
        let bind = framed(&peer.encoded(None, Pdu::Bind(bind(&format!("{FORWARD}cltu1")))));
        let mut octets = CONTEXT.into_iter().chain(bind);
        // Heartbeats come before the time is over, and a BIND that never ends.
        while let Some(octet) = octets.next()
            && peer.try_octets(&[octet])
        {
            clock::sleep(Duration::from_millis(50));
        }
    });
    assert_eq!(silent.end(), (vec![], End::Reset));
    assert_eq!(polite.end(), (vec![], End::Reset));
    // Of a reset whoever comes first is told, reader or writer; for the other it is an end.
    let (_, end) = dripping.end();
    assert!(end == End::Reset || end == End::Closed, "{end:?}");
    drip.join().unwrap();
    neighbour.noticed_nothing();
}

/// Slow, but in time: the header of a PDU octet by octet is a PDU.
#[test]
fn a_bind_in_drips_is_a_bind() {
    let station = Station::new();
    let mut peer = Peer::silent(station.address());
    let instance = format!("{FORWARD}cltu1");
    peer.codec.service = chronoscope_sle::pdu::ServiceType::Fcltu;
    let bind = framed(&peer.encoded(None, Pdu::Bind(bind(&instance))));
    for octet in CONTEXT.into_iter().chain(bind) {
        peer.octets(&[octet]);
    }
    assert!(matches!(peer.hear(), Pdu::BindReturn(answer) if answer.result.is_ok()));
    peer.say(start());
    assert!(matches!(peer.hear(), Pdu::StartReturn { result: Ok(_), .. }));
}

/// An urgent octet may come anywhere: it ends the association, and the instance is free.
#[test]
fn urgent_octets_anywhere_end_that_association_alone() {
    let station = Station::new();
    let neighbour = Neighbour::start(&station);
    let bind = {
        let peer = Peer::silent(station.address());
        framed(&peer.encoded(None, Pdu::Bind(bind(&format!("{FORWARD}cltu1")))))
    };
    let whole = [&CONTEXT[..], &bind].concat();
    for (cut, octet) in [(0, 0), (3, 1), (20, 2), (23, 3), (30, 255), (whole.len(), 127)] {
        let mut peer = Peer::silent(station.address());
        peer.octets(&whole[..cut]);
        peer.urgent(octet);
        let (_, end) = peer.end();
        assert_eq!(end, End::Closed, "at octet {cut}");
        station.serves("cltu1");
    }
    neighbour.noticed_nothing();
}
