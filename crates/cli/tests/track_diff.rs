//! `chronoscope track diff`, as a user runs it.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn run(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.current_dir(dir).args(["track", "diff"]).args(args).output().unwrap()
}

/// `main` at 3 calls `work` at 8, which spends `cost`.
fn profile(dir: &Path, name: &str, cost: u32) {
    let text = format!(
        "events: Ir\nfl=main.c\nfn=main\n3 1000\ncfn=work\ncalls=2 8\n4 {cost}\nfn=work\n8 {cost}\n"
    );
    fs::write(dir.join(name), text).unwrap();
}

#[test]
fn what_moved_is_named_in_words_json_and_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    profile(dir, "before", 9000);
    profile(dir, "after", 9030);
    let output = run(dir, &["before", "after", "--svg", "moved.svg", "--folded", "moved.txt"]);
    let words = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(words.starts_with("Ir  10,000 -> 10,030  +30  (+0.300 %)"), "{words}");
    assert!(words.contains("+0.333 %  work  (main.c, "), "{words}");
    assert!(fs::read_to_string(dir.join("moved.svg")).unwrap().contains("work: 9000"));
    let folded = fs::read_to_string(dir.join("moved.txt")).unwrap();
    assert_eq!(folded, "main 1000 1000\nmain;work 9000 9030\n");

    let found: Value =
        serde_json::from_slice(&run(dir, &["before", "after", "--json"]).stdout).unwrap();
    assert_eq!((&found["version"], &found["total"]["after"]), (&1.into(), &10_030.into()));
    assert_eq!(found["functions"][0]["name"], "work");
    let beneath = run(dir, &["before", "after", "--floor", "4000"]);
    assert!(String::from_utf8_lossy(&beneath.stdout).contains("nothing moved"));
}

#[test]
fn what_is_no_profile_is_refused_by_name_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    profile(dir, "before", 9000);
    fs::write(dir.join("torn"), "events: Ir\nfn=main\n3 10\ncalls=").unwrap();
    for (after, said) in [("torn", "torn: line 4"), ("none", "none: no such profile")] {
        let output = run(dir, &["before", after]);
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(4), "{talk}");
        assert!(talk.contains(said), "{talk}");
    }
    let output = run(dir, &["before", "before", "--event", "Dr"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("Dr"), "{output:?}");
}
