//! `chronoscope net rtt` as the program does it.
#![allow(clippy::unwrap_used)]

use chronoscope_net::probe::echo;
use serde_json::Value;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::Path;
use std::process::{Command, Output};

/// Runs it with a store and rings of its own.
fn rtt(args: &[&str]) -> Output {
    let dir = tempfile::tempdir().unwrap();
    chronoscope(dir.path(), &[&["net", "rtt"], args].concat())
}

fn chronoscope(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_chronoscope"))
        .args(args)
        .env("CHRONOSCOPE_DIR", dir.join("rings"))
        .env("CHRONOSCOPE_DATA", dir.join("data"))
        .output()
        .unwrap()
}

fn text(octets: &[u8]) -> String {
    String::from_utf8(octets.to_vec()).unwrap()
}

/// A server of our echo, for as long as the test runs; its target.
fn echo() -> String {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let target = format!("udp:{}", socket.local_addr().unwrap());
    std::thread::spawn(move || while echo::answer(&socket, &mut [0; 2048]).is_ok() {});
    target
}

/// A port that nobody listens on: not one of those that the kernel gives away, as another test
/// might be given it meanwhile.
fn refused() -> String {
    "connect:127.77.77.77:1".to_owned()
}

#[test]
fn figures_on_stdout_and_talk_on_stderr() {
    let (good, bad) = (echo(), refused());
    let output = rtt(&[&good, &bad, "--count", "20", "--every", "1ms", "--histogram"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let out = text(&output.stdout);
    let row = |target: &str| out.lines().find(|line| line.starts_with(target)).unwrap();
    let cells: Vec<&str> = row(&good).split("  ").filter(|cell| !cell.is_empty()).collect();
    assert_eq!(cells.len(), 9, "{out}");
    assert_eq!((cells[7].trim(), cells[8].trim()), ("20", "0"));
    assert!(row(&bad).ends_with("0    21"), "{out}");
    assert!(out.contains('█'), "{out}");
    let talk = text(&output.stderr);
    for said in ["21 lost: refused", "clock: its smallest step", "load: at most"] {
        assert!(talk.contains(said), "{said}: {talk}");
    }
}

#[test]
fn json_has_each_round_trip_and_the_summary() {
    let good = echo();
    let output = rtt(&[&good, "--count", "30", "--every", "1ms", "--json", "--size", "100"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["version"], 1);
    let rtt = &document["rtt"];
    assert!(rtt["timer"]["step_ns"].as_u64().unwrap() >= 1);
    let target = &rtt["targets"][0];
    assert_eq!(target["target"], *good);
    assert_eq!((&target["by"], &target["to"]), (&"udp".into(), &"127.0.0.1".into()));
    assert_eq!((&target["count"], &target["lost"]), (&30.into(), &0.into()));
    assert_eq!(target["octets"], 100);
    let mut steady: Vec<u64> =
        target["steady_ns"].as_array().unwrap().iter().map(|ns| ns.as_u64().unwrap()).collect();
    steady.sort_unstable();
    let at = |name: &str| target[name].as_u64().unwrap();
    assert_eq!((at("best_ns"), at("max_ns")), (steady[0], steady[29]));
    assert_eq!((at("p50_ns"), at("p90_ns")), (steady[14], steady[26]));
    assert!(target["first_ns"].as_u64().is_some());
    assert!(target["per_second"].as_f64().unwrap() <= 1100.0, "{target}");
}

#[test]
fn a_load_that_could_harm_wants_to_be_meant() {
    for args in [&["--every", "0s"][..], &["--every", "1ms", "--size", "60000"]] {
        let output = rtt(&[&["udp:127.0.0.1:9"], args].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("allow it with --flood"));
    }
    let output = rtt(&[&echo(), "--every", "0s", "--count", "500", "--flood"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn nobody_there_is_nothing_and_a_wrong_name_an_error() {
    let nobody = rtt(&[&refused(), "--count", "3"]);
    assert_eq!(nobody.status.code(), Some(3));
    let output = rtt(&["udp:no-such-host.invalid:9", "--timeout", "300ms", &echo()]);
    assert_eq!(output.status.code(), Some(4));
    let talk = text(&output.stderr);
    assert!(talk.contains("udp:no-such-host.invalid:9: no-such-host.invalid"), "{talk}");
    assert!(text(&output.stdout).contains("100     0"), "the other one was measured");
    let output = rtt(&["gopher:host:70"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("expected udp:HOST:PORT"));
}

#[test]
fn round_trips_are_in_the_store_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let (good, bad) = (echo(), refused());
    let args = ["net", "rtt", &good, &bad, "--count", "9", "--every", "1ms"];
    assert_eq!(chronoscope(dir.path(), &args).status.code(), Some(0));
    let output = chronoscope(dir.path(), &["classes", "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = document.to_string();
    assert!(text.contains("roundTrip"), "{text}");
    let classes = chronoscope(dir.path(), &["classes"]);
    let row = text_of_row(&classes, "roundTrip");
    // Ten of each; those that were refused are not good.
    assert_eq!((row[2].as_str(), row[3].as_str()), ("20", "10"), "{row:?}");
}

fn text_of_row(output: &Output, class: &str) -> Vec<String> {
    let text = text(&output.stdout);
    let line = text.lines().find(|line| line.contains(class)).unwrap_or_else(|| panic!("{text}"));
    let cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
    std::iter::once(class).chain(cells).map(str::to_owned).collect()
}
