//! `chronoscope track run`, `compare`, `history`, `bisect` and `gate`, as a user runs them.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs chronoscope in a folder, without what the surroundings say.
fn track(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.current_dir(dir).arg("track").args(args).env("CHRONOSCOPE_CACHE", dir.join("cache"));
    command.env("CHRONOSCOPE_DATA", dir.join("data")).env_remove("GITHUB_STEP_SUMMARY");
    command.output().unwrap()
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], b"\n", &output.stderr].concat()).into_owned()
}

fn succeed(dir: &Path, command: &str, args: &[&str]) {
    let mut started = Command::new(command);
    started.current_dir(dir).args(args).env("HOME", dir);
    for who in ["AUTHOR", "COMMITTER"] {
        started
            .env(format!("GIT_{who}_NAME"), "Ada")
            .env(format!("GIT_{who}_EMAIL"), "a@x.example");
    }
    let output = started.output().unwrap();
    assert!(output.status.success(), "{command} {args:?}: {}", words(&output));
}

/// Whether the tests' tools are there; says loudly what is not.
fn tools() -> bool {
    ["cc", "git", "make", "valgrind"].iter().all(|name| {
        let found = Command::new(name).arg("--version").output().is_ok();
        if !found {
            eprintln!("SKIPPED: no {name} (apt-get install gcc git make valgrind): nothing tested");
        }
        found
    })
}

/// A repository whose program turns `beta` times in its second loop, committed.
fn commit(dir: &Path, beta: u32, message: &str) {
    let text = format!(
        "volatile unsigned sink;\n\
         __attribute__((noinline)) void beta(unsigned n) {{ while (n--) sink += n; }}\n\
         __attribute__((noinline)) void alpha(unsigned n) {{ while (n--) sink ^= n; }}\n\
         int main(void) {{ for (int i = 0; i < 100; i++) {{ alpha(2000); beta({beta}); }}\n\
         return 0; }}\n// {message}\n"
    );
    fs::write(dir.join("main.c"), text).unwrap();
    succeed(dir, "git", &["add", "-A"]);
    succeed(dir, "git", &["commit", "-q", "-m", message]);
}

fn project(dir: &Path) {
    succeed(dir, "git", &["init", "-q", "-b", "main"]);
    fs::write(dir.join("Makefile"), "program: main.c\n\tcc -g -O1 -o $@ $<\n").unwrap();
    fs::write(dir.join(".gitignore"), "program\ncache\ndata\n*.md\n").unwrap();
    let suite = "version = 1\nname = \"loops\"\n[[unit]]\nname = \"both\"\n\
                 command = [\"{bin}/program\"]\nexactness = \"serialised\"\n";
    fs::write(dir.join("performance.toml"), suite).unwrap();
}

#[test]
fn versions_are_measured_compared_and_the_commit_is_found() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    project(dir);
    for (beta, message) in [(2000, "first"), (2000, "second"), (2012, "third"), (2012, "fourth")] {
        commit(dir, beta, message);
        if message != "third" {
            succeed(dir, "make", &["-s"]);
            let run = track(dir, &["run", "--method", "callgrind"]);
            assert_eq!(run.status.code(), Some(0), "{}", words(&run));
            assert!(words(&run).contains(message), "{}", words(&run));
        }
    }
    let same = track(dir, &["compare", "latest~2", "latest~1"]);
    assert_eq!(same.status.code(), Some(0), "{}", words(&same));
    assert!(words(&same).contains("nothing moved, of 1"), "{}", words(&same));

    let moved =
        track(dir, &["compare", "latest~1", "latest", "--detail", "--json", "--svg", "data/svg"]);
    assert_eq!(moved.status.code(), Some(1), "{}", words(&moved));
    let found: Value = serde_json::from_slice(&moved.stdout).unwrap();
    assert_eq!((&found["version"], &found["rows"][0]["state"]["is"]), (&1.into(), &"moved".into()));
    assert_eq!(found["details"][0]["diff"]["functions"][0]["name"], "beta");
    assert!(dir.join("data/svg/both.program.svg").is_file());

    let none = track(dir, &["compare", "latest", "no-such-run"]);
    assert_eq!(none.status.code(), Some(2), "{}", words(&none));
    assert!(words(&none).contains("has no run \"no-such-run\""), "{}", words(&none));

    let history = track(dir, &["history", "--svg", "data/h.svg", "--html", "data/h.html"]);
    assert_eq!(history.status.code(), Some(0), "{}", words(&history));
    assert!(
        words(&history).contains("both/program: instructions over 3 runs"),
        "{}",
        words(&history)
    );
    assert!(words(&history).contains("fourth\n"), "{}", words(&history));
    for (file, begins) in [("h.svg", "<svg "), ("h.html", "<!DOCTYPE html>")] {
        let page = fs::read_to_string(dir.join("data").join(file)).unwrap();
        assert!(page.starts_with(begins) && page.contains(" fourth<"), "{page}");
    }
    let nowhere = track(dir, &["history", "--html", "no/such/folder.html"]);
    assert_eq!(nowhere.status.code(), Some(4), "{}", words(&nowhere));
    assert!(words(&nowhere).contains("cannot write no/such/folder.html"), "{}", words(&nowhere));

    let search = ["bisect", "main~3", "main", "--method", "callgrind", "--", "make", "-s"];
    let search = track(dir, &search);
    assert_eq!(search.status.code(), Some(0), "{}", words(&search));
    let first = String::from_utf8_lossy(&search.stdout).lines().next().unwrap().to_owned();
    assert!(first.ends_with("  third"), "{}", words(&search));
}

#[test]
fn a_change_is_refused_in_ci_by_three_lines() {
    if !tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    project(dir);
    commit(dir, 2000, "base");
    succeed(dir, "git", &["switch", "-q", "-c", "change"]);
    commit(dir, 2012, "slower");
    let line = ["gate", "--base", "main", "--build", "make -s", "--method", "callgrind"];
    let rest = ["--summary", "summary.md", "--pairs", "3", "--", "./program"];
    let gate = |more: &[&str]| track(dir, &[&line[..], more, &rest].concat());
    let refused = gate(&[]);
    assert_eq!(refused.status.code(), Some(1), "{}", words(&refused));
    let page = fs::read_to_string(dir.join("summary.md")).unwrap();
    assert!(page.contains("🔴 dearer | +0.2"), "{page}");
    assert!(page.contains("`beta`"), "{page}");
    let allowed = gate(&["--allow", "1", "--no-detail", "--json"]);
    assert_eq!(allowed.status.code(), Some(0), "{}", words(&allowed));
    assert_eq!(serde_json::from_slice::<Value>(&allowed.stdout).unwrap()["version"], 1);
    let broken = track(dir, &["gate", "--base", "main", "--build", "exit 3", "--", "./program"]);
    assert_eq!(broken.status.code(), Some(2), "{}", words(&broken));
    let itself = track(dir, &["gate", "--base", "change", "--", "./program"]);
    assert_eq!(itself.status.code(), Some(0), "{}", words(&itself));
}
