//! `send` is killed in the middle of a transfer, and continues from its journal: no CLTU is sent twice.

use crate::station::{Station, results};
use chronoscope_clock as clock;
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::net::UdpSocket;
use std::path::PathBuf;
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// CLTUs of a transfer.
const CLTUS: u64 = 20_000;

/// A station whose modem notes each CLTU that it receives, by its counter.
struct Noted {
    station: Station,
    received: Arc<Mutex<Vec<u64>>>,
    ends: Arc<AtomicBool>,
}

impl Noted {
    fn new() -> Self {
        let modem = UdpSocket::bind("127.0.0.1:0").unwrap();
        // Datagrams wait here while the test does something else: none may be lost.
        socket2::SockRef::from(&modem).set_recv_buffer_size(8 << 20).unwrap();
        modem.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let address = modem.local_addr().unwrap();
        let received: Arc<Mutex<Vec<u64>>> = Arc::default();
        let (noted, ends) = (Arc::clone(&received), Arc::new(AtomicBool::new(false)));
        let ended = Arc::clone(&ends);
        std::thread::spawn(move || {
            let mut octets = [0; 4096];
            while !ended.load(Ordering::Acquire) {
                if let Ok(length) = modem.recv(&mut octets) {
                    assert!(length >= 8);
                    let counter = u64::from_be_bytes(octets[..8].try_into().unwrap());
                    noted.lock().unwrap().push(counter);
                }
            }
        });
        // 100 octets at 16 Mbit/s: 20,000 a second.
        let instances = format!(
            "[[instance]]\nid = \"sagr=1.spack=A.fsl-fg=1.cltu=cltu1\"\n[instance.forward]\n\
             bit_rate = 16000000\nmodem = \"{address}\"\ncontinue_after_abort = true\n"
        );
        Self { station: Station::of(&instances, &[]), received, ends }
    }

    fn journal(&self) -> PathBuf {
        self.station.folder.path().join("transfer.journal")
    }

    fn args(&self, what: &str) -> Vec<String> {
        let journal = self.journal().display().to_string();
        let count = CLTUS.to_string();
        ["--json", "send", "--generate", &count, "--octets", "100", what, &journal]
            .map(str::to_owned)
            .to_vec()
    }

    fn send(&self, what: &str, more: &[&str]) -> Output {
        let args = self.args(what);
        let args: Vec<&str> = args.iter().map(String::as_str).chain(more.iter().copied()).collect();
        self.station.user(&args)
    }

    /// Kills a program that sends, after so many milliseconds; `false`: it was done before.
    fn killed(&self, what: &str, after_ms: u64) -> bool {
        let args = self.args(what);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut child = self.station.command(&args).spawn().unwrap();
        clock::sleep(Duration::from_millis(after_ms));
        let is_running = child.try_wait().unwrap().is_none();
        child.kill().unwrap();
        child.wait().unwrap();
        crate::station::until(|| self.station.status("cltu1").contains("no user bound"));
        is_running
    }

    /// How often each CLTU was radiated.
    fn radiated(&self) -> HashMap<u64, usize> {
        crate::station::until(|| self.station.count("cltu1", "waiting") == 0);
        let mut before = usize::MAX;
        while before != self.received.lock().unwrap().len() {
            before = self.received.lock().unwrap().len();
            clock::sleep(Duration::from_millis(150));
        }
        let mut times = HashMap::new();
        for counter in self.received.lock().unwrap().iter() {
            *times.entry(*counter).or_insert(0) += 1;
        }
        times
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
    }
}

/// CLTUs of the runs with a fate.
fn of_fate(all: &[Value], fate: &str) -> Vec<u64> {
    let of = all.iter().filter(|one| one["fate"] == fate);
    let numbers = |one: &Value| {
        let first = one["index"].as_u64().unwrap();
        first..first + one["count"].as_u64().unwrap()
    };
    of.flat_map(numbers).collect()
}

/// One transfer that is killed some times, then continued to its end: no CLTU was radiated twice, each
/// that is told as radiated was, and each that was not radiated is told as unknown or acknowledged.
fn one_transfer(kills: &[u64]) -> usize {
    let noted = Noted::new();
    let (mut what, mut done) = ("--journal", 0);
    for after_ms in kills {
        if !noted.killed(what, *after_ms) {
            break;
        }
        done += 1;
        if noted.journal().exists() {
            what = "--resume";
        }
    }
    let output = noted.send(what, &[]);
    let mut all = results(&output);
    let summary = all.pop().unwrap();
    let radiated = noted.radiated();
    assert!(radiated.values().all(|times| *times == 1), "a CLTU was radiated twice: {summary}");
    assert_eq!(summary["not_sent"], 0, "{summary}");
    let told = of_fate(&all, "radiated");
    assert!(told.iter().all(|cltu| radiated.contains_key(cltu)), "{summary}");
    let open: Vec<u64> = [of_fate(&all, "unknown"), of_fate(&all, "acknowledged")].concat();
    assert_eq!(told.len() + open.len(), usize::try_from(CLTUS).unwrap(), "{all:?}");
    let expected = if open.is_empty() { 0 } else { 5 };
    assert_eq!(output.status.code(), Some(expected), "{summary}");
    done
}

#[test]
fn a_transfer_that_is_killed_continues_and_sends_nothing_twice() {
    assert!(one_transfer(&[40, 60, 90]) > 0);
}

/// Fifty kills in the middle of transfers: minutes, so not among the quick tests.
#[test]
#[ignore = "takes minutes: make soak"]
fn fifty_kills_send_nothing_twice() {
    let mut kills = 0;
    let mut round = 0;
    while kills < 50 {
        // Other moments each time, in [15, 215) ms.
        let at = |k: u64| 15 + (round * 37 + k * 61) % 200;
        kills += one_transfer(&[at(0), at(1), at(2), at(3), at(4)]);
        round += 1;
        assert!(round < 100, "{kills} kills only");
    }
    println!("{kills} kills in {round} transfers of {CLTUS} CLTUs: none was radiated twice");
}

#[test]
fn unknown_ones_are_sent_again_on_demand_only() {
    let noted = Noted::new();
    assert!(noted.killed("--journal", 100), "the transfer is longer than that");
    let first = noted.send("--resume", &[]);
    let mut all = results(&first);
    all.pop().unwrap();
    let open = [of_fate(&all, "unknown"), of_fate(&all, "acknowledged")].concat();
    assert!(!open.is_empty(), "some were under way");
    let again = noted.send("--resume", &[]);
    assert_eq!(again.status.code(), Some(5), "nothing is left to be sent: {again:?}");
    let last = noted.send("--resume", &["--resend", "unknown,acknowledged"]);
    assert_eq!(last.status.code(), Some(0), "{last:?}");
    let mut all = results(&last);
    assert_eq!(all.pop().unwrap()["radiated"], CLTUS, "{last:?}");
    assert_eq!(of_fate(&all, "radiated").len() as u64, CLTUS, "each has one fate: {last:?}");
    let radiated = noted.radiated();
    assert_eq!(radiated.len() as u64, CLTUS);
    let twice = radiated.iter().filter(|(_, times)| **times > 1);
    assert!(twice.into_iter().all(|(cltu, _)| open.contains(cltu)));
}

#[test]
fn a_journal_belongs_to_one_transfer() {
    let noted = Noted::new();
    let said = |output: &Output| String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(noted.send("--journal", &[]).status.code(), Some(0));
    let exists = noted.send("--journal", &[]);
    assert_eq!(exists.status.code(), Some(1));
    assert!(said(&exists).contains("continue its transfer with --resume"), "{exists:?}");
    let path = noted.journal().display().to_string();
    let other = ["--json", "send", "--generate", "9", "--octets", "100", "--resume", &path];
    let other = noted.station.user(&other);
    assert!(said(&other).contains("the number of CLTUs was \"20000\" and is \"9\""), "{other:?}");
    let text = fs::read_to_string(noted.journal()).unwrap();
    assert!(text.lines().next().unwrap().contains("\"format\":1"), "{text}");
    assert!(text.lines().last().unwrap().starts_with("{\"closed\":20000"), "{text}");
}

/// A START that fails leaves no journal behind: nothing was sent.
#[test]
fn a_transfer_that_never_began_has_no_journal() {
    let noted = Noted::new();
    assert_eq!(noted.station.order("interrupt cltu1"), "ok");
    assert_eq!(noted.send("--journal", &[]).status.code(), Some(1));
    assert!(!noted.journal().exists());
}
