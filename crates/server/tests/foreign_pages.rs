//! What a page of another origin makes a browser send: nothing is answered, nothing is stored.

#![allow(clippy::unwrap_used)] // helpers of tests

use chronoscope_collect::Ingest;
use chronoscope_collect::protocol;
use chronoscope_server::{Server, ServerOptions, Token};
use chronoscope_store::{Options, Store};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

/// A request with one span, as OTLP/HTTP has it: written by hand from the encoding guide.
fn spans() -> Vec<u8> {
    let field = |number: u8, bytes: &[u8]| {
        [&[number << 3 | 2, u8::try_from(bytes.len()).unwrap()], bytes].concat()
    };
    let time = |number: u8, ns: u64| [&[number << 3 | 1][..], &ns.to_le_bytes()].concat();
    let ns = u64::try_from(chronoscope_clock::utc_now_ns()).unwrap();
    let ids = [field(1, &[1; 16]), field(2, &[7; 8]), field(5, b"work")];
    let span = [ids.concat(), time(7, ns), time(8, ns + 500)].concat();
    field(1, &field(2, &field(2, &span)))
}

/// The same as a message of gRPC.
fn message() -> Vec<u8> {
    let spans = spans();
    let length = u32::try_from(spans.len()).unwrap().to_be_bytes();
    [&[0], &length[..], &spans].concat()
}

const EXPORT: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

struct World {
    _dir: tempfile::TempDir,
    store: Arc<Store>,
    server: Server,
}

impl World {
    fn new(change: impl FnOnce(&mut ServerOptions)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let now_ns = chronoscope_clock::utc_now_ns();
        let store = Arc::new(Store::open(dir.path(), Options::default(), now_ns).unwrap());
        let mut options = ServerOptions {
            ingest: Some(Ingest::into_files(store.clone())),
            ..ServerOptions::new("127.0.0.1:0".parse().unwrap(), dir.path().into())
        };
        change(&mut options);
        Self { _dir: dir, store, server: Server::start(options).unwrap() }
    }

    /// The status of the answer to a request.
    fn status(&self, line: &str, headers: &str, body: &[u8]) -> u16 {
        let mut stream = TcpStream::connect(self.server.address()).unwrap();
        let length = body.len();
        let head = format!(
            "{line} HTTP/1.1\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer); // a refused body may be cut off
        let answer = String::from_utf8_lossy(&answer).into_owned();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }

    fn rows(&self) -> u64 {
        self.store.backlog().rows
    }
}

/// A page gives its own name our address, and asks us under that name.
#[test]
fn a_page_that_rebinds_its_name_reads_nothing() {
    let world = World::new(|options| options.allow_hosts = vec!["collector.example".to_owned()]);
    for path in ["/", "/classes", "/metrics", "/healthz", "/api/v1/openapi.json", "/nothing"] {
        let line = format!("GET {path}");
        let of = |host: &str| world.status(&line, &format!("host: {host}\r\n"), b"");
        assert_eq!(of("attacker.example"), 421, "{path}");
        for host in ["localhost", "127.0.0.1:80", "[::1]", "collector.example:4318"] {
            assert_ne!(of(host), 421, "{path} {host}");
        }
    }
}

/// Agents may know the collector by any name; a page does not know the token.
#[test]
fn who_shows_the_token_may_use_any_name() {
    let world = World::new(|options| options.token = Some(Token::new("sesame").unwrap()));
    let of = |headers: &str| {
        world.status("GET /api/v1/now", &format!("host: any.example\r\n{headers}"), b"")
    };
    assert_eq!(of("authorization: Bearer sesame\r\n"), 200);
    assert_eq!(of("authorization: Bearer wrong\r\n"), 421);
    assert_eq!(of(""), 421);
}

/// A browser sends `text/plain` to any origin without asking first.
#[test]
fn a_page_of_another_origin_stores_nothing() {
    let world = World::new(|_| ());
    let foreign = "host: localhost\r\norigin: http://attacker.example\r\n";
    let plain = "content-type: text/plain\r\n";
    for (path, body) in [
        ("/v1/traces", spans()),
        (EXPORT, message()),
        (protocol::DELIVER, message()),
        (protocol::CLOCK, message()),
    ] {
        let line = format!("POST {path}");
        for kind in [plain, "content-type: application/x-protobuf\r\n", ""] {
            assert_eq!(world.status(&line, &format!("{foreign}{kind}"), &body), 403, "{path}");
        }
        // Also where a browser says no origin.
        let headers = format!("host: localhost\r\n{plain}");
        assert_eq!(world.status(&line, &headers, &body), 415, "{path}");
    }
    assert_eq!(world.rows(), 0);
    let right = "host: localhost\r\ncontent-type: application/x-protobuf\r\n";
    assert_eq!(world.status("POST /v1/traces", right, &spans()), 200);
    let right = "host: localhost\r\ncontent-type: application/grpc+proto\r\n";
    assert_eq!(world.status(&format!("POST {EXPORT}"), right, &message()), 200);
    assert_ne!(world.rows(), 0, "the same requests of somebody else are taken");
}
