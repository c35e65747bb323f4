//! The program itself, with the programs that were built beside it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use chronoscope_clock::{monotonic_ns, sleep};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn reproduce(out: &Path) -> Command {
    let own = Path::new(env!("CARGO_BIN_EXE_reproduce"));
    assert!(
        own.with_file_name("chronoscope").exists(),
        "chronoscope is not built: cargo build --workspace --bins, or make test"
    );
    let mut command = Command::new(own);
    command.args(["--quick", "--only", "phoenix-definitions"]);
    command.arg("--out").arg(out).arg("--root").arg(root());
    command
}

fn text(output: &Output) -> String {
    let both = [&output.stdout, &output.stderr];
    both.map(|octets| String::from_utf8_lossy(octets).into_owned()).join("\n")
}

#[test]
fn the_documents_durations_are_reproduced_end_to_end() {
    let out = tempfile::tempdir().unwrap();
    let output = reproduce(out.path()).arg("--json").output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    let items = figures["documents"][0]["items"].as_array().unwrap();
    for id in ["phoenix.image6", "phoenix.image7", "phoenix.image8"] {
        let item = items.iter().find(|item| item["id"] == id).unwrap();
        assert_eq!(item["verdict"], "confirmed", "{item:#}");
        assert!(!item["commands"].as_array().unwrap().is_empty());
    }
    let page = std::fs::read_to_string(out.path().join("report/index.html")).unwrap();
    assert!(page.contains("ACPD(T2/T4)"));
    let again = reproduce(out.path()).output().unwrap();
    assert!(text(&again).contains("kept: durations of chains"), "{}", text(&again));
}

#[test]
fn a_killed_run_is_gone_on_with() {
    let out = tempfile::tempdir().unwrap();
    let mut killed = reproduce(out.path()).spawn().unwrap();
    let begun = out.path().join("phoenix-definitions/phoenix.image6");
    let end_ns = monotonic_ns() + 30_000_000_000;
    while !begun.exists() && monotonic_ns() < end_ns {
        sleep(Duration::from_millis(2));
    }
    assert!(begun.exists());
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(!out.path().join("phoenix-definitions/outcome.json").exists());
    let output = reproduce(out.path()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("confirmed      phoenix.image8"), "{}", text(&output));
}

#[test]
fn the_plan_is_listed_and_a_wrong_name_refused() {
    let out = tempfile::tempdir().unwrap();
    let output = reproduce(out.path()).args(["--list", "--json"]).output().unwrap();
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(plan["experiments"][0]["id"], "phoenix-definitions");
    assert_eq!(plan["experiments"][0]["due"], true);
    let output = reproduce(out.path()).args(["--only", "phoenix.image99"]).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(text(&output).contains("no document, item or experiment is called phoenix.image99"));
}

#[test]
fn the_commands_of_the_coverage_do_what_the_table_says() {
    let out = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_reproduce"));
    command
        .args(["--only", "coverage", "--json", "--out"])
        .arg(out.path())
        .arg("--root")
        .arg(root());
    let output = command.output().unwrap();
    let kept = std::fs::read_to_string(out.path().join("coverage/outcome.json")).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    let commands = kept["commands"].as_array().unwrap();
    assert!(!commands.is_empty());
    for command in commands {
        let fault = command["fault"].as_str().unwrap_or("");
        // Alone, this crate's tests build the programs of this crate.
        assert!(fault.is_empty() || fault.contains("is not built"), "{command:#}");
    }
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(figures["coverage"]["rows"].as_array().unwrap().len() > commands.len());
}

#[test]
fn the_page_of_the_coverage_is_written_without_programs() {
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("coverage.md");
    let mut command = Command::new(env!("CARGO_BIN_EXE_reproduce"));
    let output = command.arg("--coverage").arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let page = std::fs::read_to_string(&path).unwrap();
    let kept = std::fs::read_to_string(root().join("docs/coverage.md")).unwrap();
    assert_eq!(page, kept, "reproduce --coverage docs/coverage.md writes it anew");
}
