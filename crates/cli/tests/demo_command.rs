//! `chronoscope demo`: four real processes, a verdict, the page, and nothing left behind.

#![allow(clippy::unwrap_used)] // helpers of tests

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The demonstration, with temporary files in this folder.
fn demo(temporary: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.arg("demo").args(args).env("TMPDIR", temporary).env("TZ", "UTC");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Processes whose command line names a part of this demonstration.
fn left_behind(pid: u32) -> Vec<String> {
    let scratch = format!("chronoscope-demo.{pid}");
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(&scratch)).collect()
}

fn nothing_is_left(pid: u32) {
    assert_eq!(left_behind(pid), Vec::<String>::new());
    assert!(!Path::new(&format!("/dev/shm/chronoscope-demo.{pid}")).exists());
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
}

#[test]
fn every_order_is_measured_through_four_processes_to_both_mailers() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("kept");
    let args = ["--duration", "4s", "--rate", "100", "--json", "--data", data.to_str().unwrap()];
    let child = demo(dir.path(), &args).spawn().unwrap();
    let pid = child.id();
    let output = child.wait_with_output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{talk}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let answer = &answer["chains"];
    let roots = answer["arrivals"]["roots"].as_u64().unwrap();
    assert!((100..=401).contains(&roots), "{answer}");
    // Each order twice, once from each mailer, whatever the time.
    assert_eq!(answer["distribution"]["count"].as_u64().unwrap(), 2 * roots, "{answer}");
    assert_eq!(answer["arrivals"]["open"].as_u64().unwrap_or(0), 0, "{answer}");
    nothing_is_left(pid);
    // The store stays where it was asked for, with the sorting of mailer B in it.
    let mut classes = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    let classes = classes.args(["classes", "--data"]).arg(&data).output().unwrap();
    let classes = String::from_utf8(classes.stdout).unwrap();
    for class in ["placeOrder", "reserveItems", "sendConfirmation", "sortArchive"] {
        assert!(classes.contains(class), "{class} is not in\n{classes}");
    }
    let again = demo(dir.path(), &args).output().unwrap();
    assert!(String::from_utf8_lossy(&again.stderr).contains("--data makes a new folder"));
}

#[test]
fn the_page_is_there_after_the_verdict_until_ctrl_c() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = demo(dir.path(), &["--duration", "3s"]).spawn().unwrap();
    let pid = child.id();
    let mut talk = BufReader::new(child.stderr.take().unwrap()).lines();
    let url = talk.find_map(|line| {
        Some(line.unwrap().strip_prefix("the page on all of this, until Ctrl-C: ")?.to_owned())
    });
    let url = url.expect("the address of the page");
    // The talk goes on, and its pipe must not fill.
    let rest = std::thread::spawn(move || talk.count());
    let classes = ureq::get(format!("{url}classes")).call();
    // The server may need a moment from its announcement to its first answer.
    let classes = classes.or_else(|_| {
        chronoscope_clock::sleep(std::time::Duration::from_secs(2));
        ureq::get(format!("{url}classes")).call()
    });
    let classes = classes.unwrap().body_mut().read_to_string().unwrap();
    assert!(classes.contains("sendConfirmation"), "{classes}");
    signal(&child, "-INT");
    let mut shown = String::new();
    child.stdout.take().unwrap().read_to_string(&mut shown).unwrap();
    assert!(child.wait().unwrap().success());
    rest.join().unwrap();
    assert!(shown.contains("Shop::placeOrder") && shown.contains("arrivals"), "{shown}");
    // Which values these are, the seconds of a machine that others use do not tell for certain.
    assert!(shown.contains("values were looked at"), "what the slow have in common: {shown}");
    nothing_is_left(pid);
}

#[test]
fn an_interrupt_while_it_measures_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = demo(dir.path(), &["--duration", "60s"]).spawn().unwrap();
    let pid = child.id();
    let mut talk = BufReader::new(child.stderr.take().unwrap()).lines();
    talk.find(|line| line.as_ref().unwrap().contains("the page is at")).unwrap().unwrap();
    signal(&child, "-TERM");
    for _ in talk {}
    child.wait().unwrap();
    nothing_is_left(pid);
}
