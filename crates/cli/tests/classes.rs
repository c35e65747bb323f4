//! `chronoscope classes` of stored rows: the time asked for, and what nobody measured.

#![allow(clippy::unwrap_used)] // helpers of tests

use chronoscope_formats::rows::Builder;
use chronoscope_model::{ChainId, ClassName, Flags, Status, Transaction, TransactionId};
use chronoscope_store::{Append, Options, Store};
use serde_json::Value;
use std::process::{Command, Output};

/// 2026-11-21T12:00:00Z
const NOON: i64 = 1_795_262_400_000_000_000;
const SECOND: i64 = 1_000_000_000;

/// A store with a row a second for three minutes, by a recorder and by OpenTelemetry in turns.
struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        let store = Store::open(world.dir.path(), Options::default(), NOON).unwrap();
        let mut builder = Builder::default();
        (0..180).for_each(|second| builder.push(&row(second)));
        let (batch, names) = builder.into_parts();
        let input = Append { batch: Some(&batch), names: Some(&names), ..Append::default() };
        store.append(&input, NOON).unwrap();
        store.sync().unwrap();
        store.seal_all(NOON).unwrap();
        world
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
        command.args(args).env("CHRONOSCOPE_DATA", self.dir.path()).env("TZ", "UTC");
        command.env_remove("CHRONOSCOPE_STORE").output().unwrap()
    }

    fn text(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Rows of both classes in a time.
    fn counts(&self, span: &[&str]) -> Vec<u64> {
        let text = self.text(&[&["classes", "--json", "--utc"], span].concat());
        let answer: Value = serde_json::from_str(&text).unwrap();
        let rows = answer["classes"]["rows"].as_array().unwrap();
        rows.iter().map(|row| row["elapsed"]["count"].as_u64().unwrap()).collect()
    }
}

fn row(second: i64) -> Transaction {
    let (is_foreign, start_ns) = (second % 2 == 1, NOON + second * SECOND);
    let (application, class) = if is_foreign { ("shop", "checkout") } else { ("MRTS", "decode") };
    let id = u64::try_from(second).unwrap() + 1;
    Transaction {
        class: ClassName { application: application.into(), class: class.into() },
        process: None,
        thread: 7,
        start_ns,
        elapsed_ns: 1_000_000,
        cpu_ns: if is_foreign { 0 } else { 900_000 },
        process_cpu_ns: None,
        status: Status::Good,
        id: TransactionId(id),
        parent: TransactionId::NONE,
        chain: ChainId(u128::from(id)),
        flags: if is_foreign { Flags::FOREIGN } else { Flags::default() },
        level: 0,
        path: if is_foreign { String::new() } else { format!("{application}::{class}") },
        root_start_ns: (!is_foreign).then_some(start_ns),
        root_process: None,
        properties: Vec::new(),
        metrics: Vec::new(),
        extras: chronoscope_model::Extras::default(),
    }
}

#[test]
fn classes_answer_for_exactly_the_time_asked() {
    let world = World::new();
    for (from, until, counts) in [
        ("12:00:10", "12:00:20", [5, 5]),
        ("12:00:50", "12:02:10", [40, 40]),
        ("12:00:59", "12:01:01", [1, 1]),
        ("12:00", "12:03", [90, 90]),
    ] {
        let [from, until] = [from, until].map(|time| format!("2026-11-21 {time}"));
        assert_eq!(world.counts(&["--from", &from, "--until", &until]), counts, "{from} {until}");
    }
    assert_eq!(world.counts(&["--from", "2026-11-21 12:02:30"]), [15, 15]);
    let nothing = world.run(&["classes", "--utc", "--from", "2026-11-21 12:03"]);
    assert_eq!(nothing.status.code(), Some(3));
}

#[test]
fn cpu_time_that_nobody_measured_is_unknown_and_not_0() {
    let world = World::new();
    let text = world.text(&["classes"]);
    let cpu = |class: &str| {
        let line = text.lines().find(|line| line.starts_with(class)).unwrap();
        line.split_whitespace().last().unwrap().to_owned()
    };
    assert_eq!((cpu("shop::checkout"), cpu("MRTS::decode")), ("–".into(), "µs".into()), "{text}");
    let json: Value = serde_json::from_str(&world.text(&["classes", "--json"])).unwrap();
    let rows = &json["classes"]["rows"];
    assert_eq!((&rows[0]["cpu_ns"], &rows[1]["cpu_ns"]), (&81_000_000.into(), &Value::Null));

    let foreign = ["--chain", "2"];
    let xml = world.text(&[&["export", "--format", "xml"], &foreign[..]].concat());
    assert!(xml.contains("<transaction ") && !xml.contains("cpuTime"), "{xml}");
    let csv = world.text(&[&["export", "--format", "csv"], &foreign[..]].concat());
    let mut csv = csv::Reader::from_reader(csv.as_bytes());
    let at = csv.headers().unwrap().iter().position(|name| name == "cpu_ns").unwrap();
    assert_eq!(&csv.records().next().unwrap().unwrap()[at], "");
    let chain = world.text(&["chain", "2"]);
    assert!(chain.contains(" – "), "{chain}");
    let json: Value = serde_json::from_str(&world.text(&["chain", "2", "--json"])).unwrap();
    assert_eq!(json["transactions"][0]["cpu_ns"], Value::Null);
    let profile = world.text(&["track", "profile"]);
    let line = profile.lines().find(|line| line.starts_with("shop::checkout")).unwrap();
    assert!(line.ends_with("–"), "{profile}");
}

#[test]
fn a_class_that_is_not_there_is_answered_with_the_nearest_one() {
    let world = World::new();
    let said = |args: &[&str]| String::from_utf8(world.run(args).stderr).unwrap();
    let export = said(&["export", "--format", "csv", "--root", "decod"]);
    assert!(export.contains("Did you mean decode?"), "{export}");
    let capacity = said(&["track", "profile", "--capacity", "shop::chekout=2"]);
    assert!(capacity.contains("Did you mean shop::checkout?"), "{capacity}");
}
