//! Checks of the coverage table: its commands are run here, one after the other, each within a
//! bound of time; what they printed is kept.
//!
//! Not here: verdicts on items, which are the experiments', and tests, which `make test` runs.

use crate::programs::Programs;
use crate::progress::Progress;
use crate::run::{Attended, Interrupted};
use crate::series::Settings;
use anyhow::{Context, Result};
use chronoscope_clock::{monotonic_ns, sleep};
use chronoscope_published::coverage::{CommandCheck, Coverage, CoverageCheck};
use chronoscope_replay::parent::end_with_parent;
use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub mod page;
pub mod result;

/// Folder of the outcomes in that of all experiments.
const FOLDER: &str = "coverage";
/// File with the outcomes.
const KEPT: &str = "outcome.json";
/// Version of that file.
const VERSION: u32 = 1;
/// Longest time of a command.
const LIMIT_NS: u64 = 30_000_000_000;
/// Interval between two looks at a running command.
const LOOK: Duration = Duration::from_millis(10);
/// Octets of a command's output that are kept in the outcome.
const OUTPUT_BYTES_MAX: usize = 2_000;
/// Seconds that a command takes, about.
const EXPECTED_S: f64 = 0.5;

/// Outcome of a command.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct CommandOutcome {
    /// Id of the row.
    pub id: String,
    /// The command that was run.
    pub line: String,
    /// Exit code; `None` where it had none.
    pub exit: Option<i32>,
    /// Beginning of its output, both streams.
    pub output: String,
    /// Seconds it took.
    pub took_s: f64,
    /// What was not as the table says; `None` where the row holds.
    pub fault: Option<String>,
}

#[derive(Deserialize, Serialize)]
struct KeptOutcomes {
    version: u32,
    commit: String,
    commands: Vec<CommandOutcome>,
}

/// Outcomes of the last run; none before the first.
#[must_use]
pub fn kept(out: &Path) -> Vec<CommandOutcome> {
    let text = std::fs::read_to_string(out.join(FOLDER).join(KEPT)).unwrap_or_default();
    let kept = serde_json::from_str::<KeptOutcomes>(&text).ok();
    kept.filter(|kept| kept.version == VERSION).map(|kept| kept.commands).unwrap_or_default()
}

/// Runs every command of the table, and stores the outcomes.
///
/// # Errors
/// When the outcomes cannot be stored; [`Interrupted`] after a signal.
pub fn run(
    settings: &Settings,
    coverage: &Coverage,
    programs: &Programs,
    stop: &AtomicBool,
) -> Result<Vec<CommandOutcome>> {
    let folder = settings.out.join(FOLDER);
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let rows = coverage.rows.iter().filter_map(|row| match &row.check {
        Some(CoverageCheck::Command(check)) => Some((&row.id, check)),
        _ => None,
    });
    let rows: Vec<(&String, &CommandCheck)> = rows.collect();
    let expected_s = rows.len() as f64 * EXPECTED_S;
    let progress = Progress::begin("commands of the coverage", [1, 1], expected_s, 0.0);
    let mut commands = Vec::new();
    for (id, check) in rows {
        let began_ns = monotonic_ns();
        let ended = one(settings, programs, &folder, check, stop);
        if stop.load(Ordering::Relaxed) {
            progress.end("interrupted");
            return Err(Interrupted.into());
        }
        let (exit, output, fault) = match ended {
            Ok((exit, output)) => (exit, beginning(&output), fault(check, exit, &output)),
            Err(error) => (None, String::new(), Some(format!("{error:#}"))),
        };
        let took_s = (monotonic_ns() - began_ns) as f64 / 1e9;
        let (id, line) = (id.clone(), check.line.clone());
        commands.push(CommandOutcome { id, line, exit, output, took_s, fault });
        progress.look();
    }
    let faults = commands.iter().filter(|command| command.fault.is_some()).count();
    progress.end(&format!("{} hold, {faults} do not", commands.len() - faults));
    let kept = KeptOutcomes { version: VERSION, commit: settings.commit.clone(), commands };
    let path = folder.join(KEPT);
    std::fs::write(&path, serde_json::to_string_pretty(&kept)?)
        .with_context(|| path.display().to_string())?;
    Ok(kept.commands)
}

/// Runs a command to its end, or to its bound: its exit code, and what it printed.
fn one(
    settings: &Settings,
    programs: &Programs,
    folder: &Path,
    check: &CommandCheck,
    stop: &AtomicBool,
) -> Result<(Option<i32>, String)> {
    let mut words = check.words();
    let program = programs.path(words.next().context("no program")?)?;
    let printed = folder.join("printed");
    let output = File::create(&printed).with_context(|| printed.display().to_string())?;
    let mut command = Command::new(program);
    command.args(words).current_dir(&settings.root).env_remove("CHRONOSCOPE_STORE");
    // Nothing of the user's own is read or written.
    command.env("CHRONOSCOPE_DIR", folder.join("rings"));
    command.env("CHRONOSCOPE_DATA", folder.join("data")).env("TZ", "UTC");
    let talk = output.try_clone()?;
    let child = end_with_parent(&mut command)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(talk)
        .process_group(0)
        .spawn()
        .context("it cannot be started")?;
    let mut child = Attended::new(child);
    let end_ns = monotonic_ns() + LIMIT_NS;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if stop.load(Ordering::Relaxed) || monotonic_ns() > end_ns {
            child.stop(Signal::SIGTERM)?;
            anyhow::bail!("it was stopped after {} s", LIMIT_NS / 1_000_000_000);
        }
        sleep(LOOK);
    };
    let text = std::fs::read(&printed).with_context(|| printed.display().to_string())?;
    Ok((status.code(), String::from_utf8_lossy(&text).into_owned()))
}

/// What is not as the table says.
fn fault(check: &CommandCheck, exit: Option<i32>, output: &str) -> Option<String> {
    if exit != Some(i32::from(check.exit)) {
        let last = output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("");
        let code = exit.map_or("a signal".to_owned(), |code| code.to_string());
        return Some(format!("it ended with {code}, not with {}: {last}", check.exit));
    }
    let says = check.says.as_ref()?;
    (!plain(output).contains(&plain(says))).then(|| format!("its output has no “{says}”"))
}

/// The text with one blank for each run of blanks and ends of lines: columns have any width.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The beginning of a text, whole letters only.
fn beginning(text: &str) -> String {
    let end = (0..=text.len().min(OUTPUT_BYTES_MAX)).rev().find(|end| text.is_char_boundary(*end));
    text[..end.unwrap_or(0)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_code_and_text_are_both_held_to() {
        let check = |exit, says: Option<&str>| CommandCheck {
            line: "chronoscope classes".to_owned(),
            exit,
            says: says.map(str::to_owned),
        };
        assert_eq!(fault(&check(0, Some("redraw")), Some(0), "a redraw\n"), None);
        let no_text = fault(&check(0, Some("redraw")), Some(0), "nothing").unwrap();
        assert!(no_text.contains("no “redraw”"), "{no_text}");
        let code = fault(&check(0, None), Some(3), "no such class\n\n").unwrap();
        assert_eq!(code, "it ended with 3, not with 0: no such class");
        assert!(fault(&check(0, None), None, "").unwrap().contains("a signal"));
        assert_eq!(fault(&check(3, None), Some(3), ""), None);
        assert_eq!(fault(&check(0, Some("mean 4 ms")), Some(0), "  mean     4 ms\n"), None);
    }

    #[test]
    fn a_long_output_is_cut_between_letters() {
        let text = "ä".repeat(OUTPUT_BYTES_MAX);
        assert_eq!(beginning(&text).chars().count(), OUTPUT_BYTES_MAX / 2);
        assert_eq!(beginning("short"), "short");
    }
}
