//! Full feeds, the paper's run of 640 of them, and its 150 real clients.

use super::{agreement, complete, feeds_of, latencies, measure, megabytes, switches, tell};
use crate::Arguments;
use crate::filters;
use crate::load::{self, Outcome, Plan};
use crate::process;
use crate::server::Server;
use crate::status::StatusPage;
use crate::table::Table;
use anyhow::{Context, Result};
use chronoscope_clock as clock;
use serde_json::{Value, json};
use std::time::Duration;

pub(crate) fn full_feed(arguments: &Arguments) -> Result<Value> {
    let mut table = Table::new(
        "1000 lines/s, a quarter repeated; full feeds",
        &[
            "clients",
            "batching",
            "delivered/s",
            "CPU",
            "CPU-s/M",
            "p50/p90/p99/max ms",
            "switches/s",
            "RSS MB",
            "complete",
        ],
    );
    let mut rows = Vec::new();
    for clients in [50, 100, 200, 400, 640] {
        for batching in ["adaptive", "latency", "throughput"] {
            // The short form has the default's line, the other ways at one point, and 640 in
            // the paper's run.
            if arguments.quick && (clients == 640 || batching != "adaptive" && clients != 400) {
                continue;
            }
            let plan = arguments.plan(feeds_of(clients), 1000.0);
            let outcome = measure(&arguments.settings(batching), &plan)?;
            table.row(&[
                clients.to_string(),
                batching.to_owned(),
                format!("{:.0}", outcome.delivered_per_s),
                format!("{:.1} %", outcome.cpu * 100.0),
                format!("{:.3}", outcome.cpu_s_per_million),
                latencies(&outcome.latency),
                switches(&outcome),
                format!("{:.1}", megabytes(outcome.rss_kb)),
                complete(&outcome),
            ]);
            rows.push(json!({ "clients": clients, "batching": batching, "outcome": outcome }));
        }
    }
    arguments.show(&table);
    Ok(Value::Array(rows))
}

/// The paper's run, and the server's status page beside the paper's and the generator's counts.
pub(crate) fn paper(arguments: &Arguments) -> Result<Value> {
    let window_s = arguments.either(3.0, 10.0);
    let plan = Plan { window_s, ..arguments.plan(feeds_of(640), 1024.0) };
    let outcome = measure(&arguments.settings("adaptive"), &plan)?;
    let status = outcome.status.as_ref().context("the status page was not read")?;
    arguments.show(&status_table(status));
    arguments.show(&paper_table(&outcome));
    Ok(json!(outcome))
}

/// The rows of the paper's page, as it shows them.
fn status_table(status: &StatusPage) -> Table {
    const PAPER: [[&str; 2]; 12] = [
        ["643", "0"],
        ["4184", "0"],
        ["583651420", "92261"],
        ["93610818215", "45819041"],
        ["0", "0"],
        ["0", "0"],
        ["6431545", "1024"],
        ["1029937677", "507803"],
        ["0", "0"],
        ["0", "0"],
        ["1677258", "252"],
        ["4754043", "794"],
    ];
    let mut table = Table::new(
        "The server's status page with 640 full feeds (the paper's: a 2007 Xeon, another duration)",
        &["", "total", "rate /s", "generator's total", "paper: total", "rate /s"],
    );
    for (row, [total, rate]) in status.rows.iter().zip(PAPER) {
        table.row(&[
            row.name.to_owned(),
            row.total.to_string(),
            format!("{:.0}", row.rate),
            row.generator.to_string(),
            total.to_owned(),
            rate.to_owned(),
        ]);
    }
    table
}

fn paper_table(outcome: &Outcome) -> Table {
    let mut table = Table::new(
        "The same run",
        &["CPU", "p50/p90/p99/max ms", "switches/s", "threads", "complete", "counters"],
    );
    table.row(&[
        format!("{:.1} %", outcome.cpu * 100.0),
        latencies(&outcome.latency),
        switches(outcome),
        outcome.threads[1].to_string(),
        complete(outcome),
        agreement(outcome),
    ]);
    table
}

/// 150 clients at 50 lines a second, as the paper's were; which threads the server has meanwhile.
pub(crate) fn live(arguments: &Arguments) -> Result<Value> {
    let server = Server::start(&arguments.settings("adaptive"))?;
    let plan = arguments.plan(filters::mixed(150), 50.0);
    let middle = Duration::from_secs_f64(plan.warm_s + plan.window_s / 2.0);
    let (threads, outcome) = std::thread::scope(|scope| {
        let load = scope.spawn(|| load::run(&server, &plan));
        clock::sleep(middle);
        (process::thread_names(server.process()), load.join())
    });
    let outcome = outcome.map_err(|_| anyhow::anyhow!("the clients' thread panicked"))??;
    tell(&plan, &outcome);
    let threads = threads?;
    let mut table = Table::new(
        "150 clients with filters at 50 lines/s (the paper: real clients, four CPUs of 3 GHz)",
        &["", "javAPRSSrvr", "aprsc", "ours"],
    );
    let mut row = |what: &str, theirs: [&str; 2], ours: String| {
        table.row(&[what.to_owned(), theirs[0].to_owned(), theirs[1].to_owned(), ours]);
    };
    row("resident memory, MB", ["125", "29"], format!("{:.1}", megabytes(outcome.rss_kb)));
    row("CPU, % of one core", ["16.8", "1.2"], format!("{:.2}", outcome.cpu * 100.0));
    row("threads", ["367", "7"], threads.len().to_string());
    arguments.show(&table);
    Ok(json!({ "clients": 150, "threads": threads, "outcome": outcome }))
}
