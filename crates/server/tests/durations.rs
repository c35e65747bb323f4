//! The page's questions about durations, over a real socket: a store whose chains are slow on one
//! host, and what is said of it.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // helpers of tests

use chronoscope_model::{
    Batch, ClassId, ClassName, NO_PROCESS_CPU, Names, PathId, ProcessId, ProcessName, Record,
    TransactionId,
};
use chronoscope_server::{Server, ServerOptions};
use chronoscope_store::{Append, MINUTE_NS, Options, Store};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

/// When the first chain starts: 2026-11-21T00:00 UTC.
const BEGIN_NS: i64 = 1_795_219_200_000_000_000;
/// A chain every millisecond; each tenth waits 50 ms longer for its last hop, on the host `slow`.
const CHAINS: u64 = 1200;
/// The selection of all of them.
const ALL: &str = "root=A::in&leaf=B::out";

fn process(host: &str) -> ProcessName {
    ProcessName { application: "A".into(), host: host.into(), pid: 1, start_ns: 1 }
}

fn fill(dir: &Path) {
    let mut names = Names::default();
    let classes = [("A", "in"), ("B", "out")].map(|(application, class)| {
        names.add_class(ClassName { application: application.into(), class: class.into() });
        ClassId::of(application, class)
    });
    names.add_path(PathId::of(&classes[..1]), classes[..1].to_vec());
    names.add_path(PathId::of(&classes), classes.to_vec());
    let hosts = ["quick", "slow"].map(|host| {
        names.add_process(process(host));
        process(host).id()
    });
    let mut batch = Batch::default();
    for chain in 1..=CHAINS {
        let root_start_ns = BEGIN_NS + chain as i64 * 1_000_000;
        let late = chain % 10 == 0;
        let wait_ns = if late { 50_000_000 } else { 100_000 + chain as i64 * 10 };
        let mut row = |level: u16, start_ns: i64, host: ProcessId| {
            let record = Record {
                start_ns,
                elapsed_ns: 20_000 + chain % 7,
                process_cpu_ns: NO_PROCESS_CPU,
                chain_low: chain,
                id: TransactionId(chain * 2 + u64::from(level)),
                parent: TransactionId(if level == 0 { 0 } else { chain * 2 }),
                class: classes[usize::from(level)],
                path: PathId::of(&classes[..=usize::from(level)]),
                root_start_ns,
                root_process: hosts[0],
                process: host,
                level,
                ..Record::default()
            };
            batch.push(record, b"");
        };
        row(0, root_start_ns, hosts[0]);
        row(1, root_start_ns + wait_ns, hosts[usize::from(late)]);
    }
    let now = BEGIN_NS + 10 * MINUTE_NS;
    let store = Store::open(dir, Options::default(), now).unwrap();
    let input = Append { batch: Some(&batch), names: Some(&names), ..Append::default() };
    store.append(&input, now).unwrap();
    store.sync().unwrap();
    store.seal_all(now).unwrap();
}

/// A server over such a store.
struct World {
    server: Server,
    _dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fill(dir.path());
        let options = ServerOptions::new("127.0.0.1:0".parse().unwrap(), dir.path().to_owned());
        Self { server: Server::start(options).unwrap(), _dir: dir }
    }

    /// Status and body of a request.
    fn get(&self, path: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(self.server.address()).unwrap();
        let request =
            format!("GET /api/v1/{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = &body[body.find('{').unwrap()..=body.rfind('}').unwrap()];
        (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}")))
    }

    fn answer(&self, path: &str) -> Value {
        let (status, body) = self.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        body
    }
}

fn sum(of: &Value) -> u64 {
    of.as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum()
}

#[test]
fn from_the_picture_to_the_cause() {
    let world = World::new();
    let picture = world.answer(&format!("scatter?{ALL}&width=60&height=40"));
    assert_eq!(picture["total"], CHAINS);
    assert_eq!(sum(&picture["cells"]["count"]), CHAINS);
    assert_eq!(picture["paths"][0]["path"], "A::in/B::out");
    let longest = picture["extremes"]["max_ns"].as_array().unwrap();
    assert!(longest.iter().all(|ns| ns.as_u64().unwrap() > 50_000_000));
    // The upper band, as a brush selects it.
    let band = format!("{ALL}&min_ns=10000000");
    let histogram = world.answer(&format!("histogram?{band}&bins=10&limit_ns=1000000"));
    let late = CHAINS / 10;
    assert_eq!(histogram["distribution"]["count"], late);
    assert_eq!(histogram["bins"].as_array().unwrap().len(), 10);
    assert_eq!(
        (&histogram["verdict"]["holds"], &histogram["verdict"]["above"]),
        (&false.into(), &late.into())
    );
    let chains = world.answer(&format!("chains?{band}&limit=3"));
    assert_eq!(chains["total"], late);
    for chain in chains["chains"].as_array().unwrap() {
        assert_eq!((&chain["leaf_host"], &chain["level"]), (&"slow".into(), &1.into()));
        let id = u64::from_str_radix(chain["chain"].as_str().unwrap(), 16).unwrap();
        assert_eq!(id % 10, 0, "{chain}");
    }
    let hops = world.answer(&format!("hops?{band}"));
    assert_eq!((&hops["selected"], &hops["rest"]), (&late.into(), &(CHAINS - late).into()));
    let sentence = hops["sentence"].as_str().unwrap();
    assert_eq!(sentence, "100 % of the difference is the wait before B::out on slow");
    let wait = hops["hops"].as_array().unwrap().iter().find(|hop| hop["part"] == "wait").unwrap();
    assert_eq!(sum(&wait["selected"]["counts"]), late);
    assert!(wait["p_value"].as_f64().unwrap() < 1e-6);
}

#[test]
fn hosts_and_times_narrow_a_question() {
    let world = World::new();
    let of = |what: &str| world.answer(&format!("chains?{ALL}&{what}"))["total"].clone();
    assert_eq!(of("hosts=slow"), CHAINS / 10);
    assert_eq!(of("hosts=slow,quick"), CHAINS);
    assert_eq!(of("hosts=nowhere"), 0);
    assert_eq!(of("path=A::in/B::out"), CHAINS);
    assert_eq!(of("path=A::in"), 0);
    let until = BEGIN_NS + 101 * 1_000_000;
    assert_eq!(of(&format!("until_ns={until}")), 100);
    assert_eq!(of("level=2"), 0);
    let apcd = world.answer("histogram?kind=apcd&root=A::in");
    assert_eq!(apcd["distribution"]["count"], CHAINS);
}

#[test]
fn two_times_side_by_side() {
    let world = World::new();
    let middle = BEGIN_NS + 601 * 1_000_000;
    let end = BEGIN_NS + MINUTE_NS;
    let path = format!("compare?{ALL}&until_ns={middle}&b_from_ns={middle}&b_until_ns={end}");
    let found = world.answer(&path);
    assert_eq!(found["a"]["distribution"]["count"], 600);
    assert_eq!(found["b"]["distribution"]["count"], 600);
    assert_eq!(sum(&found["a"]["counts"]), 600);
    assert_eq!(found["paths"][0]["state"], "both");
    let (low, high) = (&found["difference"]["low_ns"], &found["difference"]["high_ns"]);
    assert!(low.as_f64().unwrap() < 0.0 && high.as_f64().unwrap() > 0.0, "{found}");
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let world = World::new();
    for path in [
        "scatter?leaf=B::out",
        "scatter?root=A::in&leaf=B::out&width=0",
        "scatter?root=A::in&leaf=B::out&width=8192&height=8192",
        "scatter?root=A::in&leaf=B::out&colour=red",
        "histogram?root=A::in&leaf=B::out&bins=100000",
        "chains?root=A::in&leaf=B::out&limit=1000000",
        "hops?root=A::in&leaf=B::out&sample=-1",
        "compare?root=A::in&leaf=B::out",
        "compare?root=A::in&leaf=B::out&b_from_ns=x&b_until_ns=1",
    ] {
        let (status, body) = world.get(path);
        assert_eq!(status, 400, "{path}: {body}");
        assert!(body["error"].as_str().is_some_and(|words| !words.is_empty()), "{path}");
    }
    // Nothing there is no error: the picture is empty.
    let empty = world.answer("scatter?root=A::in&leaf=B::nobody");
    assert_eq!((&empty["total"], empty["paths"].as_array().unwrap().len()), (&0.into(), 0));
    let turned = world.answer(&format!("scatter?{ALL}&min_ns=9&max_ns=3&from_ns=9&until_ns=3"));
    assert_eq!(turned["total"], 0);
    assert_eq!(world.answer(&format!("hops?{ALL}&min_ns=9&max_ns=3"))["selected"], 0);
}
