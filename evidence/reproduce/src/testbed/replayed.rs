//! Exact count of the recorder's instructions in the chain, tracker to display: the stored small
//! day replayed under Callgrind, with and without it.
//!
//! The first half of the replay is subtracted: programs start, read flight plans and draw their map
//! there, which happens once a day.
//!
//! It is more than the cost in a live chain: under a virtual clock every begin of the recorder
//! costs an additional system call, and the kernel's instructions, a large part of the chain's
//! work, are not counted.

use super::Bed;
use super::program::Program;
use crate::experiments::number;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Half of it and all of it.
const PARTS: [&str; 2] = ["23s", "46s"];
const OFF: &str = "CHRONOSCOPE_RECORD = \"off\"";
const ON: &str = "CHRONOSCOPE_DIR = \"{scenario}/rings\"";

/// Instructions of each process in the second half.
type Counts = BTreeMap<String, f64>;

/// Counts both ways; `displays` is for how many the whole is reckoned besides for one.
///
/// # Errors
/// When a replay fails, as without Valgrind.
pub(super) fn count(bed: &Bed, displays: u16) -> Result<Value> {
    let folder = bed.fresh("cost-replay")?;
    let (off, on) = (halves(bed, &folder, "off", OFF)?, halves(bed, &folder, "on", ON)?);
    let row = |(name, without): (&String, &f64)| {
        let with = on.get(name).copied().unwrap_or(f64::NAN);
        json!({ "process": name, "off": without, "on": with, "pct": (with / without - 1.0) * 100.0 })
    };
    let sum = |counts: &Counts, displays: f64| -> f64 {
        let of = |(name, count): (&String, &f64)| {
            if name == "display" { count * displays } else { *count }
        };
        counts.iter().map(of).sum()
    };
    let pct = |displays: f64| (sum(&on, displays) / sum(&off, displays) - 1.0) * 100.0;
    Ok(json!({
        "method": "callgrind", "seconds": 23, "processes": off.iter().map(row).collect::<Vec<_>>(),
        "off": sum(&off, 1.0), "on": sum(&on, 1.0), "pct": pct(1.0),
        "displays": displays, "pct_displays": pct(f64::from(displays)),
    }))
}

/// The whole less its first half.
fn halves(bed: &Bed, folder: &Path, name: &str, variable: &str) -> Result<Counts> {
    let scenario = scenario(bed, &folder.join(name), variable)?;
    let [half, whole] = PARTS.map(|part| replay(bed, folder, name, &scenario, part));
    let (half, whole) = (half?, whole?);
    let rest = |(name, all): (&String, &f64)| {
        let half = half.get(name).with_context(|| format!("{name} is in one replay only"))?;
        Ok((name.clone(), all - half))
    };
    whole.iter().map(rest).collect()
}

fn replay(bed: &Bed, folder: &Path, name: &str, scenario: &Path, part: &str) -> Result<Counts> {
    bed.go_on()?;
    bed.say(&format!("cost: the replay of {part} under Callgrind, recorder {name}"));
    let name = format!("{name}-{part}");
    let mut command = bed.program("chronoscope")?;
    command.arg("replay").arg(scenario).arg("--bin").arg(bed.programs.folder());
    command.args(["--json", "--count", "callgrind", "--duration", part]);
    command.arg("--out").arg(folder.join(format!("{name}-out")));
    let mut program = Program::start(folder, &name, &mut command)?;
    while !program.is_over()? {
        bed.go_on()?;
        bed.say_sometimes("cost: replaying");
        chronoscope_clock::sleep(std::time::Duration::from_millis(50));
    }
    let report: Value = serde_json::from_str(program.wait()?.trim())?;
    let processes = report["processes"].as_array().into_iter().flatten();
    let of = |process: &Value| {
        Ok((
            process["name"].as_str().unwrap_or_default().to_owned(),
            number(process, "/corrected")?,
        ))
    };
    processes.map(of).collect()
}

/// The kept day with another environment, in a folder of its own.
fn scenario(bed: &Bed, folder: &Path, variable: &str) -> Result<PathBuf> {
    let from = bed.root.join("evidence/bench/replays/radar");
    std::fs::create_dir_all(folder.join("rings"))?;
    let entries = std::fs::read_dir(&from)
        .with_context(|| format!("{} (--root says where)", from.display()))?;
    for entry in entries {
        let path = entry?.path();
        std::fs::copy(&path, folder.join(path.file_name().unwrap_or_default()))?;
    }
    let file = folder.join("day.toml");
    let text = std::fs::read_to_string(&file)?;
    ensure!(text.contains(OFF), "day.toml no longer switches the recorder off");
    std::fs::write(&file, text.replace(OFF, variable))?;
    Ok(file)
}
