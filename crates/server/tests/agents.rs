//! The collector's side of the agents' protocol, spoken to by hand: what is not the protocol is
//! refused by name, and others are not harmed.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

use chronoscope_collect::protocol::{
    self, Ack, AgentMessage, ClockReply, ClockRequest, CollectorMessage, FromAgent, FromCollector,
    Hello, Rows, Welcome,
};
use chronoscope_collect::{Agent as HostAgent, AgentOptions, Ingest, Target};
use chronoscope_model::{Batch, ProcessName, Record, TransactionId};
use chronoscope_server::{Server, ServerOptions, Token};
use chronoscope_store::{Append, Options, Snapshot, Store, StreamId, wire};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
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
            ("no hello", vec![FromAgent::Rows(rows(0..1))], "the first message must be a hello"),
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
                "only rows are allowed",
            ),
            (
                "a bomb",
                vec![
                    FromAgent::Hello(hello()),
                    FromAgent::Rows(Rows { first_row: 0, size_bytes: 1 << 20, content: bomb }),
                ],
                "the content is not a zstd frame of 1048576 bytes",
            ),
            (
                "noise",
                vec![
                    FromAgent::Hello(hello()),
                    FromAgent::Rows(Rows { size_bytes: 9, content: vec![9; 99], first_row: 0 }),
                ],
                "the content is not a zstd frame of 9 bytes",
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

/// The agent itself, whose spool is filled by hand.
struct Measured {
    options: AgentOptions,
    _rings: tempfile::TempDir,
    _dir: tempfile::TempDir,
    /// Rows that were put into its spool.
    rows: u64,
}

impl Measured {
    fn new(world: &World) -> Self {
        let (rings, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let to = Target::new(&format!("http://{}", world.server.address()), None, None, false);
        let spool = dir.path().join("spool");
        let options = AgentOptions::new(rings.path().into(), spool, to.unwrap());
        Self { options, _rings: rings, _dir: dir, rows: 0 }
    }

    fn agent(&self) -> HostAgent {
        HostAgent::new(self.options.clone()).unwrap()
    }

    /// Puts so many rows into the spool.
    fn record(&mut self, agent: &HostAgent, count: u64) {
        let mut batch = Batch::default();
        for id in self.rows..self.rows + count {
            // Other ids than those of rows that are spoken by hand.
            batch.push(Record { id: TransactionId(1 << 32 | id), ..Record::default() }, b"");
        }
        self.rows += count;
        agent.spool().append(&Append { batch: Some(&batch), ..Append::default() }, 0).unwrap();
        agent.spool().sync().unwrap();
    }

    /// Runs the agent while something is done; its last status.
    fn running(agent: &HostAgent, during: impl FnOnce()) -> chronoscope_collect::Status {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let runs = scope.spawn(|| agent.run(&stop, &mut |_| {}).unwrap());
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(during));
            stop.store(true, Ordering::Relaxed);
            let status = runs.join().unwrap();
            done.unwrap();
            status
        })
    }
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..1500 {
        if holds() {
            return;
        }
        chronoscope_clock::sleep(Duration::from_millis(20));
    }
    panic!("30 s passed and not yet: {what}");
}

/// The ids of the agent's own rows that are in the store, ascending.
fn own_ids(world: &World) -> Vec<u64> {
    world.store.sync().unwrap();
    let snapshot = Snapshot::open(world.store.dir()).unwrap();
    let ids = snapshot.transactions(i64::MIN..i64::MAX).map(|row| row.unwrap().id.0);
    let mut ids: Vec<u64> = ids.filter(|id| *id >= 1 << 32).map(|id| id ^ 1 << 32).collect();
    ids.sort_unstable();
    ids
}

/// Somebody else spoke under the agent's number and jumped forward: the agent was told that its
/// rows were durable which it had never sent, and forgot them.
#[test]
fn rows_that_somebody_else_claims_are_kept_and_come_under_another_number() {
    for is_restarted in [false, true] {
        let world = World::new(None);
        let mut measured = Measured::new(&world);
        let agent = measured.agent();
        let id = agent.spool().id();
        let forge = || {
            run(async {
                let (mut forger, next_row) = world.agent(id.0).await;
                assert_eq!(next_row, Some(100));
                forger.deliver(1990..2000).await;
            });
        };
        measured.record(&agent, 100);
        let first = Measured::running(&agent, || {
            wait_until("all is delivered", || world.store.durable_rows() == 100);
            let acknowledged = || agent.spool().backlog().acknowledged_rows;
            wait_until("and acknowledged", || acknowledged() == 100);
            if !is_restarted {
                forge();
                wait_until("it has another number", || agent.spool().id() != id);
            }
        });
        measured.record(&agent, 3000);
        drop(agent);
        if is_restarted {
            forge();
        }
        let agent = measured.agent();
        let all: Vec<u64> = (0..3100).collect();
        let status = Measured::running(&agent, || {
            wait_until("what was claimed is delivered", || own_ids(&world).len() >= all.len());
        });
        assert_eq!(own_ids(&world), all, "each once");
        let delivery = if is_restarted { status.delivery } else { first.delivery }.unwrap();
        assert_eq!(delivery.renumbered, 1, "{delivery:?}");
        let notice = delivery.notice.unwrap();
        assert!(notice.starts_with("another program uses this agent's name"), "{notice}");
        assert_ne!(agent.spool().id(), id);
        // The numbers that the forger left out are counted: nobody knows that they come otherwise.
        assert_eq!(world.store.ledger().lost_rows(), 1890);
    }
}

/// An agent that cannot know who spoke under its number: the folder may be an older copy.
#[test]
fn an_old_copy_of_a_spool_delivers_nothing() {
    let world = World::new(None);
    let mut measured = Measured::new(&world);
    let agent = measured.agent();
    measured.record(&agent, 100);
    let copy = measured.options.spool_dir.with_extension("copy");
    let cp = |from: &std::path::Path, to: &std::path::Path| {
        let done = std::process::Command::new("cp").arg("-a").args([from, to]).status().unwrap();
        assert!(done.success());
    };
    cp(&measured.options.spool_dir, &copy);
    measured.record(&agent, 100);
    Measured::running(&agent, || {
        wait_until("all is delivered", || world.store.durable_rows() == 200);
    });
    drop(agent);
    // Moved, not removed: the copy would get the inodes of the removed files, and by inode and time a
    // spool tells within its last two seconds whether it is a copy.
    let gone = measured.options.spool_dir.with_extension("gone");
    std::fs::rename(&measured.options.spool_dir, gone).unwrap();
    cp(&copy, &measured.options.spool_dir);
    let agent = measured.agent();
    let (stop, begun_ns) = (AtomicBool::new(false), chronoscope_clock::monotonic_ns());
    let failed = |status: &chronoscope_collect::Status| {
        status.delivery.as_ref().and_then(|delivery| delivery.error.clone())
    };
    let mut error = None;
    let status = agent.run(&stop, &mut |status| {
        error = error.take().or_else(|| failed(status));
        let late = chronoscope_clock::monotonic_ns() > begun_ns + 30_000_000_000;
        stop.store(error.is_some() || late, Ordering::Relaxed);
    });
    let error = error.or_else(|| failed(&status.unwrap())).unwrap();
    assert!(error.contains("the spool is an old copy"), "{error}");
    assert_eq!(own_ids(&world).len(), 200);
}

/// A jump in an agent's numbers is a loss of the host's programs, unless the agent has said so.
#[test]
fn a_gap_in_an_agents_numbers_is_lost_rows_once() {
    run(async {
        let world = World::new(None);
        let (mut agent, _) = world.agent(1).await;
        agent.deliver(0..10).await;
        agent.deliver(500..510).await;
        let lost = || world.store.ledger().lost_rows();
        assert_eq!(lost(), 490);
        // What it declares as dropped is counted from that.
        let process = ProcessName {
            application: format!("chronoscope agent {:032x}", 1),
            host: "host".into(),
            pid: 0,
            start_ns: 0,
        };
        let mut message = rows(600..610).unpack().unwrap();
        message.extras.lost.push((process.id(), 90));
        message.names.add_process(process);
        agent.say(FromAgent::Rows(Rows::pack(600, &message).unwrap())).await;
        while agent.answer().await != FromCollector::Ack(Ack { row: 610 }) {}
        assert_eq!(lost(), 490 + 90);
        let ledger = world.store.ledger();
        let loss = ledger.losses.iter().next().unwrap();
        assert_eq!((ledger.losses.iter().count(), loss.rows), (1, 490));
        let name = ledger.names.process(loss.process).unwrap();
        assert!(name.application.starts_with("chronoscope agent "), "{name:?}");
        assert_eq!(name.host, "host");
    });
}
