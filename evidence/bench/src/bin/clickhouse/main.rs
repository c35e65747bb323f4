//! A ClickHouse cluster beside the files of the embedded store: the same rows put into both, and
//! the same questions asked of both, in the same run. Answers are compared exactly. Every question is
//! asked of the cluster twice more: before its chains were linked, when each question links them
//! anew, and again, when what it needs was fetched.
//!
//! The servers run on this machine and share its processors with us; each side's processor time
//! is measured apart.

mod arriving;
mod flow;
mod layouts;
mod live;
mod load;
mod page;
mod pictures;
mod scale;
mod servers;
mod took;
// The rows are those of the bench of the store.
#[allow(dead_code)]
#[path = "../store/rows.rs"]
mod rows;

use anyhow::Result;
use chronoscope_query::{Question, StoreLocation};
use clap::Parser;
use load::Load;
use pictures::PICTURES;
use rows::BEGIN_NS;
use serde_json::{Value, json};
use servers::{DATABASE, Servers};
use std::path::PathBuf;

/// A ClickHouse cluster beside the embedded store
#[derive(Parser)]
struct Arguments {
    /// Number of chains to insert [default: 10000000; with --scale 136364]
    #[arg(long)]
    chains: Option<usize>,
    /// Displays of a chain, each the leaf of a duration: a chain has 3 rows and two for each
    #[arg(long, default_value_t = 1)]
    displays: usize,
    /// Number of rows in one insert
    #[arg(long, default_value_t = 262_144)]
    batch: usize,
    /// Number of inserts at a time
    #[arg(long, default_value_t = 2)]
    writers: usize,
    /// Number of servers, one for each shard
    #[arg(long, default_value_t = 2)]
    shards: usize,
    /// Number of runs of each query; the fastest counts
    #[arg(long, default_value_t = 3)]
    repeat: u32,
    /// Folder for the data during the run
    #[arg(long, default_value = "/tmp")]
    dir: PathBuf,
    /// Compare sorting keys, codecs and projections of the table, and nothing else
    #[arg(long)]
    layouts: bool,
    /// With --layouts: only those whose names contain this text
    #[arg(long, requires = "layouts")]
    only: Option<String>,
    /// Measure clusters of 1 to 4 shards and print the tables of docs/scale.md, and nothing else
    #[arg(long, conflicts_with = "layouts")]
    scale: bool,
    /// With --scale: take what an earlier --scale --json printed instead of measuring
    #[arg(long, requires = "scale")]
    from: Option<PathBuf>,
    /// With --scale: put the tables into this page
    #[arg(long, requires = "scale")]
    into: Option<PathBuf>,
    /// Measure what minutes cost that are not linked yet, with an hour of spans at this rate (rows a
    /// second), then what rows cost that come in at it, and when they are in an answer; nothing else
    #[arg(long, value_name = "RATE", conflicts_with_all = ["layouts", "scale"])]
    live: Option<u32>,
    /// Do not ask before chains are linked: that takes as long as all the rest
    #[arg(long)]
    no_linking_at_the_question: bool,
    /// Print the results as JSON on one line
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if arguments.scale {
        return scale(&arguments);
    }
    let dir = tempfile::tempdir_in(&arguments.dir)?;
    let servers = Servers::start(&dir.path().join("servers"), arguments.shards)?;
    let Arguments { displays, batch, writers, .. } = arguments;
    let chains = arguments.chains.unwrap_or(10_000_000);
    let load = Load { chains, displays, batch, writers };
    let mut results = match (arguments.layouts, arguments.live) {
        (_, Some(rate)) => live::costs(load, rate, &servers)?,
        (true, _) => layouts::compare(load, &servers, arguments.only.as_deref())?,
        (false, _) => figures(&arguments, load, &servers, dir.path().join("store"))?,
    };
    results["load_average"] = json!(std::fs::read_to_string("/proc/loadavg")?.trim());
    match arguments.json {
        true => println!("{results}"),
        false => println!("{results:#}"),
    }
    Ok(())
}

/// Rows of the clusters of `--scale`, unless `--chains` says another number: 1.5 million.
const SCALE_CHAINS: usize = 136_364;
const SCALE_SHARDS: usize = 4;

fn scale(arguments: &Arguments) -> Result<()> {
    let measured = match &arguments.from {
        Some(path) => serde_json::from_str(&std::fs::read_to_string(path)?)?,
        None => {
            let dir = tempfile::tempdir_in(&arguments.dir)?;
            let chains = arguments.chains.unwrap_or(SCALE_CHAINS);
            scale::measure(dir.path(), chains, SCALE_SHARDS)?
        }
    };
    let tables = scale::tables(&measured)?;
    if let Some(page) = &arguments.into {
        scale::put_into(page, &tables)?;
    }
    match arguments.json {
        true => println!("{measured}"),
        false => println!("{tables}"),
    }
    Ok(())
}

fn figures(arguments: &Arguments, load: Load, servers: &Servers, data: PathBuf) -> Result<Value> {
    let clickhouse = load::into_cluster(load, servers, DATABASE)?;
    let embedded = load::into_files(load, servers, &data)?;
    let by_files = |key: &str| clickhouse[key].as_f64().zip(embedded[key].as_f64());
    let bytes_by_files =
        by_files("bytes_per_row").map(|(of_cluster, of_files)| of_cluster / of_files);
    let mut results = json!({
        "chains": load.chains, "rows": clickhouse["rows"], "shards": arguments.shards,
        "insert": { "clickhouse": clickhouse, "files": embedded, "bytes_by_files": bytes_by_files },
    });
    let files = StoreLocation::Files(data);
    let mut before = Vec::new();
    for (_, picture) in PICTURES {
        before.push(match arguments.no_linking_at_the_question {
            true => None,
            false => {
                let ask = |location: &StoreLocation| picture.ask(location, BEGIN_NS);
                Some(pictures::linking_at_the_question(servers, ask)?)
            }
        });
    }
    let linking = load::link(servers, DATABASE)?;
    let bytes = |of: &Value| of["bytes_per_row"].as_f64();
    let with_linked = bytes(&results["insert"]["clickhouse"]).zip(bytes(&linking["took"]));
    let with_linked = with_linked.zip(bytes(&results["insert"]["files"]));
    results["insert"]["bytes_by_files_once_linked"] =
        with_linked.map(|((rows, linked), files)| (rows + linked) / files).into();
    results["linking"] = linking;
    for ((name, picture), before) in PICTURES.into_iter().zip(before) {
        let ask = |location: &StoreLocation| picture.ask(location, BEGIN_NS);
        results[name] = pictures::beside(arguments.repeat, servers, &files, before, ask)?;
    }
    let others = [
        ("apcd", Question::apcd("MRTS::decodePlots")),
        ("sync", Question::sync("CWP::TargetView_redraw")),
    ];
    for (name, question) in others {
        let ask = |location: &StoreLocation| pictures::statistics(location, &question);
        results[name] = pictures::beside(1, servers, &files, None, ask)?;
    }
    results["page"] = page::opening(servers)?;
    Ok(results)
}
