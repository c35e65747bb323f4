//! The status of a chain in the answers: an independent transaction (ARM 4.1) leaves it alone.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use chronoscope_model::{
    Batch, ChainId, ClassId, ClassName, Flags, Names, PathId, Record, Status, TransactionId,
};
use chronoscope_store::{Append, MINUTE_NS, Options, Store};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// 2026-11-21T00:00 UTC.
const BEGIN_NS: i64 = 1_795_219_200_000_000_000;

/// Chains of an order and its view, which fails in both; in the second, slower one it is
/// independent.
fn fill(dir: &Path) {
    let classes = [ClassId::of("Shop", "order"), ClassId::of("Shop", "view")];
    let mut names = Names::default();
    for class in ["order", "view"] {
        names.add_class(ClassName { application: "Shop".into(), class: class.into() });
    }
    names.add_path(PathId::of(&classes[..1]), classes[..1].to_vec());
    names.add_path(PathId::of(&classes), classes.to_vec());
    let mut batch = Batch::default();
    for (chain, flags) in [(1_u32, 0), (2, Flags::INDEPENDENT.0)] {
        let root = Record {
            start_ns: BEGIN_NS + i64::from(chain) * 1_000_000_000,
            root_start_ns: BEGIN_NS + i64::from(chain) * 1_000_000_000,
            elapsed_ns: 1_000_000 * u64::from(chain),
            chain_low: u64::from(chain),
            id: TransactionId(u64::from(chain) * 10),
            class: classes[0],
            path: PathId::of(&classes[..1]),
            ..Record::default()
        };
        let view = Record {
            id: TransactionId(root.id.0 + 1),
            parent: root.id,
            class: classes[1],
            path: PathId::of(&classes),
            level: 1,
            status: Status::Failed as u8,
            flags,
            ..root
        };
        batch.push(root, b"");
        batch.push(view, b"");
    }
    let now_ns = BEGIN_NS + 20 * MINUTE_NS;
    let store = Store::open(dir, Options::default(), now_ns).unwrap();
    let input = Append { batch: Some(&batch), names: Some(&names), ..Append::default() };
    store.append(&input, now_ns).unwrap();
    store.seal_all(now_ns).unwrap();
}

fn run(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    let output = command.args(args).args(["--data", dir.to_str().unwrap()]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn chains_and_chain_say_the_status() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path());
    let asked = ["chains", "--root", "order", "--leaf", "view"];
    let json: Value =
        serde_json::from_str(&run(dir.path(), &[&asked[..], &["--json"]].concat())).unwrap();
    let slowest = json["chains"]["slowest"].as_array().unwrap();
    let statuses: Vec<_> = slowest.iter().map(|slow| slow["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["GOOD", "FAILED"], "{json}");
    let (fails, holds) = (ChainId(1).to_string(), ChainId(2).to_string());
    let text = run(dir.path(), &asked);
    assert!(text.contains(&format!("{holds}\n")), "{text}");
    assert!(text.contains(&format!("{fails}  FAILED\n")), "{text}");

    let text = run(dir.path(), &["chain", &holds]);
    assert!(text.contains("status GOOD; 1 independent"), "{text}");
    let json: Value = serde_json::from_str(&run(dir.path(), &["chain", &holds, "--json"])).unwrap();
    let expected =
        serde_json::json!({ "status": "GOOD", "not_good": 0, "independent_not_good": 1 });
    assert_eq!(json["status"], expected);
    let counts = |at: usize| json["transactions"][at]["counts_for_chain"].as_bool().unwrap();
    assert_eq!((counts(0), counts(1)), (true, false));
    let text = run(dir.path(), &["chain", &fails]);
    assert!(text.contains("status FAILED: 1 of them not GOOD\n"), "{text}");
}
