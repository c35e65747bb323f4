//! From scans and round trips to tables, utilisations and the report, as a user runs them.
#![allow(clippy::unwrap_used)]

use chronoscope_net::probe::echo;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the exporter's host passes on from one scrape to the next.
const PACKETS: u64 = 1000;
const OCTETS: u64 = 100_000;

/// Rings and store of their own.
struct World(tempfile::TempDir);

impl World {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn net(&self, args: &[&str]) -> Output {
        let dir: &Path = self.0.path();
        Command::new(env!("CARGO_BIN_EXE_chronoscope"))
            .arg("net")
            .args(args)
            .env("CHRONOSCOPE_DIR", dir.join("rings"))
            .env("CHRONOSCOPE_DATA", dir.join("data"))
            .output()
            .unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.net(args);
        let talk = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {talk}");
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

/// A node_exporter whose counters go on by the same with every scrape; its port.
fn exporter() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let scrapes = Arc::new(AtomicU64::new(0));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let scrapes = Arc::clone(&scrapes);
            std::thread::spawn(move || serve(&stream.unwrap(), &scrapes));
        }
    });
    port
}

fn serve(stream: &TcpStream, scrapes: &AtomicU64) {
    let mut lines = BufReader::new(stream).lines();
    loop {
        while let Some(Ok(line)) = lines.next() {
            if line.is_empty() {
                break;
            }
        }
        let scrape = scrapes.fetch_add(1, Ordering::Relaxed) + 1;
        let metric = |name: &str, value| {
            format!("node_network_{name}_total{{device=\"eth0\"}} {}\n", scrape * value)
        };
        let body = [
            metric("receive_packets", PACKETS),
            metric("transmit_packets", PACKETS),
            metric("receive_bytes", OCTETS),
            metric("transmit_bytes", OCTETS),
        ]
        .concat();
        let length = body.len();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
        let mut stream = stream;
        if stream.write_all(format!("{head}{body}").as_bytes()).is_err() {
            return;
        }
    }
}

#[test]
fn scans_become_tables_and_utilisations() {
    let world = World::new();
    let port = exporter();
    // It is there and never answers.
    let silent = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let dead = silent.local_addr().unwrap().port();
    let hosts = world.file(
        "hosts",
        &format!(
            "127.0.0.1 gw1 group=PCR by=node_exporter port={port}\n\
             127.0.0.1 dead community=x port={dead}\n"
        ),
    );
    let hosts = hosts.to_str().unwrap();
    let scan = ["scan", "--hosts", hosts, "--every", "1s", "--count", "3", "--timeout", "800ms"];
    let output = world.net(&scan);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let list = String::from_utf8(output.stdout).unwrap();
    assert!(list.contains("By group") && list.contains("PCR (1)"), "{list}");

    let found = world.json(&["table", "--json"]);
    assert_eq!(found["activity"]["groups"], serde_json::json!([]), "nobody asked for groups");
    let grouped = world.json(&["table", "--json", "--groups", hosts, "--capacity", "PCR=4M"]);
    let group = &grouped["activity"]["groups"][0];
    assert_eq!((&group["group"], &group["hosts"][0]), (&"PCR".into(), &"gw1".into()));
    let speed = group["actual_speed"].as_f64().unwrap();
    let percent = group["capacity_percent"].as_f64().unwrap();
    assert!(percent > 0.0 && (percent - speed * 8.0 / 4e6 * 100.0).abs() < 1e-9, "{group}");
    let own = grouped["activity"]["capacity_percent"]["gw1"].as_f64().unwrap();
    assert!((own - 2.0 * percent).abs() < 1e-9, "{grouped}");
    for (wrong, said) in [
        (["--group", "PCR"], "NAME=HOST,HOST expected"),
        (["--capacity", "fast"], "bits per second expected"),
    ] {
        let output = world.net(&[&["table"][..], &wrong].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(said), "{output:?}");
    }
    let csv = world.net(&["table", "--csv", "--group", "lma=gw1"]).stdout;
    let csv = String::from_utf8(csv).unwrap();
    assert!(csv.lines().nth(1).unwrap().ends_with(",lma,"), "{csv}");

    let line = &found["activity"]["overview"]["lines"][0];
    assert_eq!(line["host"], "gw1");
    let packets = line["counters"]["in_packets"].as_u64().unwrap();
    let intervals = packets / PACKETS;
    assert!((2..=3).contains(&intervals), "{line}");
    for (value, each) in [("out_packets", PACKETS), ("in_bytes", OCTETS), ("out_bytes", OCTETS)] {
        assert_eq!(line["counters"][value], intervals * each, "{value}");
    }
    assert_eq!(line["share_percent"][0], 100.0);
    assert_eq!(found["activity"]["silent"][0]["host"], "dead");

    // A packet occupies the gateway for 10 µs: 1000 in about a second, half of them either way.
    let topology = world.file(
        "net.toml",
        r#"
        [types]
        pc = { kind = "host", delay_us = 60_000 }
        ring = { kind = "link" }
        router = { kind = "gateway", delay_us = 15_000, service = { packet_us = 10, octets = 100 } }
        [segments]
        PCR = { type = "ring" }
        LMA = { type = "ring" }
        [joints]
        gw1 = { type = "router", joins = ["PCR", "LMA"], scanned = ["gw1"] }
        [hosts]
        aldev5 = { type = "pc", segment = "PCR" }
        bile28 = { type = "pc", segment = "LMA" }
        "#,
    );
    let topology = topology.to_str().unwrap();
    let ask = ["predict", "--topology", topology, "--from", "aldev5", "--to", "bile28", "--json"];
    let predict = |more: &[&str]| world.json(&[&ask, more].concat())["predict"].clone();
    let busy = predict(&["--utilisation-from-store", "-1h"]);
    assert_eq!(busy["utilisation"][0]["element"], "gw1");
    let (before, now) = (predict(&[]), &busy["now"]);
    let waiting = |prediction: &Value| prediction["parts"][2]["waiting_ns"].as_f64().unwrap();
    assert_eq!(waiting(&before["now"]), 0.0);
    assert!(waiting(now) > 0.0, "{now}");

    let report = world.json(&["report", "--json"])["report"].clone();
    assert_eq!(report["load"]["active"][0], "gw1");
    let missing: Vec<&str> = report["missing"]
        .as_array()
        .unwrap()
        .iter()
        .map(|missing| missing["what"].as_str().unwrap())
        .collect();
    assert!(missing.contains(&"Table 3") && !missing.contains(&"Tables 1 and 2"), "{missing:?}");
}

#[test]
fn round_trips_are_shown_from_the_store_and_reported() {
    let world = World::new();
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let target = format!("udp:{}", socket.local_addr().unwrap());
    std::thread::spawn(move || while echo::answer(&socket, &mut [0; 2048]).is_ok() {});
    assert_eq!(world.net(&["rtt", "--from-store", "-1h"]).status.code(), Some(4), "no store yet");
    let args =
        ["rtt", &target, "--count", "20", "--every", "1ms", "--from-name", "console", "--json"];
    let measured = world.json(&args)["rtt"]["targets"][0].clone();

    let stored = world.json(&["rtt", "--from-store", "-1h", "--json"])["rtt"]["stored"][0].clone();
    for value in ["best_ns", "p50_ns", "p99_ns", "max_ns", "count", "lost"] {
        assert_eq!(stored[value], measured[value], "{value}");
    }
    assert_eq!((&stored["from"], &stored["to"]), (&"console".into(), &"127.0.0.1".into()));
    assert_eq!(stored["first_max_ns"], measured["first_ns"]);

    let types = world.file(
        "types.toml",
        "[types]\ngw = { kind = \"gateway\", delay_us = 15_000 }\npc = { kind = \"host\", delay_us \
         = 60_000 }\n",
    );
    let types = types.to_str().unwrap();
    let report = world.json(&["report", "--topology", types, "--json"])["report"].clone();
    assert_eq!(report["between_hosts"][0]["best_ns"], measured["best_ns"]);
    let ring = ["report", "--group", "lma=127.0.0.1", "--group", "PCR=console"];
    let rings = world.json(&[&ring[..], &["--json"]].concat())["report"]["between_hosts"].clone();
    assert_eq!(rings[0]["from_group"], "PCR", "{rings}");
    assert_eq!(rings[0]["to_group"], "lma", "{rings}");
    let text = String::from_utf8(world.net(&ring).stdout).unwrap();
    let row = text.lines().find(|line| line.starts_with("PCR") && line.contains("console"));
    assert!(row.is_some_and(|row| row.contains("lma")), "{text}");
    let first_ns = &measured["first_ns"];
    assert_eq!(report["activation_ns"], serde_json::json!([first_ns, first_ns]));
    assert_eq!(report["types"][0]["best_ns"], 15e6);
    let text = world.net(&["report", "--topology", types]).stdout;
    let text = String::from_utf8(text).unwrap();
    for said in ["TABLE 1", "TABLE 2", "TABLE 3", "console", "gw", "rfsba3", "first", "published"] {
        assert!(text.contains(said), "{said} in\n{text}");
    }
}
