//! What an agent's host counts reaches the tables of its collector.

#![allow(clippy::unwrap_used)] // helpers of tests

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// `chronoscope` with rings in a folder of its own; killed when dropped.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn chronoscope(rings: &Path, data: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.args(args).env("CHRONOSCOPE_DIR", rings).env("CHRONOSCOPE_DATA", data);
    command.env("TZ", "UTC").env_remove("CHRONOSCOPE_TOKEN").env_remove("CHRONOSCOPE_STORE");
    command
}

/// A collector, and where it listens.
fn serve(rings: &Path, data: &Path) -> (Program, String) {
    let mut command = chronoscope(rings, data, &["serve", "--listen", "127.0.0.1:0"]);
    let mut program = Program(command.stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(program.0.stderr.take().unwrap()).lines();
    let said = lines.find_map(|line| {
        let line = line.ok()?;
        Some(line.strip_prefix("answering on ")?.trim_end_matches("/status").to_owned())
    });
    std::thread::spawn(move || lines.for_each(drop)); // or it would wait for its reader
    (program, said.expect("serve says where it listens"))
}

/// The tables as JSON; null while there is nothing to make them of.
fn table(rings: &Path, data: &Path) -> Value {
    let output = chronoscope(rings, data, &["net", "table", "--json"]).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

#[test]
fn an_agents_interfaces_are_in_its_collectors_table() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    for name in ["centre", "host"] {
        std::fs::create_dir(at(name)).unwrap();
    }
    let (_serve, url) = serve(&at("centre"), &at("data"));
    let agent = ["agent", "--to", &url, "--interfaces", "50ms", "--quiet"];
    let mut agent = chronoscope(&at("host"), &at("agent"), &agent);
    let agent = Program(agent.spawn().unwrap());
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let intervals = |table: &Value| {
        let hosts = table["activity"]["over_time"]["picture"]["hosts"].as_array();
        hosts.and_then(|hosts| Some(hosts.first()?[1].as_array()?.len())).unwrap_or(0)
    };
    let mut found = Value::Null;
    for _ in 0..600 {
        found = table(&at("centre"), &at("data"));
        if intervals(&found) >= 3 {
            break;
        }
        chronoscope_clock::sleep(Duration::from_millis(50));
    }
    drop(agent);
    assert!(intervals(&found) >= 3, "30 s passed: {found:#}");
    let lines = found["activity"]["overview"]["lines"].as_array().unwrap();
    let hosts: Vec<_> = lines.iter().map(|line| line["host"].as_str().unwrap()).collect();
    assert_eq!(hosts, [name.trim()]);
    assert!(lines[0]["measured_ns"].as_u64().unwrap() > 0);
}

/// Rows that nobody would collect are refused, and what to do is said.
#[test]
fn interfaces_into_a_folder_that_is_not_collected() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["serve", "--interfaces", "1s", "--rings", "/elsewhere"];
    let output = chronoscope(dir.path(), &dir.path().join("data"), &args).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(!dir.path().join("data").exists(), "nothing was made");
    assert!(said.contains("set CHRONOSCOPE_DIR=/elsewhere instead of --rings"), "{said}");
}

#[test]
fn nothing_to_make_tables_of() {
    let dir = tempfile::tempdir().unwrap();
    let output = chronoscope(dir.path(), dir.path(), &["net", "table"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("chronoscope net scan makes them"), "{said}");
}
