//! `reproduce`: the published figures of five documents, ours beside them, in one report.

mod args;

use anyhow::{Context, Result};
use args::{Arguments, Subprogram};
use chronoscope_clock::utc_now_ns;
use chronoscope_published::Published;
use chronoscope_published::coverage::Coverage;
use chronoscope_reproduce::coverage::{self, CommandOutcome};
use chronoscope_reproduce::experiments::network::lab;
use chronoscope_reproduce::plan::{Experiment, PLAN};
use chronoscope_reproduce::programs::Programs;
use chronoscope_reproduce::progress::length;
use chronoscope_reproduce::report::Report;
use chronoscope_reproduce::run::Interrupted;
use chronoscope_reproduce::series::{Ended, Settings, run};
use clap::Parser;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Name of the commands of the coverage among the experiments.
const COVERAGE: &str = "coverage";

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.part {
        Some(Subprogram::Lab(plan)) => lab::run(plan).map(|()| ExitCode::SUCCESS),
        None => reproduce(&arguments),
    };
    done.unwrap_or_else(|error| {
        eprintln!("reproduce: {error:#}");
        ExitCode::from(4)
    })
}

fn reproduce(arguments: &Arguments) -> Result<ExitCode> {
    let published = Published::read()?;
    let table = Coverage::read(&published)?;
    if let Some(path) = &arguments.coverage {
        std::fs::write(path, coverage::page::page(&published, &table))
            .with_context(|| path.display().to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let programs = programs(arguments)?;
    let out = std::path::absolute(&arguments.out)?;
    let settings = Settings {
        quick: arguments.quick,
        again: arguments.again,
        root: arguments
            .root
            .canonicalize()
            .with_context(|| arguments.root.display().to_string())?,
        commit: arguments.commit.clone(),
        out,
    };
    let wanted = wanted(&arguments.only, &published)?;
    if arguments.list {
        list(arguments.json, &settings, &programs, &wanted)?;
        return Ok(ExitCode::SUCCESS);
    }
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let ended = if arguments.report_only {
        Ended::Whole
    } else {
        run(&settings, &wanted, &programs, &stop)?
    };
    let checks_wanted = arguments.only.is_empty() || arguments.only.iter().any(|id| id == COVERAGE);
    let is_due = checks_wanted && !arguments.report_only;
    let (commands, ended) = checks(ended, is_due, &settings, &table, &programs, &stop)?;
    let outcomes: Vec<_> = PLAN.iter().filter_map(|one| settings.kept(one)).collect();
    let report = Report::new(&published, PLAN, &outcomes, utc_now_ns());
    let report = report.with_coverage(&table, &commands);
    let page = report.write(&settings.out.join("report"))?;
    if let Some(folder) = &arguments.pages {
        report.write_pages(folder)?;
    }
    if arguments.json {
        println!("{:#}", report.figures());
    } else {
        let whole = arguments.only.is_empty();
        let named = |item: &str| wanted.iter().any(|experiment| experiment.items.contains(&item));
        print!("{}", report.text(|item| whole || named(item)));
        if checks_wanted {
            print!("{}", report.coverage_text());
        }
    }
    eprintln!("report: {}", page.display());
    Ok(match ended {
        Ended::Whole => ExitCode::SUCCESS,
        Ended::Failed => ExitCode::from(1),
        Ended::Interrupted => ExitCode::from(130),
    })
}

/// Outcomes of the coverage's commands, run now where they are due, and the end of it all.
fn checks(
    ended: Ended,
    is_due: bool,
    settings: &Settings,
    table: &Coverage,
    programs: &Programs,
    stop: &AtomicBool,
) -> Result<(Vec<CommandOutcome>, Ended)> {
    if !is_due || ended == Ended::Interrupted {
        return Ok((coverage::kept(&settings.out), ended));
    }
    match coverage::run(settings, table, programs, stop) {
        Ok(commands) => {
            let failed = commands.iter().any(|command| command.fault.is_some());
            Ok((commands, if failed { Ended::Failed } else { ended }))
        }
        Err(error) if error.is::<Interrupted>() => {
            Ok((coverage::kept(&settings.out), Ended::Interrupted))
        }
        Err(error) => Err(error),
    }
}

/// The programs of the folder that was named, or of that of this one.
fn programs(arguments: &Arguments) -> Result<Programs> {
    let own = || -> Result<PathBuf> {
        let own = std::env::current_exe()?;
        Ok(own.parent().context("this program is in no folder")?.to_owned())
    };
    let folder = arguments.bin.clone().map_or_else(own, Ok)?;
    Programs::new(&folder, arguments.messages.as_deref())
}

/// Experiments selected by their own name, by an item, or by a document.
fn wanted(only: &[String], published: &Published) -> Result<Vec<&'static Experiment>> {
    for name in only {
        let document = published.documents.iter().any(|document| document.id == *name);
        let known = document
            || name == COVERAGE
            || published.item(name).is_some()
            || PLAN.iter().any(|experiment| experiment.id == name);
        anyhow::ensure!(
            known,
            "no document, item or experiment is called {name} (--list shows all)"
        );
    }
    let is_wanted = |experiment: &&Experiment| {
        let meant = |name: &String| {
            let of_document = |item: &&str| item.split('.').next() == Some(name);
            experiment.id == name
                || experiment.items.contains(&name.as_str())
                || experiment.items.iter().any(of_document)
        };
        only.is_empty() || only.iter().any(meant)
    };
    let wanted: Vec<_> = PLAN.iter().filter(is_wanted).collect();
    let nothing = wanted.is_empty() && !only.iter().any(|name| name == COVERAGE);
    anyhow::ensure!(!nothing, "no experiment yields {}", only.join(", "));
    Ok(wanted)
}

/// Prints the plan: experiments to run, their duration, and stored outcomes.
fn list(
    as_json: bool,
    settings: &Settings,
    programs: &Programs,
    wanted: &[&Experiment],
) -> Result<()> {
    let form = usize::from(!settings.quick);
    if as_json {
        let rows = wanted.iter().map(|one| {
            json!({
                "id": one.id, "title": one.title, "items": one.items, "programs": one.programs,
                "expected_s": one.expected_s[form], "scale": one.scale[form],
                "due": settings.is_due(one, programs),
            })
        });
        let plan = json!({
            "version": 1, "quick": settings.quick, "experiments": rows.collect::<Vec<_>>(),
        });
        println!("{plan:#}");
        return Ok(());
    }
    for one in wanted {
        let state = if settings.is_due(one, programs) { "due" } else { "kept" };
        let expected = length(one.expected_s[form]);
        println!("{:<20} {expected:>10}  {state:<4}  {}: {}", one.id, one.title, one.scale[form]);
        println!("{:<20} {:>10}        {}", "", "", one.items.join(" "));
    }
    let sum: f64 = wanted.iter().map(|one| one.expected_s[form]).sum();
    println!("{} experiments, about {}", wanted.len(), length(sum));
    Ok(())
}
