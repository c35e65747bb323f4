//! Messages find the igate that heard their addressee.

use crate::common::{Client, Sends, Server, drops, passes, text};

const NEAR: &str = "!6028.51N/02505.68E#";
const FILTER: &str = "r/60.4752/25.0947/1";

fn gates(server: &Server) -> (Client, Client) {
    let tx = Client::filtered(server.port("igate"), "N0GATE", FILTER);
    (tx, Client::filtered(server.port("igate"), "N1GATE", FILTER))
}

/// As it is sent, and as it is passed on.
fn by(login: &str, source: &str, payload: &str) -> (String, String) {
    let path = "APRS,OH2RDG*,WIDE";
    (
        format!("{source}>{path},{login},I:{payload}"),
        format!("{source}>{path},qAR,{login}:{payload}"),
    )
}

fn message(to: &str, text: &str) -> String {
    format!(":{to:9}:{text}")
}

const HELPER: &str = "H1LP>APRS,OH2RDG*,WIDE:!6028.51N/02505.68E# helper";

#[test]
fn to_the_login_s_own_call() {
    let server = Server::basic();
    let mut tx = Client::login(server.port("igate"), "N0GATE");
    let mut rx = Client::login(server.port("igate"), "N1GATE");
    let (sent, expected) = by("N0GATE", "M1SRC", &message("N1GATE", "hello{1"));
    passes(&mut tx, &mut rx, sent, expected);
}

#[test]
fn to_a_station_that_the_igate_heard() {
    let server = Server::basic();
    let (mut tx, mut rx) = gates(&server);
    let (sent, expected) = by("N0GATE", "M1SRC", &message("M1DST", "message"));
    drops(&mut tx, &mut rx, sent, HELPER);
    let (position, _) = by("N0GATE", "M1SRC", "!6428.51N/02545.98E#");
    drops(&mut tx, &mut rx, position, HELPER);
    for station in ["M1DST-2", "M1DST", "M1DST-3"] {
        let (sent, expected) = by("N1GATE", station, NEAR);
        passes(&mut rx, &mut tx, sent, expected);
    }
    let other = "message once more{1d";
    for payload in [message("M1DST", other), message("M1DST", "Blää  blåå 日本語{1d")] {
        let (sent, expected) = by("N0GATE", "M1SRC", &payload);
        passes(&mut tx, &mut rx, sent, expected);
    }
    // Another SSID is another station.
    let (sent, _) = by("N0GATE", "M1SRC", &message("M1DST-5", "with SSID{a"));
    drops(&mut tx, &mut rx, sent, HELPER);
    drop(expected);
}

/// The first position of a message's source within 30 minutes follows the message.
#[test]
fn the_position_of_who_wrote_follows_once() {
    let server = Server::basic();
    let (mut tx, mut rx) = gates(&server);
    let (sent, expected) = by("N1GATE", "M1DST", NEAR);
    passes(&mut rx, &mut tx, sent, expected);
    let (sent, expected) = by("N0GATE", "M1SRC", &message("M1DST", "message"));
    passes(&mut tx, &mut rx, sent, expected);
    let (sent, expected) = by("N0GATE", "M1SRC", "!5528.51N/00505.68E# first");
    passes(&mut tx, &mut rx, sent, expected);
    let (sent, _) = by("N0GATE", "M1SRC", "!5628.51N/00505.68E# second");
    drops(&mut tx, &mut rx, sent, HELPER);
    // The igate that heard the source learns that it is on the internet, too.
    let direct = "M1SRC>APRS,TCPIP*,qAC,M1SRC:!5528.51N/00505.68E# direct";
    passes(&mut rx, &mut tx, direct, direct);
}

#[test]
fn objects_and_items_get_no_messages() {
    let server = Server::basic();
    let (mut tx, mut rx) = gates(&server);
    let object = ";OBJDST   *111111z6028.51N/02505.68Ercomment";
    for (name, payload) in [("OBJDST", object), ("ITEDST", ")ITEDST!6028.51N/02505.68Ercomment")] {
        let (sent, expected) = by("N1GATE", "M1DST", payload);
        passes(&mut rx, &mut tx, sent, expected);
        let (sent, _) = by("N0GATE", "M1SRC", &message(name, "to something"));
        drops(&mut tx, &mut rx, sent, HELPER);
    }
}

#[test]
fn every_igate_that_heard_gets_the_message() {
    let server = Server::basic();
    let (mut tx, mut rx) = gates(&server);
    let mut rx2 = Client::filtered(server.port("igate"), "N2GATE", FILTER);
    let (sent, expected) = by("N1GATE", "M1DST", &format!("{NEAR} first"));
    passes(&mut rx, &mut tx, sent, &expected);
    assert_eq!(text(&rx2.packet()), expected);
    // Heard by the second too: it comes to the first by its filter.
    let expected = "M1DST>APRS,OH2RDG*,WIDE,qAr,N1GATE:!6028.51N/02505.68E# second";
    rx2.send("M1DST>APRS,OH2RDG*,WIDE,N1GATE,I:!6028.51N/02505.68E# second");
    assert_eq!(text(&rx.packet()), expected);
    assert_eq!(text(&tx.packet()), expected);
    let (sent, expected) = by("N0GATE", "M1SRC", &message("M1DST", "two gates"));
    tx.send(sent);
    assert_eq!(text(&rx.packet()), expected);
    assert_eq!(text(&rx2.packet()), expected);
}

/// What is on the internet already was not heard by radio.
#[test]
fn a_station_of_the_internet_was_not_heard() {
    let server = Server::basic();
    let (mut tx, mut rx) = gates(&server);
    let position = "M1DST>APRS,TCPIP*,qAC,N1GATE:!6028.51N/02505.68E#";
    passes(&mut rx, &mut tx, position, position);
    let (sent, _) = by("N0GATE", "M1SRC", &message("M1DST", "message"));
    drops(&mut tx, &mut rx, sent, HELPER);
}
