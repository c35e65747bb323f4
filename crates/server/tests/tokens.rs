//! Tokens by name: what each may do, and that no agent speaks as another.

#![allow(clippy::unwrap_used)] // helpers of tests

use chronoscope_collect::Ingest;
use chronoscope_collect::protocol::{
    self, Ack, AgentMessage, CollectorMessage, FromAgent, FromCollector, Hello, Rows, Welcome,
};
use chronoscope_model::{Record, TransactionId};
use chronoscope_server::{Rights, Server, ServerOptions, TlsFiles, Tokens};
use chronoscope_store::{Options, Store, StreamId, wire};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use tokio_rustls::rustls::{self, ClientConfig, ClientConnection, RootCertStore};
use tokio_stream::wrappers::ReceiverStream;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Endpoint;
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;

const READ: Rights = Rights { read: true, write: false };
const WRITE: Rights = Rights { read: false, write: true };

/// A server whose tokens are in a file.
struct World {
    dir: tempfile::TempDir,
    server: Server,
}

impl World {
    /// With tokens of these names and rights; and the tokens.
    fn new<const N: usize>(
        names: [(&str, Rights); N],
        tls: Option<TlsFiles>,
    ) -> (Self, [String; N]) {
        let dir = tempfile::tempdir().unwrap();
        let mut tokens = Tokens::default();
        let made =
            names.map(|(name, rights)| tokens.add(name, rights).unwrap().secret().to_owned());
        tokens.write(&dir.path().join("tokens")).unwrap();
        let store = Arc::new(Store::open(dir.path(), Options::default(), 0).unwrap());
        let server = Server::start(ServerOptions {
            ingest: Some(Ingest::into_files(store)),
            tokens: Some(dir.path().join("tokens")),
            tls,
            ..ServerOptions::new("127.0.0.1:0".parse().unwrap(), dir.path().into())
        });
        (Self { dir, server: server.unwrap() }, made)
    }

    /// The status of the answer to a request that shows a token.
    fn status(&self, line: &str, token: &str) -> u16 {
        self.status_at(line, token, "localhost")
    }

    /// The same of a request to a server of this name.
    fn status_at(&self, line: &str, token: &str, host: &str) -> u16 {
        let mut stream = TcpStream::connect(self.server.address()).unwrap();
        let head = format!(
            "{line} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: 0\r\n\
             content-type: application/x-protobuf\r\nauthorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// An agent of this host that says hello, and the row that is wanted; then it delivers rows
    /// under these numbers.
    async fn deliver(
        &self,
        (host, token): (&str, &str),
        id: u128,
        ids: std::ops::Range<u64>,
    ) -> Result<Option<u64>, Status> {
        let endpoint = Endpoint::try_from(format!("http://{}", self.server.address())).unwrap();
        let mut grpc = Grpc::new(endpoint.connect().await.unwrap());
        grpc.ready().await.unwrap();
        let (messages, receiver) = mpsc::channel(8);
        let mut request = Request::new(ReceiverStream::new(receiver));
        let bearer = format!("Bearer {token}").parse().unwrap();
        request.metadata_mut().insert("authorization", bearer);
        let say = async |kind| messages.send(AgentMessage { kind: Some(kind) }).await.unwrap();
        say(FromAgent::Hello(Hello::new(StreamId(id), host.into()))).await;
        let mut message = wire::Message::default();
        for id in ids.clone() {
            message.batch.push(Record { id: TransactionId(id), ..Record::default() }, b"");
        }
        say(FromAgent::Rows(Rows::pack(ids.start, &message).unwrap())).await;
        let path = PathAndQuery::from_static(protocol::DELIVER);
        let codec = ProstCodec::<AgentMessage, CollectorMessage>::default();
        let mut answers = grpc.streaming(request, path, codec).await?.into_inner();
        let mut wanted = None;
        while let Some(answer) = answers.message().await? {
            match answer.kind.unwrap() {
                FromCollector::Welcome(Welcome { next_row, .. }) => wanted = next_row,
                FromCollector::Ack(Ack { row }) if row == ids.end => break,
                FromCollector::Ack(_) => {}
            }
        }
        Ok(wanted)
    }
}

fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(test)
}

#[test]
fn a_token_may_do_what_it_is_for() {
    let (world, [read, write]) = World::new([("r", READ), ("w", WRITE)], None);
    for (token, asked, delivered) in [(&read, 200, 403), (&write, 403, 200)] {
        assert_eq!(world.status("GET /api/v1/now", token), asked);
        assert_eq!(world.status("POST /v1/traces", token), delivered);
    }
    assert_eq!(world.status("GET /classes", &write), 403);
    assert_eq!(world.status("GET /classes", "else"), 401);
}

/// The description of the API left out what every address may answer.
#[test]
fn what_a_token_and_a_host_are_refused_with_is_described() {
    let (world, [write]) = World::new([("w", WRITE)], None);
    let text = chronoscope_server::openapi().unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.len() > 10);
    for (path, item) in paths {
        for (method, operation) in item.as_object().unwrap() {
            let line = format!("{} /api/v1{}", method.to_uppercase(), path.replace(['{', '}'], ""));
            // Who shows a token may ask under any name.
            assert_eq!(world.status_at(&line, "else", "attacker.example"), 421, "{line}");
            assert_eq!(world.status(&line, &write), 403, "{line}");
            for status in ["401", "403", "421"] {
                let described = &operation["responses"][status];
                assert!(described.is_object(), "{line} may answer {status}");
            }
        }
    }
}

/// A forged sequence of numbers made the collector pass over 1,831 rows of the agent whose it was.
#[test]
fn no_agent_speaks_as_another() {
    run(async {
        let (world, [a, b]) = World::new([("host-a", WRITE), ("host-b", WRITE)], None);
        let (a, b) = (("host-a", a.as_str()), ("host-b", b.as_str()));
        assert_eq!(world.deliver(a, 1, 0..10).await.unwrap(), None);
        let refused = world.deliver(("host-a", b.1), 1, 10..2000).await.unwrap_err();
        assert_eq!(refused.code(), Code::PermissionDenied, "{refused}");
        let what = "the token belongs to the agent \"host-b\", but this agent is \"host-a\"";
        assert_eq!(refused.message(), what);
        // With the number of another's spool it counts by itself.
        assert_eq!(world.deliver(b, 1, 10..2000).await.unwrap(), None);
        assert_eq!(world.deliver(a, 1, 10..20).await.unwrap(), Some(10));
    });
}

#[test]
fn a_revoked_token_is_wrong_once_the_file_was_read_anew() {
    let (world, [a, b]) = World::new([("a", READ), ("b", READ)], None);
    let path = world.dir.path().join("tokens");
    let mut tokens = Tokens::read(&path).unwrap();
    tokens.revoke("a").unwrap();
    tokens.write(&path).unwrap();
    assert_eq!(world.status("GET /api/v1/now", &a), 200);
    world.server.reload().unwrap();
    assert_eq!(world.status("GET /api/v1/now", &a), 401);
    assert_eq!(world.status("GET /api/v1/now", &b), 200);
    std::fs::write(&path, "no tokens").unwrap();
    assert!(world.server.reload().is_err());
    assert_eq!(world.status("GET /api/v1/now", &b), 200, "as before");
}

/// Writes a certificate for `localhost` and its key; the certificate.
fn certificate(files: &TlsFiles) -> CertificateDer<'static> {
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap().pem();
    std::fs::write(&files.certificate, &certificate).unwrap();
    std::fs::write(&files.key, key.serialize_pem()).unwrap();
    CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()
}

#[test]
fn a_new_certificate_is_presented_once_the_files_were_read_anew() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| -> PathBuf { dir.path().join(name) };
    let files = TlsFiles { certificate: file("c.pem"), key: file("k.pem") };
    let old = certificate(&files);
    let (world, []) = World::new([], Some(files.clone()));
    let is_presented = |certificate: &CertificateDer<'static>| {
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").unwrap();
        let mut client = ClientConnection::new(Arc::new(config), name).unwrap();
        let mut stream = TcpStream::connect(world.server.address()).unwrap();
        while client.is_handshaking() {
            if client.complete_io(&mut stream).is_err() {
                return false;
            }
        }
        true
    };
    assert!(is_presented(&old));
    let new = certificate(&files);
    assert!(!is_presented(&new));
    world.server.reload().unwrap();
    assert!(is_presented(&new) && !is_presented(&old));
}
