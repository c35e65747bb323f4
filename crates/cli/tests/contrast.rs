//! `chronoscope contrast` on the command line.

#![allow(clippy::unwrap_used, clippy::cast_possible_wrap)] // helpers of tests

use chronoscope_model::context::{self, ContextEntry};
use chronoscope_model::{
    Batch, ClassId, ClassName, Names, PathId, ProcessId, Record, TransactionId,
};
use chronoscope_store::{Append, MINUTE_NS, Options, Store};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

const CHAINS: u64 = 2_000;

/// 2026-11-21T10:00 UTC.
const BEGIN_NS: i64 = 1_795_255_200_000_000_000;

/// Two thousand chains in two minutes; those of the tenant `acme`, every tenth, take 50 ms longer,
/// and those of the second minute are of build 2.
fn fill(dir: &Path) {
    let classes = [ClassId::of("shop", "order"), ClassId::of("shop", "pay")];
    let mut names = Names::default();
    for class in ["order", "pay"] {
        names.add_class(ClassName { application: "shop".into(), class: class.into() });
    }
    for level in 1..=2 {
        names.add_path(PathId::of(&classes[..level]), classes[..level].to_vec());
    }
    let mut batch = Batch::default();
    let mut said = vec![0; context::STORED_MAX_BYTES];
    for chain in 1..=CHAINS {
        let root_start_ns = BEGIN_NS + 2 * MINUTE_NS * chain as i64 / CHAINS as i64;
        let (tenant, late_ns) =
            if chain % 10 == 3 { ("acme", 50_000_000) } else { ("others", chain % 977) };
        let build = if chain > CHAINS / 2 { "2" } else { "1" };
        for (level, class) in (0_u16..).zip(classes) {
            let entries = [("tenant", tenant), ("build", build)];
            let mut len = 0;
            for (key, value) in entries {
                let entry = ContextEntry::Property(key, value);
                len = context::append(&mut said, len, entry).unwrap();
            }
            let id = TransactionId(2 * chain + u64::from(level));
            let root = TransactionId(2 * chain);
            let record = Record {
                start_ns: root_start_ns + i64::from(level),
                elapsed_ns: 1_000_000 + u64::from(level) * late_ns,
                chain_low: chain,
                id,
                parent: if level == 0 { TransactionId::NONE } else { root },
                class,
                path: PathId::of(&classes[..=usize::from(level)]),
                root_start_ns,
                process: ProcessId::NONE,
                level,
                ..Record::default()
            };
            batch.push(record, &said[..len]);
        }
    }
    let now_ns = BEGIN_NS + 10 * MINUTE_NS;
    let store = Store::open(dir, Options::default(), now_ns).unwrap();
    let input = Append { batch: Some(&batch), names: Some(&names), ..Append::default() };
    store.append(&input, now_ns).unwrap();
    store.sync().unwrap();
    store.seal_all(now_ns).unwrap();
}

fn run(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    let asked = ["contrast", "--root", "order", "--leaf", "pay", "--utc"];
    command.args(asked).args(args).env("CHRONOSCOPE_DATA", dir);
    command.env_remove("CHRONOSCOPE_STORE").output().unwrap()
}

fn text(dir: &Path, args: &[&str]) -> String {
    let output = run(dir, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn contrast(dir: &Path, args: &[&str]) -> Value {
    let document: Value = serde_json::from_str(&text(dir, &[args, &["--json"]].concat())).unwrap();
    document["contrast"].clone()
}

#[test]
fn the_slow_are_contrasted_with_the_others() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path());
    let found = contrast(dir.path(), &["--above", "20ms"]);
    assert_eq!(found["differences"][0]["filter"], "tenant=acme", "{found:#}");
    assert_eq!(found["other"], json!({ "total": CHAINS / 10, "sampled": CHAINS / 10 }));
    let page = text(dir.path(), &["--above", "20ms"]);
    for said in [
        "order to pay (ACPD, any level)",
        "slow 200 (attributes of 200 read), others 1,800 (attributes of 200 read); slow is above 20",
        "tenant=acme: 100 % of the slow, 0 % of the others of the same time",
        "tenant=acme  100.0 %   0.0 %    +100.0 %",
        "1 values are rarer among the slow",
    ] {
        assert!(page.contains(said), "{said:?} is missing in:\n{page}");
    }
    let filtered = contrast(dir.path(), &["--above", "p90", "--where", "build=2"]);
    assert_eq!(
        (&filtered["other"]["total"], &filtered["where"]),
        (&100.into(), &json!(["build=2"]))
    );
}

#[test]
fn two_times_or_stores_are_contrasted() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path());
    let halves = [
        "--until",
        "2026-11-21 10:01",
        "--b-from",
        "2026-11-21 10:01",
        "--b-until",
        "2026-11-21 10:03",
    ];
    let found = contrast(dir.path(), &halves);
    let filters: Vec<&Value> =
        found["differences"].as_array().unwrap().iter().map(|row| &row["filter"]).collect();
    assert_eq!(filters, ["build=2", "build=1"], "{found:#}");
    assert!(text(dir.path(), &halves).contains("build=2: 100 % of B, 0 % of A"));
    let same = contrast(dir.path(), &["--b-data", dir.path().to_str().unwrap()]);
    assert_eq!(same["differences"], json!([]), "{same:#}");
}

#[test]
fn what_cannot_be_contrasted_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path());
    for wrong in [
        &["--above", "p101"][..],
        &["--above", "fast"],
        &["--above", "p90", "--b-from", "10:00"],
        &["--sample", "99"],
        &["--from", "10:00", "--b-from", "10:00"],
    ] {
        assert_eq!(run(dir.path(), wrong).status.code(), Some(2), "{wrong:?}");
    }
    let nothing = run(dir.path(), &["--from", "2020-01-01 00:00", "--until", "2020-01-02 00:00"]);
    assert_eq!(nothing.status.code(), Some(3));
    let page = String::from_utf8(nothing.stdout).unwrap();
    assert!(page.contains("nothing is slow"), "{page}");
}
