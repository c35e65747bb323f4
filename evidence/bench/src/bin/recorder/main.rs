//! Benchmark of a begin/end pair, beside its peers and beside the clock reads that bound it.
//!
//! Every case runs in every round, one after the other: a disturbance then hits all alike. Figures
//! are medians over the rounds, ratios are taken within a round.

mod arm4;
mod measure;
mod ours;
mod peers;

use anyhow::Context;
use clap::Parser;
use measure::{Case, Cost};
use serde_json::{Value, json};
use std::process::Command;

/// Costs of the recorder, in nanoseconds a begin/end pair.
#[derive(Parser)]
struct Arguments {
    /// Number of rounds; figures are medians over them.
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// Time of a case in a round, in milliseconds.
    #[arg(long, default_value_t = 20)]
    slice_ms: u64,
    /// Print the results as JSON.
    #[arg(long)]
    json: bool,
    /// Internal: run only the reference and the plain pair, under this name.
    #[arg(long, hide = true)]
    pair: Option<String>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    chronoscope_record::init("bench");
    let result = run(&arguments);
    if let Some(ring) = chronoscope_record::ring_path() {
        std::fs::remove_file(ring)?;
    }
    arm4::remove_ring()?;
    result
}

fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let slice_ns = arguments.slice_ms * 1_000_000;
    let mut cases: Vec<Case> = ours::clocks();
    if arguments.pair.is_some() {
        cases.truncate(1);
        cases.push(ours::pair("record: pair, elapsed only"));
    } else {
        cases.extend(ours::all());
        cases.extend(arm4::all());
        cases.extend(peers::all()?);
    }
    let costs = measure::interleaved(&mut cases, arguments.rounds, slice_ns);
    let mut rows: Vec<Value> = costs.iter().map(|cost| row(cost, &costs[0])).collect();
    if arguments.pair.is_none() {
        rows.insert(3, elapsed_only(arguments)?);
    }
    if arguments.json || arguments.pair.is_some() {
        let method = chronoscope_record::cpu_method().map(|method| method.name());
        println!("{}", json!({ "version": 1, "cpu_method": method, "costs": rows }));
    } else {
        print_table(&rows);
    }
    Ok(())
}

fn row(cost: &Cost, yardstick: &Cost) -> Value {
    json!({
        "name": cost.name,
        "median_ns": cost.median_ns(),
        "min_ns": cost.min_ns(),
        "ratio": cost.median_ratio(yardstick),
    })
}

/// The pair without CPU time is another setting of the whole process: in one of its own, with its
/// own yardstick beside it.
fn elapsed_only(arguments: &Arguments) -> anyhow::Result<Value> {
    let output = Command::new(std::env::current_exe()?)
        .args(["--pair", "elapsed only", "--rounds", &arguments.rounds.to_string()])
        .args(["--slice-ms", &arguments.slice_ms.to_string()])
        .env("CHRONOSCOPE_CPU", "off")
        .output()?;
    let answer: Value = serde_json::from_slice(&output.stdout).context("the elapsed-only run")?;
    Ok(answer["costs"][1].clone())
}

fn print_table(rows: &[Value]) {
    let method = chronoscope_record::cpu_method().map_or("off", |method| method.name());
    println!(
        "{:42} {:>9} {:>9} {:>7}",
        format!("thread CPU by {method}"),
        "median",
        "min",
        "ratio"
    );
    for row in rows {
        println!(
            "{:42} {:>6.1} ns {:>6.1} ns {:>7.2}",
            row["name"].as_str().unwrap_or_default(),
            row["median_ns"].as_f64().unwrap_or_default(),
            row["min_ns"].as_f64().unwrap_or_default(),
            row["ratio"].as_f64().unwrap_or_default(),
        );
    }
    println!("ratio: to two clock reads in the same round; min: the quickest round");
}
