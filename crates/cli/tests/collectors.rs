//! Several `serve` before one real ClickHouse: agents go to another one, and alarms are told once,
//! when one is killed.

#![allow(clippy::unwrap_used)] // helpers of tests
#![allow(dead_code)] // the helpers of the agents' tests have more

#[path = "agent/certificates.rs"]
mod certificates;
#[path = "../../query/tests/cluster/mod.rs"]
mod cluster;
#[path = "agent/world.rs"]
mod world;

use chronoscope_clickhouse::{Cluster, ClusterWriter};
use chronoscope_clock as clock;
use chronoscope_collect::{Ingest, RowSource};
use chronoscope_model::{
    Batch, ClassId, ClassName, Flags, NO_PROCESS_CPU, Names, PathId, ProcessName, Record,
    TransactionId,
};
use cluster::Servers;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use world::{Host, Program, wait_until};

/// A collector before a cluster, at an address; the program, and where it listens.
fn serve(url: &str, listen: &str, limits: Option<&Path>) -> (Program, SocketAddr) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.env_remove("CHRONOSCOPE_TOKEN").env_remove("CHRONOSCOPE_DATA");
    command.args(["serve", "--store", url, "--listen", listen]);
    if let Some(limits) = limits {
        command.arg("--limits").arg(limits);
    }
    let program = Program::start(&mut command);
    let mut address = None;
    wait_until("serve listens", || {
        let said = program.said();
        let after = said.split_once("answering on http://").map(|(_, rest)| rest.to_owned());
        let before = after.and_then(|rest| rest.split_once("/status")?.0.parse().ok());
        address = before;
        address.is_some()
    });
    (program, address.unwrap())
}

fn get(address: SocketAddr, path: &str) -> Value {
    let agent = ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build();
    let mut answer = agent.new_agent().get(format!("http://{address}{path}")).call().unwrap();
    serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap()
}

/// Where an agent delivers, and whether it is connected.
fn delivers(host: &Host) -> (String, bool) {
    let delivery = host.status()["delivery"].clone();
    (delivery["to"].as_str().unwrap_or_default().to_owned(), delivery["connected"] == true)
}

#[test]
fn an_agent_goes_to_the_other_collector_and_comes_back_and_no_row_is_lost_or_doubled() {
    let Some(servers) = Servers::start(1) else { return };
    let store = servers.url("failover");
    let (mut first, one) = serve(&store, "127.0.0.1:0", None);
    let (_second, other) = serve(&store, "127.0.0.1:0", None);
    let (to_one, to_other) = (format!("http://{one}"), format!("http://{other}"));
    let host = Host::new();
    let agent = Program::start(host.agent(&to_one).args(["--to", &to_other]));
    // 20 s of rows, two each: they come before, during and after the collector is away.
    let chains = 2000;
    let mut measured = host.measured(chains, 10, 65_536);
    wait_until("it delivers to the first", || {
        host.status()["delivery"]["acknowledged_rows"].as_u64() > Some(0)
    });
    assert_eq!(delivers(&host), (to_one.clone(), true));
    first.kill();
    wait_until("it delivers to the other", || delivers(&host) == (to_other.clone(), true));
    let acknowledged = host.status()["delivery"]["acknowledged_rows"].as_u64();
    wait_until("rows come in there", || {
        host.status()["delivery"]["acknowledged_rows"].as_u64() > acknowledged
    });
    let open = || {
        let now = get(other, "/api/v1/now");
        let live = now["live"] == true;
        live && now["applications"].as_array().is_some_and(|all| !all.is_empty())
    };
    wait_until("the other one shows what goes on", open);
    let (_again, _) = serve(&store, &one.to_string(), None);
    wait_until("it comes back to the first", || delivers(&host) == (to_one.clone(), true));
    assert!(measured.wait().unwrap().success());
    wait_until("all is delivered", || host.is_done());
    let count = |what: &str, table: &str| {
        servers.sql(0, &format!("SELECT {what} FROM failover.{table}")).parse::<u64>().unwrap()
    };
    let doubled = servers.sql(
        0,
        "SELECT id, class, groupArray(_part), groupArray(start) FROM failover.transactions \
         GROUP BY id, class HAVING count() > 1 LIMIT 5",
    );
    assert_eq!(doubled, "", "rows are doubled");
    assert_eq!(count("count()", "transactions"), 2 * chains);
    assert_eq!(count("uniqExact(id)", "transactions"), 2 * chains);
    assert_eq!(count("count()", "losses"), 0, "no row is taken for a lost one");
    assert!(count("count()", "deliveries") > 0 && count("count()", "clocks") > 0);
    let status = get(other, "/status");
    assert_eq!(status["agents"].as_array().map(Vec::len), Some(1), "one agent: {status}");
    assert_eq!(status["agents"][0]["connected"], true, "{status}");
    assert_eq!(status["agents"][0]["gap_rows"], 0, "{status}");
    drop(agent);
}

/// Key and change of each notification.
type Told = Arc<Mutex<Vec<(String, String)>>>;

/// What comes to an address.
fn receive() -> (String, Told) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let received = Arc::<Mutex<Vec<_>>>::default();
    let told = received.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut text = Vec::new();
            let body: Value = loop {
                let mut part = [0; 4096];
                let read = stream.read(&mut part).unwrap();
                text.extend_from_slice(&part[..read]);
                let whole = String::from_utf8_lossy(&text).into_owned();
                let Some((_, body)) = whole.split_once("\r\n\r\n") else { continue };
                if let Ok(body) = serde_json::from_str(body) {
                    break body;
                }
            };
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            stream.write_all(answer.as_bytes()).unwrap();
            let word = |key: &str| body[key].as_str().unwrap().to_owned();
            told.lock().unwrap().push((word("key"), word("change")));
        }
    });
    (url, received)
}

/// A row of `A::in` that has just ended.
fn one_row(ingest: &Ingest) {
    let mut names = Names::default();
    names.add_class(ClassName { application: "A".into(), class: "in".into() });
    let class = ClassId::of("A", "in");
    let path = PathId::of(&[class]);
    names.add_path(path, vec![class]);
    let process = ProcessName { application: "A".into(), host: "h".into(), pid: 1, start_ns: 1 };
    let start_ns = clock::utc_now_ns() - 1_000_000;
    let record = Record {
        start_ns,
        root_start_ns: start_ns,
        elapsed_ns: 1_000_000,
        process_cpu_ns: NO_PROCESS_CPU,
        chain_low: start_ns.unsigned_abs(),
        id: TransactionId(start_ns.unsigned_abs()),
        class,
        path,
        process: process.id(),
        root_process: process.id(),
        ..Record::default()
    };
    names.add_process(process);
    let mut batch = Batch::default();
    batch.push(record, b"");
    ingest.take(RowSource::Once, &batch, &names, &[]).unwrap();
}

#[test]
fn when_the_collector_that_notifies_is_killed_another_one_goes_on_and_each_change_is_told_once() {
    let Some(servers) = Servers::start(1) else { return };
    let store = servers.url("handover");
    let (url, received) = receive();
    let dir = tempfile::tempdir().unwrap();
    let limits = dir.path().join("limits.toml");
    let rule = "[[limit]]\nname = 'quiet'\nclass = 'A::in'\nabsence = '10s'\n";
    std::fs::write(&limits, format!("{rule}[[notify]]\nwebhook = '{url}'\n")).unwrap();
    let mut collectors = vec![serve(&store, "127.0.0.1:0", Some(&limits))];
    let changes = || -> Vec<String> {
        received.lock().unwrap().iter().map(|(_, change)| change.clone()).collect()
    };
    wait_until("nothing comes, and that is told", || changes() == ["fired"]);
    collectors.push(serve(&store, "127.0.0.1:0", Some(&limits)));
    let (_, other) = collectors[1];
    wait_until("the other one shows it", || {
        get(other, "/api/v1/rules")["rules"][0]["state"] == "firing"
    });
    assert!(collectors[0].0.said().contains("info notified "), "the first one told it");
    collectors[0].0.kill();
    let killed_ns = clock::monotonic_ns();
    let ingest = Ingest::into_cluster(ClusterWriter::new(Cluster::new(&store).unwrap()));
    wait_until("the other one tells that rows come", || {
        one_row(&ingest);
        clock::sleep(Duration::from_millis(500));
        changes() == ["fired", "cleared"]
    });
    let took_ns = clock::monotonic_ns() - killed_ns;
    eprintln!("the other one told the end {:.1} s after the kill", took_ns as f64 / 1e9);
    assert!(collectors[1].0.said().contains("info notified "), "the other one told it");
    let (mut third, _) = serve(&store, "127.0.0.1:0", Some(&limits));
    for _ in 0..10 {
        one_row(&ingest);
        clock::sleep(Duration::from_millis(500));
    }
    assert_eq!(changes(), ["fired", "cleared"], "each is told once");
    third.kill();
}

/// A chain of two rows without ancestors, some minutes ago.
fn foreign_chain(ingest: &Ingest, minutes_ago: i64) {
    let mut names = Names::default();
    names.add_class(ClassName { application: "A".into(), class: "in".into() });
    let process = ProcessName { application: "A".into(), host: "h".into(), pid: 1, start_ns: 1 };
    let start_ns = clock::utc_now_ns() - minutes_ago * 60_000_000_000;
    let of_chain = |id: u64, parent: u64| Record {
        start_ns,
        root_start_ns: start_ns,
        elapsed_ns: 1_000_000,
        process_cpu_ns: NO_PROCESS_CPU,
        chain_low: start_ns.unsigned_abs(),
        id: TransactionId(id),
        parent: TransactionId(parent),
        class: ClassId::of("A", "in"),
        process: process.id(),
        flags: Flags::FOREIGN.0,
        ..Record::default()
    };
    let mut batch = Batch::default();
    batch.push(of_chain(1, 0), b"");
    batch.push(of_chain(2, 1), b"");
    names.add_process(process);
    ingest.take(RowSource::Once, &batch, &names, &[]).unwrap();
}

#[test]
fn one_collector_links_chains_and_when_it_is_killed_another_one_does() {
    let Some(servers) = Servers::start(1) else { return };
    let store = servers.url("linking");
    let (taken_over, linked) = ("info linking_taken_over", "info minutes_linked");
    let (mut first, _) = serve(&store, "127.0.0.1:0", None);
    wait_until("the first one links", || first.said().contains(taken_over));
    let (second, _) = serve(&store, "127.0.0.1:0", None);
    let ingest = Ingest::into_cluster(ClusterWriter::new(Cluster::new(&store).unwrap()));
    let rows = || -> u64 {
        let sql = "SELECT uniqExact(component_low, start_ns, path) FROM linking.linked_rows";
        servers.sql(0, sql).parse().unwrap()
    };
    // Each looks every ten seconds: without a lease the other one would be first some time.
    for chain in 1..=4_i64 {
        foreign_chain(&ingest, 10 + 5 * chain);
        wait_until("it is linked", || rows() == 2 * chain.unsigned_abs());
    }
    assert!(first.said().contains(linked));
    let said = second.said();
    assert!(!said.contains(linked) && !said.contains(taken_over), "{said}");
    first.kill();
    foreign_chain(&ingest, 50);
    wait_until("the other one links", || rows() == 10);
    wait_until("it says so", || second.said().contains(linked));
    assert!(second.said().contains(taken_over), "{}", second.said());
    let (mut third, _) = serve(&store, "127.0.0.1:0", None);
    // One that ends gives the lease up at once.
    let pid = second.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    wait_until("the third one links", || third.said().contains(taken_over));
    third.kill();
}
