//! `chronoscope rules`: what the rules of a file mean, and what they would have done.

#![allow(clippy::unwrap_used, clippy::cast_sign_loss, reason = "helpers of tests")]

use chronoscope_model::{Batch, ClassId, ClassName, Names, PathId, Record, TransactionId};
use chronoscope_store::{Append, MINUTE_NS, Options, Store};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// 2026-11-21T00:00 UTC.
const BEGIN_NS: i64 = 1_795_219_200_000_000_000;

/// Ten minutes of a class that takes 1 ms, in the fifth and sixth 50 ms.
fn fill(dir: &Path) {
    let class = ClassId::of("A", "in");
    let mut names = Names::default();
    names.add_class(ClassName { application: "A".into(), class: "in".into() });
    names.add_path(PathId::of(&[class]), vec![class]);
    let mut batch = Batch::default();
    for row in 0..600_i64 {
        let start_ns = BEGIN_NS + row * 1_000_000_000;
        let is_slow = (4..6).contains(&(row / 60));
        let record = Record {
            start_ns,
            root_start_ns: start_ns,
            elapsed_ns: if is_slow { 50_000_000 } else { 1_000_000 },
            chain_low: row as u64 + 1,
            id: TransactionId(row as u64 + 1),
            class,
            path: PathId::of(&[class]),
            ..Record::default()
        };
        batch.push(record, b"");
    }
    let now_ns = BEGIN_NS + 20 * MINUTE_NS;
    let store = Store::open(dir, Options::default(), now_ns).unwrap();
    let input = Append { batch: Some(&batch), names: Some(&names), ..Append::default() };
    store.append(&input, now_ns).unwrap();
    store.seal_all(now_ns).unwrap();
}

fn run(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.args(args).current_dir(dir).env_remove("CHRONOSCOPE_STORE").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

const FILE: &str = "[[limit]]\nname = 'quick'\nclass = 'A::in'\nlimit = '10ms'\n";

#[test]
fn check_says_what_a_rule_means_or_what_is_wrong_where() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("good.toml"), FILE).unwrap();
    let good = run(dir, &["rules", "check", "good.toml"]);
    assert!(good.status.success());
    let sentence = "quick: fires when 0.3 % or more of A::in take longer than 10 ms, over 1 min; \
                    judged every 1 min; clears with the first judgement that holds.";
    assert_eq!(text(&good.stdout), format!("{sentence}\n"));
    let json = run(dir, &["rules", "check", "good.toml", "--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["rules"][0]["sentence"], sentence);

    std::fs::write(dir.join("bad.toml"), format!("{FILE}windows = '5min'\n")).unwrap();
    let bad = run(dir, &["rules", "check", "bad.toml"]);
    assert_eq!(bad.status.code(), Some(2));
    let said = text(&bad.stderr);
    assert!(said.contains("bad.toml:5: unknown field `windows`"), "{said}");
    std::fs::write(dir.join("empty.toml"), "").unwrap();
    assert_eq!(run(dir, &["rules", "check", "empty.toml"]).status.code(), Some(3));
    assert_eq!(run(dir, &["rules", "check", "missing.toml"]).status.code(), Some(4));
}

#[test]
fn test_says_when_a_rule_would_have_fired_and_cleared() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("rules.toml"), FILE).unwrap();
    fill(&dir.join("data"));
    let test = ["rules", "test", "rules.toml", "--data", "data", "--utc"];
    let words = run(dir, &test);
    assert!(words.status.success(), "{}", text(&words.stderr));
    let words = text(&words.stdout);
    let lines = "  2026-11-21 00:05:00.000  fired\n  2026-11-21 00:07:00.000  cleared\n  judged 10 \
                 times, broken 2 times\n";
    assert!(words.contains(lines), "{words}");
    let until = ["--from", "2026-11-21T00:03:00Z", "--to", "2026-11-21T00:06:00Z", "--json"];
    let json = run(dir, &[&test[..], &until].concat());
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let rule = &json["rules"][0];
    assert_eq!(
        (&rule["held"], &rule["broken"], &rule["is_firing"]),
        (&1.into(), &2.into(), &true.into())
    );
    assert_eq!(rule["transitions"][0]["at_ns"], BEGIN_NS + 5 * MINUTE_NS);
    let nothing = run(dir, &[&test[..], &["--from", "2026-11-22T00:00:00Z"]].concat());
    assert_eq!(nothing.status.code(), Some(3));
}
