//! `radar-generator day` and the message server's questions from outside: the programs.

#![allow(clippy::unwrap_used, reason = "a test fails where something is missing")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

fn day(folder: &std::path::Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_radar-generator"))
        .args(["day", "--out", folder.to_str().unwrap()])
        .args(arguments)
        .output()
        .unwrap()
}

const SMALL: [&str; 9] =
    ["--flights", "60", "--positions", "1000", "--queries", "200", "--hours", "0.02", "--json"];

#[test]
fn a_small_day_is_written_whole_and_the_same_again() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    let output = day(&one, &SMALL);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&summary["version"], &summary["flights"]), (&1.into(), &60.into()));
    assert_eq!(summary["queries"]["count"], 200);
    let positions = summary["positions"]["count"].as_u64().unwrap();
    assert!((900..=1100).contains(&positions), "{summary}");
    day(&two, &SMALL);
    for name in ["plots.pcapng", "queries.pcapng", "plans.csv", "day.toml", "day.json"] {
        let read = |folder: &std::path::Path| std::fs::read(folder.join(name)).unwrap();
        assert_eq!(read(&one), read(&two), "{name}");
    }
    assert_eq!(std::fs::read_dir(&one).unwrap().count(), 5, "nothing half written is left");
}

#[test]
fn a_day_that_cannot_be_is_refused_with_what_could_be() {
    let folder = tempfile::tempdir().unwrap();
    let output = day(folder.path(), &["--flights", "10", "--hours", "0.02"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(message.contains("11600000 positions of 10 flights: all 14 radars"), "{message}");
    let output = day(folder.path(), &["--hours", "25"]);
    assert_eq!(output.status.code(), Some(2));
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn questions_about_a_days_plans_are_answered_by_the_program() {
    let folder = tempfile::tempdir().unwrap();
    day(folder.path(), &SMALL);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let plans = std::fs::read_to_string(path("plans.csv")).unwrap();
    let first: Vec<&str> = plans.lines().nth(1).unwrap().split(',').collect();
    let child = Command::new(env!("CARGO_BIN_EXE_radar-messages"))
        .args(["--tracker", "127.0.0.1:1", "--queries", "127.0.0.1:0", "--json"])
        .args(["--queries-port-file", &path("port"), "--flight-plans", &path("plans.csv")])
        .env("CHRONOSCOPE_DIR", folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut server = Server(child);
    for _ in 0..2000 {
        if folder.path().join("port").exists() {
            break;
        }
        chronoscope_clock::sleep(Duration::from_millis(10));
    }
    let address = std::fs::read_to_string(path("port")).unwrap();
    let mut client = TcpStream::connect(address.trim()).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(client, "flight {}\nlist from {} limit 1\nflight\n", first[0], first[3]).unwrap();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    let answers: Vec<serde_json::Value> = BufReader::new(client)
        .lines()
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect();
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["flights"][0]["address"], first[1]);
    assert!(answers[1]["count"].as_u64().unwrap() >= 1);
    assert_eq!(answers[2]["octet"], 6);

    let pid = server.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let mut summary = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut summary).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["queries"]["answered"], 2);
    assert_eq!(
        (&summary["queries"]["refused_lines"], &summary["queries"]["left"]),
        (&1.into(), &1.into())
    );
}
