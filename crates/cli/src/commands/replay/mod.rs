//! `chronoscope replay`: a recorded day through the real programs.

mod stored;

use crate::args::replay::{CountHow, Replay};
use crate::environment;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::{progress, show};
use crate::text::{Table, bar, count, duration, percent};
use crate::usage::Usage;
use anyhow::{Context as _, bail};
use chronoscope_figures::numbers;
use chronoscope_replay::coordinator::Progress;
use chronoscope_replay::scenario::{
    Difference, Options, ProcessReport, Report, Scenario, StoredReport, differences, isolation,
};
use chronoscope_replay::schedule::ScheduleMode;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// Without a terminal a line of progress is printed this often.
const TALK_EVERY: Duration = Duration::from_secs(10);
/// Columns of the picture's bars.
const BAR_COLUMNS: usize = 30;

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
    let once = || once(args, &scenario, &interrupt, out);
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
        let work = out.join("replay");
        if folders.iter().any(|folder| folder.exists()) && reports.is_empty() {
            anyhow::bail!("{} is not empty: a replay needs a new or empty folder", out.display());
        }
        let report = once(args, scenario, interrupt, &work)?;
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

fn verdict(reports: &[Report], differences: &[Difference]) -> String {
    let [first, second] = reports else { return String::new() };
    if differences.is_empty() {
        let bytes: u64 = first.outputs.iter().map(|output| output.bytes).sum();
        let mut text = format!(
            "\nboth replays are the same: {} octets in {} files, calls, waits and reads of the clock\n",
            count(bytes),
            first.outputs.len()
        );
        for (a, b) in first.processes.iter().zip(&second.processes) {
            if let (Some(x), Some(y)) = (a.comparable_instructions(), b.comparable_instructions()) {
                let ppm = x.abs_diff(y) as f64 * 1e6 / x.max(1) as f64;
                let _ = writeln!(text, "  {}: instructions within {ppm:.2} ppm", short(&a.name));
            }
        }
        return text;
    }
    let mut text = format!("\n{} differences between the two replays:\n", differences.len());
    for difference in differences.iter().take(50) {
        let _ = writeln!(text, "  {difference}");
    }
    text
}

fn once(
    args: &Replay,
    scenario: &Scenario,
    interrupt: &Interrupt,
    out: &Path,
) -> anyhow::Result<Report> {
    let options = Options {
        mode: if args.parallel { ScheduleMode::Parallel } else { ScheduleMode::Serial },
        only: args.only.map(Into::into),
        queries: args.queries,
        duration: args.duration,
        count: args.count.into(),
        record: args.data.is_some(),
        interrupt: Some(interrupt.shared()),
        run_max: args.patience,
        ..Options::new(&args.bin, out)
    };
    let mut last = Duration::ZERO;
    let whole = [args.duration, scenario.duration].into_iter().flatten().min();
    let report = scenario.run(&options, &mut |now: Progress| {
        if environment::stderr_is_terminal() {
            progress(&line(&now, whole));
        } else if now.real >= last + TALK_EVERY {
            last = now.real;
            say!("{}", line(&now, whole));
        }
    });
    progress("");
    Ok(report?)
}

fn line(now: &Progress, whole: Option<Duration>) -> String {
    let ns = |time: Duration| duration(time.as_nanos() as f64);
    let share = whole.filter(|whole| !whole.is_zero()).map_or(String::new(), |whole| {
        format!(" ({})", numbers::percent(now.elapsed.as_secs_f64() / whole.as_secs_f64(), 0))
    });
    format!(
        "{} replayed{share} in {}: {} inputs, {} grants, factor {:.0}",
        span(now.elapsed),
        ns(now.real),
        count(now.inputs),
        count(now.grants),
        now.elapsed.as_secs_f64() / now.real.as_secs_f64().max(1e-9),
    )
}

/// Virtual time: hours, minutes and seconds.
fn span(time: Duration) -> String {
    let s = time.as_secs();
    format!("{:02}:{:02}:{:02}.{:03}", s / 3600, s / 60 % 60, s % 60, time.subsec_millis())
}

/// A command line of a child, short enough for a table.
fn short(name: &str) -> String {
    let mut text: String = name.chars().take(28).collect();
    if text.len() < name.len() {
        text.push('…');
    }
    text
}

fn words(report: &Report, out: &Path) -> String {
    let mut text = String::new();
    let ns = |ns: u64| duration(ns as f64);
    let inputs: u64 = report.inputs.iter().map(|input| input.inputs).sum();
    let _ = writeln!(
        text,
        "{}: {} in {} ({}, factor {:.0}); {} inputs, {} grants, {} moves of the clock",
        report.scenario,
        span(Duration::from_nanos(report.virtual_ns)),
        ns(report.real_ns),
        report.mode,
        report.factor,
        count(inputs),
        count(report.grants),
        count(report.moves),
    );
    let _ = write!(text, "\n{}", process_table(report));
    if !report.inputs.is_empty() {
        let mut table = Table::new(&["input", "delivered", "octets", "not delivered", "answers"]);
        for input in &report.inputs {
            table.row(vec![
                input.name.clone(),
                count(input.inputs),
                count(input.bytes),
                count(input.undelivered),
                count(input.answer_bytes),
            ]);
        }
        let _ = write!(text, "\n{table}");
    }
    for stranger in &report.strangers {
        let _ = writeln!(text, "stranger: {stranger} does not take part");
    }
    for remark in &report.remarks {
        let _ = writeln!(text, "remark: {remark}");
    }
    if let Some(stored) = &report.stored {
        text += &stored_words(stored);
    }
    let _ = writeln!(text, "\nreport and outputs: {}", out.display());
    text
}

/// Resources used by each process and by the coordinator.
fn process_table(report: &Report) -> Table {
    let ns = |ns: u64| duration(ns as f64);
    let cpu = |process: &ProcessReport| process.usage.user_ns + process.usage.system_ns;
    let all = report.coordinator_cpu_ns + report.processes.iter().map(cpu).sum::<u64>();
    let most = report.processes.iter().map(cpu).max().unwrap_or(0).max(report.coordinator_cpu_ns);
    let heading = [
        "process",
        "CPU",
        "of all",
        "",
        "user",
        "system",
        "instructions",
        "grants",
        "calls",
        "exit",
    ];
    let mut table = Table::new(&heading);
    for process in &report.processes {
        let (user, system) = (process.usage.user_ns, process.usage.system_ns);
        table.row(vec![
            short(&process.name),
            ns(cpu(process)),
            percent(cpu(process), all),
            format!("{:<BAR_COLUMNS$}", bar(cpu(process), most, BAR_COLUMNS)),
            ns(user),
            ns(system),
            process.comparable_instructions().map_or("–".to_owned(), count),
            count(process.grants),
            count(process.syscalls),
            process.exit.clone().unwrap_or_default().replace("exit status: ", ""),
        ]);
    }
    table.row(vec![
        "(coordinator, player)".to_owned(),
        ns(report.coordinator_cpu_ns),
        percent(report.coordinator_cpu_ns, all),
        format!("{:<BAR_COLUMNS$}", bar(report.coordinator_cpu_ns, most, BAR_COLUMNS)),
    ]);
    table
}

fn stored_words(stored: &StoredReport) -> String {
    let mut text = format!(
        "\nrecorded: {} transactions of {} processes into {}, {} lost\n",
        count(stored.rows),
        stored.rings,
        stored.data.display(),
        count(stored.lost_rows),
    );
    if stored.lost_rows > 0 {
        text += "  they were overwritten before they could be read: a larger CHRONOSCOPE_SLOTS in \
                 the scenario's [environment] keeps more\n";
    }
    if stored.unrecorded > 0 {
        let _ = writeln!(text, "  {} not recorded for want of space", count(stored.unrecorded));
    }
    for ring in &stored.unreadable {
        let _ = writeln!(text, "  unreadable: {ring}");
    }
    if stored.rings == 0 {
        text += "  no program carries the recorder\n";
    }
    text
}
