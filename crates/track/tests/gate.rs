//! A change to a small C++ project is judged before it is merged.

#![allow(clippy::unwrap_used)] // helpers of tests

mod programs;
mod repository;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use chronoscope_track::counters::Method;
use chronoscope_track::gate::{Gate, GateError, GateTarget, Measured, refuses};
use chronoscope_track::git::Repository;
use chronoscope_track::report::{ProcessResult, detail, markdown};
use chronoscope_track::run::Request;
use chronoscope_track::suite::Suite;
use programs::tools;
use repository::Made;

/// Fills a map and sums it; `turns` decides what that costs.
fn source(turns: u32) -> String {
    format!(
        "#include <fstream>\n#include <map>\n#include <string>\n\
         struct Table {{ std::map<std::string, long> rows; long sum() const; }};\n\
         long __attribute__((noinline)) Table::sum() const {{\n  long all = 0;\n\
           for (const auto &[name, value] : rows)\n\
             for (int i = 0; i < {turns}; i++) {{ all += value ^ i; asm volatile(\"\" : \"+r\"(all)); }}\n  return all; }}\n\
         int main(int, char **words) {{\n  Table table;\n  std::ifstream in(words[1]);\n\
           std::string name; while (in >> name) table.rows[name] += name.size();\n\
           return table.sum() == 0; }}\n"
    )
}

/// A project on `main`, and a branch from there with another number of turns.
fn project(turns: u32, changed: u32) -> Made {
    let made = Made::new();
    made.write("Makefile", "program: main.cc\n\tc++ -std=c++17 -g -O1 -o $@ $<\n");
    let names: Vec<_> = (0..300).map(|number| format!("name{number}\n")).collect();
    made.write("names", &names.concat());
    made.write("main.cc", &source(turns));
    made.commit("a program");
    made.git(&["switch", "-q", "-c", "change"]);
    made.write("main.cc", &(source(changed) + "// changed\n"));
    made.commit("another number of turns");
    made
}

fn gate(made: &Made, cache: &Path, base: &str) -> Gate {
    let repository = Repository::at(made.path()).unwrap();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    Gate {
        base: base.to_owned(),
        head: "change".to_owned(),
        build: words(&["sh", "-c", "make"]),
        bin: ".".into(),
        what: GateTarget::Command(words(&["./program", "names"])),
        exactness: None,
        cache: cache.to_owned(),
        request: Request {
            suite: Suite { name: String::new(), folder: made.path().into(), items: Vec::new() },
            only: Vec::new(),
            runs: Some(3),
            beyond: false,
            stacks: false,
            method: Method::Callgrind { because: "the test says so".to_owned() },
            calibration: None,
            folder: cache.join("runs"),
            stop: Arc::new(AtomicBool::new(false)),
        },
        repository,
    }
}

fn run(made: &Made, cache: &Path) -> Measured {
    gate(made, cache, "main").run(&mut |_| {}).unwrap()
}

#[test]
fn a_dearer_change_is_refused_and_put_down_to_its_function() {
    if !tools(&["c++", "make", "valgrind", "git"]) {
        return;
    }
    let (made, cache) = (project(1000, 1003), tempfile::tempdir().unwrap());
    let measured = run(&made, cache.path());
    let [row] = &measured.comparison.rows[..] else { panic!("{measured:?}") };
    assert_eq!((row.name().as_str(), &row.state), ("program", &ProcessResult::Moved));
    let judged = row.main().unwrap();
    assert!((0.0005..0.003).contains(&judged.change), "{judged:?}");
    assert!(judged.statement.contains("by 3 unchanged pairs"), "{}", judged.statement);
    assert!(refuses(row, 0.0, false) && !refuses(row, 0.01, false) && refuses(row, 0.0, true));

    let [base, head] = [&measured.records[0], &measured.records[1]];
    let stop = Arc::new(AtomicBool::new(false));
    let sides = [(base, None), (head, None)];
    let detail = detail(row, sides, Duration::from_secs(60), &stop).unwrap();
    assert!(detail.diff.functions[0].name.starts_with("Table::sum"), "{:?}", detail.diff);
    let page = markdown("Performance", &measured.comparison, &[detail]);
    assert!(page.contains("another number of turns"), "{page}");
    assert!(page.contains("Table::sum"), "{page}");
    measured.remove().unwrap();
    assert_eq!(made.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_change_that_costs_nothing_passes_and_a_cheaper_one_is_said() {
    if !tools(&["c++", "make", "valgrind", "git"]) {
        return;
    }
    let (same, cache) = (project(1000, 1000), tempfile::tempdir().unwrap());
    let measured = run(&same, cache.path());
    assert_eq!(
        measured.comparison.rows[0].state,
        ProcessResult::Unmoved,
        "{:?}",
        measured.comparison
    );
    measured.remove().unwrap();
    let cheaper = project(1000, 900);
    let measured = run(&cheaper, cache.path());
    let row = &measured.comparison.rows[0];
    assert!(
        row.state == ProcessResult::Moved && !refuses(row, 0.0, false) && refuses(row, 0.0, true)
    );
    measured.remove().unwrap();
}

#[test]
fn what_cannot_be_judged_is_named() {
    if !tools(&["c++", "make", "valgrind", "git"]) {
        return;
    }
    let (made, cache) = (project(10, 20), tempfile::tempdir().unwrap());
    made.write("main.cc", "this is no C++");
    made.commit("it does not build");
    let broken = gate(&made, cache.path(), "main").run(&mut |_| {}).unwrap_err().to_string();
    assert!(broken.contains("does not build: sh ended with exit status 2"), "{broken}");
    let same = gate(&made, cache.path(), "change").run(&mut |_| {});
    assert!(matches!(same, Err(GateError::Same { .. })), "{same:?}");
    let mut wrong = gate(&made, cache.path(), "main");
    wrong.head = "change~1".to_owned();
    wrong.what = GateTarget::Command(vec!["./none".to_owned()]);
    let measured = wrong.run(&mut |_| {}).unwrap();
    let ProcessResult::NoVerdict { because } = &measured.comparison.rows[0].state else {
        panic!("{measured:?}")
    };
    assert!(because.contains("No such file"), "{because}");
    // Whose folders are still wanted, to profile what moved.
    let beside = wrong.run(&mut |_| {}).unwrap_err();
    assert!(matches!(beside, GateError::Lock(_)), "{beside:?}");
    measured.remove().unwrap();
}
