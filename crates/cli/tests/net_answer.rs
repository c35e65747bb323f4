//! The permanent server, bulk transfer and the matrix, as real processes.
#![allow(clippy::unwrap_used)]

use chronoscope_net::probe::{Peer, ProbeOptions, Prober, Target};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const TOKEN: &str = "a-secret-of-some-length";

/// `chronoscope` with rings and data of its own.
struct World {
    dir: TempDir,
}

impl World {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn chronoscope(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
        command.env("CHRONOSCOPE_DIR", self.dir.path().join("rings"));
        command.env("CHRONOSCOPE_DATA", self.dir.path().join("data"));
        command.env_remove("CHRONOSCOPE_TOKEN").env_remove("CHRONOSCOPE_STORE");
        command
    }

    /// Runs a command to its end; its JSON, and whether it ended well.
    fn json(&self, args: &[&str], token: Option<&str>) -> (Value, String) {
        let mut command = self.chronoscope();
        command.arg("net").args(args).arg("--json");
        if let Some(token) = token {
            command.env("CHRONOSCOPE_TOKEN", token);
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (serde_json::from_slice(&output.stdout).unwrap_or_default(), said)
    }

    /// How many transactions of a class are stored.
    fn stored(&self, class: &str) -> u64 {
        let output = self.chronoscope().args(["classes", "--json"]).output().unwrap();
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let classes = document["classes"]["rows"].as_array().unwrap();
        let own = classes.iter().find(|own| own["class"] == class);
        own.map_or(0, |own| own["elapsed"]["count"].as_u64().unwrap())
    }
}

/// A running `net answer`. Killed when dropped.
struct Answerer {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    address: SocketAddr,
}

impl Answerer {
    fn start(world: &World, args: &[&str]) -> Self {
        let mut command = world.chronoscope();
        command.args(["net", "answer", "--json"]).args(args).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(first["version"], 1);
        let address = first["answer"]["listen"].as_str().unwrap().parse().unwrap();
        Self { child, lines, address }
    }

    /// As by an operator; what it says at its end.
    fn stop(mut self) -> Value {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let last = self.lines.next().unwrap().unwrap();
        assert!(self.child.wait().unwrap().success());
        serde_json::from_str::<Value>(&last).unwrap()["answered"].clone()
    }

    fn prober(&self, kind: fn(Peer) -> Target) -> Prober {
        let peer = Peer { host: self.address.ip().to_string(), port: self.address.port() };
        let asking = ProbeOptions { octets: 100, timeout: Duration::from_secs(30) };
        Prober::new(kind(peer), asking)
    }
}

impl Drop for Answerer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_on_demand_is_started_by_a_request_and_ends_without() {
    let world = World::new();
    let server = Answerer::start(&world, &["--on-demand", "--idle", "1500ms"]);
    let burst = |kind: fn(Peer) -> Target| {
        let mut prober = server.prober(kind);
        for _ in 0..5 {
            assert!(prober.ask().unwrap(), "{:?}", prober.loss());
        }
    };
    burst(Target::Udp);
    // Much longer than it stays without a request.
    chronoscope_clock::sleep(Duration::from_secs(4));
    burst(Target::Tcp);
    assert_eq!(server.stop()["starts"], 2, "one for each burst of requests");
}

#[test]
fn a_permanent_server_counts_what_it_did() {
    let world = World::new();
    let server = Answerer::start(&world, &[]);
    let (mut udp, mut tcp) = (server.prober(Target::Udp), server.prober(Target::Tcp));
    for _ in 0..3 {
        assert!(udp.ask().unwrap() && tcp.ask().unwrap());
    }
    let counts = server.stop();
    assert_eq!((&counts["datagrams"], &counts["frames"]), (&Value::from(3), &Value::from(3)));
}

#[test]
fn an_agent_replies_too() {
    let world = World::new();
    let mut command = world.chronoscope();
    // Nobody collects there: it goes on trying.
    command.args(["agent", "--to", "http://127.0.0.1:9", "--answer", "127.0.0.1:0", "--quiet"]);
    let mut agent = command.stderr(Stdio::piped()).spawn().unwrap();
    let said = BufReader::new(agent.stderr.take().unwrap()).lines();
    let address = said.map_while(Result::ok).find_map(|line| {
        line.strip_prefix("answering on ")?.strip_suffix(", UDP and TCP")?.parse().ok()
    });
    let address: SocketAddr = address.unwrap();
    let peer = Peer { host: address.ip().to_string(), port: address.port() };
    let asking = ProbeOptions { octets: 100, timeout: Duration::from_secs(30) };
    assert!(Prober::new(Target::Udp(peer), asking).ask().unwrap());
    agent.kill().unwrap();
    agent.wait().unwrap();
}

#[test]
fn bulk_is_measured_judged_and_recorded() {
    let world = World::new();
    let other = World::new();
    let token = other.dir.path().join("token");
    std::fs::write(&token, TOKEN).unwrap();
    let server = Answerer::start(&other, &["--token-file", token.to_str().unwrap()]);
    let to = server.address.to_string();
    let args = ["bulk", "--to", &to, "--octets", "3M", "--seconds", "10", "--from-name", "here"];
    let (nothing, said) = world.json(&args, None);
    assert!(nothing.is_null() && said.contains("a token is needed"), "{said}");
    let (document, said) = world.json(&args, Some(TOKEN));
    let bulk = &document["bulk"];
    assert_eq!(bulk["hosts"][0], "here", "{said}");
    for way in 0..2 {
        let transfer = &bulk["transfers"][way];
        assert_eq!(transfer["octets"], 3_000_000, "{bulk}");
        assert!(transfer["sender"]["process_ns"].as_u64() > Some(0));
        assert!(bulk["verdict"]["bulk"][way]["place"].is_string());
    }
    let shares = bulk["verdict"]["requests"]["parts"].as_array().unwrap().iter();
    let sum: f64 = shares.map(|part| part["share"].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-6, "{bulk}");
    assert_eq!(world.stored("transfer"), 2);
    // Both sizes between the hosts, and on each: 21 round trips each.
    assert_eq!(world.stored("roundTrip"), 6 * 21);
}

#[test]
fn a_matrix_has_all_pairs_and_says_who_is_missing() {
    let world = World::new();
    let others: Vec<World> = (0..4).map(|_| World::new()).collect();
    let servers: Vec<Answerer> = others.iter().map(|other| Answerer::start(other, &[])).collect();
    // Nobody listens there any more.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let list = world.dir.path().join("hosts");
    let mut text: String = servers
        .iter()
        .enumerate()
        .map(|(number, server)| format!("{} host{number}\n", server.address))
        .collect();
    text += &format!("{gone} gone\n");
    std::fs::write(&list, text).unwrap();
    let args = ["matrix", "--hosts", list.to_str().unwrap(), "--count", "5"];
    let (document, said) = world.json(&args, None);
    let pairs = document["matrix"]["pairs"].as_array().unwrap();
    let measured = pairs.iter().filter(|pair| pair["summary"]["count"] == 5);
    assert_eq!(measured.count(), 16, "each with each, and with itself: {said} {document:#}");
    let failed: Vec<&Value> = pairs.iter().filter(|pair| pair["failed"].is_string()).collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!((&failed[0]["from"], &failed[0]["to"]), (&"gone".into(), &"gone".into()));
    assert_eq!(world.stored("roundTrip"), 16 * 6);
    let words = world.chronoscope().arg("net").args(args).output().unwrap();
    let words = String::from_utf8(words.stdout).unwrap();
    assert!(words.contains("median, from … to"), "{words}");
    assert!(words.contains("– gone: "), "{words}");
}
