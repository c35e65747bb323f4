//! A server over a store whose chains are slow on one host, asked over a real socket.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
#![allow(clippy::cast_sign_loss)] // helpers of tests
#![allow(dead_code)] // each test uses its part

use chronoscope_collect::Status;
use chronoscope_model::{
    Batch, ClassId, ClassName, NO_PROCESS_CPU, Names, PathId, ProcessId, ProcessName, Record,
    TransactionId,
};
use chronoscope_rules::RuleFile;
use chronoscope_server::{Server, ServerOptions};
use chronoscope_store::{Append, MINUTE_NS, Options, Store};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::ops::Range;
use std::path::Path;

/// When the first chain starts: 2026-11-21T00:00 UTC.
pub(crate) const BEGIN_NS: i64 = 1_795_219_200_000_000_000;
/// A chain every millisecond; each tenth waits 50 ms longer for its last hop, on the host `slow`.
pub(crate) const CHAINS: u64 = 1200;
/// The selection of all of them.
pub(crate) const ALL: &str = "root=A::in&leaf=B::out";

fn process(host: &str) -> ProcessName {
    ProcessName { application: "A".into(), host: host.into(), pid: 1, start_ns: 1 }
}

/// A chain of two hops, of which the second is on one of two hosts.
#[derive(Clone, Copy)]
pub(crate) struct Chain {
    /// Its identity's lower half, from 1.
    pub(crate) id: u64,
    pub(crate) root_start_ns: i64,
    /// From the start of the first hop to that of the second.
    pub(crate) wait_ns: i64,
    /// Whether the second hop is on `slow`.
    pub(crate) on_slow: bool,
}

/// Stores chains that start at these times, each a whole set of [`CHAINS`].
pub(crate) fn fill(dir: &Path, begins_ns: &[i64]) {
    let chains = begins_ns.iter().enumerate().flat_map(|(set, begin_ns)| {
        (1..=CHAINS).map(move |chain| {
            let late = chain % 10 == 0;
            Chain {
                id: set as u64 * CHAINS + chain,
                root_start_ns: begin_ns + chain as i64 * 1_000_000,
                wait_ns: if late { 50_000_000 } else { 100_000 + chain as i64 * 10 },
                on_slow: late,
            }
        })
    });
    let now_ns = begins_ns.iter().max().unwrap() + 10 * MINUTE_NS;
    fill_with(dir, chains, now_ns).seal_all(now_ns).unwrap();
}

/// Stores these chains, and seals none of them.
pub(crate) fn fill_with(dir: &Path, chains: impl Iterator<Item = Chain>, now_ns: i64) -> Store {
    fill_rows(dir, &rows_of(chains), now_ns)
}

/// The rows of chains.
pub(crate) fn rows_of(chains: impl Iterator<Item = Chain>) -> Batch {
    let classes = classes();
    let hosts = ["quick", "slow"].map(|host| process(host).id());
    let mut batch = Batch::default();
    for chain in chains {
        let first_id = chain.id * 2;
        let mut row = |level: u16, start_ns: i64, host: ProcessId| {
            let record = Record {
                start_ns,
                elapsed_ns: 20_000 + chain.id % 7,
                process_cpu_ns: NO_PROCESS_CPU,
                chain_low: chain.id,
                id: TransactionId(first_id + u64::from(level)),
                parent: TransactionId(if level == 0 { 0 } else { first_id }),
                class: classes[usize::from(level)],
                path: PathId::of(&classes[..=usize::from(level)]),
                root_start_ns: chain.root_start_ns,
                root_process: hosts[0],
                process: host,
                level,
                ..Record::default()
            };
            batch.push(record, b"");
        };
        row(0, chain.root_start_ns, hosts[0]);
        row(1, chain.root_start_ns + chain.wait_ns, hosts[usize::from(chain.on_slow)]);
    }
    batch
}

/// `A::in` and `B::out`.
pub(crate) fn classes() -> [ClassId; 2] {
    [ClassId::of("A", "in"), ClassId::of("B", "out")]
}

/// Stores rows of these classes on the hosts `quick` and `slow`, and seals none of them.
pub(crate) fn fill_rows(dir: &Path, batch: &Batch, now_ns: i64) -> Store {
    let names = names();
    let store = Store::open(dir, Options::default(), now_ns).unwrap();
    let input = Append { batch: Some(batch), names: Some(&names), ..Append::default() };
    store.append(&input, now_ns).unwrap();
    store.sync().unwrap();
    store
}

/// Names of these classes and hosts.
pub(crate) fn names() -> Names {
    let mut names = Names::default();
    for (application, class) in [("A", "in"), ("B", "out")] {
        names.add_class(ClassName { application: application.into(), class: class.into() });
    }
    let classes = classes();
    names.add_path(PathId::of(&classes[..1]), classes[..1].to_vec());
    names.add_path(PathId::of(&classes), classes.to_vec());
    for host in ["quick", "slow"] {
        names.add_process(process(host));
    }
    names
}

/// A server over such a store.
pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) dir: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(&[BEGIN_NS], |_| ())
    }

    /// With chains at some times, and other options.
    pub(crate) fn with(begins_ns: &[i64], change: impl FnOnce(&mut ServerOptions)) -> Self {
        Self::of(|dir| fill(dir, begins_ns), change)
    }

    /// Over what `fill` stores.
    pub(crate) fn of(fill: impl FnOnce(&Path), change: impl FnOnce(&mut ServerOptions)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fill(dir.path());
        let mut options = ServerOptions::new("127.0.0.1:0".parse().unwrap(), dir.path().to_owned());
        change(&mut options);
        Self { server: Server::start(options).unwrap(), dir }
    }

    /// A connection on which a request has been sent.
    pub(crate) fn send(&self, method: &str, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.server.address()).unwrap();
        let request = format!(
            "{method} /api/v1/{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// Status and body of a request outside of the API.
    pub(crate) fn outside(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.server.address()).unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    /// Status and body of a request.
    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        received(self.send("GET", path))
    }

    pub(crate) fn answer(&self, path: &str) -> Value {
        let (status, body) = self.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        body
    }
}

/// Status and body of a request of the API.
pub(crate) fn asked(server: &Server, method: &str, path: &str, body: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let request = format!(
        "{method} /api/v1/{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    received(stream)
}

/// The response on a connection: its status and its body (null without a body).
pub(crate) fn received(mut stream: TcpStream) -> (u16, Value) {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let (Some(from), Some(to)) = (body.find('{'), body.rfind('}')) else {
        return (status, Value::Null);
    };
    let body = &body[from..=to];
    (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}")))
}

/// Chains of a minute of [`minutes`], one every 600 ms.
pub(crate) const MINUTE_CHAINS: u64 = 100;

/// Chains in these minutes; those of `slow` take 50 ms and the others less than 1 ms.
pub(crate) fn minutes(
    begin_ns: i64,
    minutes: Range<i64>,
    slow: Range<i64>,
) -> impl Iterator<Item = Chain> {
    minutes.flat_map(move |minute| {
        let is_slow = slow.contains(&minute);
        (0..MINUTE_CHAINS).map(move |chain| Chain {
            id: minute as u64 * MINUTE_CHAINS + chain + 1,
            root_start_ns: begin_ns + minute * MINUTE_NS + chain as i64 * 600_000_000,
            wait_ns: if is_slow { 50_000_000 } else { 100_000 },
            on_slow: false,
        })
    })
}

/// A server with the rules of a file, over chains of the last half hour, those of the last three
/// minutes slow; `collects`: whether a collector has just reported.
pub(crate) fn live(collects: bool, file: &str) -> World {
    let chains = |begin_ns| minutes(begin_ns, 0..30, 27..30).collect();
    live_with(collects, file, chains, |_| ())
}

/// The same over other chains, which `chains` makes from a time half an hour ago, with other options.
pub(crate) fn live_with(
    collects: bool,
    file: &str,
    chains: impl Fn(i64) -> Vec<Chain>,
    change: impl FnOnce(&mut ServerOptions),
) -> World {
    let rules = RuleFile::parse(file).unwrap();
    let now_ns = chronoscope_clock::utc_now_ns();
    let begin_ns = (now_ns / MINUTE_NS - 30) * MINUTE_NS;
    let fill = |dir: &Path| {
        fill_with(dir, chains(begin_ns).into_iter(), now_ns);
        // It may report ahead of a slow machine.
        let at_ns = now_ns + 9_000_000_000;
        let status = Status { running: collects, at_ns, ..Status::default() };
        std::fs::write(Status::path(dir), serde_json::to_vec(&status).unwrap()).unwrap();
    };
    World::of(fill, |options| {
        options.rules = rules;
        change(options);
    })
}
