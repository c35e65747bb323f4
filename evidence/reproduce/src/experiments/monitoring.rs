//! ETFMS: statistics that are always on: last M, histogram, worst N, after death; and what they
//! cost.

use super::chain::testbed;
use super::{list, number, word};
use crate::outcome::ItemResults;
use crate::picture::{Axis, Chart, Picture, Series, Style};
use crate::run::{Background, Run};
use anyhow::{Context, Result, bail, ensure};
use chronoscope_published::Cell;
use chronoscope_radar::port_files::{ChainPort, PortFiles};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The class whose statistics are shown.
const CLASS: &str = "decodePlots";

/// Actions that are asked for of a core dump.
const ASKED: usize = 50;

/// A tracker at work is looked at, killed, and looked at again; then pairs with and without
/// recorder.
///
/// # Errors
/// When a program fails.
pub fn run(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    let (mut tracker, rings) = tracker(run)?;
    let process = tracker.process();
    let core = dump(run, process);
    run.go_on()?; // whatever came of the core dump, it was not the signal
    if !tracker.is_running()? {
        bail!("the tracker ended unexpectedly (log.txt gives the reason)");
    }
    // As a crash does: it has no time to write anything.
    kill(Pid::from_raw(i32::try_from(process)?), Signal::SIGKILL)?;
    drop(tracker);
    let ring = ring_in(&rings)?;
    Ok(vec![last(run, &ring)?, statistics(run, &ring)?, dead(core, &ring), overhead(run)?])
}

/// A tracker that has worked for a while.
fn tracker(run: &mut Run<'_>) -> Result<(Background, PathBuf)> {
    let seconds = run.either(4_u64, 30);
    let rings = run.rings().join("tracker");
    std::fs::create_dir_all(&rings)?;
    let files = PortFiles::new(&run.fresh("tracker")?);
    let call = run.call("radar-tracker")?.args(["--plots", "127.0.0.1:0", "--listen"]);
    let call = call.arg("127.0.0.1:0").env("CHRONOSCOPE_DIR", &rings).args(files.tracker());
    let mut tracker = call.start("tracker")?;
    let plots = loop {
        if let Some(plots) = files.address(ChainPort::Plots) {
            break plots;
        }
        ensure!(tracker.is_running()?, "the tracker did not start (log.txt gives the reason)");
        run.wait(Duration::from_millis(50))?;
    };
    let call = run.call("radar-generator")?.args(["--scenario", "circles", "--flights", "24"]);
    let call = call.env("CHRONOSCOPE_RECORD", "off").args(files.generator(&plots));
    call.arg("--duration").arg(seconds.to_string()).text()?;
    Ok((tracker, rings))
}

fn ring_in(folder: &Path) -> Result<PathBuf> {
    let files = std::fs::read_dir(folder)?.filter_map(Result::ok).map(|entry| entry.path());
    let mut rings = files.filter(|path| path.extension().is_some_and(|end| end == "ring"));
    rings.next().context("the tracker left no ring")
}

fn last(run: &mut Run<'_>, ring: &Path) -> Result<ItemResults> {
    let mut found = ItemResults::new("etfms.last");
    let call = run.call("chronoscope")?.args(["live", "--json", "--last", "12", "--ring"]);
    let printed: Value = call.arg(ring).json()?;
    let shown = list(&printed, "/rings/0/last")?;
    let first_ns = shown.iter().filter_map(|one| one["start_ns"].as_i64()).min().unwrap_or(0);
    let rows = shown.iter().map(|one| -> Vec<Cell> {
        let us = |key: &str| one[key].as_f64().map(|ns| ns / 1e3).into();
        let level = one["level"].as_u64().unwrap_or(0);
        let indent = "\u{a0}\u{a0}".repeat(usize::try_from(level).unwrap_or(0));
        let start = one["start_ns"].as_i64().map(|ns| (ns - first_ns) as f64 / 1e3);
        vec![
            format!("{indent}{}", word(one, "class")).into(),
            start.into(),
            us("elapsed_ns"),
            us("cpu_ns"),
            word(one, "status").into(),
        ]
    });
    found.table(
        "last 12 actions of a tracker that was killed",
        &["action", "begin µs", "elapsed µs", "thread CPU µs", "status"],
        rows.collect(),
    );
    let call = run.call("chronoscope")?.args(["live", "--json", "--last", "100000", "--ring"]);
    let all: Value = call.arg(ring).json()?;
    let all = list(&all, "/rings/0/last")?;
    found.own("actions in the buffer (M)", "", all.len() as f64);
    let is_whole = |one: &&Value| {
        ["start_ns", "elapsed_ns", "cpu_ns", "level"].iter().all(|key| one[*key].is_i64())
    };
    let whole = all.iter().filter(is_whole).count();
    found.figure("whole_pct", whole as f64 * 100.0 / all.len() as f64);
    let nested = all.iter().filter(|one| one["level"].as_i64().is_some_and(|level| level > 0));
    found.figure("nested", nested.count() as f64);
    Ok(found)
}

fn statistics(run: &mut Run<'_>, ring: &Path) -> Result<ItemResults> {
    let mut found = ItemResults::new("etfms.statistics");
    let call = run.call("chronoscope")?.args(["live", "--json", "--worst", "100", "--ring"]);
    let printed: Value = call.arg(ring).json()?;
    let classes = list(&printed, "/rings/0/classes")?;
    let class = classes.iter().find(|class| word(class, "class") == CLASS);
    let class = class.with_context(|| format!("the ring has no class {CLASS}"))?;
    let worst = list(class, "/worst")?;
    found
        .figure("worst_elapsed", worst.len() as f64)
        .note("with properties, metrics and their chain");
    let by_cpu = list(class, "/worst_cpu")?;
    found.figure("worst_cpu", by_cpu.len() as f64);
    let longest_ns = number(class, "/elapsed/max_ns")?;
    found
        .figure("first_is_longest", number(class, "/worst/0/elapsed_ns")? / longest_ns)
        .note(CLASS);
    let most_ns = number(class, "/cpu/max_ns")?;
    found.figure("first_has_most_cpu", number(class, "/worst_cpu/0/cpu_ns")? / most_ns).note(CLASS);
    found.figure("worst_elapsed_s", longest_ns / 1e9);
    found.figure("histogram_count", number(class, "/count")?).note(CLASS);
    let row = |one: &Value| -> Vec<Cell> {
        let us = |key: &str| one[key].as_f64().map(|ns| ns / 1e3).into();
        vec![
            us("elapsed_ns"),
            us("cpu_ns"),
            one["metrics"].to_string().into(),
            word(one, "chain").into(),
        ]
    };
    for (order, cases) in [("elapsed time", worst), ("thread CPU time", by_cpu)] {
        found.table(
            &format!("worst of {CLASS} by {order}"),
            &["elapsed µs", "thread CPU µs", "metrics", "chain"],
            cases.iter().map(row).collect(),
        );
    }
    let call = run.call("chronoscope")?.args(["live", "--histogram", CLASS, "--ring"]);
    let text = call.arg(ring).text()?;
    let [elapsed, cpu] = ["elapsed", "thread CPU"].map(|part| buckets(&text, part));
    for (figure, buckets) in [("elapsed_counted", &elapsed), ("cpu_counted", &cpu)] {
        let counted: f64 = buckets.iter().map(|(_, count)| count).sum();
        found.figure(figure, counted / number(class, "/count")?);
    }
    found.pictures.push(Picture::Chart(Chart {
        title: format!("Histogram of {CLASS}: upper edges of buckets"),
        x: Axis::log("µs"),
        y: Axis::new("actions"),
        series: vec![
            Series::new("elapsed", Style::Line, elapsed),
            Series::new("thread CPU", Style::Line, cpu),
        ],
        marks: Vec::new(),
    }));
    Ok(found)
}

/// Upper edges in µs with counts, as `live --histogram` prints them below a heading.
fn buckets(text: &str, heading: &str) -> Vec<(f64, f64)> {
    let lines = text.lines().skip_while(|line| !line.trim_end().ends_with(heading)).skip(1);
    let rows = lines.take_while(|line| !line.trim().is_empty()).filter_map(|line| {
        let mut words = line.split_whitespace();
        let (edge, unit, count) = (words.next()?, words.next()?, words.next()?);
        let us = match unit {
            "ns" => 1e-3,
            "µs" => 1.0,
            "ms" => 1e3,
            "s" => 1e6,
            _ => return None,
        };
        Some((edge.parse::<f64>().ok()? * us, count.replace(',', "").parse().ok()?))
    });
    rows.collect()
}

/// The core of a process while it works, and how many actions are found in it.
fn dump(run: &mut Run<'_>, process: u32) -> Result<usize> {
    let folder = run.fresh("core")?;
    let call = run.tool("gcore", Path::new("gcore")).arg("-o").arg(folder.join("core"));
    call.arg(process.to_string()).text()?;
    let core = folder.join(format!("core.{process}"));
    let asked = ASKED.to_string();
    let call = run.call("chronoscope")?.args(["live", "--json", "--last", &asked, "--core"]);
    let printed: Value = call.arg(&core).json()?;
    let count = list(&printed, "/rings/0/last")?.len();
    std::fs::remove_file(&core)?;
    Ok(count)
}

fn dead(core: Result<usize>, ring: &Path) -> ItemResults {
    let mut found = ItemResults::new("etfms.dump");
    match core {
        Ok(count) => {
            let note = format!("of {ASKED} asked for, out of a core dump taken while it worked");
            found.figure("read_pct", count as f64 * 100.0 / ASKED as f64).note(note);
        }
        Err(why) => found.missing(format!("no core dump could be taken: {why:#}")),
    }
    found.own("octets of the ring, which outlives its killed process", "", ring_octets(ring));
    found
}

/// Size of a ring that is still there.
fn ring_octets(ring: &Path) -> f64 {
    ring.metadata().map_or(f64::NAN, |about| about.len() as f64)
}

/// Instructions of the radar chain with the recorder, and CPU of a server with it.
fn overhead(run: &mut Run<'_>) -> Result<ItemResults> {
    let mut found = ItemResults::new("etfms.overhead");
    let words =
        run.either(&["--pairs", "1", "--seconds", "5"][..], &["--pairs", "4", "--seconds", "30"]);
    let cost = testbed(run, "cost", "cost", words)?;
    let counted = &cost["instructions"];
    let pct = number(counted, "/pct")?;
    found.figure("cpu_pct", pct);
    found.figure("limit_pct", pct).note(
        "user instructions of the whole chain, tracker to display, in the second half of a replay, \
         exact; under its virtual clock every begin costs a system call besides",
    );
    let rows = list(counted, "/processes")?.iter().map(|process| -> Vec<Cell> {
        let of = |key: &str| process[key].as_f64().into();
        vec![word(process, "process").into(), of("off"), of("on"), of("pct")]
    });
    found.table(
        "instructions without and with the recorder",
        &["process", "without", "with", "more, %"],
        rows.collect(),
    );
    for (what, unit, pointer) in [
        ("a begin/end pair", "ns", "/pair/plain_ns"),
        ("pairs in the live chain", "1/s", "/pair/pairs_per_s"),
        ("both, of what the chain uses", "% CPU", "/pair/pct"),
        ("if every pair were the dearest", "% CPU", "/pair/pct_max"),
        ("CPU time of pairs of runs, mean", "%", "/cpu/pct"),
        ("its 95 % confidence interval, from", "%", "/cpu/pct_low"),
        ("to", "%", "/cpu/pct_high"),
    ] {
        if let Some(value) = cost.pointer(pointer).and_then(Value::as_f64) {
            found.own(what, unit, value);
        }
    }
    let quick = run.quick;
    let mut call = run.call("aprs")?.args(["recorder", "--json"]);
    if quick {
        call = call.arg("--quick");
    }
    let printed: Value = call.json()?;
    let ratios = list(&printed, "/recorder/ratios")?.iter().filter_map(Value::as_f64);
    let ratios: Vec<f64> = ratios.collect();
    found
        .own(
            "CPU of the APRS-IS server, every packet recorded, to without",
            "",
            number(&printed, "/recorder/median")?,
        )
        .note(format!("pairs: {ratios:.3?}"));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::buckets;

    #[test]
    fn a_printed_histogram_is_read() {
        let text = "Correlate: elapsed\nup to     count\n223 ns        1  ███\n1.02 µs   1,008  ██\n\n\
                    thread CPU\nup to     count\n2 ms  3  █\n";
        assert_eq!(buckets(text, "elapsed"), [(0.223, 1.0), (1.02, 1008.0)]);
        assert_eq!(buckets(text, "thread CPU"), [(2000.0, 3.0)]);
    }
}
