//! What an operator is told of clocks: chains from one host to another, whose clocks were read.
#![allow(clippy::unwrap_used)] // helpers of tests

use chronoscope_model::{
    Batch, ClassId, ClassName, Names, PathId, ProcessName, Record, TransactionId,
};
use chronoscope_store::{Append, ClockReading, Options, Store};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const MINUTE: i64 = 60_000_000_000;
const BEGIN: i64 = 100 * MINUTE;

/// Ten chains from a tracker to a display on another host, from 2.7 ms up by 3 ms each; the
/// display's clock is ahead by 0.4 ms.
fn fill(dir: &Path) {
    let mut names = Names::default();
    let mut batch = Batch::default();
    let hosts = ["mrts-1", "cwp-7"];
    let process = |step: usize| ProcessName {
        application: "P".into(),
        host: hosts[step].into(),
        pid: 7,
        start_ns: 1,
    };
    let mut classes = Vec::new();
    for (step, (application, class)) in
        [("MRTS", "decodePlots"), ("CWP", "redraw")].into_iter().enumerate()
    {
        names.add_class(ClassName { application: application.into(), class: class.into() });
        classes.push(ClassId::of(application, class));
        names.add_path(PathId::of(&classes), classes.clone());
        names.add_process(process(step));
    }
    for chain in 0..10u64 {
        let root_start_ns = BEGIN + i64::try_from(chain).unwrap() * 1_000_000_000;
        for step in 0..2u16 {
            let index = usize::from(step);
            let record = Record {
                start_ns: root_start_ns + i64::from(step) * 2_500_000,
                elapsed_ns: 200_000 + chain * 3_000_000,
                chain_low: chain + 1,
                id: TransactionId(chain * 2 + 1 + u64::from(step)),
                parent: TransactionId(if step == 0 { 0 } else { chain * 2 + 1 }),
                class: classes[index],
                path: PathId::of(&classes[..=index]),
                root_start_ns,
                root_process: process(0).id(),
                process: process(index).id(),
                level: step,
                ..Record::default()
            };
            batch.push(record, b"");
        }
    }
    let mut clocks = Vec::new();
    for (host, offset_ns, error_ns) in [(hosts[0], 0, 1_500_000), (hosts[1], 400_000, 2_000_000)] {
        let host = host.to_owned();
        clocks.extend((0..9).map(|n| ClockReading {
            host: host.clone(),
            at_ns: BEGIN + n * 2_000_000_000,
            offset_ns,
            error_ns,
        }));
    }
    let store = Store::open(dir, Options::default(), BEGIN).unwrap();
    let input =
        Append { batch: Some(&batch), names: Some(&names), clocks: &clocks, ..Append::default() };
    store.append(&input, BEGIN).unwrap();
    store.seal_all(BEGIN + 5 * MINUTE).unwrap();
}

fn run(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    let output = command.args(args).arg("--data").arg(dir).env("TZ", "UTC").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_the_clocks_explain_is_said() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path());
    let question = ["chains", "--root", "decodePlots", "--leaf", "redraw"];
    let with = |more: &[&'static str]| run(dir.path(), &[&question[..], more].concat());
    for more in [&[][..], &["--no-split"]] {
        let page = with(more);
        assert!(
            page.contains("clocks: 10 of 10 durations cross hosts, uncertain by up to ±"),
            "{page}"
        );
        assert!(page.contains("; minimum 2.700 ms is explained by it\n"), "{page}");
        assert!(page.contains("  1 are not longer than what the clocks may be off by"), "{page}");
    }
    let page = with(&["--correct-clocks"]);
    assert!(page.contains("cross hosts, corrected by the clocks' offsets, uncertain"), "{page}");
    assert!(page.contains("; minimum 2.300 ms is explained by it\n"), "{page}");
    let json: Value = serde_json::from_str(&with(&["--json", "--correct-clocks"])).unwrap();
    let clocks = &json["chains"]["clocks"];
    assert_eq!((&clocks["corrected"], &clocks["crossing"]), (&true.into(), &10.into()));
    assert_eq!(clocks["shortest"]["duration_ns"], 2_300_000);
    assert_eq!(clocks["shortest"]["explained"], true);
}

#[test]
fn a_chain_shows_by_how_much_each_hop_may_be_off() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path());
    let page = run(dir.path(), &["chain", "1"]);
    assert!(page.contains("clocks"), "{page}");
    let redraw = page.lines().find(|line| line.contains("CWP::redraw")).unwrap();
    assert!(redraw.contains("−400.00 µs ±3.5"), "{page}");
    let json: Value = serde_json::from_str(&run(dir.path(), &["chain", "1", "--json"])).unwrap();
    assert_eq!(json["transactions"][1]["clock"]["offset_ns"], 400_000);
}
