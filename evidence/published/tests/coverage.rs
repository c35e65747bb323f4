//! The table of what works here, held to the repository: tests that it names are there.
#![allow(clippy::unwrap_used)]

use chronoscope_published::Published;
use chronoscope_published::coverage::{Coverage, CoverageCheck, CoverageState, TestCheck};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn coverage() -> Coverage {
    Coverage::read(&Published::read().unwrap()).unwrap()
}

/// Name of the package whose folder a file is in, and that folder.
fn package(file: &Path) -> Option<(String, PathBuf)> {
    file.ancestors().skip(1).find_map(|folder| {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = "))?;
        Some((name.trim_matches('"').to_owned(), folder.to_owned()))
    })
}

/// Whether a function of this name has a test's attribute before it.
fn is_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let head = format!("fn {name}(");
    let at = lines.iter().position(|line| line.trim_start_matches("async ").starts_with(&head));
    at.is_some_and(|at| {
        let before = lines[..at].iter().rev().take(8);
        before
            .take_while(|line| !line.ends_with('}'))
            .any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
    })
}

/// The fault of a test check, if any.
fn fault(test: &TestCheck) -> Option<String> {
    let path = root().join(&test.file);
    let Ok(source) = std::fs::read_to_string(&path) else {
        return Some(format!("{} is not there", test.file));
    };
    if !test.file.ends_with(".rs") {
        let is_there = source.contains(&test.name);
        return (!is_there).then(|| format!("{} has no {}", test.file, test.name));
    }
    if !is_test(&source, &test.name) {
        return Some(format!("{} has no test {}", test.file, test.name));
    }
    let Some((name, folder)) = package(&path) else {
        return Some(format!("{} is in no package", test.file));
    };
    if name != test.package {
        return Some(format!("{} is of {name}, not of {}", test.file, test.package));
    }
    let line = test.line()?;
    let library = folder.join("src/lib.rs").exists();
    let target = line.split_once("--test ").map(|(_, rest)| rest.split(' ').next().unwrap_or(""));
    let has_target = |name: &str| {
        let tests = folder.join("tests");
        tests.join(format!("{name}.rs")).exists() || tests.join(name).join("main.rs").exists()
    };
    let wrong = (line.contains("--lib") && !library)
        || (line.contains("--bins") && library)
        || target.is_some_and(|name| !has_target(name));
    wrong.then(|| format!("{}: {line} does not run it", test.file))
}

#[test]
fn every_test_that_is_named_is_there() {
    let mut faults = Vec::new();
    for row in &coverage().rows {
        if let Some(CoverageCheck::Test(test)) = &row.check {
            faults.extend(fault(test).map(|fault| format!("{}: {fault}", row.id)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Files that a command reads are in the repository: it needs no other set-up.
#[test]
fn every_file_of_a_command_is_there() {
    for row in &coverage().rows {
        let Some(CoverageCheck::Command(command)) = &row.check else { continue };
        for word in command.words().filter(|word| word.contains('/')) {
            assert!(root().join(word).exists(), "{}: {word} is not there", row.id);
        }
    }
}

#[test]
fn every_document_has_rows_of_every_kind_of_check() {
    let (published, coverage) = (Published::read().unwrap(), coverage());
    for document in &published.documents {
        let counts = coverage.counts(Some(&document.id));
        let all: usize = counts.iter().map(|(_, count)| count).sum();
        assert!(all > 40, "{}: {all} rows", document.id);
        assert!(counts.iter().any(|(state, count)| *state == CoverageState::Part && *count > 0));
    }
    for kind in ["tools/reproduce", "cargo test", "chronoscope"] {
        let is_kind = |check: &CoverageCheck| check.line().starts_with(kind);
        assert!(coverage.rows.iter().filter_map(|row| row.check.as_ref()).any(is_kind), "{kind}");
    }
}

/// Every item of the documents is named by a row: nothing that they show is passed over.
#[test]
fn every_published_item_is_in_a_row() {
    let coverage = coverage();
    let named: Vec<&str> = coverage
        .rows
        .iter()
        .filter_map(|row| match &row.check {
            Some(CoverageCheck::Item(check)) => Some(check.item.as_str()),
            _ => None,
        })
        .collect();
    let missing: Vec<String> = Published::read()
        .unwrap()
        .items()
        .map(|(name, _)| name)
        .filter(|name| !named.contains(&name.as_str()))
        .collect();
    assert!(missing.is_empty(), "no row: {}", missing.join(", "));
}
