//! Tests of logins.

use super::world::*;
use crate::config::TlsFiles;
use crate::engine::{Close, Input};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn a_client_is_greeted_and_logs_in() {
    let mut world = World::new();
    let conn = world.open(FULL);
    assert_eq!(world.hears(conn), "# chronoscope-aprs 1.2.3\r\n");
    world.says(conn, "user OH7LZB pass 1 vers prog 1.0 filter r/60/25/10");
    assert_eq!(
        world.hears(conn),
        "# No user-specified filters on this port\r\n\
         # logresp OH7LZB unverified, server TESTING\r\n"
    );
    let row = world.row(conn);
    assert_eq!((row.username.as_str(), row.app_name.as_str()), ("OH7LZB", "prog"));
}

const NO_VERSION: &str = "# Invalid login string, no software name and version after vers";

#[test]
fn what_refused_logins_are_told() {
    for (line, told) in [
        ("user", "# Invalid login string, too few arguments"),
        ("login OH7LZB", "# Invalid login command"),
        ("user OH7LZB-10X", "# Invalid username format"),
        ("user pass -1", "# Login by user not allowed"),
        ("user p1rate pass -1", "# Login by user not allowed"),
        ("user OH7_LZB", "# Invalid username format, not allowed"),
        ("user testing", "# Login by user not allowed (our serverid)"),
        ("user OH7LZB pass -1", NO_VERSION),
        ("user OH7LZB pass -1 vers prog", NO_VERSION),
        ("user OH7LZB pass -1 vers prog filter p/OH", NO_VERSION),
        ("user OH7LZB pass -1 vers prog UDP 9000", NO_VERSION),
        ("user OH7LZB pass -1 filter p/OH", NO_VERSION),
    ] {
        let mut world = World::new();
        let conn = world.open(IGATE);
        world.hears(conn);
        world.says(conn, line);
        assert_eq!(world.hears(conn), format!("{told}\r\n"), "{line}");
        assert_eq!(world.is_closed(conn), None, "{line}");
        world.says(conn, "user OH7LZB pass -1 vers test 1");
        assert!(world.hears(conn).contains("# logresp OH7LZB unverified"), "{line}");
    }
}

#[test]
fn three_failures_are_too_many_and_a_browser_is_one() {
    let mut world = World::new();
    let conn = world.open(IGATE);
    for expected in [None, None, Some("too many failed login commands")] {
        world.says(conn, "user A-B-C");
        assert_eq!(world.is_closed(conn), expected);
    }
    let browser = world.open(IGATE);
    world.says(browser, "GET / HTTP/1.1");
    assert!(world.is_closed(browser).is_some());
}

#[test]
fn who_does_not_log_in_is_closed_whatever_it_says() {
    let mut world = World::new();
    let conn = world.open(IGATE);
    for _ in 0..29 {
        world.says(conn, "# still here");
        world.wait(Duration::from_secs(1));
        assert_eq!(world.is_closed(conn), None);
    }
    world.says(conn, "# still here");
    world.wait(Duration::from_millis(1500));
    assert_eq!(world.is_closed(conn), Some("login timed out"));
}

#[test]
fn a_keepalive_says_who_and_when() {
    let mut world = World::new();
    let conn = world.open(FULL);
    world.says(conn, "user OH7LZB pass -1 vers test 1.0");
    assert!(world.hears(conn).contains("# logresp OH7LZB unverified, "));
    world.wait(Duration::from_millis(19_400)); // and 250 ms each time that it listens
    assert_eq!(world.hears(conn), "", "not before 20 s have passed");
    let said = "# chronoscope-aprs 1.2.3 22 Nov 2025 12:00:20 GMT TESTING 127.0.0.1:14000\r\n";
    assert_eq!(world.hears(conn), said);
    world.wait(Duration::from_millis(19_400));
    assert_eq!(world.hears(conn), "");
    assert_eq!(world.hears(conn), said.replace("12:00:20", "12:00:40"));
}

#[test]
fn a_verified_login_takes_the_place_of_the_one_before() {
    let mut world = World::new();
    let unverified = world.open(FULL);
    world.says(unverified, "user OH7LZB pass -1 vers test 1");
    let first = world.client(FULL, "OH7LZB", "");
    assert_eq!(world.is_closed(unverified), None);
    world.client(IGATE, "OH7LZB", "");
    assert_eq!(world.is_closed(first), Some("the same callsign logged in again"));
    assert_eq!(world.is_closed(unverified), None);
}

#[test]
fn the_server_and_its_ports_can_be_full() {
    let mut config = config();
    config.clients_max = 3;
    Arc::make_mut(&mut config.listeners[FULL]).clients_max = 1;
    let mut world = World::with(config);
    let first = world.open(FULL);
    let second = world.open(FULL);
    assert_eq!(world.hears(second), "# Port full\r\n");
    assert_eq!(world.is_closed(second), Some("Port full"));
    world.closed(first);
    world.open(FULL);
    world.open(IGATE);
    world.open(IGATE);
    let last = world.open(IGATE);
    assert_eq!(world.hears(last), "# Server full\r\n");
    let status = world.server.status(world.now);
    assert_eq!((status.clients, status.refused), (3, 1));
    assert_eq!((status.listeners[FULL].clients, status.listeners[FULL].connects), (1, 2));
}

#[test]
fn a_certificate_is_as_good_as_its_callsign() {
    let mut config = config();
    Arc::make_mut(&mut config.listeners[FULL]).tls =
        Some(TlsFiles { ca: Some("ca.pem".into()), ..TlsFiles::default() });
    let mut world = World::with(config);
    for (certificate, told) in [
        (Some("OH7LZB"), "# logresp OH7LZB verified, server TESTING\r\n"),
        (
            Some("OTHER"),
            "# Client certificate authentication failed: it is of another callsign\r\n",
        ),
        (None, "# Client certificate authentication failed: no certificate\r\n"),
    ] {
        let conn = world.server.next_conn();
        let certificate = certificate.and_then(|c| crate::callsign::Callsign::new(c.as_bytes()));
        let (remote, local) = (address("192.0.2.1:9"), address("127.0.0.1:14000"));
        let opened = Input::Opened { conn, listener: FULL, remote, local, certificate };
        world.worker.input(world.now, opened, &mut world.out);
        world.hears(conn);
        world.says(conn, "user OH7LZB vers prog 1.0");
        assert_eq!(world.hears(conn), told);
        assert_eq!(world.is_closed(conn).is_some(), !told.contains("logresp"));
    }
}

#[test]
fn an_uplink_that_does_not_verify_us_is_closed() {
    for (line, reason) in [
        ("# logresp TESTING unverified, server CORE", "uplink does not verify our passcode"),
        ("# logresp OTHER verified, server CORE", "uplink answers another's login"),
        (
            "# logresp TESTING verified, server TESTING",
            "uplink has our callsign, or one that is none",
        ),
        ("what?", "uplink answers no login"),
    ] {
        let mut world = World::new();
        let conn = world.server.next_conn();
        let opened = Input::UplinkOpened {
            conn,
            uplink: 0,
            remote: address("198.51.100.1:10152"),
            local: address("192.0.2.9:40000"),
            certificate: false,
        };
        world.worker.input(world.now, opened, &mut world.out);
        world.says(conn, "# javAPRSSrvr 4.3.3b23");
        world.says(conn, "# a comment between");
        world.says(conn, line);
        assert_eq!(world.is_closed(conn), Some(reason));
        let status = world.server.status(world.now);
        assert_eq!(status.uplinks[0].error.as_deref(), Some(reason));
        assert_eq!(status.faults[0].name, "no_uplink");
    }
}

#[test]
fn a_silent_uplink_is_closed_and_its_fault_ends_with_the_next_one() {
    let mut world = World::new();
    let conn = world.uplink(0, "CORE1");
    assert_eq!(world.server.status(world.now).uplinks[0].conn, Some(conn));
    world.wait(Duration::from_secs(17));
    assert!(
        matches!(&world.out.closed[0], (c, Close::Graceful, r) if *c == conn && r == "uplink is silent")
    );
    assert_eq!(world.server.status(world.now).faults.len(), 1);
    world.uplink(0, "CORE1");
    assert_eq!(world.server.status(world.now).faults.len(), 0);
}

#[test]
fn a_server_may_take_what_is_not_verified() {
    let mut config = config();
    config.disallow_unverified = false;
    let mut world = World::with(config);
    let reader = world.client(FULL, "OH7BB", "");
    let unverified = world.open(FULL);
    world.says(unverified, "user OH7AA pass -1 vers x 1");
    world.says(unverified, "OH7AA>APRS,TCPIP*:>hello");
    assert_eq!(world.packets(reader), ["OH7AA>APRS,TCPXX*,qAX,TESTING:>hello"]);
    let core = world.uplink(0, "CORE");
    world.says(core, "OH7CC>APRS,TCPXX*,qAX,OTHER:>of another such server");
    assert_eq!(world.packets(reader), ["OH7CC>APRS,TCPXX*,qAX,OTHER:>of another such server"]);
}
