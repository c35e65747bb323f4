//! `chronoscope track flame`, as a user runs it.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn run(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.current_dir(dir).args(["track", "flame"]).args(args);
    command.env("CHRONOSCOPE_DATA", dir.join("data")).output().unwrap()
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], b"\n", &output.stderr].concat()).into_owned()
}

/// main 10 calls work (90, line 8) twice; its name has what a terminal would obey.
const PROFILE: &str = "events: Ir Dr\nob=prog\nfl=main.c\nfn=main\n3 10 1\ncfn=wo\u{1b}[2Jrk\n\
    calls=2 8\n4 90 5\nfn=wo\u{1b}[2Jrk\n8 90 5\n";

#[test]
fn a_profile_is_a_tree_in_words_json_a_picture_and_for_firefox() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    fs::write(dir.join("profile"), PROFILE).unwrap();
    let args = ["profile", "--svg", "flame.svg", "--to", "firefox:firefox.json"];
    let output = run(dir, &args);
    assert!(output.status.success(), "{}", words(&output));
    let page = words(&output);
    assert!(page.starts_with("Ir 100\n"), "{page}");
    assert!(page.contains("90     90.00 %                  90    wo\\u001b[2Jrk"), "{page}");
    assert!(!page.contains('\u{1b}'), "{page}");
    assert!(fs::read_to_string(dir.join("flame.svg")).unwrap().contains("<title>main: 100"));
    let firefox = fs::read(dir.join("firefox.json")).unwrap();
    let firefox: Value = serde_json::from_slice(&firefox).unwrap();
    assert_eq!(firefox["meta"]["preprocessedProfileVersion"], 58);
    assert_eq!(firefox["meta"]["product"], "profile");

    let found = run(dir, &["profile", "--json", "--event", "Dr"]);
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(
        (&found["version"], &found["event"], &found["total"]),
        (&1.into(), &"Dr".into(), &6.into())
    );
    assert_eq!((&found["stacks"], &found["frames"][2]["inclusive"]), (&false.into(), &5.into()));
}

#[test]
fn a_function_has_its_callers_and_callees() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    fs::write(dir.join("profile"), PROFILE).unwrap();
    let page = words(&run(dir, &["profile", "--function", "main"]));
    assert!(
        page.starts_with("main  (main.c, prog)\nIr inclusive 100 (100.00 %), own 10"),
        "{page}"
    );
    assert!(page.contains("no callers") && page.contains("90     90.00 %"), "{page}");
    let found = run(dir, &["profile", "--function", "main", "--json"]);
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!((&found["callees"][0]["calls"], &found["lines"][0]["line"]), (&2.into(), &3.into()));
    let none = run(dir, &["profile", "--function", "mai"]);
    assert_eq!(none.status.code(), Some(2), "{}", words(&none));
    assert!(words(&none).contains("no function \"mai\"; it has \"main\""), "{}", words(&none));
}

#[test]
fn text_of_perf_script_is_stacks() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let text = "prog 1 1.5: 7 cycles:\n\t10 work+0x1 (/bin/prog)\n\t10 main+0x1 (/bin/prog)\n";
    fs::write(dir.join("stacks"), text).unwrap();
    let page = words(&run(dir, &["stacks"]));
    assert!(page.contains("100.00 %                   7      work\n"), "{page}");
    let found: Value = serde_json::from_slice(&run(dir, &["stacks", "--json"]).stdout).unwrap();
    assert_eq!(found["stacks"], true);
    fs::write(dir.join("torn"), &text[..40]).unwrap();
    let torn = run(dir, &["torn"]);
    assert!(
        words(&torn).contains("torn: line 2 is not a function of a sample"),
        "{}",
        words(&torn)
    );
}

#[test]
fn what_is_no_profile_is_refused_by_name_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    fs::write(dir.join("cut"), &PROFILE[..PROFILE.find("4 90").unwrap()]).unwrap();
    let cut = run(dir, &["cut"]);
    assert_eq!(cut.status.code(), Some(4), "{}", words(&cut));
    assert!(words(&cut).contains("cut: the file ends after line 7"), "{}", words(&cut));
    for args in [&["cut", "--to", "gecko:x"][..], &[], &["cut", "--min", "200"]] {
        assert_eq!(run(dir, args).status.code(), Some(2), "{args:?}");
    }
}

/// A run keeps what Callgrind counted and what perf sampled, where it may; both are found again.
#[test]
fn a_stored_run_has_its_profiles() {
    let tools = ["cc", "valgrind"];
    if let Some(missing) =
        tools.iter().find(|tool| Command::new(tool).arg("--version").output().is_err())
    {
        eprintln!("SKIPPED: no {missing} (apt-get install gcc valgrind): nothing was tested here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let source = "volatile unsigned sink;\n\
        __attribute__((noinline)) void work(unsigned n) { while (n--) sink += n; }\n\
        int main(void) { work(3000000); return 0; }\n";
    fs::write(dir.join("main.c"), source).unwrap();
    let suite =
        "version = 1\nname = \"one\"\n[[unit]]\nname = \"unit\"\ncommand = [\"{bin}/program\"]\n";
    fs::write(dir.join("performance.toml"), suite).unwrap();
    let mut cc = Command::new("cc");
    cc.current_dir(dir).args(["-g", "-O1", "-o", "program", "main.c"]);
    assert!(cc.status().unwrap().success());
    let mut measure = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    measure.current_dir(dir).args(["track", "run", "--method", "callgrind", "--stacks", "--json"]);
    let measured = measure.args(["--runs", "runs"]).output().unwrap();
    assert!(measured.status.success(), "{}", words(&measured));
    let record: Value = serde_json::from_slice(&measured.stdout).unwrap();
    let page = words(&run(dir, &["latest", "--runs", "runs", "--function", "work"]));
    assert!(page.contains("work  (main.c, program)\nIr inclusive "), "{page}");
    let stacks =
        run(dir, &["latest", "--runs", "runs", "--of", "stacks", "--process", "unit/program"]);
    match record["items"][0]["processes"][0]["stacks"].as_str() {
        Some(file) => {
            assert_eq!(file, "stacks/unit");
            assert!(words(&stacks).contains("work\n"), "{}", words(&stacks));
        }
        None => {
            let why = record["items"][0]["remarks"][0].as_str().unwrap();
            assert!(why.starts_with("no sampled stacks: "), "{why}");
            assert!(words(&stacks).contains("kept no such profile"), "{}", words(&stacks));
        }
    }
}
