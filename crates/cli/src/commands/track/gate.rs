//! `chronoscope track gate`: judges a change before it is merged.

use super::compare::{details, document, words};
use super::{progress, runs};
use crate::args::track::gate::Gate as Args;
use crate::environment;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::{self, show};
use anyhow::{Context, Result};
use chronoscope_track::counters::Method;
use chronoscope_track::gate::{Gate, GateError, GateStep, GateTarget, refuses};
use chronoscope_track::git::Repository;
use chronoscope_track::report::{Comparison, markdown};
use chronoscope_track::run::Request;
use chronoscope_track::suite::Suite;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// Functions of a detail that are printed.
const ROWS: usize = 5;

/// Runs the command.
pub(super) fn gate(args: &Args) -> Result<Exit> {
    let interrupt = Interrupt::install()?;
    let gate = settings(args, &interrupt)?;
    warn_of_changes(&gate.repository, &args.head);
    let measured = match gate.run(&mut |step| say(&step, args.quiet)) {
        // This is the case on the base branch itself.
        Err(error @ GateError::Same { .. }) => {
            say!("{error}: nothing can have moved");
            return Ok(Exit::Done);
        }
        measured => measured?,
    };
    let comparison = &measured.comparison;
    let records = [&measured.records[0], &measured.records[1]];
    let details = match args.no_detail {
        true => Vec::new(),
        false => details(comparison, records, [None, None], &interrupt),
    };
    if let Some(file) = args.summary.clone().or_else(environment::step_summary) {
        append(&file, &markdown("Performance", comparison, &details))?;
    }
    let page = match args.json {
        true => document(comparison, &details)?,
        false => words(comparison, &details, ROWS)?,
    };
    show(&page)?;
    let exit = end(args, comparison);
    if !args.keep {
        measured.remove()?;
    }
    Ok(exit)
}

fn settings(args: &Args, interrupt: &Interrupt) -> Result<Gate> {
    let repository = Repository::at(&args.repo)?;
    let (method, calibration) = runs::method(args.method)?;
    let cache = args.cache.clone().unwrap_or_else(|| environment::cache_dir().join("gate"));
    let usual = if method == Method::Hardware { 6 } else { 3 };
    let what = match &args.suite {
        Some(suite) => GateTarget::Suite(suite.clone()),
        None => GateTarget::Command(args.command.clone()),
    };
    let sh = |command: &String| vec!["sh".to_owned(), "-c".to_owned(), command.clone()];
    let nothing = Suite { name: String::new(), folder: repository.top().into(), items: Vec::new() };
    Ok(Gate {
        base: args.base.clone(),
        head: args.head.clone(),
        build: args.build.as_ref().map(sh).unwrap_or_default(),
        bin: args.bin.clone(),
        what,
        exactness: None,
        request: Request {
            suite: nothing,
            only: args.only.clone(),
            runs: Some(args.pairs.map_or(usual, usize::from)),
            beyond: true,
            stacks: false,
            method,
            calibration,
            folder: cache.join("runs"),
            stop: interrupt.shared(),
        },
        cache,
        repository,
    })
}

/// Warns that uncommitted changes are not measured.
fn warn_of_changes(repository: &Repository, head: &str) {
    if head == "HEAD" && repository.checked_out().is_ok_and(|commit| commit.modified) {
        say!("careful: files were modified; what is measured is the commit");
    }
}

fn say(step: &GateStep<'_>, quiet: bool) {
    if quiet {
        return;
    }
    match step {
        GateStep::Build(commit) => {
            let subject = commit.subject.as_deref().unwrap_or_default();
            screen::progress("");
            say!("build {}  {subject}", commit.short());
        }
        GateStep::Measuring(progress) => progress::on_terminal(progress),
    }
}

fn append(file: &Path, text: &str) -> Result<()> {
    let open = OpenOptions::new().create(true).append(true).open(file);
    let written = open.and_then(|mut open| open.write_all(text.as_bytes()));
    written.with_context(|| format!("cannot append to {}", file.display()))
}

/// Exit code: a refused change takes precedence over a missing verdict.
fn end(args: &Args, comparison: &Comparison) -> Exit {
    let allowed = args.allow / 100.0;
    if comparison.rows.iter().any(|row| refuses(row, allowed, args.any)) {
        Exit::Moved
    } else if comparison.without_verdict().next().is_some() {
        Exit::NoVerdict
    } else {
        Exit::Done
    }
}
