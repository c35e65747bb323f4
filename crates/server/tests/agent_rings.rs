//! Rings as the API shows them, of this host and through agents: real programs record, a real agent
//! answers; and what becomes of rings that were written over, of agents that go, and of old ones.

#![allow(clippy::unwrap_used)] // a test may panic

use chronoscope_collect::protocol::{self, AgentMessage, CollectorMessage, FromAgent, Hello};
use chronoscope_collect::rings::{
    ListRings, QUESTIONS, RingAnswer, RingAnswerKind, RingQuestion, RingsFromAgent, RingsMessage,
};
use chronoscope_collect::{Agent, AgentOptions, Ingest, Target};
use chronoscope_record::read::{Ring, find_rings};
use chronoscope_record::{Class, class};
use chronoscope_server::{Server, ServerOptions};
use chronoscope_store::{Options, Store, StreamId};
use prost::Message;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Streaming};
use tonic_prost::ProstCodec;

/// Set in the child processes of these tests: they record and wait.
const CHILD: &str = "CHRONOSCOPE_TEST_CHILD";
/// Calls that a child records, each with a call inside.
const CALLS: u64 = 300;

static LOOP: Class = class!("loop");
static OUTER: Class = class!("outer");
static INNER: Class = class!("inner");

/// Records in a child process: `outer` with `inner` inside, of which one is slow and one computes;
/// and leaves one open.
#[test]
fn child_entry() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    chronoscope_record::init("WORK");
    let _open = LOOP.begin();
    for call in 0..CALLS {
        let mut outer = OUTER.begin();
        outer.property("callsign", "DLH123");
        let _inner = INNER.begin();
        if call == 7 {
            chronoscope_clock::sleep(Duration::from_millis(30));
        }
        if call == 9 {
            let begin_ns = chronoscope_clock::monotonic_ns();
            while chronoscope_clock::monotonic_ns() - begin_ns < 10_000_000 {
                std::hint::spin_loop();
            }
        }
    }
    println!("ready");
    let mut line = String::new();
    while std::io::stdin().read_line(&mut line).unwrap_or(0) > 0 {}
}

/// A program that records; killed when dropped.
struct Program(Child);

impl Program {
    fn start(rings: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["child_entry", "--exact", "--nocapture", "--test-threads=1"])
            .env(CHILD, "1")
            .env("CHRONOSCOPE_DIR", rings)
            .env("CHRONOSCOPE_SLOTS", "1024")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("ready")), "the child ended");
        Self(child)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A collector with rings of its own host, and those of another one.
struct World {
    server: Server,
    /// Rings of the server's host, and of the agent's.
    here: tempfile::TempDir,
    there: tempfile::TempDir,
    _data: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let folder = || tempfile::tempdir_in("/dev/shm").unwrap();
        let (here, there, data) = (folder(), folder(), tempfile::tempdir().unwrap());
        let store = Arc::new(Store::open(data.path(), Options::default(), 0).unwrap());
        let server = Server::start(ServerOptions {
            ingest: Some(Ingest::into_files(store)),
            rings: here.path().to_owned(),
            ..ServerOptions::new("127.0.0.1:0".parse().unwrap(), data.path().into())
        });
        Self { server: server.unwrap(), here, there, _data: data }
    }

    fn get(&self, path: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(self.server.address()).unwrap();
        let request =
            format!("GET /api/v1/{path} HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap())
    }

    fn answer(&self, path: &str) -> Value {
        let (status, body) = self.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    /// The first list that is as it has to be; within 30 s.
    fn until(&self, is: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        for _ in 0..600 {
            last = self.answer("rings");
            if is(&last) {
                return last;
            }
            chronoscope_clock::sleep(Duration::from_millis(50));
        }
        panic!("not within 30 s: {last}");
    }

    /// Runs an agent of the other host's rings while something is done.
    fn with_agent(&self, during: impl FnOnce()) {
        let spool = tempfile::tempdir().unwrap();
        let to = Target::new(&format!("http://{}", self.server.address()), None, None, false);
        let options = AgentOptions::new(self.there.path().into(), spool.path().into(), to.unwrap());
        let agent = Agent::new(options).unwrap();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let runs = scope.spawn(|| agent.run(&stop, &mut |_| {}).unwrap());
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(during));
            stop.store(true, Ordering::Relaxed);
            runs.join().unwrap();
            done.unwrap();
        });
    }

    async fn stream<S: Message + Default + 'static, R: Message + Default + 'static>(
        &self,
        path: &'static str,
    ) -> (mpsc::Sender<S>, Streaming<R>) {
        let endpoint = Endpoint::try_from(format!("http://{}", self.server.address())).unwrap();
        let mut grpc: Grpc<Channel> = Grpc::new(endpoint.connect().await.unwrap());
        grpc.ready().await.unwrap();
        let (messages, receiver) = mpsc::channel(4);
        let request = Request::new(ReceiverStream::new(receiver));
        let codec = ProstCodec::<S, R>::default();
        let answers = grpc.streaming(request, PathAndQuery::from_static(path), codec).await;
        (messages, answers.unwrap().into_inner())
    }
}

fn only_ring(folder: &Path) -> PathBuf {
    let rings = find_rings(folder);
    assert_eq!(rings.len(), 1, "{rings:?}");
    rings[0].clone()
}

/// What a ring of the child must have.
fn check(content: &Value) {
    let class = |name: &str| {
        let all = content["classes"].as_array().unwrap().iter();
        { all }.find(|class| class["class"] == name).unwrap_or_else(|| panic!("{name}: {content}"))
    };
    let (outer, inner) = (class("WORK::outer"), class("WORK::inner"));
    for class in [outer, inner] {
        assert_eq!((&class["count"], &class["enabled"]), (&CALLS.into(), &true.into()));
        for time in ["elapsed", "cpu"] {
            let bins = class[time]["bins"].as_array().unwrap();
            let counted: u64 = bins.iter().map(|bin| bin["count"].as_u64().unwrap()).sum();
            assert_eq!((counted, &class[time]["count"]), (CALLS, &CALLS.into()));
            assert!(bins.iter().all(|bin| bin["from_ns"].as_u64() < bin["until_ns"].as_u64()));
        }
        for (list, by) in [("worst", "elapsed_ns"), ("worst_cpu", "cpu_ns")] {
            let values = class[list].as_array().unwrap().iter().map(|row| row[by].as_u64());
            let values: Vec<_> = values.collect();
            assert_eq!(
                (values.len(), values.is_sorted_by(|a, b| a >= b)),
                (10, true),
                "{values:?}"
            );
        }
    }
    let slowest = &outer["worst"][0];
    assert!(slowest["elapsed_ns"].as_u64().unwrap() >= 30_000_000, "{slowest}");
    assert_eq!(slowest["context"], "callsign=DLH123");
    assert!(outer["worst_cpu"][0]["cpu_ns"].as_u64() < slowest["elapsed_ns"].as_u64());
    let last = content["last"].as_array().unwrap();
    assert_eq!(last.len(), 6);
    let called = |row: &&Value| row["class"] == "WORK::inner";
    for row in last.iter().filter(called) {
        let parent = last.iter().find(|other| other["id"] == row["parent"]).unwrap();
        assert_eq!(parent["class"], "WORK::outer");
        assert!(parent["after_ns"].as_i64() <= row["after_ns"].as_i64());
        assert_eq!(parent["thread"], row["thread"]);
    }
    let open = content["open"].as_array().unwrap();
    assert_eq!((open.len(), &open[0]["class"]), (1, &"WORK::loop".into()));
    let outermost = last.iter().filter(|row| row["class"] == "WORK::outer");
    assert!({ outermost }.all(|row| row["parent"] == open[0]["id"]));
    assert_eq!(content["damaged"].as_array().unwrap().len(), 0, "{content}");
}

#[test]
fn a_ring_of_another_host_is_shown_through_its_agent_as_one_of_this_host() {
    let world = World::new();
    let (_here, there) = (Program::start(world.here.path()), Program::start(world.there.path()));
    world.with_agent(|| {
        let list = world.until(|list| list["rings"].as_array().unwrap().len() == 2);
        let [own, other] = [0, 1].map(|at| &list["hosts"][at]);
        assert_eq!((&own["agent"], &own["rings"]), (&Value::Null, &1.into()), "{list}");
        assert_eq!((&other["state"], &other["rings"]), (&"answered".into(), &1.into()), "{list}");
        for ring in list["rings"].as_array().unwrap() {
            assert_eq!(ring["recorded"], 2 * CALLS, "{ring}");
            let id = ring["id"].as_str().unwrap();
            let agent = ring["agent"].as_str();
            let of = agent.map_or_else(String::new, |agent| format!("&agent={agent}"));
            check(&world.answer(&format!("rings/{id}?last=6{of}")));
            // One host does not have the other's rings.
            let elsewhere = match agent {
                Some(_) => format!("rings/{id}"),
                None => format!("rings/{id}?agent={}", other["agent"].as_str().unwrap()),
            };
            assert_eq!(world.get(&elsewhere).0, 404);
        }
    });
    drop(there);
    let list = world.until(|list| list["hosts"][1]["state"] == "away");
    assert!(list["hosts"][1]["away_since_ns"].as_i64().unwrap() > 0, "{list}");
    let agent = list["hosts"][1]["agent"].as_str().unwrap();
    let (status, body) = world.get(&format!("rings/1?agent={agent}"));
    assert_eq!(status, 503, "{body}");
    assert!(body["error"].as_str().unwrap().ends_with("is not connected"), "{body}");
    let nobody = world.get(&format!("rings/1?agent={:032x}", 1));
    assert_eq!(nobody.0, 404, "{}", nobody.1);
}

#[test]
fn a_dead_processs_ring_is_shown_and_a_scribbled_one_says_what_is_wrong() {
    let world = World::new();
    drop(Program::start(world.here.path()));
    let path = only_ring(world.here.path());
    let list = world.answer("rings");
    let ring = &list["rings"][0];
    assert_eq!((&ring["alive"], &ring["open"]), (&false.into(), &1.into()), "{list}");
    let id = ring["id"].as_str().unwrap().to_owned();
    check(&world.answer(&format!("rings/{id}?last=6")));
    // Every slot of the thread holds another record now; the statistics are whole.
    let sound = std::fs::read(&path).unwrap();
    let scribbled = scribbled_slots(&path, &sound);
    std::fs::write(&path, &scribbled).unwrap();
    let content = world.answer(&format!("rings/{id}?last=6"));
    assert_eq!(content["last"].as_array().unwrap().len(), 0);
    assert!(content["classes"].as_array().unwrap().len() >= 2, "{content}");
    let damaged = content["damaged"][0].as_str().unwrap();
    assert!(damaged.starts_with("last transactions: byte "), "{damaged}");
    let list = world.answer("rings");
    assert_eq!(list["rings"][0]["id"], id, "it is shown as far as it is whole: {list}");
    assert!(list["failed"][0].as_str().unwrap().contains("the slot holds"), "{list}");
    // Cut in the middle: its numbers cannot be read.
    std::fs::write(&path, &sound[..sound.len() / 8]).unwrap();
    let (status, body) = world.get(&format!("rings/{id}"));
    assert!(status == 500 || status == 404, "{status} {body}");
    let failed = world.answer("rings")["failed"][0].as_str().unwrap().to_owned();
    assert!(failed.contains("the ring ends here"), "{failed}");
    std::fs::write(&path, b"no ring at all").unwrap();
    let list = world.answer("rings");
    assert_eq!(
        (list["rings"].as_array().unwrap().len(), &list["hosts"][0]["rings"]),
        (0, &0.into())
    );
    assert_eq!(list["failed"].as_array().unwrap().len(), 1);
}

/// The ring with other numbers in the slots of its records.
fn scribbled_slots(path: &Path, sound: &[u8]) -> Vec<u8> {
    let mut ring = Ring::open(path).unwrap();
    let last = ring.last(1).unwrap();
    let id = last.records()[0].id.0.to_le_bytes();
    // A slot is its number and the record, whose id is at its 56th byte; the worst cases and the
    // open ones have the id as well, but no number before it.
    let mut bytes = sound.to_vec();
    let at = (0..sound.len() - 8).step_by(8).filter(|at| sound[*at..*at + 8] == id);
    let slot = |at: &usize| u64::from_le_bytes(sound[at - 56..at - 48].try_into().unwrap());
    let at: Vec<usize> = at.filter(|at| *at > 64 && slot(at) == 2 * CALLS).collect();
    assert_eq!(at.len(), 1, "the slot of the last record");
    bytes[at[0] - 56] ^= 0xff;
    bytes
}

#[test]
fn two_hundred_rings_are_listed_and_one_of_them_shown() {
    let world = World::new();
    drop(Program::start(world.there.path()));
    let path = only_ring(world.there.path());
    let sound = std::fs::read(&path).unwrap();
    // Programs that have ended, each with a ring of its own.
    for copy in 0..200 {
        std::fs::write(world.there.path().join(format!("copy-{copy}.ring")), &sound).unwrap();
        std::fs::write(world.here.path().join(format!("copy-{copy}.ring")), &sound).unwrap();
    }
    let list = world.answer("rings");
    assert_eq!(list["rings"].as_array().unwrap().len(), 200);
    let id = list["rings"][0]["id"].as_str().unwrap();
    check(&world.answer(&format!("rings/{id}?last=6")));
}

#[test]
fn an_older_agent_is_named_and_one_that_goes_while_it_is_asked_ends_the_question() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let world = World::new();
    let hello = |id, rings| Hello { rings, ..Hello::new(StreamId(id), format!("host-{id}")) };
    runtime.block_on(async {
        let (old, mut welcome) =
            world.stream::<AgentMessage, CollectorMessage>(protocol::DELIVER).await;
        let first = AgentMessage { kind: Some(FromAgent::Hello(hello(1, false))) };
        old.send(first).await.unwrap();
        welcome.message().await.unwrap().unwrap();
        let list = world.answer("rings");
        assert_eq!(list["hosts"][1]["state"], "older", "{list}");
        let why = list["hosts"][1]["reason"].as_str().unwrap();
        assert!(why.starts_with("the agent of host-1 (chronoscope "), "{why}");
        let (status, body) = world.get(&format!("rings/1?agent={:032x}", 1));
        assert_eq!((status, &body["hint"]), (501, &"update the agent".into()), "{body}");

        // A new one has its streams of rows and of questions, and is asked.
        let (rows, mut welcome) =
            world.stream::<AgentMessage, CollectorMessage>(protocol::DELIVER).await;
        let first = AgentMessage { kind: Some(FromAgent::Hello(hello(2, true))) };
        rows.send(first).await.unwrap();
        welcome.message().await.unwrap().unwrap();
        let (answers, mut questions) =
            world.stream::<RingsFromAgent, RingQuestion>(QUESTIONS).await;
        let hello = RingsMessage::Hello(hello(2, true));
        answers.send(RingsFromAgent { kind: Some(hello) }).await.unwrap();
        let address = world.server.address();
        let ask = move || {
            let mut stream = TcpStream::connect(address).unwrap();
            let path = format!("/api/v1/rings/1?agent={:032x}", 2);
            write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        };
        // The stream of questions may be noticed a moment later.
        let asked = loop {
            let asked = tokio::task::spawn_blocking(ask);
            let question = tokio::time::timeout(Duration::from_secs(1), questions.message()).await;
            if let Ok(question) = question {
                assert_eq!(question.unwrap().unwrap().number, 1);
                break asked;
            }
            let _ = asked.await;
        };
        drop((answers, questions, rows, welcome));
        let answer = asked.await.unwrap();
        assert!(
            answer.starts_with("HTTP/1.0 503") || answer.starts_with("HTTP/1.1 503"),
            "{answer}"
        );
        assert!(answer.contains("host-2: the agent disconnected before it answered"), "{answer}");
    });
}

#[test]
fn an_answer_that_was_not_asked_for_ends_the_stream() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let world = World::new();
    runtime.block_on(async {
        let answer = RingAnswer { number: 1, kind: Some(RingAnswerKind::Missing(ListRings {})) };
        let hello = RingsMessage::Hello(Hello::new(StreamId(5), "h".into()));
        let refused = [
            (vec![hello.clone(), RingsMessage::Answer(answer.clone())], "was not asked"),
            (vec![hello.clone(), hello], "after the hello only answers"),
            (vec![RingsMessage::Answer(answer)], "the first message must be a hello"),
        ];
        for (messages, why) in refused {
            let (sender, mut questions) =
                world.stream::<RingsFromAgent, RingQuestion>(QUESTIONS).await;
            for kind in messages {
                sender.send(RingsFromAgent { kind: Some(kind) }).await.unwrap();
            }
            let status = questions.message().await.unwrap_err();
            assert_eq!(status.code(), Code::InvalidArgument);
            assert!(status.message().contains(why), "{status}");
        }
    });
}
