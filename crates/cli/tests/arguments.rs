//! What the program says of arguments that it cannot follow, and what it leaves behind.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A folder to be in.
struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("new/data")
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
        command.args(args).env("CHRONOSCOPE_DIR", self.dir.path().join("rings"));
        command.env("CHRONOSCOPE_DATA", self.data()).env("TZ", "UTC");
        command.env_remove("CHRONOSCOPE_TOKEN").env_remove("CHRONOSCOPE_STORE");
        command.output().unwrap()
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn errors_in_the_arguments_exit_with_2() {
    let world = World::new();
    let chains = ["chains", "--root", "a", "--leaf", "b"];
    let cases: &[(&[&str], &str)] = &[
        (&["chains", "--root", "a", "--leaf", "b", "--level", "deep"], "--level"),
        (&["classes", "--from", "yesterday"], "--from: \"yesterday\" is not a time"),
        (&["classes", "--until", "soon"], "--until: \"soon\" is not a time"),
        (&["classes", "--from", "12:00", "--until", "11:00"], "has to begin before it ends"),
        (&["classes", "--store", "oracle://host/db"], "the scheme oracle: is not supported"),
        (&["export", "--format", "parquet"], "--output FILE"),
        (&["export", "--format", "xls"], "xls"),
        (&["export", "--format", "csv", "--from", "never"], "--from: \"never\""),
        (&["serve", "--interfaces", "1us"], "--interfaces: the shortest interval is"),
        (&["serve", "--listen", "0.0.0.0:0"], "reachable from other hosts"),
        (&["serve", "--listen", "127.0.0.1:0", "--compare", "a=/no/such"], "is not a folder"),
        (&["serve", "--remote-write", "http://h/"], "--listen"),
        (
            &["serve", "--listen", "127.0.0.1:0", "--remote-write", "h:9090"],
            "--remote-write h:9090",
        ),
        (
            &[
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--remote-write",
                "http://h/",
                "--remote-write-label",
                "a-b=c",
            ],
            "--remote-write-label: \"a-b\"",
        ),
        (&["agent", "--to", "nonsense"], "nonsense"),
        (&["net", "table", "--threshold", "200"], "--threshold 200"),
        (&["net", "table", "--from", "-1min", "--until", "-2min"], "has to begin before it ends"),
        (&["net", "bulk", "--to", "127.0.0.1:9", "--seconds", "90"], "--seconds 90"),
        (&["net", "bulk", "--to", "127.0.0.1:9", "--sizes", "9", "9"], "--sizes 9 9"),
        (&["net", "rtt", "udp:127.0.0.1:9", "--every", "0s"], "--flood"),
        (&["track", "profile", "--against", "oracle://x"], "--against"),
        (
            &["track", "profile", "--against-from", "12:00", "--against-until", "11:00"],
            "--against-",
        ),
        (&["track", "history"], "the folder of runs is missing"),
    ];
    for (args, what) in cases {
        let output = world.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
        assert!(said(&output).contains(what), "{args:?}: {}", said(&output));
    }
    assert!(!world.data().exists(), "nothing was made");
    assert_eq!(world.run(&chains).status.code(), Some(4), "no store: not the arguments");
}

#[test]
fn a_range_that_ends_before_it_begins_says_both_instants() {
    let args = [
        "chains",
        "--sync",
        "a",
        "--from",
        "2026-11-21T12:00:00Z",
        "--until",
        "2026-11-21T11:00:00Z",
    ];
    let output = World::new().run(&args);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("--from is 2026-11-21 12:00:00.000"), "{said}");
    assert!(said.contains("--until is 2026-11-21 11:00:00.000"), "{said}");
}

#[test]
fn a_server_whose_port_is_taken_makes_and_announces_nothing() {
    let world = World::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = world.run(&["serve", "--listen", &address, "--duration", "1s"]);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(!said.contains("collecting"), "{said}");
    assert_eq!(said.matches("os error").count(), 1, "the cause is said once: {said}");
    assert!(!world.data().exists(), "no folder is left");
    assert!(!world.data().parent().unwrap().exists(), "nor the one above it");
}

/// A store cannot be made below a file, after the folders above it were.
#[test]
fn a_server_that_cannot_store_leaves_no_empty_folder() {
    let world = World::new();
    let long = "x".repeat(300); // longer than any file system's names
    let data = world.data().join(long);
    let output = world.run(&["serve", "--data", data.to_str().unwrap(), "--duration", "1s"]);
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert!(!said(&output).contains("collecting"), "{}", said(&output));
    assert!(!world.data().exists(), "the folders above are removed again");
}
