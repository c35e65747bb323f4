//! Durations over 14 million stored transactions (1.27 million chains, 5.1 million leaves): our
//! answers beside DuckDB's, over the same files, in the same run, every query in a cold process on
//! as many threads. Results are compared exactly.

mod child;
mod generate;

use anyhow::{Context, Result, bail};
use child::{Cost, run};
use chronoscope_query::{Answer, Limits, Question, ask};
use chronoscope_store::Snapshot;
use clap::{Parser, Subcommand};
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The peer. Not called duckdb.py: it would import itself.
const PEER: &str = include_str!("peer.py");

/// Comparisons: our query, the kind of rows, the peer's query, and the target for our CPU time as a
/// share of the peer's.
const COMPARED: [(&str, bool, &str, Option<f64>); 7] = [
    ("acpd", false, "acpd-stored-root", Some(1.0)),
    ("acpd", false, "acpd-joins", None),
    ("acpd", false, "acpd-recursive", None),
    ("apcd", false, "apcd-stored-links", None),
    ("apcd", false, "apcd-grouped", None),
    ("acpd", true, "acpd-foreign-joins", Some(1.0 / 3.0)),
    ("acpd", true, "acpd-foreign-recursive", None),
];

/// Durations over many stored transactions, beside DuckDB on the same files
#[derive(Parser)]
struct Arguments {
    /// Number of rows to generate, of each kind: native and foreign
    #[arg(long, default_value_t = 14_000_000)]
    rows: u64,
    /// Number of threads of each side
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Runs of every query; the one with least CPU time counts
    #[arg(long, default_value_t = 3)]
    repeat: u32,
    /// Folder in which generated stores are kept and reused
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Python with the package duckdb; without it only our side is measured
    #[arg(long, env = "DUCKDB_PYTHON")]
    python: Option<OsString>, // set and empty where there is none
    /// Leave out the recursive queries, which take DuckDB longest
    #[arg(long)]
    quick: bool,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    part: Option<Part>,
}

#[derive(Subcommand)]
enum Part {
    /// Answer one question about a store; used by the benchmark itself
    Ask {
        /// acpd, acpd-split, acpd-inner or apcd
        question: String,
        /// Folder of the store
        dir: PathBuf,
    },
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    match &arguments.part {
        Some(Part::Ask { question, dir }) => answer(question, dir, arguments.threads),
        None => compare(&arguments),
    }
}

fn question(name: &str) -> Result<Question> {
    let acpd = || Question::acpd("MRTS::decodePlots", "CWP::TargetView_redraw");
    Ok(match name {
        "acpd" => acpd(),
        "acpd-split" => Question { split: true, ..acpd() },
        "acpd-inner" => Question::acpd("MSG::TrackStore_updateTrack", "CWP::TargetView_redraw"),
        "apcd" => Question::apcd("MRTS::decodePlots"),
        "sync" => Question::sync("CWP::TargetView_redraw"),
        other => bail!("no question {other}"),
    })
}

fn answer(name: &str, dir: &Path, threads: usize) -> Result<()> {
    let snapshot = Snapshot::open(dir)?;
    let limits = Limits { threads, ..Limits::default() };
    let answer = ask(&snapshot, &question(name)?, &limits)?;
    println!("{}", told(&answer)?);
    Ok(())
}

fn told(answer: &Answer) -> Result<Value> {
    let distribution = answer.distribution.context("no durations")?;
    Ok(json!({
        "count": distribution.count,
        "sum_ns": distribution.sum_ns.to_string(),
        "quantiles_ns": distribution.quantiles_ns,
    }))
}

fn compare(arguments: &Arguments) -> Result<()> {
    let temporary = tempfile::tempdir()?;
    let base = arguments.dir.as_deref().unwrap_or(temporary.path());
    let stores = [false, true].map(|foreign| {
        let dir = base.join(if foreign { "foreign" } else { "native" });
        fill(&dir, arguments.rows, foreign).map(|()| dir)
    });
    let [native, foreign] = stores;
    let (native, foreign) = (native?, foreign?);
    let script = temporary.path().join("peer.py");
    std::fs::write(&script, PEER)?;
    let python = arguments.python.as_deref().filter(|python| !python.is_empty());
    let mut results = Vec::new();
    for (name, is_foreign, query, aim) in COMPARED {
        if arguments.quick && query.ends_with("recursive") {
            continue;
        }
        let dir = if is_foreign { &foreign } else { &native };
        let ours = best(arguments, || ours(arguments, name, dir))?;
        let peer = match python {
            Some(python) => Some(best(arguments, || peer(arguments, python, &script, query, dir))?),
            None => None,
        };
        results.push(report(arguments, (name, query, aim), &ours, peer.as_ref())?);
    }
    for name in ["acpd-inner", "acpd-split", "sync"] {
        let ours = best(arguments, || ours(arguments, name, &native))?;
        results.push(report(arguments, (name, "", None), &ours, None)?);
    }
    if python.is_none() {
        eprintln!("chains: NO PEER: give --python or DUCKDB_PYTHON (tools/venv duckdb)");
    }
    if arguments.json {
        println!("{}", json!({ "rows": arguments.rows, "results": results }));
    }
    Ok(())
}

/// Generates a store unless it is there.
fn fill(dir: &Path, rows: u64, foreign: bool) -> Result<()> {
    if dir.join("manifest").exists() {
        let there = Snapshot::open(dir)?.row_count();
        if there.abs_diff(rows) < 1000 {
            eprintln!("chains: {} has {there} rows", dir.display());
            return Ok(());
        }
        bail!("{} has {there} rows, not {rows}: remove it", dir.display());
    }
    std::fs::create_dir_all(dir)?;
    let begin_ns = chronoscope_clock::monotonic_ns();
    let kind = if foreign { "foreign" } else { "native" };
    let generated = generate::generate(dir, rows, foreign, |done| {
        eprint!("\rchains: {done} {kind} rows stored ");
    })?;
    let seconds = (chronoscope_clock::monotonic_ns() - begin_ns) as f64 / 1e9;
    let snapshot = Snapshot::open(dir)?;
    let bytes: u64 = snapshot.segments().iter().map(|segment| segment.size_bytes).sum();
    eprintln!(
        "\rchains: {} {kind} rows, {} chains stored in {seconds:.1} s, {} segments, {:.1} B/row",
        generated.rows,
        generated.chains,
        snapshot.segments().len(),
        bytes as f64 / generated.rows as f64,
    );
    Ok(())
}

fn ours(arguments: &Arguments, name: &str, dir: &Path) -> Result<Cost> {
    let threads = arguments.threads.to_string();
    run(Command::new(std::env::current_exe()?).args(["--threads", &threads, "ask", name]).arg(dir))
}

fn peer(
    arguments: &Arguments,
    python: &OsStr,
    script: &Path,
    query: &str,
    dir: &Path,
) -> Result<Cost> {
    let mut command = Command::new(python);
    command.arg(script).arg(query).arg(dir).arg(arguments.threads.to_string());
    let mut cost = run(&mut command)?;
    // The start of the interpreter is not the peer's.
    cost.cpu_s = cost.said["cpu_s"].as_f64().context("cpu_s")?;
    cost.wall_s = cost.said["wall_s"].as_f64().context("wall_s")?;
    Ok(cost)
}

fn best(arguments: &Arguments, mut once: impl FnMut() -> Result<Cost>) -> Result<Cost> {
    let mut best = once()?;
    for _ in 1..arguments.repeat {
        let cost = once()?;
        if cost.cpu_s < best.cpu_s {
            best = cost;
        }
    }
    Ok(best)
}

fn report(
    arguments: &Arguments,
    (name, query, aim): (&str, &str, Option<f64>),
    ours: &Cost,
    peer: Option<&Cost>,
) -> Result<Value> {
    if let Some(peer) = peer {
        for key in ["count", "sum_ns", "quantiles_ns"] {
            if ours.said[key] != peer.said[key] {
                bail!("{query}: {key}: ours {} and DuckDB's {}", ours.said[key], peer.said[key]);
            }
        }
    }
    let ratio = peer.map(|peer| ours.cpu_s / peer.cpu_s);
    if !arguments.json {
        let cost = |cost: &Cost| {
            let megabytes = cost.peak_bytes >> 20;
            format!("{:7.2} CPU-s {:6.2} s {megabytes:5} MB", cost.cpu_s, cost.wall_s)
        };
        let count = &ours.said["count"];
        print!("{name:10} {count:>8} durations: ours {}", cost(ours));
        if let (Some(peer), Some(ratio)) = (peer, ratio) {
            print!(", DuckDB {query:24} {}, ratio {ratio:.2}", cost(peer));
            if let Some(aim) = aim {
                print!(" (aim {aim:.2})");
            }
            print!(", results equal");
        }
        println!();
    }
    let costs = |cost: &Cost| json!({ "cpu_s": cost.cpu_s, "wall_s": cost.wall_s, "peak_bytes": cost.peak_bytes });
    Ok(json!({
        "question": name, "peer_query": query, "count": ours.said["count"],
        "ours": costs(ours), "duckdb": peer.map(costs), "cpu_ratio": ratio, "aim": aim,
    }))
}
