//! Several of our servers together: what goes in at one comes out at all, once.

use crate::common::{Client, Sends, Server, free_port, loopback, text};
use std::net::SocketAddr;
use std::time::Duration;

fn ports() -> String {
    "Listen full fullfeed tcp 127.0.0.1 0\nHTTPStatus 127.0.0.1 0\n".to_owned()
}

/// A client at each sends; every other gets it once, and nothing more comes.
fn each_to_all(servers: &[Server]) {
    let mut clients: Vec<Client> = servers
        .iter()
        .enumerate()
        .map(|(at, server)| Client::login(server.port("full"), &format!("CL1ENT-{at}")))
        .collect();
    for sender in 0..clients.len() {
        for number in 0..20 {
            let line = format!("SRC{sender}>APRS,qAR,CL1ENT-{sender}:>{number}");
            clients[sender].send(&line);
            for (at, client) in clients.iter_mut().enumerate() {
                if at != sender {
                    assert_eq!(text(&client.packet()), line, "at server {at}");
                }
            }
        }
    }
    for client in &mut clients {
        client.silent(Duration::from_millis(300));
    }
}

fn peers(count: usize) {
    let names: Vec<String> = (0..count).map(|at| format!("CORE{at}")).collect();
    let addresses: Vec<SocketAddr> = (0..count).map(|_| free_port(loopback())).collect();
    let members: Vec<String> =
        names.iter().zip(&addresses).map(|(name, address)| format!("{name} {address}")).collect();
    let servers: Vec<Server> = names
        .iter()
        .zip(&addresses)
        .map(|(name, own)| {
            let group = format!("PeerGroup mesh udp {own} {}\n", members.join(" "));
            Server::named(name, &(ports() + &group))
        })
        .collect();
    each_to_all(&servers);
}

#[test]
fn two_peers() {
    peers(2);
}

#[test]
fn three_peers() {
    peers(3);
}

/// Every server is a client of the next, the last of the first.
fn uplinks(count: usize) {
    let doors: Vec<SocketAddr> = (0..count).map(|_| free_port(loopback())).collect();
    let servers: Vec<Server> = (0..count)
        .map(|at| {
            let (own, next) = (doors[at], doors[(at + 1) % count]);
            let directives = format!(
                "{}Listen door fullfeed tcp {} {}\nUplink next full tcp {} {}\n",
                ports(),
                own.ip(),
                own.port(),
                next.ip(),
                next.port()
            );
            Server::named(&format!("CORE{at}"), &directives)
        })
        .collect();
    for server in &servers {
        server.wait_for("the next is connected", |status| {
            let of = |part: &str| status[part].as_array().map_or(0, Vec::len);
            // Let in, and it has read that it is.
            let is_let_in = !status["alarms"].to_string().contains("no_uplink");
            of("uplinks") == 1 && of("clients") == 1 && is_let_in
        });
    }
    each_to_all(&servers);
}

#[test]
fn two_servers_in_a_ring() {
    uplinks(2);
}

#[test]
fn three_servers_in_a_ring() {
    uplinks(3);
}
