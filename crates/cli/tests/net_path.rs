//! `chronoscope net measure`, `predict`, `watch` and `discover`, as a user runs them, on loopback.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_chronoscope");

/// The network of the document in short: two rings and a gateway.
const TOPOLOGY: &str = r#"
[types]
pc = { kind = "host", delay_us = 60_000 }
ring = { kind = "link", rate_bits = 4_000_000 }
router = { kind = "gateway", delay_us = 50_000, service = { octet_us = 100, octets = 100 } }
fast = { kind = "gateway", delay_us = 5_000 }

[segments]
PCR = { type = "ring" }
LMA = { type = "ring" }

[joints.gw1]
type = "router"
joins = ["PCR", "LMA"]
utilisation = 0.5

[hosts]
aldev5 = { type = "pc", segment = "PCR" }
bile28 = { type = "pc", segment = "LMA" }
"#;

fn run(args: &[&str]) -> Output {
    Command::new(PROGRAM).arg("net").args(args).output().unwrap()
}

fn json(output: &Output) -> Value {
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{talk}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["version"], 1);
    document
}

fn predict(dir: &Path, text: &str, more: &[&str]) -> Output {
    let file = dir.join("net.toml");
    fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    run(&[&["predict", "--topology", file, "--from", "aldev5", "--to", "bile28"], more].concat())
}

/// 60 ms of hosts, 50 ms of the gateway, two rings of 100 octets and 28 of headers at 4 Mbit/s there
/// and back; and a wait behind others of 10 ms each, which take half of the gateway's time: M/M/1, 10
/// ms a way.
#[test]
fn a_path_is_predicted_and_what_if() {
    let dir = tempfile::tempdir().unwrap();
    let ask = ["--size", "100", "--json", "--replace", "gw1=fast", "--load", "0"];
    let found = json(&predict(dir.path(), TOPOLOGY, &ask));
    let (now, then) = (&found["predict"]["now"], &found["predict"]["what_if"]);
    let gateway = &now["parts"][2];
    assert_eq!(gateway["name"], "gw1");
    assert!((gateway["waiting_ns"].as_f64().unwrap() - 20e6).abs() < 1.0, "{gateway}");
    let then_ns = then["p50_ns"].as_f64().unwrap();
    assert!((then_ns - (65e6 + 2.0 * 512e3)).abs() < 10.0, "{then}");
    // The median of the sum of two such waits is 1.68 / µ(1 − ρ) less what is 0: between bounds.
    let waited_ms = (now["p50_ns"].as_f64().unwrap() - 111.024e6) / 1e6;
    assert!((5.0..20.0).contains(&waited_ms), "{waited_ms}");

    let said = predict(dir.path(), TOPOLOGY, &["--add", "fast"]);
    let text = String::from_utf8(said.stdout).unwrap();
    for expected in ["aldev5, bile28", "gw1", "new fast", "what if", "50 %", "change"] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
}

/// A message of several packets: they follow each other over both rings.
#[test]
fn a_long_message_is_predicted_by_its_packets() {
    let dir = tempfile::tempdir().unwrap();
    let ask = |more: &[&str]| {
        let idle = ["--json", "--load", "0", "--replace", "gw1=fast"];
        let found = json(&predict(dir.path(), TOPOLOGY, &[&idle[..], more].concat()));
        let found = found["predict"].clone();
        (found["packets"].as_u64().unwrap(), found["what_if"]["p50_ns"].as_f64().unwrap(), found)
    };
    // All 14,208 octets on one ring, a packet of 1500 on the other, both ways; 2 µs an octet.
    let (packets, ns, found) = ask(&["--size", "14000"]);
    assert_eq!((packets, &found["by"], &found["mtu"]), (10, &"udp".into(), &1500.into()));
    assert!((ns - (65e6 + 2.0 * 15_708.0 * 2000.0)).abs() < 10.0, "{ns}");
    // Segments have 52 octets of headers, and 14,004 octets with the count before them.
    let (packets, ns, found) = ask(&["--size", "14000", "--by", "tcp"]);
    assert_eq!((packets, &found["by"]), (10, &"tcp".into()));
    assert!((ns - (65e6 + 2.0 * (14_524.0 + 1500.0) * 2000.0)).abs() < 10.0, "{ns}");
    // Two packets, and the acknowledgement of the second, before the third may go.
    let (_, waits, _) = ask(&["--size", "14000", "--by", "tcp", "--window", "2"]);
    assert!(waits > ns + 10e6, "{waits} {ns}");
    let said = predict(dir.path(), TOPOLOGY, &["--size", "14000"]);
    let text = String::from_utf8(said.stdout).unwrap();
    assert!(text.contains("by udp, in 10 packets of 1500 octets at most"), "{text}");
    for (wrong, why) in [
        (&["--size", "65508"][..], "a datagram has 65507 octets at most"),
        (&["--window", "10"], "add --by tcp"),
    ] {
        let output = predict(dir.path(), TOPOLOGY, wrong);
        let talk = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{talk}");
        assert!(talk.contains(why), "{talk}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_line_and_what_there_is() {
    let dir = tempfile::tempdir().unwrap();
    let talk = |text: &str, more: &[&str]| {
        let output = predict(dir.path(), text, more);
        assert_eq!(output.status.code(), Some(4));
        String::from_utf8(output.stderr).unwrap()
    };
    let wrong = TOPOLOGY.replace("type = \"router\"", "type = \"rooter\"");
    let said = talk(&wrong, &[]);
    let expected = "net.toml: line 12: joint \"gw1\" names type \"rooter\", which does not exist \
                    (there is fast, pc, ring, router)";
    assert!(said.contains(expected), "{said}");
    let said = talk(TOPOLOGY, &["--replace", "gw2=fast"]);
    assert!(said.contains("element \"gw2\", which does not exist (there is aldev5"), "{said}");
    let said = talk("[types.pc]\nkind = \"cat\"\n", &[]);
    assert!(said.contains("line 2"), "{said}");
    assert_eq!(predict(dir.path(), TOPOLOGY, &["--replace", "gw2"]).status.code(), Some(2));
}

/// A server, ended when it is dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn server() -> (Server, String) {
    let mut child = Command::new(PROGRAM)
        .args(["net", "answer", "--json", "--duration", "2min"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    (Server(child), said["answer"]["listen"].as_str().unwrap().to_owned())
}

/// One machine: it is measured, a prediction uses that, and a path is watched, whose round trips
/// are stored.
#[test]
fn measured_then_predicted_then_watched() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, address) = server();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (net, measured, data) = (path("net.toml"), path("measured.toml"), path("data"));
    let host = format!("{{ type = \"pc\", segment = \"PCR\", address = \"{address}\" }}");
    let text = TOPOLOGY.replace("{ type = \"pc\", segment = \"PCR\" }", &host);
    fs::write(&net, text).unwrap();
    let output = run(&[
        "measure",
        "--topology",
        &net,
        "--output",
        &measured,
        "--rounds",
        "20",
        "--pause",
        "1ms",
        "--size",
        "64,300",
        "--json",
    ]);
    let found = json(&output);
    let element = &found["measure"]["elements"][0];
    assert_eq!(
        (&element["element"], &element["sizes"][1]["octets"]),
        (&"aldev5".into(), &300.into())
    );
    assert!(found["measure"]["not"][0].as_str().unwrap().contains("\"gw1\""), "{found}");

    let predicted = json(&run(&[
        "predict",
        "--topology",
        &net,
        "--measured",
        &measured,
        "--from",
        "aldev5",
        "--to",
        "aldev5",
        "--json",
    ]));
    let p50_ns = predicted["predict"]["now"]["p50_ns"].as_f64().unwrap();
    assert!(p50_ns > 0.0 && p50_ns < 60e6, "what was measured, not what was entered: {p50_ns}");

    let rings = path("rings");
    let output = Command::new(PROGRAM)
        .args(["net", "watch", "--topology", &net, "--measured", &measured, "--json"])
        .args(["--every", "5ms", "--window", "10", "--duration", "1s", "--data", &data])
        .env("CHRONOSCOPE_DIR", &rings)
        .output()
        .unwrap();
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{talk}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let seen = &first["watch"]["paths"][0];
    assert_eq!((&seen["to"], &seen["count"]), (&"aldev5".into(), &10.into()), "{first}");
    let classes = Command::new(PROGRAM).args(["classes", "--data", &data]).output().unwrap();
    let classes = String::from_utf8(classes.stdout).unwrap();
    assert!(classes.contains("roundTrip"), "{classes}");
}

#[test]
fn this_host_is_discovered_and_the_file_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("net.toml");
    let file = file.to_str().unwrap();
    let ask = ["discover", "--to", "127.0.0.1", "--hops", "3", "--output", file, "--json"];
    let found = json(&run(&ask));
    assert_eq!(found["discover"]["hosts"][0]["host"]["address"], "127.0.0.1");
    let again = run(&ask);
    assert_eq!(again.status.code(), Some(4), "a file that is there is kept");
    let measured = run(&["measure", "--topology", file, "--output", "/dev/null"]);
    let said = String::from_utf8(measured.stderr).unwrap();
    assert_eq!(measured.status.code(), Some(4), "{said}");
    assert!(said.contains("no port for host \"127.0.0.1\" (address 127.0.0.1)"), "{said}");
    assert!(said.contains("address = \"ADDRESS:PORT\""), "{said}");
    let predicted = run(&["predict", "--topology", file, "--from", "here", "--to", "127.0.0.1"]);
    assert!(predicted.status.success(), "{}", String::from_utf8_lossy(&predicted.stderr));
    let talk = String::from_utf8(predicted.stderr).unwrap();
    assert!(talk.contains("nothing is known of type link"), "{talk}");
}
