//! Connections to other servers.

use crate::common::{Client, Sends, Server, Upstream, drops, loopback, passes_as_is, text};
use std::time::Duration;

#[test]
fn a_full_uplink_gets_what_comes_from_clients() {
    let upstream = Upstream::new("CORE1");
    let server = Server::with(&upstream.directive("full"));
    let (mut up, login) = upstream.login();
    assert!(login.starts_with("user TESTING pass 31421 vers "), "{login}");
    let mut first = Client::login(server.port("full"), "N5CAL-1");
    let mut second = Client::login(server.port("full"), "N5CAL-2");
    passes_as_is(&mut up, &mut first, "SRC>DST,qAR,IGATE:down");
    assert_eq!(text(&second.packet()), "SRC>DST,qAR,IGATE:down");
    passes_as_is(&mut first, &mut up, "SRC>DST,qAR,N5CAL-1:up");
    assert_eq!(text(&second.packet()), "SRC>DST,qAR,N5CAL-1:up");
    // What came from it is a duplicate when it comes from a client, and not sent back.
    drops(&mut first, &mut up, "SRC>DST,qAR,N5CAL-1:down", "SRC>DST,qAR,N5CAL-1:dummy");
}

#[test]
fn a_read_only_uplink_gets_nothing() {
    for kind in ["ro", "multiro"] {
        let upstream = Upstream::new("CORE1");
        let server = Server::with(&upstream.directive(kind));
        let (mut up, _) = upstream.login();
        let mut first = Client::login(server.port("full"), "N5CAL-1");
        let mut second = Client::login(server.port("full"), "N5CAL-2");
        passes_as_is(&mut up, &mut first, "SRC>DST,qAR,IGATE:down");
        assert_eq!(text(&second.packet()), "SRC>DST,qAR,IGATE:down");
        passes_as_is(&mut first, &mut second, "SRC>DST,qAR,N5CAL-1:up");
        up.silent(Duration::from_millis(300));
    }
}

/// An aggregator: two servers send the same, clients get it once, and the servers get nothing.
#[test]
fn several_read_only_uplinks_at_once() {
    let (one, two) = (Upstream::new("CORE1"), Upstream::new("CORE2"));
    let server = Server::with(&(one.directive("multiro") + &two.directive("multiro")));
    let (mut up1, _) = one.login();
    let (mut up2, _) = two.login();
    let mut client = Client::login(server.port("full"), "CL1ENT");
    let payloads = [
        "!/0(KkThq\">{2Oaprs",
        ">status",
        "beacon",
        "T#100,1,010,100,500,900,10101010",
        "_03041723c344s009g014t038r000p000P000h38b10207wDVP",
        "!/0(KBAD",
    ];
    let mut lines = Vec::new();
    for number in 0..50 {
        lines.extend(payloads.map(|payload| format!("SRC-{number}>APRS,qAR,IGATE:{payload}")));
    }
    for line in &lines {
        up1.send(line);
        up2.send(line);
    }
    let mut received: Vec<String> = lines.iter().map(|_| text(&client.packet())).collect();
    client.silent(Duration::from_millis(300));
    received.sort();
    let mut expected: Vec<String> = lines.iter().map(|line| text(line.as_bytes())).collect();
    expected.sort();
    assert_eq!(received, expected);
    up1.silent(Duration::from_millis(100));
    up2.silent(Duration::from_millis(100));
}

/// Of several full uplinks one is used; when it goes, another.
#[test]
fn one_of_several_full_uplinks() {
    let (one, two) = (Upstream::new("CORE1"), Upstream::new("CORE2"));
    let server = Server::with(&(one.directive("full") + &two.directive("full")));
    server.wait_for("one is connected", |status| {
        status["uplinks"].as_array().is_some_and(|uplinks| !uplinks.is_empty())
    });
    chronoscope_clock::sleep(Duration::from_millis(500));
    assert_eq!(server.status()["uplinks"].as_array().unwrap().len(), 1);
}

#[test]
fn an_uplink_that_goes_is_connected_again() {
    let upstream = Upstream::new("CORE1");
    let server = Server::with(&upstream.directive("full"));
    let mut client = Client::login(server.port("full"), "N5CAL-1");
    for round in 0..2 {
        let (mut up, _) = upstream.login();
        passes_as_is(&mut up, &mut client, format!("SRC>DST,qAR,IGATE:round {round}"));
        drop(up);
    }
}

/// One that takes the connection, and refuses the login, is none.
#[test]
fn an_uplink_that_does_not_verify_us_stays_a_fault() {
    let upstream = Upstream::new("CORE1");
    let server = Server::with(&upstream.directive("full"));
    let (mut up, _) = upstream.connected();
    up.send("# upstream 1.0");
    up.packet();
    up.send("# logresp TESTING unverified, server CORE1");
    up.until_closed();
    let (mut up, _) = upstream.connected();
    up.send("# upstream 1.0");
    up.packet();
    let alarms = server.status()["alarms"].to_string();
    assert!(alarms.contains("no_uplink"), "{alarms}");
    up.send("# logresp TESTING verified, server CORE1");
    let mut client = Client::login(server.port("full"), "N5CAL-1");
    passes_as_is(&mut up, &mut client, "SRC>DST,qAR,IGATE:down");
    server.wait_for("no fault", |status| !status["alarms"].to_string().contains("no_uplink"));
}

#[test]
fn an_uplink_that_is_silent_is_left() {
    let upstream = Upstream::new("CORE1");
    let _server = Server::with(&format!("UpstreamTimeout 1s\n{}", upstream.directive("ro")));
    let (mut up, _) = upstream.login();
    up.until_closed();
    upstream.login();
}

/// One that does not read is cut and connected again; clients notice nothing.
#[test]
fn an_uplink_that_does_not_read() {
    let upstream = Upstream::new("CORE1");
    let server = Server::with(&format!("StaleAfter 1s\n{}", upstream.directive("full")));
    let (stuck, _) = upstream.login();
    let mut client = Client::login(server.port("full"), "N5CAL-1");
    let filler = "x".repeat(400);
    let mut lines = String::new();
    for number in 0..20_000 {
        lines.push_str(&format!("FL{number}>APRS,qAR,OH9XYZ-5:>{filler}\r\n"));
        if lines.len() > 1 << 16 {
            client.write(std::mem::take(&mut lines));
        }
    }
    client.write(lines);
    let (mut up, _) = upstream.login();
    // The client's next line may be read before the answer to the login; what comes after that
    // answer on the same connection may not.
    passes_as_is(&mut up, &mut client, "SRC>DST,qAR,IGATE:again down");
    passes_as_is(&mut client, &mut up, "SRC>DST,qAR,N5CAL-1:again up");
    drop(stuck);
}

#[test]
fn an_uplink_is_connected_from_the_address_given() {
    let upstream = Upstream::new("CORE1");
    let own = loopback();
    let _server = Server::with(&format!("UplinkBind {own}\n{}", upstream.directive("ro")));
    let (_, from) = upstream.connected();
    assert_eq!(from.ip(), own);
}
