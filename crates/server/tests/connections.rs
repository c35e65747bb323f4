//! Crowds of connections: who showed the token is served all the same.

#![allow(clippy::unwrap_used)] // helpers of tests

use chronoscope_collect::Ingest;
use chronoscope_server::{Server, ServerOptions, Token};
use chronoscope_store::{Options, Store};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

/// More than there are places.
const CROWD: usize = 1100;
const TOKEN: &str = "authorization: Bearer sesame\r\n";

struct World {
    _dir: tempfile::TempDir,
    server: Server,
}

impl World {
    fn new(token: Option<&str>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(dir.path(), Options::default(), 0).unwrap());
        let server = Server::start(ServerOptions {
            ingest: Some(Ingest::into_files(store)),
            token: token.map(|token| Token::new(token).unwrap()),
            ..ServerOptions::new("127.0.0.1:0".parse().unwrap(), dir.path().into())
        });
        Self { _dir: dir, server: server.unwrap() }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.server.address()).unwrap()
    }

    /// Connections that say nothing.
    fn crowd(&self) -> Vec<TcpStream> {
        (0..CROWD).map(|_| self.connect()).collect()
    }
}

/// The status of the answer to a request, on a connection that stays; `None` where it was closed.
fn ask(stream: &mut TcpStream, head: &str) -> Option<u16> {
    let request = format!("{head} HTTP/1.1\r\nhost: localhost\r\n{TOKEN}content-length: 0\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    let mut octet = [0];
    while !answer.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut octet).ok()?;
        answer.push(octet[0]);
    }
    let head = String::from_utf8(answer).unwrap().to_ascii_lowercase();
    let length = head.split_once("content-length: ").unwrap().1.split_once("\r\n").unwrap().0;
    stream.read_exact(&mut vec![0; length.parse().unwrap()]).ok()?;
    head.split(' ').nth(1)?.parse().ok()
}

/// Nobody got in beside 1,024 connections that had shown no token.
#[test]
fn a_thousand_strangers_keep_nobody_with_the_token_out() {
    let world = World::new(Some("sesame"));
    let _crowd = world.crowd();
    let answers: Vec<_> = (0..8).map(|_| ask(&mut world.connect(), "GET /healthz")).collect();
    assert_eq!(answers, [Some(200); 8]);
}

#[test]
fn who_showed_the_token_stays_while_strangers_come() {
    let world = World::new(Some("sesame"));
    let mut proven = world.connect();
    assert_eq!(ask(&mut proven, "GET /api/v1/now"), Some(200));
    let mut stranger = world.connect();
    assert_eq!(ask(&mut stranger, "GET /healthz"), Some(200), "here no token is looked at");
    let _crowd = world.crowd();
    assert_eq!(ask(&mut proven, "GET /api/v1/now"), Some(200));
    assert_eq!(ask(&mut stranger, "GET /healthz"), None);
}

#[test]
fn a_thousand_idle_connections_do_not_close_a_server_without_a_token() {
    let world = World::new(None);
    let _crowd = world.crowd();
    assert_eq!(ask(&mut world.connect(), "GET /healthz"), Some(200));
}

/// Sixteen of them took the room of all bodies, for ten seconds.
#[test]
fn forty_idle_uploads_keep_no_other_waiting() {
    let world = World::new(None);
    let open = |length: &str| {
        let mut upload = world.connect();
        let head = "POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-type: \
                    application/x-protobuf\r\n";
        upload.write_all(format!("{head}{length}\r\n\r\n").as_bytes()).unwrap();
        upload
    };
    let mut uploads: Vec<_> = (0..20).map(|_| open("transfer-encoding: chunked")).collect();
    uploads.extend((0..20).map(|_| open("content-length: 16777216")));
    // A server that has answered this has seen all of them.
    assert_eq!(ask(&mut world.connect(), "GET /healthz"), Some(200));
    let mut other = world.connect();
    let head = "POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-type: \
                application/x-protobuf\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    other.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    other.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}
