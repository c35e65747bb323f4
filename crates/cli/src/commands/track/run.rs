//! `chronoscope track run`: measures a suite and keeps the run.

use super::{progress, runs};
use crate::args::track::run::Run;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::show;
use anyhow::Result;
use chronoscope_track::counters::Method;
use chronoscope_track::git::Repository;
use chronoscope_track::report::figure;
use chronoscope_track::run::{Commit, Process, Record, Request, Version, execute};
use chronoscope_track::suite::Suite;
use std::path::Path;

/// Runs the command.
pub(super) fn run(args: &Run) -> Result<Exit> {
    let suite = Suite::read(&args.runs.suite)?;
    let interrupt = Interrupt::install()?;
    let (method, calibration) = runs::method(args.method)?;
    if let (Method::Callgrind { because }, false) = (&method, args.quiet) {
        say!("Callgrind counts: {because}");
    }
    let version = Version {
        bin: args.bin.clone().unwrap_or_else(|| suite.folder.clone()),
        suite: suite.folder.clone(),
        commit: commit(args.commit.as_deref(), &suite.folder, args.quiet),
    };
    let request = Request {
        folder: args.runs.runs.clone().unwrap_or_else(|| runs::of(&suite)),
        suite,
        only: args.only.clone(),
        runs: args.repeat.map(usize::from),
        beyond: !args.instructions_only,
        stacks: args.stacks,
        method,
        calibration,
        stop: interrupt.shared(),
    };
    let record = execute(&request, &version, &mut progress::say(args.quiet))?;
    show(&if args.json { serde_json::to_string_pretty(&record)? + "\n" } else { words(&record) })?;
    Ok(end(&record))
}

/// Version of the programs in a folder: the given name, else the commit that is checked out there.
fn commit(said: Option<&str>, folder: &Path, quiet: bool) -> Option<Commit> {
    let repository = Repository::at(folder);
    let found = match said {
        // A name that git knows has a time and a subject.
        Some(name) => Ok(repository
            .and_then(|repository| repository.commit(name))
            .unwrap_or_else(|_| Commit::named(name))),
        None => repository.and_then(|repository| repository.checked_out()),
    };
    match found {
        Ok(commit) => Some(commit),
        Err(error) => {
            if !quiet {
                say!("the run is of no commit ({error}): --commit NAME names it");
            }
            None
        }
    }
}

fn words(record: &Record) -> String {
    let failed = record.items.iter().filter(|item| item.failure.is_some()).count();
    let state = match (record.complete, failed) {
        (false, _) => ", interrupted: not the whole suite".to_owned(),
        (true, 0) => String::new(),
        (true, n) => format!(", {n} failed"),
    };
    let mut page =
        format!("{}  {}{state}\n{}\n", record.id, record.title(), record.folder.display());
    for item in &record.items {
        for remark in &item.remarks {
            page += &format!("\n{}: {remark}\n", item.name);
        }
        for process in &item.processes {
            page += &format!("\n{}/{}\n", item.name, process.name);
            for (name, value) in medians(process) {
                page += &format!("{:>22}  {name}\n", figure(&name, value));
            }
        }
    }
    page
}

/// All figures of a process: medians of its executions.
fn medians(process: &Process) -> Vec<(String, f64)> {
    let names = process.runs.first().into_iter().flat_map(|run| run.keys());
    names.filter_map(|name| Some((name.clone(), process.median(name)?))).collect()
}

/// Exit code: an incomplete run is not a success.
fn end(record: &Record) -> Exit {
    let failed = record.items.iter().any(|item| item.failure.is_some());
    if record.complete && !failed { Exit::Done } else { Exit::Error }
}
