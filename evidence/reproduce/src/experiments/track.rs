//! ETFMS: processes, heap and functions of versions, and an optimisation that was none.

use super::{list, number, word};
use crate::outcome::ItemResults;
use crate::picture::{Axis, Chart, Picture, Series};
use crate::run::Run;
use anyhow::{Context, Result};
use chronoscope_published::Cell;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Rows of the dearest functions.
const FUNCTIONS: usize = 15;

/// Runs the suite a few times, and the example in both versions.
///
/// # Errors
/// When a program fails.
pub fn run(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    let runs = run.fresh("runs")?;
    let times = run.either(3, 6);
    let mut measured = Vec::new();
    for number in 1..=times {
        let bin = run.programs().folder().to_owned();
        let call = run.call("chronoscope")?.args(["track", "run", "--json", "--quiet", "--runs"]);
        let call = call.arg(&runs).arg("--bin").arg(bin).arg("--suite").arg("performance.toml");
        let call = call.args(["--only", "radar", "--method", "callgrind"]);
        let call = call.arg("--commit").arg(format!("run-{number}"));
        measured.push(call.json::<Value>()?);
    }
    let last = measured.last().context("no run")?;
    let mut found = vec![global(&measured)?, per_process(run, last)?, detailed(run, &runs, last)?];
    found.push(missed_optimisation(run)?);
    Ok(found)
}

fn processes(run: &Value) -> Result<Vec<(String, &Value)>> {
    let processes = list(run, "/items/0/processes")?;
    let of = |process| Some((word(process, "name").to_owned(), process.pointer("/runs/0")?));
    Ok(processes.iter().filter_map(of).collect())
}

fn global(measured: &[Value]) -> Result<ItemResults> {
    let mut found = ItemResults::new("etfms.global");
    let (mut user, mut system, mut instructions) = (Vec::new(), Vec::new(), Vec::new());
    let mut rows = Vec::new();
    for (index, run) in measured.iter().enumerate() {
        let all = processes(run)?;
        let sum = |key: &str| all.iter().filter_map(|(_, run)| run[key].as_f64()).sum::<f64>();
        let at = index as f64 + 1.0;
        user.push((at, sum("user_ns") / 1e9));
        system.push((at, sum("system_ns") / 1e9));
        instructions.push(sum("instructions"));
        rows.push(vec![
            word(run, "id").into(),
            sum("instructions").into(),
            (sum("user_ns") / 1e9).into(),
            (sum("system_ns") / 1e9).into(),
        ]);
    }
    let least = instructions.iter().copied().fold(f64::INFINITY, f64::min);
    let most = instructions.iter().copied().fold(0.0, f64::max);
    found
        .figure("repeat_pct", (most / least - 1.0) * 100.0)
        .note("instructions of the whole replay, most to least of the runs");
    found.table("runs of one version", &["run", "instructions", "user s", "system s"], rows);
    found.pictures.push(Picture::Chart(Chart {
        title: "CPU of the whole replay, run by run".to_owned(),
        x: Axis::new("run").within(0.5, measured.len() as f64 + 0.5),
        y: Axis::new("seconds"),
        series: vec![Series::line("user", user), Series::line("system", system)],
        marks: Vec::new(),
    }));
    found.say("`chronoscope track history` draws the same over all versions, with its steps.");
    Ok(found)
}

fn per_process(run: &mut Run<'_>, last: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("etfms.per_process");
    let rows = processes(last)?.into_iter().map(|(name, run)| {
        let of = |key: &str, by: f64| run[key].as_f64().map(|value| value / by).into();
        vec![
            name.into(),
            of("user_ns", 1e9),
            of("system_ns", 1e9),
            of("instructions", 1.0),
            of("rss_bytes_max", 1e6),
            of("heap_bytes_max", 1e6),
            of("allocations", 1.0),
            of("syscalls", 1.0),
            of("syscalls_cpu_ns", 1e9),
        ]
    });
    found.table(
        "processes of a replay",
        &[
            "process",
            "user s",
            "system s",
            "instructions",
            "most memory, MB",
            "most heap, MB",
            "allocations",
            "system calls",
            "CPU of system calls, s",
        ],
        rows.collect(),
    );
    heap(run, &mut found)?;
    Ok(found)
}

/// The heap of a whole program, as the C library sees it.
fn heap(run: &mut Run<'_>, found: &mut ItemResults) -> Result<()> {
    let generator = run.programs().path("radar-generator")?;
    let call = run.call("beyond")?.arg(generator).args(["--scenario", "circles"]);
    let text = call.args(["--duration", "1", "--to", "127.0.0.1:9"]).text()?;
    let rows = text.lines().skip(1).take_while(|line| !line.is_empty()).filter_map(|line| {
        // Names may have spaces; seven numbers follow.
        let mut cells: Vec<&str> = line.split_whitespace().rev().take(7).collect();
        cells.reverse();
        let number = |cell: &&str| cell.replace(',', "").parse::<f64>().ok().into();
        let name = line.split(cells.first()?).next()?.trim();
        Some([vec![name.into()], cells.iter().map(number).collect()].concat())
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    anyhow::ensure!(!rows.is_empty(), "the example beyond counted no process");
    found.table(
        "heap of a program: the generator, one second",
        &[
            "process",
            "allocations",
            "bytes",
            "most at once",
            "held",
            "blocks",
            "Clib (used)",
            "Clib (free)",
        ],
        rows,
    );
    Ok(())
}

fn detailed(run: &mut Run<'_>, runs: &Path, last: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("etfms.detailed");
    let process = list(last, "/items/0/processes")?.first().context("no process")?;
    let profile = runs.join(word(last, "id")).join(word(process, "profile"));
    let text = run
        .tool("callgrind_annotate", Path::new("callgrind_annotate"))
        .arg("--show=Ir")
        .arg(profile)
        .text()?;
    found
        .figure("instructions", number(process, "/runs/0/instructions")?)
        .note("of the tracker, in 46 s");
    let bin = run.programs().folder().display().to_string();
    let functions = text.lines().filter_map(|line| {
        let (cost, rest) = line.trim_start().split_once(' ')?;
        let cost: f64 = cost.replace(',', "").parse().ok()?;
        let (_, name) = rest.split_once(")  ")?;
        // Without folders of the machine that built it.
        let (file, function) = name
            .rsplit_once(".rs:")
            .or_else(|| name.rsplit_once(".c:"))
            .or_else(|| name.split_once(':'))?;
        let file = file.rsplit('/').next().unwrap_or(file);
        let function = function.replace(&bin, "bin");
        (!name.contains("TOTALS")).then(|| (cost, file.to_owned(), function))
    });
    let functions: Vec<(f64, String, String)> = functions.take(FUNCTIONS).collect();
    anyhow::ensure!(!functions.is_empty(), "callgrind_annotate names no function");
    let total = number(process, "/runs/0/instructions")?;
    let rows = functions.into_iter().map(|(cost, file, function)| {
        vec![cost.into(), (cost * 100.0 / total).into(), function.into(), file.into()]
    });
    found.table(
        "the tracker's dearest functions, as callgrind_annotate reads our profile",
        &["instructions", "% of all", "function", "file"],
        rows.collect(),
    );
    found.say(
        "The profiles open in KCachegrind; `chronoscope track diff` says what moved between two.",
    );
    Ok(found)
}

/// The monitor of the document's story, with its volatile counter and without.
fn missed_optimisation(run: &mut Run<'_>) -> Result<ItemResults> {
    let folder = run.fresh("monitor")?;
    let source = run.root.join("crates/track/examples/monitor.rs");
    let rustc = std::env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from);
    for (name, more) in [("before", &[][..]), ("after", &["--cfg", "feature=\"volatile-count\""])] {
        let call = run.tool("rustc", &rustc).args(["-O", "-g", "--edition=2024", "-o", name]);
        call.args(more).arg(&source).within(&folder).text()?;
        let call = run.tool("valgrind", Path::new("valgrind")).within(&folder);
        let call = call.args(["--tool=callgrind", "--fair-sched=yes"]);
        let call = call.arg(format!("--callgrind-out-file={name}.profile"));
        call.arg(format!("./{name}")).text()?;
    }
    let call = run.call("chronoscope")?.args(["track", "diff", "--json"]).within(&folder);
    let diff: Value = call.args(["before.profile", "after.profile"]).accept(1).json()?;
    let mut found = ItemResults::new("etfms.missed_optimisation");
    let (before, after) = (number(&diff, "/total/before")?, number(&diff, "/total/after")?);
    found.own("instructions before", "", before);
    found.own("instructions after", "", after);
    found
        .figure("change_pct", (after / before - 1.0) * 100.0)
        .note("one pair of runs under Callgrind");
    Ok(found)
}
