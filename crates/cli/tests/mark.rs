//! `chronoscope mark`: in a data folder, and by a server.

#![allow(clippy::unwrap_used)] // helpers of tests

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// Killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.args(args).current_dir(dir).env_remove("CHRONOSCOPE_TOKEN");
    command.env("CHRONOSCOPE_DIR", dir.join("rings")).env("CHRONOSCOPE_DATA", dir.join("data"));
    command
}

fn run(dir: &Path, args: &[&str]) -> Output {
    command(dir, &[&["mark"], args].concat()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn folders(dir: &Path) {
    std::fs::create_dir(dir.join("rings")).unwrap();
    std::fs::create_dir(dir.join("data")).unwrap();
}

#[test]
fn a_mark_is_noted_listed_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    assert_eq!(run(dir, &["v4.2"]).status.code(), Some(4), "a folder is not made for it");
    folders(dir);
    let at = ["--at", "2026-11-27 10:58", "--utc"];
    let noted = run(dir, &[&["v4.2 on shop", "--service", "shop"][..], &at].concat());
    assert_eq!(
        text(&noted.stdout),
        "mark 1 at 2026-11-27 10:58:00.000: v4.2 on shop (shop)\n",
        "{}",
        text(&noted.stderr)
    );
    let second = text(&run(dir, &["restart", "--json"]).stdout);
    let second: Value = serde_json::from_str(&second).unwrap();
    assert_eq!((&second["mark"]["id"], &second["mark"]["text"]), (&2.into(), &"restart".into()));
    let list = text(&run(dir, &["--list", "--utc"]).stdout);
    assert!(list.contains("2026-11-27 10:58:00.000") && list.contains("restart"), "{list}");
    assert!(run(dir, &["--remove", "2"]).status.success());
    assert_eq!(run(dir, &["--remove", "2"]).status.code(), Some(3), "it is gone");
    let all = text(&run(dir, &["--list", "--json"]).stdout);
    let all: Value = serde_json::from_str(&all).unwrap();
    assert_eq!(all["marks"]["marks"].as_array().unwrap().len(), 1, "{all}");
}

#[test]
fn damage_is_told_and_what_is_no_mark_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    folders(dir);
    assert!(run(dir, &["first"]).status.success());
    let file = dir.join("data/annotations.log");
    let damaged = text(&std::fs::read(&file).unwrap()).replace("first", "worst");
    std::fs::write(&file, damaged).unwrap();
    let list = run(dir, &["--list"]);
    assert_eq!(list.status.code(), Some(3));
    assert!(text(&list.stderr).contains("damaged: annotations.log, line 1: "), "{list:?}");
    for refused in [&["a\nb"][..], &["a", "--at", "yesterday"], &["a", "--list"], &[]] {
        assert_eq!(run(dir, refused).status.code(), Some(2), "{refused:?}");
    }
}

#[test]
fn a_server_notes_for_a_token_that_may_write() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    folders(dir);
    for (name, rights) in [("ops", &["--read", "--write"][..]), ("guest", &["--read"])] {
        let args = [&["token", "add", name, "--tokens", "tokens"], rights].concat();
        let made = command(dir, &args).output().unwrap();
        std::fs::write(dir.join(name), made.stdout).unwrap();
    }
    let args = ["serve", "--listen", "127.0.0.1:0", "--tokens", "tokens"];
    let mut server = command(dir, &args).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines();
    let _server = Running(server);
    let url = lines.find_map(|line| {
        let line = line.unwrap();
        Some(line.strip_prefix("the page is at ")?.trim_end_matches('/').to_owned())
    });
    let url = url.unwrap();
    let by = |who: &str, args: &[&str]| {
        run(dir, &[args, &["--server", &url, "--token-file", who]].concat())
    };
    let refused = by("guest", &["v4.2"]);
    assert_eq!(refused.status.code(), Some(4));
    assert!(text(&refused.stderr).contains("403: this token may not write"), "{refused:?}");
    assert!(by("ops", &["v4.2"]).status.success());
    // The same file as without a server, and who noted it.
    let list: Value = serde_json::from_slice(&run(dir, &["--list", "--json"]).stdout).unwrap();
    let mark = &list["marks"]["marks"][0];
    assert_eq!((&mark["text"], &mark["by"]), (&"v4.2".into(), &"ops".into()), "{list}");
    assert!(text(&by("guest", &["--list"]).stdout).contains("v4.2"));
    assert_eq!(by("ops", &["--remove", "9"]).status.code(), Some(3));
    assert!(by("ops", &["--remove", "1"]).status.success());
    assert_eq!(by("guest", &["--list"]).status.code(), Some(3), "none is left");
}
