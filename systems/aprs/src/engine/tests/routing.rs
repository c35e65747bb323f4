//! Tests of routing: the receivers of a packet.

use super::world::*;
use crate::engine::{DatagramPort, Input};
use crate::passcode;
use crate::status::Posted;

#[test]
fn a_packet_goes_to_full_feeds_but_not_back() {
    let mut world = World::new();
    let sender = world.client(FULL, "OH7AA", "");
    let reader = world.client(FULL, "OH7BB", "");
    world.says(sender, "OH7AA>APRS,TCPIP*:>hello");
    assert_eq!(world.packets(reader), ["OH7AA>APRS,TCPIP*,qAC,TESTING:>hello"]);
    assert_eq!(world.packets(sender), [""; 0]);
    world.says(reader, "OH7BB>APRS,TCPIP*:>back");
    world.says(sender, "OH7AA>APRS,TCPIP*:>again");
    assert_eq!(world.packets(sender), ["OH7BB>APRS,TCPIP*,qAC,TESTING:>back"]);
    assert_eq!(world.packets(reader), ["OH7AA>APRS,TCPIP*,qAC,TESTING:>again"]);
    let row = world.row(reader);
    assert_eq!((row.traffic.packets_rx, row.traffic.packets_tx), (1, 2));
}

#[test]
fn a_filter_decides_and_can_be_changed() {
    let mut world = World::new();
    let sender = world.client(FULL, "OH7AA", "");
    let reader = world.client(IGATE, "OH7BB", "filter p/OH7");
    world.says(sender, "OH7AA>APRS,TCPIP*:>one");
    world.says(sender, "OH2XY>APRS,qAR,OH7AA:>two");
    assert_eq!(world.packets(reader), ["OH7AA>APRS,TCPIP*,qAC,TESTING:>one"]);
    world.says(reader, "# xxFilter p/OH2");
    assert_eq!(world.hears(reader), "# filter p/OH2 active\r\n");
    world.says(sender, "OH7AA>APRS,TCPIP*:>three");
    world.says(sender, "OH2XY>APRS,qAR,OH7AA:>four");
    assert_eq!(world.packets(reader), ["OH2XY>APRS,qAR,OH7AA:>four"]);
    world.says(reader, "#filter default");
    world.says(sender, "OH2XY>APRS,qAR,OH7AA:>five");
    assert_eq!(world.packets(reader), [""; 0]);
}

#[test]
fn a_ports_filter_is_there_beside_the_clients_own() {
    let mut world = World::new();
    let sender = world.client(FULL, "AA7AA", "");
    let reader = world.client(FORCED, "BB7BB", "filter b/KK1K");
    for source in ["OH1A", "KK1K", "ZZ1Z"] {
        world.says(sender, &format!("{source}>APRS,qAR,AA7AA:>x"));
    }
    let expected = ["OH1A>APRS,qAR,AA7AA:>x", "KK1K>APRS,qAR,AA7AA:>x"];
    assert_eq!(world.packets(reader), expected);
}

#[test]
fn duplicates_go_to_duplicate_feeds_alone() {
    let mut world = World::new();
    let sender = world.client(IGATE, "OH7AA", "");
    let reader = world.client(FULL, "OH7BB", "");
    let duplicates = world.client(DUPES, "OH7CC", "");
    let packet = "SRC>DST,qAR,OH7AA:foo";
    world.says(sender, packet);
    world.says(sender, packet);
    world.says(duplicates, "XX1X>DST:ignored");
    assert_eq!(world.packets(reader), [packet]);
    assert_eq!(world.packets(duplicates), [format!("dup\t{packet}")]);
    let status = world.server.status(world.now);
    assert_eq!((status.dupes.uniques, status.dupes.duplicates), (1, 1));
    assert_eq!(world.row(sender).traffic.duplicates, 1);
    assert_eq!(status.listeners[IGATE].traffic.duplicates, 1);
}

#[test]
fn a_copy_that_comes_before_a_stations_own_packet_does_not_make_that_a_duplicate() {
    let mut world = World::new();
    let reader = world.client(FULL, "OH7BB", "");
    let station = world.client(IGATE, "OH7LOCAL", "");
    let core = world.uplink(0, "CORE1");
    world.says(core, "OH7LOCAL>APRS,OH2RDG*,qAR,IGATE:>mine");
    assert_eq!(world.packets(reader), [""; 0]);
    world.says(station, "OH7LOCAL>APRS,TCPIP*:>mine");
    assert_eq!(world.packets(reader), ["OH7LOCAL>APRS,TCPIP*,qAC,TESTING:>mine"]);
    assert_eq!(world.row(core).traffic.duplicates, 1);
    assert_eq!(world.row(station).traffic.duplicates, 0);
}

#[test]
fn uplinks_get_what_comes_from_clients_alone() {
    let mut world = World::new();
    let client = world.client(FULL, "N5CAL-1", "");
    let core = world.uplink(0, "CORE1");
    let read_only = world.uplink(1, "CORE2");
    world.says(core, "SRC>DST,qAR,IGATE:upstream to client");
    world.says(client, "SRC>DST,qAR,N5CAL-1:from client");
    world.says(read_only, "SRC>DST,qAR,IGATE:from the other");
    let peer = Input::PeerDatagram {
        group: 0,
        from: address("127.0.0.1:16405"),
        bytes: b"SRC>DST,qAR,IGATE:core peer to client\r\nleft out",
    };
    world.worker.input(world.now, peer, &mut world.out);
    assert_eq!(
        world.packets(client),
        [
            "SRC>DST,qAR,IGATE:upstream to client",
            "SRC>DST,qAR,IGATE:from the other",
            "SRC>DST,qAR,IGATE:core peer to client"
        ]
    );
    assert_eq!(world.packets(core), ["SRC>DST,qAR,N5CAL-1:from client"]);
    assert_eq!(world.packets(read_only), [""; 0]);
    let to_peers: Vec<_> =
        world.out.sent.iter().map(|(port, to, line)| (*port, to.port(), &line[..])).collect();
    let line = &b"SRC>DST,qAR,N5CAL-1:from client"[..]; // the datagram ends the line
    let group = DatagramPort::PeerGroup(0);
    assert_eq!(to_peers, [(group, 16405, line), (group, 16406, line)]);
}

#[test]
fn strangers_are_no_peers() {
    let mut world = World::new();
    let client = world.client(FULL, "N5CAL-1", "");
    let stranger = Input::PeerDatagram {
        group: 0,
        from: address("127.0.0.2:16405"),
        bytes: b"SRC>DST,qAR,IGATE:hello",
    };
    world.worker.input(world.now, stranger, &mut world.out);
    assert_eq!(world.packets(client), [""; 0]);
}

#[test]
fn a_client_that_asked_for_udp_gets_datagrams() {
    let mut world = World::new();
    let sender = world.client(IGATE, "OH7AA", "");
    let reader = world.client(FULL, "OH7BB", "udp 9000");
    let refused = world.client(IGATE, "OH7CC", "");
    world.says(sender, "SRC>DST,qAR,OH7AA:one");
    assert_eq!(world.packets(reader), [""; 0]);
    let (port, to, line) = &world.out.sent[0];
    assert_eq!((*port, to.port()), (DatagramPort::Listener(FULL_UDP), 9000));
    assert_eq!(line, b"SRC>DST,qAR,OH7AA:one", "the datagram ends the line");
    assert!(world.row(reader).udp && !world.row(refused).udp);
    let conn = world.open(IGATE);
    world.hears(conn);
    world.says(conn, "user OH7DD pass -1 vers test 1 udp 9000");
    assert!(world.hears(conn).starts_with("# No UDP service available on this port\r\n"));
}

#[test]
fn submissions_need_a_passcode() {
    let mut world = World::new();
    let reader = world.client(FULL, "OH7BB", "");
    let from = address("192.0.2.7:4000");
    let code = passcode::of(b"TEST");
    for (call, code, packet) in [
        ("TEST", code, "TEST>UDAPRS,TCPIP*:>one"),
        ("TEST", code, "TEST>UDAPRS:>two\r\n"),
        ("TEST", code + 1, "TEST>UDAPRS:>three"),
        ("P1RATE", passcode::of(b"P1RATE"), "P1RATE>UDAPRS:>four"),
    ] {
        let bytes = format!("user {call} pass {code} vers prog 1.0\r\n{packet}");
        let bytes = bytes.as_bytes();
        let submitted = Input::Datagram { listener: SUBMIT, from, bytes };
        world.worker.input(world.now, submitted, &mut world.out);
        let elsewhere = Input::Datagram { listener: FULL_UDP, from, bytes };
        world.worker.input(world.now, elsewhere, &mut world.out);
    }
    let expected = ["TEST>UDAPRS,TCPIP*,qAU,TESTING:>one", "TEST>UDAPRS,TCPIP*,qAU,TESTING:>two"];
    assert_eq!(world.packets(reader), expected);
}

#[test]
fn an_upload_is_answered() {
    let mut world = World::new();
    let reader = world.client(FULL, "OH7BB", "");
    let code = passcode::of(b"TEST");
    let mut post = |body: &str| {
        let from = address("192.0.2.7:4000");
        let posted = Input::Posted { from, bytes: body.as_bytes() };
        world.worker.input(world.now, posted, &mut world.out);
        world.worker.posted().unwrap()
    };
    let login = format!("user TEST pass {code} vers x 1\r\n");
    assert_eq!(post(&format!("{login}TEST>APRS,TCPIP*:>up\r\n")), Posted::Accepted);
    assert_eq!(post(&login), Posted::TooShort);
    assert_eq!(post("hello\r\nTEST>APRS:>x"), Posted::InvalidLogin);
    assert_eq!(post("user TEST pass 1\r\nTEST>APRS:>x"), Posted::NotVerified);
    assert_eq!(post(&format!("{login}no packet is in here")), Posted::Dropped("no_colon"));
    assert_eq!(world.packets(reader), ["TEST>APRS,TCPIP*,qAC,TESTING:>up"]);
}

#[test]
fn why_a_packet_was_dropped_is_known_by_client_and_source() {
    let mut world = World::new();
    let sender = world.client(IGATE, "OH7AA", "");
    world.client(IGATE, "OH7LOCAL", "");
    world.says(sender, "OH7XX>APRS,NOGATE,qAR,OH7AA:>no");
    world.says(sender, "B4DGUY>APRS,qAR,OH7AA:>no");
    world.says(sender, "OH7LOCAL>APRS,OH7AA,I:>mine");
    world.says(sender, &"x".repeat(600));
    let row = world.row(sender);
    assert_eq!((row.traffic.packets_rx, row.traffic.dropped), (4, 3));
    let answer = world.server.why(b"OH7XX", 10);
    assert_eq!(answer.as_source.by_reason, [("path_nogate", 1)]);
    let answer = world.server.why(b"OH7LOCAL", 10);
    assert_eq!(answer.as_source.by_reason, [("srccall_is_local", 1)], "counted once");
    let reasons = world.server.why(b"OH7AA", 10).as_client.by_reason;
    for reason in ["path_nogate", "disallow_srccall", "long_packet"] {
        assert!(reasons.contains(&(reason, 1)), "{reason} in {reasons:?}");
    }
    assert_eq!(world.server.status(world.now).tcp.dropped, 3);
}

#[test]
fn who_may_not_send_is_not_heard() {
    let mut world = World::new();
    let reader = world.client(FULL, "OH7BB", "");
    let unverified = world.open(IGATE);
    world.says(unverified, "user OH7AA pass -1 vers x 1");
    world.says(unverified, "OH7AA>APRS,TCPIP*:>hello");
    world.says(unverified, "OH7AA>APRS,NOGATE,qAC,OH7AA:>not from you at all");
    assert_eq!(world.packets(reader), [""; 0]);
    let reasons = world.server.why(b"OH7AA", 9).as_client.by_reason;
    assert_eq!(reasons, [("disallow_unverified", 1), ("path_nogate", 1)]);
    let only = world.client(CLIENT_ONLY, "OH7CC", "");
    world.says(only, "OH7CC>APRS,TCPIP*:>own");
    world.says(only, "OH7DD>APRS,OH7CC,I:>of another");
    let expected = ["OH7CC>APRS,TCPIP*,qAC,TESTING:>own", "OH7DD>APRS,qAo,OH7CC:>of another"];
    assert_eq!(world.packets(reader), expected);
}

#[test]
fn a_disallowed_igate_brings_nothing_in() {
    let mut world = World::new();
    let sender = world.client(FULL, "OH7AA", "");
    let reader = world.client(FULL, "OH7BB", "");
    world.says(sender, "SRC>DST,BADGATE*,qAR,GATE,OH7AA:one");
    world.says(sender, "SRC>DST,qAR,badgate,OH7AA:two");
    assert_eq!(world.packets(reader), ["SRC>DST,BADGATE*,qAR,GATE,OH7AA:one"]);
    assert_eq!(world.server.why(b"SRC", 9).as_source.by_reason, [("disallow_igate", 1)]);
}
