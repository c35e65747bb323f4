//! The Forward Frame service by the programs: `sle-provider` and `sle-user` as processes of their
//! own.

#![allow(clippy::unwrap_used)]

use chronoscope_clock as clock;
use chronoscope_model::{Batch, Record};
use chronoscope_record::read::{self, Cursors, Ring};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const ID: &str = "1.3.112.4.7.1/1.3.112.4.6.1/1.3.112.4.4.1.2.3";

/// A provider with three instances, and a folder for its users.
struct Station {
    folder: tempfile::TempDir,
    child: Child,
    control: String,
}

impl Station {
    /// `forward` is added to each instance.
    fn new(forward: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let instance = |name: &str, number: u32, more: &str| {
            format!(
                "[[forward_frame]]\nname = \"{name}\"\nid = \"{ID}/{number}\"\n{more}\n\
                 blocked_ms = 60000\n{forward}\n"
            )
        };
        let text = [
            "[security]\nauth = \"all\"\n[provider]\nid = \"STATION\"\npassword = \"of-station\"\n\
             listen = []\nlisten_csts = [\"127.0.0.1:0\"]\ncontrol = \"127.0.0.1:0\"\n\
             [[peer]]\nid = \"MCC\"\npassword = \"secret-of-mcc\"\n"
                .to_owned(),
            instance("ff1", 1, "notify = \"last\""),
            instance("ff2", 2, "procedure = \"sequence-controlled\""),
            instance("ff3", 3, "mode = \"timely\"\nnotify = \"last\""),
            instance("ff4", 4, ""),
        ]
        .concat();
        // An SLE port is not needed, and has to be named.
        let text = text.replace("listen = []", "listen = [\"127.0.0.1:0\"]");
        let config = folder.path().join("provider.toml");
        fs::write(&config, &text).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_sle-provider"))
            .arg("-qc")
            .arg(&config)
            .env("CHRONOSCOPE_DIR", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut said = || lines.next().unwrap().unwrap();
        said();
        let address = said().strip_prefix("listening-csts ").unwrap().to_owned();
        let control = said().strip_prefix("control ").unwrap().to_owned();
        assert_eq!(said(), "ready");
        let provider = text.find("[provider]").unwrap()..text.find("[[peer]]").unwrap();
        let user = format!(
            "[user]\nid = \"MCC\"\npassword = \"secret-of-mcc\"\naddress_csts = \"{address}\"\n\
             return_timeout_s = 20\n"
        );
        let mut users = text.clone();
        users.replace_range(provider, &user);
        let users = users.replace(
            "[[peer]]\nid = \"MCC\"\npassword = \"secret-of-mcc\"",
            "[[peer]]\nid = \"STATION\"\npassword = \"of-station\"",
        );
        fs::write(folder.path().join("user.toml"), users).unwrap();
        Self { folder, child, control }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sle-user"));
        command
            .arg("-c")
            .arg(self.folder.path().join("user.toml"))
            .args(args)
            .env("CHRONOSCOPE_DIR", self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// What a user that has to succeed printed.
    fn json(&self, args: &[&str]) -> Vec<Value> {
        let output = self.command(&[&["--json"], args].concat()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        results(&output)
    }

    fn order(&self, line: &str) -> String {
        let mut stream = TcpStream::connect(&self.control).unwrap();
        writeln!(stream, "{line}").unwrap();
        let mut said = String::new();
        for line in BufReader::new(stream).lines() {
            let line = line.unwrap();
            said += &line;
            if line == "ok" || line.starts_with("error:") {
                break;
            }
            said += "\n";
        }
        said
    }

    fn status(&self, instance: &str) -> String {
        let status = self.order("status");
        status.lines().find(|line| line.starts_with(instance)).unwrap().to_owned()
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn results(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Waits until something is so.
fn until(mut is_so: impl FnMut() -> bool) {
    for _ in 0..2000 {
        if is_so() {
            return;
        }
        clock::sleep(Duration::from_millis(10));
    }
    panic!("it never was");
}

/// How many frames have a fate, and the summary.
fn fates(mut all: Vec<Value>) -> (impl Fn(&str) -> u64, Value) {
    let summary = all.pop().unwrap();
    let of = move |fate: &str| -> u64 {
        let those = all.iter().filter(|one| one["fate"] == fate);
        those.map(|one| one["count"].as_u64().unwrap()).sum()
    };
    (of, summary)
}

#[test]
fn frames_in_buffers_are_processed_and_told() {
    let station = Station::new("");
    let sent = station.json(&["-i", "ff1", "frames", "--generate", "1000", "--octets", "100"]);
    let (of, summary) = fates(sent);
    assert_eq!(of("processed"), 1000, "{summary}");
    assert_eq!(summary["buffers"], 13, "12 of 80 and one of 40");
    let alone = ["-i", "ff1", "frames", "--generate", "50", "--blocked", "1", "--octets", "100"];
    let (of, summary) = fates(station.json(&alone));
    assert_eq!((of("processed"), &summary["buffers"]), (50, &0.into()));
    assert!(
        station.status("ff1").contains("received 1050, waiting 0"),
        "{}",
        station.status("ff1")
    );
}

/// The last frame's completion is asked for, also where it is the one that fills its buffer.
#[test]
fn the_last_frame_tells_of_all_before_it() {
    let station = Station::new("");
    for count in [160, 150, 1] {
        let generate = count.to_string();
        let sent = station.json(&["-i", "ff4", "frames", "--generate", &generate]);
        let (of, summary) = fates(sent);
        assert_eq!(of("processed"), count, "{summary}");
    }
}

#[test]
fn frames_in_sequence_are_acknowledged() {
    let station = Station::new("");
    let sent = station.json(&["-i", "ff2", "frames", "--generate", "500", "--first", "7"]);
    let (of, summary) = fates(sent);
    assert_eq!((&summary["acknowledged"], of("acknowledged")), (&500.into(), 500));
}

#[test]
fn parameters_are_told() {
    let station = Station::new("");
    let said = station.json(&["-i", "ff1", "frames", "--generate", "1", "--get"]);
    let value = |name: &str| {
        let found = said.iter().find(|one| one["parameter"] == name);
        found.map(|one| one["values"][0].clone())
    };
    assert_eq!(value("1.3.112.4.4.1.1.4.5.1.1"), Some(2.into()), "complete: {said:?}");
    assert_eq!(value("1.3.112.4.4.1.1.4.5.1.2"), Some(80.into()));
}

/// A full queue stops the user, and nothing is lost; while it does, an abort is heard.
#[test]
fn complete_mode_waits_for_the_uplink() {
    let station = Station::new("bit_rate = 8000000\nqueue_frames = 20");
    let args = ["-i", "ff1", "frames", "--generate", "500", "--octets", "1000"];
    let (of, summary) = fates(station.json(&args));
    assert_eq!(of("processed"), 500, "{summary}");
    let station = Station::new("bit_rate = 8000\nqueue_frames = 20");
    let args = ["-i", "ff1", "--json", "frames", "--generate", "1000000", "--octets", "1000"];
    let user = station.command(&args).spawn().unwrap();
    until(|| station.status("ff1").contains("waiting 20"));
    assert_eq!(station.order("abort ff1"), "ok");
    let output = user.wait_with_output().unwrap();
    let (_, summary) = fates(results(&output));
    assert!(summary["ending"].as_str().unwrap().contains("OperationalRequirement"), "{summary}");
    until(|| station.status("ff1").contains("Unbound"));
}

#[test]
fn timely_mode_keeps_the_newest() {
    let station = Station::new("bit_rate = 800000\nqueue_frames = 10");
    let args = ["-i", "ff3", "frames", "--generate", "400", "--octets", "100", "--blocked", "10"];
    let (of, summary) = fates(station.json(&args));
    assert!(of("processed") >= 1, "the last one: {summary}");
    assert_eq!(of("processed") + of("overtaken"), 400, "{summary}");
    let status = station.status("ff3");
    assert!(!status.contains("overrun 0"), "{status}");
}

/// Every frame is told of, or unknown and listed.
#[test]
fn a_provider_that_is_killed_leaves_no_fate_open() {
    for instance in ["ff1", "ff2"] {
        let mut station = Station::new("bit_rate = 8000000\nqueue_frames = 500");
        let args = ["-i", instance, "--json", "frames", "--generate", "10000000"];
        let user = station.command(&args).spawn().unwrap();
        until(|| !station.status(instance).contains("received 0,"));
        station.child.kill().unwrap();
        let output = user.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let (of, summary) = fates(results(&output));
        let sent = summary["sent"].as_u64().unwrap();
        let all: u64 = ["processed", "acknowledged", "unknown", "refused", "not-sent"]
            .iter()
            .map(|fate| of(fate))
            .sum();
        assert!(sent > 0);
        assert_eq!(all, sent, "{instance}: {summary}");
        assert!(of("unknown") > 0 || of("acknowledged") > 0, "{instance}: {summary}");
    }
}

#[test]
fn a_user_that_is_killed_leaves_the_instance_free() {
    for instance in ["ff1", "ff2"] {
        let station = Station::new("bit_rate = 80000000\nqueue_frames = 500");
        let args = ["-i", instance, "--json", "frames", "--generate", "10000000"];
        let mut user = station.command(&args).spawn().unwrap();
        until(|| !station.status(instance).contains("received 0,"));
        user.kill().unwrap();
        user.wait().unwrap();
        until(|| station.status(instance).contains("Unbound"));
        station.json(&["-i", instance, "frames", "--generate", "10"]);
    }
}

#[test]
fn an_operator_interrupts_and_resumes() {
    let station = Station::new("");
    assert_eq!(station.order("halt ff1"), "ok");
    let refused = station.command(&["-i", "ff1", "frames", "--generate", "1"]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("START was refused"), "{said}");
    assert_eq!(station.order("interrupt ff1"), "ok");
    let args = ["-i", "ff1", "--json", "frames", "--generate", "10"];
    let user = station.command(&args).spawn().unwrap();
    until(|| station.status("ff1").contains("waiting 10"));
    assert_eq!(station.order("resume ff1"), "ok");
    let output = user.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(fates(results(&output)).0("processed"), 10);
}

/// What a process recorded of a class.
fn of_class(folder: &Path, application: &str, class: &str) -> Vec<Record> {
    let mut found = Vec::new();
    for path in read::find_rings(folder) {
        let mut ring = Ring::open(&path).unwrap();
        if ring.process().application != application {
            continue;
        }
        let mut batch = Batch::default();
        ring.drain(&mut Cursors::default(), usize::MAX, &mut batch).unwrap();
        ring.refresh_names().unwrap();
        let names = ring.names();
        let is_it =
            |record: &&Record| names.class(record.class).is_some_and(|name| name.class == class);
        found.extend(batch.records().iter().filter(is_it).copied());
    }
    found
}

#[test]
fn a_frame_is_a_chain_across_both_processes() {
    for (instance, is_confirmed) in [("ff1", false), ("ff2", true)] {
        let station = Station::new("");
        station.json(&["-i", instance, "frames", "--generate", "50"]);
        let of = |application, class| {
            let found = of_class(station.folder.path(), application, class);
            assert_eq!(found.len(), 50, "{instance} {application}::{class}");
            found
        };
        let child_of = |parent: &Record, among: &[Record]| {
            let found: Vec<_> = among.iter().filter(|record| record.parent == parent.id).collect();
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].chain_low, parent.chain_low);
            *found[0]
        };
        let received = of("SLE provider", "receiveProcessData");
        for root in &of("SLE user", "processData") {
            assert!(root.parent.is_none());
            let receive = child_of(root, &received);
            if is_confirmed {
                // They may be discarded by STOP, before their turn.
                child_of(root, &of("SLE user", "acknowledgeProcessData"));
            } else {
                child_of(&receive, &of("SLE provider", "queueProcessData"));
            }
        }
    }
}
