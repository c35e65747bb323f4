//! Round trips between all pairs of hosts, measured by the hosts.
#![allow(clippy::unwrap_used)]

use chronoscope_net::answer::{Options as Answering, Server, Token};
use chronoscope_net::matrix::{self, Cell, Host, Options};
use chronoscope_net::survey::peer;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn answerer(last: u8, secret: &str) -> Server {
    let token = Some(Token::new(secret));
    let listen = SocketAddr::from((Ipv4Addr::new(127, 0, 4, last), 0));
    Server::start(Answering { token, ..Answering::new(listen) }).unwrap()
}

fn options() -> Options {
    Options {
        token: Some(Token::new("ours")),
        octets: 64,
        count: 3,
        every: Duration::from_millis(1),
        timeout: Duration::from_secs(2),
        at_once: 2,
    }
}

fn host(name: &str, address: SocketAddr) -> Host {
    Host { name: name.to_owned(), peer: peer(address) }
}

#[test]
fn all_pairs_once_and_who_is_missing_is_in_none() {
    let servers: Vec<Server> = (1..=5).map(|last| answerer(last, "ours")).collect();
    let stranger = answerer(6, "another");
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut hosts: Vec<Host> =
        servers.iter().map(|server| host("one of ours", server.address())).collect();
    hosts.push(host("stranger", stranger.address()));
    hosts.push(host("gone", gone));
    let (mut measured, mut failed) = (BTreeMap::new(), BTreeMap::new());
    let stop = AtomicBool::new(false);
    matrix::measure(&hosts, &options(), &stop, &mut |from, to, cell| match cell {
        Cell::Measured(series) => assert_eq!(measured.insert((from, to), series.clone()), None),
        Cell::Failed(why) => assert_eq!(failed.insert((from, to), why.clone()), None),
    });
    let expected: Vec<_> = (0..5).flat_map(|from| (0..5).map(move |to| (from, to))).collect();
    assert_eq!(measured.keys().copied().collect::<Vec<_>>(), expected);
    assert!(measured.values().all(|series| series.first_ns.is_some() && series.steady.len() == 3));
    assert_eq!(failed.keys().copied().collect::<Vec<_>>(), [(5, 5), (6, 6)]);
    assert!(failed[&(5, 5)].ends_with("refuses the request: the token is wrong"), "{failed:?}");
    assert!(failed[&(6, 6)].contains("cannot be reached over TCP"), "{failed:?}");
    // Each was asked by all five, four requests each.
    for server in servers {
        assert_eq!(server.stop().datagrams, 20);
    }
}

#[test]
fn a_matrix_that_is_stopped_keeps_what_it_had() {
    let servers: Vec<Server> = (11..=14).map(|last| answerer(last, "ours")).collect();
    let hosts: Vec<Host> =
        servers.iter().map(|server| host("one of ours", server.address())).collect();
    let stop = AtomicBool::new(false);
    let mut count = 0;
    matrix::measure(&hosts, &options(), &stop, &mut |_, _, _| {
        count += 1;
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(count, 2, "those that were on their way");
}
