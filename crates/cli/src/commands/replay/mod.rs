//! `chronoscope replay`: a recorded day through the real programs.

mod stored;
mod watch;
mod words;

use crate::args::replay::{CountHow, Replay};
use crate::environment;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::{progress, show};
use crate::text::{count, duration};
use crate::times::Zone;
use crate::usage::Usage;
use anyhow::{Context as _, bail};
use chronoscope_figures::numbers;
use chronoscope_replay::coordinator::{Control, Progress};
use chronoscope_replay::scenario::{
    Options, Report, Scenario, StoredReport, Window, differences, isolation, window_differences,
};
use chronoscope_replay::schedule::ScheduleMode;
use std::path::{Path, PathBuf};
use std::time::Duration;
use watch::Watch;
use words::{span, verdict, words};

/// Without a terminal a line of progress is printed this often.
const TALK_EVERY: Duration = Duration::from_secs(10);

/// Runs the command.
pub(crate) fn replay(args: &Replay) -> anyhow::Result<Exit> {
    if let Some(factor) = args.play.factor() {
        return super::play::play(args, factor);
    }
    let out = args.out.as_deref().ok_or_else(|| Usage::new("--out DIR is needed"))?;
    // Done while this program has one thread. A failure is in the report.
    let _ = isolation::enter_process();
    let scenario = Scenario::read(&args.scenario)?;
    let interrupt = Interrupt::install()?;
    if args.verify {
        return verify(args, &scenario, &interrupt, out);
    }
    if args.window.check_lead_in {
        return check_lead_in(args, &scenario, &interrupt, out);
    }
    let once = || once(args, &scenario, &interrupt, out, args.window.lead_in);
    let report = match &args.data {
        Some(_) if args.count == CountHow::Callgrind => bail!(Usage::new(
            "--data cannot be used with --count callgrind, under which programs run fifty times \
             slower: use --count none"
        )),
        Some(data) => stored::collected(data, out, once)?,
        None => once()?,
    };
    if args.json {
        show(&(serde_json::to_string(&report)? + "\n"))?;
    } else {
        show(&words(&report, out))?;
    }
    exit(&report)
}

fn exit(report: &Report) -> anyhow::Result<Exit> {
    if let Some(failure) = &report.failure {
        say!("chronoscope: replay of {} ended early: {failure}", report.scenario);
        return Ok(Exit::Error);
    }
    let wrong =
        |stored: &StoredReport| stored.error.iter().chain(&stored.unreadable).next().cloned();
    if let Some(wrong) = report.stored.as_ref().and_then(wrong) {
        say!("chronoscope: not all that was recorded is stored: {wrong}");
        return Ok(Exit::Error);
    }
    Ok(Exit::Done)
}

/// Replays twice in the same folder, so that paths are the same; afterwards the first replay is in
/// OUT/first and the second in OUT/second.
fn verify(
    args: &Replay,
    scenario: &Scenario,
    interrupt: &Interrupt,
    out: &Path,
) -> anyhow::Result<Exit> {
    let folders = ["first", "second"].map(|name| out.join(name));
    let mut reports = Vec::new();
    for folder in &folders {
        let work = fresh(out, &folders, reports.is_empty())?;
        let report = once(args, scenario, interrupt, &work, args.window.lead_in)?;
        std::fs::rename(&work, folder).with_context(|| format!("{}", folder.display()))?;
        let failed = report.failure.is_some();
        reports.push(report);
        if failed {
            break;
        }
    }
    let differences = match &reports[..] {
        [first, second] => differences([first, second], [&folders[0], &folders[1]]),
        _ => Vec::new(),
    };
    if args.json {
        let value =
            serde_json::json!({ "version": 1, "reports": reports, "differences": differences });
        show(&(value.to_string() + "\n"))?;
    } else {
        let (last, folder) = (reports.len() - 1, &folders[reports.len() - 1]);
        show(&(words(&reports[last], folder) + &verdict(&reports, &differences)))?;
    }
    match reports.iter().find(|report| report.failure.is_some()) {
        Some(report) => exit(report),
        None if differences.is_empty() => Ok(Exit::Done),
        None => Ok(Exit::CheckFailed),
    }
}

/// The folder in which each of two replays works, so that paths are the same.
fn fresh(out: &Path, folders: &[PathBuf; 2], is_first: bool) -> anyhow::Result<PathBuf> {
    if is_first && folders.iter().any(|folder| folder.exists()) {
        bail!("{} is not empty: a replay needs a new or empty folder", out.display());
    }
    Ok(out.join("replay"))
}

/// Replays the window with its lead-in and with all of the recording before it, and compares what
/// was written in it; afterwards the replays are in OUT/lead-in and in OUT/whole.
fn check_lead_in(
    args: &Replay,
    scenario: &Scenario,
    interrupt: &Interrupt,
    out: &Path,
) -> anyhow::Result<Exit> {
    let folders = ["lead-in", "whole"].map(|name| out.join(name));
    let mut reports = Vec::new();
    for (folder, lead_in) in folders.iter().zip([args.window.lead_in, None]) {
        let work = fresh(out, &folders, reports.is_empty())?;
        let report = once(args, scenario, interrupt, &work, lead_in)?;
        std::fs::rename(&work, folder).with_context(|| format!("{}", folder.display()))?;
        if report.failure.is_some() {
            return exit(&report);
        }
        reports.push(report);
    }
    let [first, second] = &reports[..] else { bail!("two replays were made") };
    let differ = window_differences([first, second]);
    if args.json {
        let value = serde_json::json!({ "version": 1, "reports": reports, "differ": differ });
        show(&(value.to_string() + "\n"))?;
    } else {
        show(&(words(first, &folders[0]) + &words::lead_in_verdict(first, &differ)))?;
    }
    Ok(if differ.is_empty() { Exit::Done } else { Exit::CheckFailed })
}

fn once(
    args: &Replay,
    scenario: &Scenario,
    interrupt: &Interrupt,
    out: &Path,
    lead_in: Option<Duration>,
) -> anyhow::Result<Report> {
    let (from, to) = (args.window.from, args.window.until);
    let control = args.watch.control.then(Control::default);
    let options = Options {
        mode: if args.parallel { ScheduleMode::Parallel } else { ScheduleMode::Serial },
        only: args.only.map(Into::into),
        queries: args.queries,
        duration: args.duration,
        window: (from.is_some() || to.is_some()).then_some(Window { from, to, lead_in }),
        thin: args.thin.clone(),
        heap: args.heap,
        preload: args.preload.clone(),
        control: control.clone(),
        paused: args.watch.paused,
        pace: args.watch.pace,
        count: args.count.into(),
        record: args.data.is_some(),
        interrupt: Some(interrupt.shared()),
        run_max: args.patience,
        ..Options::new(&args.bin, out)
    };
    let watch = control.as_ref().map(|control| Watch::begin(control, interrupt, args.watch.paused));
    let (mut last, mut was_paused) = (Duration::ZERO, false);
    let whole = [args.duration, scenario.duration].into_iter().flatten().min();
    let whole = whole.filter(|_| options.window.is_none());
    let report = scenario.run(&options, &mut |now: Progress| {
        let changed = now.paused != std::mem::replace(&mut was_paused, now.paused);
        if environment::stderr_is_terminal() {
            progress(&line(&now, whole));
        } else if changed || now.real >= last + TALK_EVERY {
            last = now.real;
            say!("{}", line(&now, whole));
        }
    });
    drop(watch);
    progress("");
    Ok(report?)
}

fn line(now: &Progress, whole: Option<Duration>) -> String {
    let ns = |time: Duration| duration(time.as_nanos() as f64);
    let share = whole.filter(|whole| !whole.is_zero()).map_or(String::new(), |whole| {
        format!(" ({})", numbers::percent(now.elapsed.as_secs_f64() / whole.as_secs_f64(), 0))
    });
    if now.paused {
        return format!(
            "paused at {}, all processes wait: {} inputs, {} grants",
            Zone::new(true).instant(now.utc_ns),
            count(now.inputs),
            count(now.grants),
        );
    }
    format!(
        "{} replayed{share} in {}: {} inputs, {} grants, factor {:.0}",
        span(now.elapsed),
        ns(now.real),
        count(now.inputs),
        count(now.grants),
        now.elapsed.as_secs_f64() / now.real.as_secs_f64().max(1e-9),
    )
}
