//! Packets that go nowhere, and under which reason they are counted.

use crate::common::{Client, LINE_LEN_MAX, Sends, Server, drops, passes, passes_as_is, text};
use std::time::Duration;

/// Payload, and the name of its reason in `status.json`.
const DROPPED: &[(&str, &str)] = &[
    ("SRC>APRS,RFONLY,qAR,N5CAL-1:>x", "path_nogate"),
    ("SRC>APRS,NOGATE,qAR,N5CAL-1:>x", "path_nogate"),
    ("SRC>APRS,RFONLY*,qAR,N5CAL-1:>x", "path_nogate"),
    ("SRC>DST,DIGI,qAR,N5CAL-1:}SRC2>DST,DIGI,TCPIP*:>x", "party_3rd_ip"),
    ("SRC>DST,DIGI,qAR,N5CAL-1:}SRC3>DST,DIGI,TCPXX*:>x", "party_3rd_ip"),
    ("SRC>DST,DIGI,qAR,N5CAL-1:?APRS? x", "general_query"),
    ("SRC>DST,DIGI,qAR,N5CAL-1:?WX? x", "general_query"),
    ("SRC>DST,DIGI,qAR,N5CAL-1:?FOOBAR? x", "general_query"),
    ("SRC>DST\x08,DIGI,qAR,N5CAL-1:>x", "inv_dstcall"),
    ("SRC\x08>DST,DIGI,qAR,N5CAL-1:>x", "inv_srccall"),
    (" SRC>DST,DIGI,qAR,N5CAL-1:>x", "inv_srccall"),
    ("\0SRC>DST,DIGI,qAR,N5CAL-1:>x", "inv_srccall"),
    // No destination begins where the longest source ends.
    ("SRCXXXXXXX>APRS,qAR,N5CAL-1:>x", "no_dst"),
    ("SRC>APRSXXXXXX,qAR,N5CAL-1:>x", "inv_dstcall"),
    ("SRC>APRS,OH2DIGI-12,qAR,N5CAL-1:>x", "inv_path_call"),
    ("SRC>APT311,RELAY,WIDE,WIDE/V,qAR,N5CAL-1:!4239.93N/08254.93Wv", "inv_path_call"),
    ("SRC>DST,DIG*I,qAR,N5CAL-1:>x", "inv_path_call"),
    ("SRC>DST,DI\x08GI,qAR,N5CAL-1:>x", "inv_path_call"),
    ("SRC2>DST,DIGI,qAX,N5CAL-1:>x", "q_qax"),
    ("SRC2>DST,DIGI,TCPXX,qAR,N5CAL-1:>x", "disallow_unverified_path"),
    ("SRC2>DST,DIGI,TCPXX*,qAR,N5CAL-1:>x", "disallow_unverified_path"),
    ("SRC2>DST no colon", "no_colon"),
    ("SRC2 no destination:>x", "no_dst"),
    ("SRC>DST,DIGI,qAR,N5CAL-1:DX de OH7LZB: 14021.0 K1JT 0123Z", "disallow_dx"),
    ("SRC>DST,DIGI,qAR,N5CAL-1::javaMSG  :JMSGR 1.2", "disallow_msg_dst"),
    ("SRC>DST,DIGI,qAR,N5CAL-1::JAVATITLE:x", "disallow_msg_dst"),
    ("SRC>DST,DIGI,qAR,N5CAL-1::JAVATITL2:x", "disallow_msg_dst"),
    ("SRC>DST,DIGI,qAR,N5CAL-1::USERLIST :x", "disallow_msg_dst"),
    ("SRC>DST,DIGI,qAR,N5CAL-1::KIPSS    :x", "disallow_msg_dst"),
    // The header of a third party's packet has two hops at least.
    ("SRC>DST,DIGI,qAR,N5CAL-1:}SRC2>DST:>x", "party_3rd_inv"),
    ("SRC>DST,DIGI,qAR,N5CAL-1:}SRC2>DST,ONE*:>x", "party_3rd_inv"),
    ("SRC>DST,DIGI,qAR,N5CAL-1:}SRC2>DST,ONE,WIDE1-:>x", "party_3rd_inv"),
    // An SSID is one or two letters or digits without a leading zero.
    ("SRC>DST,DIGI-0,qAR,N5CAL-1:>x", "inv_path_call"),
    ("SRC>DST,DIGI-01*,qAR,N5CAL-1:>x", "inv_path_call"),
    ("SRC>DST,WIDE1-,qAR,N5CAL-1:>x", "inv_path_call"),
    ("SRC>DST,WIDE1-1-1,qAR,N5CAL-1:>x", "inv_path_call"),
    ("SRC>DST,DIGI-ABC,qAR,N5CAL-1:>x", "inv_path_call"),
    ("SRC>DST,-1,qAR,N5CAL-1:>x", "inv_path_call"),
    ("SRC>DST,DIGI,qAR,GATE-ABC,N5CAL-1:>x", "q_path_call_inv"),
    ("SRC>DST,DIGI,qAR,N5CAL-1,:>x", "q_path_call_inv"),
    ("N0CALL>APRS,qAR,N5CAL-1:>x", "disallow_srccall"),
    ("NOCALL-3>APRS,qAR,N5CAL-1:>x", "disallow_srccall"),
    ("SERVER>APRS,qAR,N5CAL-1:>x", "disallow_srccall"),
];

#[test]
fn each_has_its_reason() {
    let server = Server::basic();
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    let mut rx = Client::login(server.port("full"), "N5CAL-2");
    for (number, (packet, _)) in DROPPED.iter().enumerate() {
        tx.send(format!("{packet} {number}"));
    }
    tx.send("OH2SRC>APRS,OH2DIG-12*,OH2DIG-1*,qAR,200106F8020204020000000000000002,N5CAL-1:>pass");
    let received = rx.packet();
    assert!(received.ends_with(b":>pass"), "{}", text(&received));
    let mut expected = std::collections::BTreeMap::new();
    for (_, reason) in DROPPED {
        *expected.entry(*reason).or_insert(0u64) += 1;
    }
    let mut wrong = Vec::new();
    server.wait_for("all are counted", |status| {
        let counted =
            status["totals"]["pkts_ign"].as_u64().or(status["totals"]["tcp_pkts_ign"].as_u64());
        counted.is_some_and(|count| count >= DROPPED.len() as u64)
    });
    let status = server.status();
    let names = status["rx_errs"].as_array().unwrap();
    let counts = status["totals"]["tcp_rx_errs"].as_array().unwrap();
    for (name, count) in names.iter().zip(counts) {
        let (name, count) = (name.as_str().unwrap(), count.as_u64().unwrap());
        let should = expected.remove(name).unwrap_or(0);
        if count != should {
            wrong.push(format!("{name}: {count} instead of {should}"));
        }
    }
    assert!(wrong.is_empty() && expected.is_empty(), "{wrong:?}, not named: {expected:?}");
}

#[test]
fn nothing_of_an_unverified_client_passes() {
    let server = Server::basic();
    let mut tx = Client::unverified(server.port("igate"), "N5UN-1");
    let mut other = Client::login(server.port("igate"), "N5CAL-1");
    let mut rx = Client::login(server.port("full"), "N5CAL-2");
    for packet in [
        "OH2XXX>APRS,qAR,N5CAL-1:>x",
        "N5UN-1>APRS,qAR,N5UN-1:>x",
        "N5UN-1>APRS,qAR,N5UN-1:!6028.52N/02505.61E# x",
        "N5UN-1>APRS:!6028.52N/02505.61E# y",
    ] {
        tx.send(packet);
    }
    server.wait_for("four are counted", |status| {
        let clients = status["clients"].as_array().unwrap();
        clients.iter().any(|client| client["username"] == "N5UN-1" && client["pkts_rx"] == 4)
    });
    passes_as_is(&mut other, &mut rx, "OH2XXX>APRS,qAR,N5CAL-1:>passes");
}

#[test]
fn sources_that_the_operator_disallows() {
    let server = Server::with("DisallowSourceCall P1RAT* P?ROT*\n");
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    let mut rx = Client::login(server.port("full"), "N5CAL-2");
    for source in ["P1RAT", "P1RATE-3", "P5ROT-1"] {
        drops(&mut tx, &mut rx, format!("{source}>APRS,qAR,N5CAL-1:>x"), "SRC>DST:dummy");
    }
    passes_as_is(&mut tx, &mut rx, "P1RA>APRS,qAR,N5CAL-1:>x");
}

/// 512 octets with CR LF are the most, also of what the server makes.
#[test]
fn long_packets() {
    let server = Server::basic();
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    let mut rx = Client::login(server.port("full"), "N5CAL-2");
    let header = "SRC>APRS,qAR,N5CAL-1:>";
    let longest = format!("{header}{}", "x".repeat(LINE_LEN_MAX - header.len()));
    passes_as_is(&mut tx, &mut rx, &longest);
    drops(&mut tx, &mut rx, format!("{longest}y"), "SRC>DST:dummy");
    // The line is short enough as it comes, and as long as may be, or too long, with its q construct.
    let (header, made) = ("SRC>APRS:>", "SRC>APRS,qAS,N5CAL-1:>");
    let longest = "z".repeat(LINE_LEN_MAX - made.len());
    passes(&mut tx, &mut rx, format!("{header}{longest}"), format!("{made}{longest}"));
    drops(&mut tx, &mut rx, format!("{header}{longest}z"), "SRC>DST:dummy");
    drops(&mut tx, &mut rx, "x".repeat(100_000), "SRC>DST:dummy");
}

#[test]
fn half_a_packet_before_the_end_is_nothing() {
    let server = Server::basic();
    let mut tx = Client::login(server.port("igate"), "N0GAT");
    let mut rx = Client::login(server.port("full"), "N1GAT");
    tx.write("M0SRC>APRS,OH2RDG*,WIDE,qAR,N0GAT:!6028.52N/02505.68E#this packet trunca");
    drop(tx);
    rx.silent(Duration::from_millis(700));
}

#[test]
fn octets_are_passed_as_they_are() {
    let server = Server::basic();
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    let mut rx = Client::login(server.port("full"), "N5CAL-2");
    let mut payload: Vec<u8> =
        (1..=255u8).filter(|octet| !matches!(octet, b'\r' | b'\n')).collect();
    payload.splice(0..0, b"SRC>APRS,qAR,N5CAL-1:>".iter().copied());
    passes_as_is(&mut tx, &mut rx, &payload);
    passes_as_is(&mut tx, &mut rx, "SRC>APRS,qAR,N5CAL-1:>Blää blåå 日本語");
}
