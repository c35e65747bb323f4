//! Stored transactions in other people's formats, by the program as its users run it.

#![allow(clippy::unwrap_used)] // helpers of tests

#[path = "../walk_through/service.rs"]
mod service;
mod sql;
mod world;

use chronoscope_store::{Options, Store};
use std::path::Path;
use std::process::{Command, Stdio};
use world::{NOON, World, chain, chains, text};

#[test]
fn every_format_holds_every_transaction_once() {
    let world = World::new();
    world.store(&chains(100, 20));
    let xml = world.export(&["--format", "xml"]);
    assert_eq!(xml.matches("<transaction ").count(), 360);
    let csv = world.export(&["--format", "csv"]);
    let mut csv = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(csv.records().map(Result::unwrap).count(), 360);
    let trace = world.export(&["--format", "trace"]);
    let trace: serde_json::Value = serde_json::from_str(&trace).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    assert_eq!(events.iter().filter(|event| event["ph"] == "X").count(), 360);
    assert_eq!(events.iter().filter(|event| event["ph"] == "f").count(), 240, "hops");
    let file = world.path("out.parquet");
    world.export(&["--format", "parquet", "-o", file.to_str().unwrap()]);
    let rows = chronoscope_store::ParquetRows::open(&file).unwrap();
    assert_eq!(rows.map(Result::unwrap).count(), 360);
    assert!(!world.path("out.parquet.part").exists());
}

#[test]
fn chains_are_selected_whole() {
    let world = World::new();
    world.store(&chains(10, 2));
    let count = |args: &[&str]| {
        let csv = world.export(&[&["--format", "csv"], args].concat());
        csv::Reader::from_reader(csv.as_bytes()).records().count()
    };
    assert_eq!(count(&["--utc", "--from", "2026-11-21 12:00:05"]), 21);
    assert_eq!(count(&["--utc", "--until", "2026-11-21 12:00:05"]), 15);
    assert_eq!(count(&["--root", "MRTS::decodePlots"]), 36, "foreign ones too");
    let id = (u128::MAX - 11).to_string();
    let id: u128 = id.parse().unwrap();
    assert_eq!(count(&["--chain", &format!("{id:032x}")]), 3);
    let none = world.run(&["export", "--format", "csv", "--root", "forward"]);
    assert_eq!(none.status.code(), Some(3), "nobody's root");
    let meant = world.run(&["export", "--format", "csv", "--root", "decodePlot"]);
    assert!(text(&meant.stderr).contains("Did you mean decodePlots?"), "{}", text(&meant.stderr));
}

#[test]
fn a_file_is_whole_or_not_there() {
    let world = World::new();
    world.store(&chains(5, 0));
    let file = world.path("nowhere/out.xml");
    let refused = world.run(&["export", "--format", "xml", "-o", file.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(4));
    assert!(text(&refused.stderr).contains("out.xml was not written"));
    let refused = world.run(&["export", "--format", "parquet"]);
    assert!(text(&refused.stderr).contains("--output FILE"));
    std::fs::write(world.path("old.xml"), "of before").unwrap();
    std::fs::write(world.path("empty"), "").unwrap();
    let nobody = world.path("empty");
    let old = world.path("old.xml");
    let args = ["export", "--format", "xml", "--data", nobody.to_str().unwrap(), "-o"];
    let refused = world.run(&[&args[..], &[old.to_str().unwrap()]].concat());
    assert_eq!(refused.status.code(), Some(4));
    assert_eq!(std::fs::read_to_string(&old).unwrap(), "of before");
}

/// What `export` says about a store, in an order that depends on nothing.
fn sorted_csv(world: &World) -> Vec<String> {
    let mut lines: Vec<String> =
        world.export(&["--format", "csv"]).split("\r\n").map(str::to_owned).collect();
    lines.sort();
    lines
}

fn answers(world: &World) -> Vec<serde_json::Value> {
    let questions: [&[&str]; 4] = [
        &["chains", "--root", "decodePlots", "--leaf", "CWP::redraw/all", "--json"],
        &["chains", "--root", "decodePlots", "--apcd", "--json"],
        &["chains", "--sync", "forward", "--json"],
        &["classes", "--json"],
    ];
    let ask = |args: &&[&str]| {
        let output = world.run(args);
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        let mut answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        // How the answer was found, not what it is.
        if let Some(chains) = answer["chains"].as_object_mut() {
            chains.remove("source");
            // A file is whole: what a store knows of its sources does not travel.
            chains.remove("verdict");
            chains.remove("arrivals");
        }
        answer
    };
    questions.iter().map(ask).collect()
}

/// Store → file → another store: the same rows, and the same answers.
#[test]
fn a_round_trip_loses_nothing() {
    let world = World::new();
    world.store(&chains(60, 20));
    let (rows, said) = (sorted_csv(&world), answers(&world));
    assert_eq!(rows.len(), 240 + 2, "a header and the last line's end");
    for format in ["xml", "csv", "parquet"] {
        let file = world.path(&format!("out.{format}"));
        let file = file.to_str().unwrap();
        world.export(&["--format", format, "-o", file]);
        let other = World::new();
        let imported = other.run(&["import", file]);
        assert!(imported.status.success(), "{format}: {}", text(&imported.stderr));
        assert_eq!(sorted_csv(&other), rows, "{format}");
        assert_eq!(answers(&other), said, "{format}");
        // The same content once more, under another name.
        let copy = world.path("copy");
        std::fs::copy(file, &copy).unwrap();
        let again = other.run(&["import", copy.to_str().unwrap()]);
        assert!(again.status.success());
        assert!(
            text(&again.stderr).contains("0 transactions imported (240 had been"),
            "{}",
            text(&again.stderr)
        );
        assert_eq!(sorted_csv(&other), rows, "{format}");
    }
}

#[test]
fn a_file_that_is_refused_changes_nothing() {
    let world = World::new();
    world.store(&chains(3, 0));
    let good = world.path("good.xml");
    world.export(&["--format", "xml", "-o", good.to_str().unwrap()]);
    let bad = world.path("bad.xml");
    let text_of_good = std::fs::read_to_string(&good).unwrap();
    std::fs::write(&bad, text_of_good.replace("</armData>", "<!DOCTYPE x></armData>")).unwrap();
    let other = World::new();
    let refused = other.run(&["import", good.to_str().unwrap(), bad.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(4));
    let said = text(&refused.stderr);
    assert!(said.contains("bad.xml") && said.contains("document type"), "{said}");
    assert!(!other.path("data").exists());
}

#[test]
fn a_store_that_is_written_takes_no_import() {
    let world = World::new();
    world.store(&chains(3, 0));
    let file = world.path("out.csv");
    world.export(&["--format", "csv", "-o", file.to_str().unwrap()]);
    let other = World::new();
    let _held = Store::open(&other.path("data"), Options::default(), NOON).unwrap();
    let refused = other.run(&["import", file.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(4));
    assert!(text(&refused.stderr).contains("stop chronoscope serve first"));
}

/// What is written is what the schema says, by somebody else's validator.
#[test]
fn xml_is_valid_by_its_schema() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut tool = Command::new("sh");
    tool.arg("-c").arg(". tools/env.sh; need xmllint libxml2-utils").current_dir(&top);
    // The tools say so loudly themselves where it cannot be had.
    if !tool.stdout(Stdio::null()).status().unwrap().success() {
        eprintln!(
            "SKIPPED: XML is held against its schema by xmllint (apt-get install libxml2-utils)"
        );
        return;
    }
    let world = World::new();
    world.store(&chains(10, 3));
    let file = world.path("out.xml");
    world.export(&["--format", "xml", "-o", file.to_str().unwrap()]);
    let mut lint = Command::new("xmllint");
    lint.args(["--noout", "--nonet", "--schema"]).arg(top.join("docs/formats/arm.xsd")).arg(&file);
    let output = lint.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let broken = std::fs::read_to_string(&file).unwrap().replacen(" id=\"", " nr=\"", 1);
    std::fs::write(&file, broken).unwrap();
    assert!(!lint.output().unwrap().status.success(), "the schema refuses what is wrong");
}

/// A log that had been cut short was exported without a word, and exit 0.
#[test]
fn rows_that_the_log_lost_are_told() {
    let world = World::new();
    world.store(&(0..40).flat_map(|number| chain(number, false)).collect::<Vec<_>>());
    let logs = std::fs::read_dir(world.path("data").join("log")).unwrap();
    let logs = logs.map(|entry| entry.unwrap().path());
    let log = logs.filter(|path| path.extension().is_some_and(|is| is == "wal")).max().unwrap();
    let whole = std::fs::read(&log).unwrap();
    std::fs::write(&log, &whole[..whole.len() / 2]).unwrap();
    for args in [&["--format", "csv"][..], &["--format", "csv", "--root", "decodePlots"]] {
        let output = world.run(&[&["export"], args].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{said}");
        assert!(said.contains("damaged: ") && said.contains(log.to_str().unwrap()), "{said}");
        assert!(!output.stdout.is_empty(), "what is sealed is there");
    }
}
