//! `make demo` in short: the radar chain under the collector, and nothing left behind.

#![allow(clippy::unwrap_used)] // helpers of tests

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The demo with the programs that were built beside this test, on the artificial scenario.
fn start_demo(out: &Path, seconds: u32) -> Child {
    let bin = Path::new(env!("CARGO_BIN_EXE_chronoscope")).parent().unwrap();
    assert!(
        bin.join("radar-display").exists(),
        "the radar programs are not built: cargo build --workspace --bins, or make test"
    );
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/demo");
    // A test run in the background ignores SIGINT, and whoever begins so cannot trap it.
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(script.canonicalize().unwrap());
    command.env("BIN", bin).env("OUT", out).env("SCENARIO", "circles").env("DISPLAYS", "2");
    command.env("SECONDS_TO_RUN", seconds.to_string()).env_remove("DEMO_ONCE");
    // Its talk goes into a file: nobody reads it while it runs.
    command.stderr(fs::File::create(out.with_extension("talk")).unwrap());
    command.stdout(Stdio::piped()).spawn().unwrap()
}

fn interrupt(demo: &Child) {
    let pid = demo.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
}

/// Programs that still run and whose command line names this folder.
fn left_behind(out: &Path) -> Vec<String> {
    let out = out.to_str().unwrap();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(out)).collect()
}

fn measured(out: &Path) -> Vec<PathBuf> {
    fs::read_dir(out.join("data/log")).into_iter().flatten().map(|e| e.unwrap().path()).collect()
}

#[test]
fn the_demo_ends_with_a_verdict_pictures_and_the_page() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("demo");
    let mut demo = start_demo(&out, 20);
    // It says where the page is when everything else is said, and goes on.
    let mut said = String::new();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
    let url = lines.find_map(|line| {
        let line = line.unwrap();
        said += &format!("{line}\n");
        Some(line.strip_prefix("the page on all of this, until Ctrl-C: ")?.to_owned())
    });
    let talk = || fs::read_to_string(out.with_extension("talk")).unwrap();
    let url = url.unwrap_or_else(|| panic!("{}\n{said}", talk()));
    assert!(said.contains("MRTS::decodePlots/MRTS::Correlate/MSG::TrackStore_updateTrack/CWP::"));
    assert!(said.contains("within 1 s: the requirement"), "{said}");
    assert!(said.contains("roots arrived within 1 s: the requirement"), "{said}");
    assert!(fs::metadata(out.join("chains.svg")).unwrap().len() > 1_000);
    assert!(fs::metadata(out.join("display.png")).unwrap().len() > 10_000);
    // One could look already while it measured, at the same address.
    assert!(talk().contains(&format!("the page is at {url} already")), "{}", talk());

    let mut answer = ureq::get(format!("{url}api/v1/status")).call().unwrap();
    let status: Value = serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap();
    assert!(status["rows"].as_u64() > Some(1_000), "{status}");
    let mut page = ureq::get(&url).call().unwrap();
    assert!(page.body_mut().read_to_string().unwrap().contains("<title>Chronoscope"));

    interrupt(&demo);
    assert_eq!(demo.wait().unwrap().code(), Some(0), "{}", talk());
    assert_eq!(left_behind(&out), [""; 0]);
}

#[test]
fn an_interrupted_demo_leaves_nothing_running_and_keeps_what_it_had() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("demo");
    let mut demo = start_demo(&out, 300);
    for _ in 0..600 {
        if out.join("updates").exists() && !measured(&out).is_empty() {
            break;
        }
        chronoscope_clock::sleep(Duration::from_millis(100));
    }
    assert!(!left_behind(&out).is_empty(), "it runs");
    interrupt(&demo);
    assert_eq!(demo.wait().unwrap().code(), Some(130));
    assert_eq!(left_behind(&out), [""; 0]);
    assert!(!measured(&out).is_empty());
}
