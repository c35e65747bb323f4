//! The duplicate check: 30 seconds, source, destination without SSID, payload, and the ways in which
//! other programs are known to mangle payloads.

use crate::common::{Client, Sends, Server, drops, passes, passes_as_is};

fn sender_and_receiver(server: &Server) -> (Client, Client) {
    (Client::login(server.port("igate"), "N5CAL-1"), Client::login(server.port("full"), "N5CAL-2"))
}

#[test]
fn the_same_packet_again_is_dropped() {
    let server = Server::basic();
    let (mut tx, mut rx) = sender_and_receiver(&server);
    passes_as_is(&mut tx, &mut rx, "SRC>DST,qAR,N5CAL-1:foo");
    drops(&mut tx, &mut rx, "SRC>DST,qAR,N5CAL-1:foo", "SRC>DST:dummy");
}

#[test]
fn path_q_construct_and_destination_ssid_do_not_tell_packets_apart() {
    let server = Server::basic();
    let (mut tx, mut rx) = sender_and_receiver(&server);
    passes_as_is(&mut tx, &mut rx, "SRC>DST,qAR,N5CAL-1:foo");
    for again in
        ["SRC>DST,DIGI1*,qAR,N5CAL-1:foo", "SRC>DST,N5CAL-1,I:foo", "SRC>DST-2,N5CAL-1,I:foo"]
    {
        drops(&mut tx, &mut rx, again, "SRC>DST:dummy");
    }
}

#[test]
fn source_destination_and_payload_do() {
    let server = Server::basic();
    let (mut tx, mut rx) = sender_and_receiver(&server);
    passes_as_is(&mut tx, &mut rx, "SRC>DST,qAR,N5CAL-1:foo");
    passes_as_is(&mut tx, &mut rx, "src>DST,qAR,N5CAL-1:foo");
    passes_as_is(&mut tx, &mut rx, "SRC-1>DST,qAR,N5CAL-1:foo");
    passes_as_is(&mut tx, &mut rx, "SRC>DST2,DIGI1*,qAR,N5CAL-1:foo");
    passes_as_is(&mut tx, &mut rx, "SRC>DST,qAR,N5CAL-1:Foo");
    let two_blanks = "SRC>DST,N5CAL-1,I:foo  ";
    passes(&mut tx, &mut rx, two_blanks, "SRC>DST,qAR,N5CAL-1:foo  ");
}

#[test]
fn a_duplicate_of_another_client_is_dropped() {
    let server = Server::basic();
    let (mut tx, mut rx) = sender_and_receiver(&server);
    let mut other = Client::login(server.port("igate"), "N5CAL-3");
    passes_as_is(&mut tx, &mut rx, "SRC>DST,qAR,N5CAL-1:foo");
    drops(&mut other, &mut rx, "SRC>DST,qAR,N5CAL-3:foo", "SRC>DST:dummy");
}

/// What another program makes of a packet is dropped after the packet itself.
#[test]
fn mangled_forms_are_duplicates() {
    let server = Server::basic();
    let (mut tx, mut rx) = sender_and_receiver(&server);
    let forms: &[(&str, &[u8], &[u8])] = &[
        ("trailing blanks cut", b">trimmed  ", b">trimmed"),
        ("8-bit characters cut", b">caf\xc3\xa9 x", b">caf x"),
        ("8th bit cleared", b">caf\xc3\xa9 y", b">cafC) y"),
        ("8-bit characters are blanks", b">caf\xc3\xa9 z", b">caf   z"),
        ("control characters cut", b">low\x01er 1", b">lower 1"),
        ("control characters are blanks", b">low\x01er 2", b">low er 2"),
        ("DEL cut", b">del\x7fete 1", b">delete 1"),
        ("DEL is a blank", b">del\x7fete 2", b">del ete 2"),
    ];
    for (what, sent, mangled) in forms {
        eprintln!("{what}");
        let header: &[u8] = b"SRC>DST,qAR,N5CAL-1:";
        passes_as_is(&mut tx, &mut rx, [header, *sent].concat());
        drops(&mut tx, &mut rx, [header, *mangled].concat(), "SRC>DST:dummy");
    }
}

#[test]
fn duplicates_come_out_of_the_dupe_feed_alone() {
    let server = Server::basic();
    let (mut tx, mut rx) = sender_and_receiver(&server);
    let mut dupes = Client::login(server.port("dupes"), "DUPS");
    passes_as_is(&mut tx, &mut rx, "SRC>DST,qAR,N5CAL-1:foo");
    drops(&mut tx, &mut rx, "SRC>DST,qAR,N5CAL-1:foo", "SRC>DST:dummy");
    assert_eq!(dupes.packet(), b"dup\tSRC>DST,qAR,N5CAL-1:foo");
    tx.send("SRC>DST,qAR,N5CAL-1:foo");
    assert_eq!(dupes.packet(), b"dup\tSRC>DST,qAR,N5CAL-1:foo");
}

#[test]
fn duplicates_are_counted() {
    let server = Server::basic();
    let (mut tx, mut rx) = sender_and_receiver(&server);
    passes_as_is(&mut tx, &mut rx, "SRC>DST,qAR,N5CAL-1:foo");
    for _ in 0..3 {
        drops(&mut tx, &mut rx, "SRC>DST,qAR,N5CAL-1:foo", "SRC>DST:dummy");
    }
    server.wait_for("three duplicates", |status| status["dupecheck"]["dupes_dropped"] == 3);
}
