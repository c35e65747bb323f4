//! Rates far above the paper's: to many clients, and from few.

use super::{complete, feeds_of, latencies, measure, megabytes};
use crate::Arguments;
use crate::table::Table;
use anyhow::Result;
use serde_json::{Value, json};

pub(crate) fn ceiling(arguments: &Arguments) -> Result<Value> {
    let mut table = Table::new(
        "More and more lines to 400 full feeds",
        &["lines/s", "delivered/s", "MB/s", "CPU", "CPU-s/M", "p50/p90/p99/max ms", "complete"],
    );
    let mut rows = Vec::new();
    let rates = [2500.0, 5000.0, 7500.0, 10_000.0, 12_500.0, 15_000.0];
    for rate in arguments.either(&rates[2..3], &rates[..]) {
        let plan = arguments.plan(feeds_of(400), *rate);
        let outcome = measure(&arguments.settings("adaptive"), &plan)?;
        table.row(&[
            format!("{:.0} of {rate:.0}", outcome.rate),
            format!("{:.0}", outcome.delivered_per_s),
            format!("{:.0}", outcome.octets_per_s / 1e6),
            format!("{:.0} %", outcome.cpu * 100.0),
            format!("{:.3}", outcome.cpu_s_per_million),
            latencies(&outcome.latency),
            complete(&outcome),
        ]);
        rows.push(json!(outcome));
    }
    arguments.show(&table);
    Ok(Value::Array(rows))
}

pub(crate) fn input(arguments: &Arguments) -> Result<Value> {
    let mut table = Table::new(
        "Many lines to 5 full feeds",
        &["lines/s", "CPU", "us/line", "p50/p90/p99/max ms", "RSS MB", "complete"],
    );
    let mut rows = Vec::new();
    for rate in [20_000.0, 40_000.0, 80_000.0, 100_000.0] {
        if arguments.quick && rate < 100_000.0 {
            continue;
        }
        let plan = arguments.plan(feeds_of(5), rate);
        let outcome = measure(&arguments.settings("adaptive"), &plan)?;
        table.row(&[
            format!("{:.0} of {rate:.0}", outcome.rate),
            format!("{:.0} %", outcome.cpu * 100.0),
            format!("{:.2}", outcome.cpu_s_per_million_in),
            latencies(&outcome.latency),
            format!("{:.0}", megabytes(outcome.rss_kb)),
            complete(&outcome),
        ]);
        rows.push(json!(outcome));
    }
    arguments.show(&table);
    Ok(Value::Array(rows))
}
