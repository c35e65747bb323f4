//! The collector's side of the agents' protocol, spoken to by hand: what is not the protocol is
//! refused by name, and others are not harmed.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

use chronoscope_collect::Ingest;
use chronoscope_collect::protocol::{
    self, Ack, AgentMessage, ClockReply, ClockRequest, CollectorMessage, FromAgent, FromCollector,
    Hello, Rows, Welcome,
};
use chronoscope_model::{Record, TransactionId};
use chronoscope_server::{Server, ServerOptions, Token};
use chronoscope_store::{Options, Store, StreamId, wire};
use std::ops::Range;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status, Streaming};
use tonic_prost::ProstCodec;

/// A store behind a server.
struct World {
    _dir: tempfile::TempDir,
    store: Arc<Store>,
    server: Server,
}

impl World {
    fn new(token: Option<&str>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(dir.path(), Options::default(), 0).unwrap());
        let server = Server::start(ServerOptions {
            ingest: Some(Ingest::into_files(store.clone())),
            token: token.map(|token| Token::new(token).unwrap()),
            ..ServerOptions::new("127.0.0.1:0".parse().unwrap(), dir.path().into())
        });
        Self { _dir: dir, store, server: server.unwrap() }
    }

    async fn connect(&self) -> Grpc<Channel> {
        let endpoint = Endpoint::try_from(format!("http://{}", self.server.address())).unwrap();
        let mut grpc = Grpc::new(endpoint.connect().await.unwrap());
        grpc.ready().await.unwrap();
        grpc
    }

    /// A stream that was opened and said nothing yet.
    async fn stream(&self) -> Agent {
        let (messages, receiver) = mpsc::channel(64);
        let request = Request::new(ReceiverStream::new(receiver));
        let path = PathAndQuery::from_static(protocol::DELIVER);
        let codec = ProstCodec::<AgentMessage, CollectorMessage>::default();
        let response = self.connect().await.streaming(request, path, codec).await.unwrap();
        Agent { messages, answers: response.into_inner() }
    }

    /// A stream of an agent that was welcomed, and the row that is wanted.
    async fn agent(&self, id: u128) -> (Agent, Option<u64>) {
        let mut agent = self.stream().await;
        agent.say(FromAgent::Hello(Hello::new(StreamId(id), "host".into()))).await;
        match agent.answer().await {
            FromCollector::Welcome(Welcome { version: protocol::VERSION, next_row }) => {
                (agent, next_row)
            }
            other => panic!("{other:?}"),
        }
    }
}

struct Agent {
    messages: mpsc::Sender<AgentMessage>,
    answers: Streaming<CollectorMessage>,
}

impl Agent {
    async fn say(&self, kind: FromAgent) {
        self.messages.send(AgentMessage { kind: Some(kind) }).await.unwrap();
    }

    async fn answer(&mut self) -> FromCollector {
        self.answers.message().await.unwrap().unwrap().kind.unwrap()
    }

    /// Sends rows, and waits until they are acknowledged.
    async fn deliver(&mut self, ids: Range<u64>) {
        self.say(FromAgent::Rows(rows(ids.clone()))).await;
        while self.answer().await != FromCollector::Ack(Ack { row: ids.end }) {}
    }

    /// How the collector ends the stream.
    async fn refusal(&mut self) -> Status {
        loop {
            match self.answers.message().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the stream ended well"),
                Err(status) => return status,
            }
        }
    }
}

/// Rows with these ids, under the same numbers.
fn rows(ids: Range<u64>) -> Rows {
    let first_row = ids.start;
    let mut message = wire::Message::default();
    for id in ids {
        message.batch.push(Record { id: TransactionId(id), ..Record::default() }, b"");
    }
    Rows::pack(first_row, &message).unwrap()
}

fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(test)
}

#[test]
fn rows_are_acknowledged_when_they_are_durable_and_taken_once() {
    run(async {
        let world = World::new(None);
        let (mut agent, next_row) = world.agent(1).await;
        assert_eq!(next_row, None);
        agent.deliver(0..100).await;
        assert_eq!(world.store.durable_rows(), 100);
        agent.deliver(50..150).await;
        assert_eq!(world.store.durable_rows(), 150);
        drop(agent);
        assert_eq!(world.agent(1).await.1, Some(150));
        assert_eq!(world.agent(2).await.1, None);
    });
}

#[test]
fn of_two_connections_of_one_agent_the_newer_wins() {
    run(async {
        let world = World::new(None);
        let (mut old, _) = world.agent(1).await;
        let (mut other, _) = world.agent(2).await;
        old.deliver(0..10).await;
        let (mut new, next_row) = world.agent(1).await;
        assert_eq!(next_row, Some(10));
        let ended = old.refusal().await;
        assert_eq!(ended.code(), Code::Aborted);
        assert_eq!(ended.message(), "this agent has a newer connection");
        new.deliver(10..20).await;
        other.deliver(0..5).await;
        assert_eq!(world.store.durable_rows(), 25);
    });
}

#[test]
fn what_is_not_the_protocol_is_refused_by_name() {
    run(async {
        let world = World::new(None);
        let (mut good, _) = world.agent(1).await;
        let hello = || Hello::new(StreamId(7), "host".into());
        let bomb = zstd_of_zeros(64 << 20);
        let cases: [(&str, Vec<FromAgent>, &str); 6] = [
            ("no hello", vec![FromAgent::Rows(rows(0..1))], "a hello must come first"),
            (
                "another version",
                vec![FromAgent::Hello(Hello { version: 77, ..hello() })],
                "version 77 of the protocol",
            ),
            (
                "a short id",
                vec![FromAgent::Hello(Hello { agent: vec![1, 2], ..hello() })],
                "the agent's id has 2 bytes",
            ),
            (
                "two hellos",
                vec![FromAgent::Hello(hello()), FromAgent::Hello(hello())],
                "only rows may follow",
            ),
            (
                "a bomb",
                vec![
                    FromAgent::Hello(hello()),
                    FromAgent::Rows(Rows { first_row: 0, size_bytes: 1 << 20, content: bomb }),
                ],
                "the content is no zstd frame of 1048576 bytes",
            ),
            (
                "noise",
                vec![
                    FromAgent::Hello(hello()),
                    FromAgent::Rows(Rows { size_bytes: 9, content: vec![9; 99], first_row: 0 }),
                ],
                "the content is no zstd frame of 9 bytes",
            ),
        ];
        for (what, messages, reason) in cases {
            let mut agent = world.stream().await;
            for message in messages {
                agent.say(message).await;
            }
            let ended = agent.refusal().await;
            assert_eq!(ended.code(), Code::InvalidArgument, "{what}: {ended}");
            assert!(ended.message().contains(reason), "{what}: {ended}");
        }
        good.deliver(0..10).await;
        assert_eq!(world.store.durable_rows(), 10, "nothing of the others was taken");
    });
}

/// A frame of few bytes that would become many.
fn zstd_of_zeros(len: u32) -> Vec<u8> {
    // The head of a frame without checksum, its content's size in four bytes (RFC 8878 §3.1.1),
    // then run-length blocks of at most 128 KiB.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    frame.extend_from_slice(&len.to_le_bytes());
    let block = 128 << 10;
    for at in (0..len).step_by(block) {
        let is_last = u32::from(at + block as u32 >= len);
        let head = is_last | 1 << 1 | (block as u32) << 3;
        frame.extend_from_slice(&head.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}

#[test]
fn a_message_larger_than_any_is_refused_by_its_length() {
    run(async {
        let world = World::new(None);
        let mut agent = world.stream().await;
        agent.say(FromAgent::Hello(Hello::new(StreamId(7), "host".into()))).await;
        let content = vec![7; protocol::MESSAGE_MAX + 1];
        agent.say(FromAgent::Rows(Rows { first_row: 0, size_bytes: 1, content })).await;
        let ended = agent.refusal().await;
        assert_eq!(ended.code(), Code::OutOfRange, "{ended}");
    });
}

#[test]
fn every_call_wants_the_token() {
    run(async {
        let world = World::new(Some("sesame"));
        let ask = async |token: Option<&'static str>| {
            let mut request = Request::new(ClockRequest {});
            if let Some(token) = token {
                request.metadata_mut().insert("authorization", token.parse().unwrap());
            }
            let path = PathAndQuery::from_static(protocol::CLOCK);
            let codec = ProstCodec::<ClockRequest, ClockReply>::default();
            world.connect().await.unary(request, path, codec).await
        };
        let refused = ask(None).await.unwrap_err();
        assert_eq!(refused.code(), Code::Unauthenticated);
        let refused = ask(Some("Bearer Sesame")).await.unwrap_err();
        assert_eq!(
            (refused.code(), refused.message()),
            (Code::Unauthenticated, "the token is wrong")
        );
        let reply = ask(Some("Bearer sesame")).await.unwrap().into_inner();
        assert!(reply.received_ns <= reply.sent_ns);
    });
}
