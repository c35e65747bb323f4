//! Sessions with net-snmp's `snmpd`.
#![allow(clippy::unwrap_used)]

mod peers;

use chronoscope_clock::monotonic_ns;
use chronoscope_lab::{Namespace, tun};
use chronoscope_net::counters::Widths;
use chronoscope_net::scan::hosts::Auth;
use chronoscope_net::scan::snmp::{Passwords, Progress, Session, SnmpError};
use chronoscope_net::scan::{Reading, is_loopback};
use peers::{free_port, installed, snmpd};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

const USERS: &str = "\
createUser open
createUser sha SHA long-password
createUser sha256 SHA-256 long-password
createUser closed SHA long-password AES other-password
createUser closed256 SHA-256 long-password AES other-password
rouser open noauth
rouser sha auth
rouser sha256 auth
rouser closed priv
rouser closed256 priv
rocommunity control";

/// Asks until there is an end, and how many questions it took.
fn ask(session: &mut Session, agent: SocketAddr) -> Result<(Reading, u32), SnmpError> {
    let socket = UdpSocket::bind((agent.ip(), 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut question = session.start(monotonic_ns()).unwrap();
    let mut octets = [0; 65_536];
    for questions in 1.. {
        socket.send_to(&question, agent).unwrap();
        let len = socket.recv(&mut octets).unwrap();
        match session.answer(&octets[..len], monotonic_ns())? {
            Progress::Ask(next) => question = next,
            Progress::Done(reading) => return Ok((reading, questions)),
            Progress::Ignored(why) => panic!("{why}"),
        }
    }
    unreachable!()
}

fn v3(user: &str, auth: Option<(Auth, &str)>, privacy: Option<&str>) -> Session {
    Session::v3(user, Passwords::new(auth, privacy), 1, monotonic_ns())
}

#[test]
fn both_versions_and_all_levels() {
    if !installed("snmpd", "snmpd") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let agent = free_port("127.0.0.1");
    let _running = snmpd(dir.path(), &[agent], USERS);
    let word = "long-password";
    let sessions = [
        ("v2c", Session::v2c("control", 1)),
        ("noAuth", v3("open", None, None)),
        ("SHA-1", v3("sha", Some((Auth::Sha1, word)), None)),
        ("SHA-256", v3("sha256", Some((Auth::Sha256, word)), None)),
        ("SHA-1 AES", v3("closed", Some((Auth::Sha1, word)), Some("other-password"))),
        ("SHA-256 AES", v3("closed256", Some((Auth::Sha256, word)), Some("other-password"))),
    ];
    for (level, mut session) in sessions {
        for time in 0..3 {
            let (reading, questions) = ask(&mut session, agent).unwrap();
            assert_eq!(reading.widths, Widths::WideTraffic, "{level}");
            let lo = reading.interfaces.iter().find(|i| is_loopback(&i.name)).unwrap();
            assert!(lo.counters.out_packets > 0 && lo.counters.in_bytes > 0, "{level}: {lo:?}");
            let most = 2 + u32::try_from(reading.interfaces.len()).unwrap() / 7;
            // Of the first answer by version 3 it learns who the engine is.
            assert!(time == 0 || questions <= most, "{level}");
        }
    }
    let refused = [
        (v3("sha", Some((Auth::Sha1, "wrong-password")), None), "wrong digest"),
        (v3("sha", Some((Auth::Sha256, word)), None), "wrong digest"),
        (v3("stranger", Some((Auth::Sha1, word)), None), "unknown user name"),
        (v3("open", Some((Auth::Sha1, word)), None), "unsupported security level"),
        (v3("closed", Some((Auth::Sha1, word)), None), "error 16 (authorization error)"),
    ];
    for (mut session, expected) in refused {
        let error = ask(&mut session, agent).unwrap_err().to_string();
        assert!(error.contains(expected), "{error} where {expected:?} is expected");
    }
}

/// An agent that was started again: its engine counts the start, its time begins anew.
#[test]
fn an_engine_that_was_started_again_is_asked_on() {
    if !installed("snmpd", "snmpd") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let agent = free_port("127.0.0.1");
    let running = snmpd(dir.path(), &[agent], USERS);
    let mut session = v3("closed", Some((Auth::Sha1, "long-password")), Some("other-password"));
    let (before, _) = ask(&mut session, agent).unwrap();
    drop(running);
    let _running = snmpd(dir.path(), &[agent], USERS);
    let (after, _) = ask(&mut session, agent).unwrap();
    // Its counters are those of the kernel, and have not begun anew.
    assert_eq!(before.interfaces.len(), after.interfaces.len());
    assert!(after.interfaces[0].counters.in_bytes >= before.interfaces[0].counters.in_bytes);
}

/// A host with more interfaces than one answer holds.
#[test]
fn many_interfaces() {
    if !installed("snmpd", "snmpd") {
        return;
    }
    let Ok(host) = Namespace::new() else {
        eprintln!("SKIPPED: many interfaces need the right to make a network namespace");
        return;
    };
    let test = || {
        let mask = Ipv4Addr::new(255, 255, 255, 0);
        let device = |n: u8| tun::open(&format!("wire{n}"), Ipv4Addr::new(10, 9, n, 1), mask, 1500);
        let _devices: Vec<_> = (0..40).map(|n| device(n).unwrap()).collect();
        let dir = tempfile::tempdir().unwrap();
        let agent = free_port("127.0.0.1");
        let _running = snmpd(dir.path(), &[agent], USERS);
        for mut session in [
            Session::v2c("control", 1),
            v3("closed256", Some((Auth::Sha256, "long-password")), Some("other-password")),
        ] {
            let (reading, questions) = ask(&mut session, agent).unwrap();
            let wires = reading.interfaces.iter().filter(|i| i.name.starts_with("wire")).count();
            assert_eq!(wires, 40);
            // net-snmp says 10 Mbit/s of the loopback, and 0 where the kernel does not know it.
            let speed = |name: &str| {
                let interface = reading.interfaces.iter().find(|i| i.name == name);
                interface.and_then(|i| i.bits_per_s)
            };
            assert_eq!((speed("lo"), speed("wire7")), (Some(10_000_000), None));
            assert!(questions > 5, "{questions}");
        }
    };
    host.run(test).unwrap();
}
