//! Programs built with `-finstrument-functions`: what their functions are as transactions.

#![allow(clippy::unwrap_used)] // helpers of tests

mod support;

use chronoscope_model::{Status, Transaction};
use std::path::Path;
use std::sync::OnceLock;
use support::{World, classes, compile, instrument, only, root, run};

fn libraries() -> &'static Path {
    static BUILT: OnceLock<std::path::PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| instrument("functions"))
}

/// Compiles, runs with the patterns of the tests, and returns what was recorded.
fn record(compiler: &str, source: &str, flags: &[&str], static_library: bool) -> Vec<Transaction> {
    let world = World::new();
    let program = world.path().join("program");
    let folder = libraries().to_str().unwrap();
    let (search, run_path) = (format!("-L{folder}"), format!("-Wl,-rpath,{folder}"));
    let archive = libraries().join("libarm4_functions.a");
    let mut all = vec!["-finstrument-functions", &search, &run_path];
    all.extend(flags);
    let source_and_library = [source, archive.to_str().unwrap()];
    if static_library {
        compile(compiler, &source_and_library, &all, &program);
    } else {
        all.extend(["-Wl,--no-as-needed", "-larm4_functions"]);
        compile(compiler, &[source], &all, &program);
    }
    let patterns = root().join("instrument/tests/c/functions.patterns");
    run(world.command(&program).env("ARM4_FUNCTIONS", patterns));
    world.transactions()
}

fn children<'a>(all: &'a [Transaction], parent: &Transaction) -> Vec<&'a str> {
    let found = all.iter().filter(|t| t.parent == parent.id && t.chain == parent.chain);
    found.map(|t| t.class.class.as_str()).collect()
}

/// Calls that follow the source, whatever the optimiser made of it.
fn check_c(all: &[Transaction]) {
    assert!(all.iter().all(|t| t.class.application == "demo"), "{:?}", all[0].class);
    let twice: Vec<_> = all.iter().filter(|t| t.class.class == "twice").collect();
    assert_eq!(twice.len(), 301, "one in main, a hundred in each of three threads");
    assert!(twice.iter().all(|t| children(all, t) == ["leaf", "leaf"] && t.level == 0));
    let threads: std::collections::BTreeSet<_> = twice.iter().map(|t| t.thread).collect();
    assert_eq!(threads.len(), 4);

    let down: Vec<_> = all.iter().filter(|t| t.class.class == "down").collect();
    assert_eq!(down.len(), 6 + 20, "and of the hundred no more than the depth allows");
    let levels: Vec<_> = down.iter().map(|t| t.level).collect();
    assert_eq!(levels, (0..6).chain(0..20).collect::<Vec<_>>());
    assert_eq!(children(all, down[5]), ["leaf"]);

    let survives = only(all, "survives");
    let left = ["deeper", "leaf", "deeper", "leaf", "deeper", "leaf"];
    assert_eq!(children(all, survives), left);
    let ended = |class: &str, status| {
        all.iter().filter(|t| t.class.class == class).all(|t| t.status == status)
    };
    assert!(ended("deeper", Status::Aborted) && ended("fails", Status::Aborted));
    assert!(ended("survives", Status::Good) && ended("leaf", Status::Good));
    assert_eq!(children(all, only(all, "grows")), ["leaf"]);

    let forks = only(all, "forks");
    assert_eq!(forks.status, Status::Good);
    let pids: std::collections::BTreeSet<_> =
        all.iter().filter_map(|t| t.process.as_ref().map(|p| p.pid)).collect();
    assert_eq!(pids.len(), 2, "the child has a ring of its own");
    let child: Vec<_> = all
        .iter()
        .filter(|t| t.process.as_ref().unwrap().pid != forks.process.as_ref().unwrap().pid)
        .collect();
    assert_eq!(classes(all).iter().filter(|c| **c == "quiet").count(), 0);
    assert_eq!(child.len(), 1, "{child:?}");
    assert_eq!((child[0].class.class.as_str(), child[0].level), ("leaf", 0));
}

#[test]
fn functions_of_c_follow_the_source() {
    check_c(&record("gcc", "tests/c/functions_demo.c", &["-std=gnu11", "-O0"], false));
}

#[test]
fn functions_of_c_follow_the_source_when_optimised() {
    check_c(&record("gcc", "tests/c/functions_demo.c", &["-std=gnu11", "-O2"], false));
}

#[test]
fn functions_are_recorded_by_the_static_library_too() {
    check_c(&record("gcc", "tests/c/functions_demo.c", &["-std=gnu11", "-O3"], true));
}

fn check_cpp(all: &[Transaction]) {
    let updates: Vec<_> =
        all.iter().filter(|t| t.class.class == "radar::Tracker::update").collect();
    let statuses: Vec<_> = updates.iter().map(|t| t.status).collect();
    assert_eq!(statuses, [Status::Good, Status::Failed, Status::Good], "{:?}", classes(all));
    let both = ["radar::Tracker::check", "radar::Tracker::correlate"];
    assert_eq!(children(all, updates[0]), both);
    assert_eq!(children(all, updates[1]), both[..1]);
    let check: Vec<_> = all.iter().filter(|t| t.class.class == both[0]).map(|t| t.status).collect();
    assert_eq!(check, [Status::Good, Status::Failed, Status::Good]);
    only(all, "(anonymous namespace)::hidden");
    only(all, "int radar::largest<int>");
    assert!(!classes(all).contains(&"radar::Tracker::operator()"), "excluded");
    assert!(updates.iter().all(|t| t.level == 0), "main matches no pattern");
}

#[test]
fn functions_of_cpp_have_their_readable_names() {
    check_cpp(&record("g++", "tests/c/functions_demo.cpp", &["-std=c++17", "-O0"], false));
}

#[test]
fn functions_of_cpp_when_optimised() {
    check_cpp(&record("g++", "tests/c/functions_demo.cpp", &["-std=c++17", "-O2"], false));
}

#[test]
fn nothing_is_recorded_unless_asked_for() {
    let world = World::new();
    let program = world.path().join("program");
    let folder = libraries().to_str().unwrap();
    let flags = [
        "-finstrument-functions",
        &format!("-L{folder}"),
        &format!("-Wl,-rpath,{folder}"),
        "-Wl,--no-as-needed",
        "-larm4_functions",
    ];
    compile("gcc", &["tests/c/functions_demo.c"], &flags, &program);
    run(world.command(&program).env_remove("ARM4_FUNCTIONS"));
    let wrong = world.path().join("wrong");
    std::fs::write(&wrong, "include leaf\ninclde x\n").unwrap();
    let output = run(world.command(&program).env("ARM4_FUNCTIONS", &wrong));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("wrong:2: not one of"), "{said}");
    assert!(world.transactions().is_empty());
}
