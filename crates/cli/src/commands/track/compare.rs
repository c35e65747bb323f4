//! `chronoscope track compare`: two runs beside each other.

use super::runs;
use crate::args::track::compare::Compare;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::{progress, show};
use anyhow::{Context, Result};
use chronoscope_track::callgrind::diff;
use chronoscope_track::report::{Comparison, Detail, Unchanged, detail, markdown, text};
use chronoscope_track::run::{Folder, Record};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Time limit of one program for its profile, before the extension for Valgrind.
const LIMIT: Duration = Duration::from_secs(600);

/// Runs the command.
pub(super) fn compare(args: &Compare) -> Result<Exit> {
    let folder = Folder::new(&folder(args)?);
    let (before, after) = (folder.find(&args.before)?, folder.find(&args.after)?);
    let records = runs::all(&folder)?;
    // A run that is named by its folder may be elsewhere.
    let more = [&before, &after].into_iter().filter(|run| records.iter().all(|r| r.id != run.id));
    let unchanged = Unchanged::of(records.iter().chain(more), &after);
    let comparison = Comparison::of(&before, &after, &unchanged, false);
    let bins = [args.bin_before.as_deref(), args.bin_after.as_deref()];
    let details = if args.detail {
        details(&comparison, [&before, &after], bins, &Interrupt::install()?)
    } else {
        Vec::new()
    };
    if let Some(folder) = &args.svg {
        draw(folder, &details)?;
    }
    let page = if args.markdown {
        markdown("Performance", &comparison, &details)
    } else if args.json {
        document(&comparison, &details)?
    } else {
        words(&comparison, &details, args.rows)?
    };
    show(&page)?;
    Ok(end(&comparison))
}

/// Folder of the runs; any folder serves when both runs are given as paths.
fn folder(args: &Compare) -> Result<std::path::PathBuf> {
    let is_run = |name: &String| Path::new(name).join("run.json").is_file();
    if args.runs.runs.is_none() && is_run(&args.before) && is_run(&args.after) {
        let parent = Path::new(&args.after).canonicalize()?.parent().map(Path::to_owned);
        return Ok(parent.unwrap_or_default());
    }
    runs::folder(&args.runs)
}

/// Profiles of what moved, held against each other.
pub(super) fn details(
    comparison: &Comparison,
    runs: [&Record; 2],
    bins: [Option<&Path>; 2],
    interrupt: &Interrupt,
) -> Vec<Detail> {
    let mut details = Vec::new();
    for row in comparison.moved() {
        progress(&format!("profiling {}", row.name()));
        let sides = [(runs[0], bins[0]), (runs[1], bins[1])];
        let found = detail(row, sides, LIMIT, &interrupt.shared());
        progress("");
        // A verdict stands without its detail.
        match found {
            Ok(detail) => details.push(detail),
            Err(error) => say!("{}: no detail: {error}", row.name()),
        }
    }
    details
}

/// A flame graph of each detail.
fn draw(folder: &Path, details: &[Detail]) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for detail in details {
        let file = folder.join(format!("{}.svg", detail.name.replace('/', ".")));
        fs::write(&file, detail.svg()?).with_context(|| file.display().to_string())?;
    }
    Ok(())
}

/// Both as JSON.
pub(super) fn document(comparison: &Comparison, details: &[Detail]) -> Result<String> {
    let mut document = serde_json::to_value(comparison)?;
    let details = details
        .iter()
        .map(|detail| serde_json::json!({ "process": detail.name, "diff": detail.diff }));
    document["details"] = details.collect();
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// Both as a page of words, with the `rows` largest changes of each kind.
pub(super) fn words(comparison: &Comparison, details: &[Detail], rows: usize) -> Result<String> {
    let mut page = text(comparison);
    for detail in details {
        write!(page, "\n{}\n{}", detail.name, diff::text(&detail.diff, rows))?;
    }
    Ok(page)
}

/// Exit code: a change takes precedence over a missing verdict.
fn end(comparison: &Comparison) -> Exit {
    if comparison.moved().next().is_some() {
        Exit::Moved
    } else if comparison.without_verdict().next().is_some() {
        Exit::NoVerdict
    } else {
        Exit::Done
    }
}
