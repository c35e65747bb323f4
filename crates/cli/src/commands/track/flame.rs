//! `chronoscope track flame`: where the cost of a program is, by path of calls.

use super::runs;
use crate::args::track::flame::{Destination, Flame, Of};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::{progress, show};
use crate::usage::Usage;
use anyhow::{Context, Result, bail};
use chronoscope_track::callgrind::Limits;
use chronoscope_track::counters::{self, Program};
use chronoscope_track::flame::firefox::{self, About};
use chronoscope_track::flame::{
    FunctionName, MeasuredProfile, TreeLimits, calls, calls_text, find, json, svg, text,
};
use chronoscope_track::run::{Folder, ProfileKind, Record};
use std::fs;
use std::path::Path;

/// Runs the command.
pub(super) fn flame(args: &Flame) -> Result<Exit> {
    let (profile, about) = match &args.profile {
        Some(profile) => stored(args, profile)?,
        None => measured(args)?,
    };
    if let Some(name) = &args.function {
        let name = FunctionName {
            name: name.clone(),
            file: args.file.clone(),
            object: args.object.clone(),
        };
        let found = find(&profile.graph, &name).map_err(Usage::new)?;
        let found = calls(&profile.graph, &profile.event, found);
        show(&match args.json {
            true => serde_json::to_string(&found)? + "\n",
            false => calls_text(&found, args.rows),
        })?;
    }
    let tree = profile.tree(TreeLimits::default());
    if let Some(file) = &args.svg {
        write(file, &svg(&tree))?;
    }
    if let Some(Destination::Firefox(file)) = &args.to {
        write(file, &firefox::profile(&tree, &about)?)?;
        say!("{}: open it at profiler.firefox.com, \"load a profile from file\"", file.display());
    }
    if args.function.is_none() {
        show(&match args.json {
            true => json(&tree, profile.has_stacks())? + "\n",
            false => text(&tree, args.min / 100.0, args.rows),
        })?;
    }
    Ok(Exit::Done)
}

fn write(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// The profile of a file or of a run.
fn stored(args: &Flame, name: &str) -> Result<(MeasuredProfile, About)> {
    let path = Path::new(name);
    let is_run = path.join("run.json").is_file();
    let parts = [name.to_owned(), format!("{name}.1"), format!("{name}-01")];
    if !is_run && parts.iter().any(|part| Path::new(part).is_file()) {
        let profile = MeasuredProfile::read(path, args.event.as_deref(), Limits::default())?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Ok((profile, About { name, started_ms: 0 }));
    }
    let record = match is_run {
        true => Record::read(path)?,
        false => Folder::new(&runs::folder(&args.runs)?).find(name)?,
    };
    let kind = args.of.map(|of| match of {
        Of::Calls => ProfileKind::Calls,
        Of::Stacks => ProfileKind::Stacks,
    });
    let kept = record.profiled();
    let names: Vec<&str> = kept.iter().map(|kept| kept.name.as_str()).collect();
    let wanted = match (&args.process, &names[..]) {
        (Some(wanted), _) => wanted.as_str(),
        (None, [one]) => one,
        (None, []) => bail!(
            "the run {} kept no profile: `chronoscope track run --method callgrind`, or --stacks, \
             keeps one",
            record.id
        ),
        (None, names) => bail!(Usage::new(format!(
            "the run {} has several profiles: give --process, one of {}",
            record.id,
            names.join(", ")
        ))),
    };
    let found = record.measured(wanted, kind, args.event.as_deref(), Limits::default())?;
    let profile = found.with_context(|| {
        format!(
            "the run {} kept no such profile of {wanted:?}; it has {}",
            record.id,
            names.join(", ")
        )
    })?;
    let about = About {
        name: format!("{wanted} {}", record.title()),
        started_ms: record.started_ns / 1_000_000,
    };
    Ok((profile, about))
}

/// The profile of a program that is run now: by perf, or by Callgrind where perf may not.
fn measured(args: &Flame) -> Result<(MeasuredProfile, About)> {
    let Some((path, arguments)) = args.command.split_first() else {
        bail!(Usage::new("a profile is missing: give a file, a run, or -- COMMAND"));
    };
    let mut program = Program::new(path);
    program.arguments = arguments.iter().map(Into::into).collect();
    program.stop = Some(Interrupt::install()?.shared());
    let about = About {
        name: args.command.join(" "),
        started_ms: chronoscope_clock::utc_now_ns() / 1_000_000,
    };
    let event = args.event.as_deref();
    if args.of != Some(Of::Calls) {
        progress("sampling by perf");
        let sampled = counters::sample(&program);
        progress("");
        match sampled {
            Ok(samples) => return Ok((MeasuredProfile::of_samples(samples, event)?, about)),
            Err(error) if args.of == Some(Of::Stacks) => return Err(error.into()),
            Err(error) => say!("no sampled stacks: {error}; Callgrind counts calls instead"),
        }
    }
    progress("counting under Callgrind");
    let counted = counters::profile(&program);
    progress("");
    let counted = counted.context("Callgrind")?;
    Ok((MeasuredProfile::of_callgrind(&counted, event)?, about))
}
