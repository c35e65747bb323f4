//! `chronoscope track bisect`: which commit made it move.

use super::{progress, runs};
use crate::args::track::bisect::Bisect as Args;
use crate::environment;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::{self, show};
use anyhow::Result;
use chronoscope_figures::numbers;
use chronoscope_track::bisect::{Bisect, BisectError, BisectResult, BisectStep};
use chronoscope_track::git::Repository;
use chronoscope_track::run::Request;
use chronoscope_track::suite::Suite;
use std::fmt::Write;

/// Runs the command.
pub(super) fn bisect(args: &Args) -> Result<Exit> {
    let suite = Suite::read(&args.suite)?;
    let interrupt = Interrupt::install()?;
    let (method, calibration) = runs::method(args.method)?;
    let cache = args.cache.clone().unwrap_or_else(|| environment::cache_dir().join("bisect"));
    let bisect = Bisect {
        repository: Repository::at(&args.repo)?,
        good: args.good.clone(),
        bad: args.bad.clone(),
        build: args.build.clone(),
        bin: args.bin.clone(),
        process: args.process.clone(),
        cache: cache.clone(),
        request: Request {
            suite,
            only: args.unit.iter().cloned().collect(),
            runs: args.repeat.map(usize::from),
            beyond: false,
            stacks: false,
            method,
            calibration,
            folder: cache,
            stop: interrupt.shared(),
        },
    };
    match bisect.run(&mut |step| say(&step, args.quiet)) {
        Ok(found) if args.json => show(&(serde_json::to_string_pretty(&found)? + "\n"))?,
        Ok(found) => show(&words(&found)?)?,
        Err(error @ BisectError::NothingMoved { .. }) => {
            say!("{error}");
            return Ok(Exit::Nothing);
        }
        Err(error) => return Err(error.into()),
    }
    Ok(Exit::Done)
}

fn say(step: &BisectStep<'_>, quiet: bool) {
    if quiet {
        return;
    }
    match step {
        BisectStep::Try { commit, suspects } => {
            let subject = commit.subject.as_deref().unwrap_or_default();
            let left = format!("{suspects} commits may be it");
            let left = if *suspects == 0 { String::new() } else { format!("  ({left})") };
            screen::progress("");
            say!("build {}  {subject}{left}", commit.short());
        }
        BisectStep::Known(commit) => say!("known {}", commit.short()),
        BisectStep::Skipped { commit, because } => {
            screen::progress("");
            say!("skip  {}: {because}", commit.short());
        }
        BisectStep::Judged { commit, judged, bad } => {
            let word = if *bad { "bad  " } else { "good " };
            screen::progress("");
            say!("{word} {}: {}", commit.short(), percent(judged.change));
        }
        BisectStep::Measuring(progress) => progress::on_terminal(progress),
    }
}

fn percent(part: f64) -> String {
    numbers::signed_percent(part, 4)
}

fn words(found: &BisectResult) -> Result<String, std::fmt::Error> {
    let mut page = String::new();
    let subject = |subject: &Option<String>| subject.clone().unwrap_or_default();
    match &found.suspects[..] {
        [one] => writeln!(page, "{}  {}", one.id, subject(&one.subject))?,
        several => {
            writeln!(
                page,
                "one of these {}, of which only the last could be measured:",
                several.len()
            )?;
            for commit in several {
                writeln!(page, "{}  {}", commit.id, subject(&commit.subject))?;
            }
        }
    }
    if let Some(step) = &found.step {
        writeln!(page, "{}: {} {}", found.process, step.figure, step.statement)?;
    }
    let whole = percent(found.whole.change);
    let (good, bad) = (found.good.short(), found.bad.short());
    writeln!(page, "from {good} to {bad} it is {whole}; measured {} commits", found.measured)?;
    if let Some(share) = found.share.filter(|share| (share - 1.0).abs() > 0.05) {
        let at = found.suspects.last().map(|last| last.short()).unwrap_or_default();
        let share = numbers::percent(share, 0);
        writeln!(page, "this step is {share} of that: search on from {at} for the rest")?;
    }
    for (commit, because) in &found.skipped {
        let first = because.lines().next().unwrap_or_default();
        writeln!(page, "left aside: {}  {}: {first}", commit.short(), subject(&commit.subject))?;
    }
    Ok(page)
}
