//! Worker threads: the same load served by 1, 2, 4 and 8.

use super::{complete, feeds_of, latencies, measure, switches};
use crate::Arguments;
use crate::server::Settings;
use crate::table::Table;
use anyhow::Result;
use serde_json::{Value, json};

pub(crate) fn workers(arguments: &Arguments) -> Result<Value> {
    let mut table = Table::new(
        "Worker threads: 400 full feeds at 1000 lines/s; context switches a second, voluntary and \
         involuntary",
        &[
            "workers",
            "threads: idle/then",
            "CPU",
            "CPU-s/M",
            "switches/s",
            "switches/packet out",
            "p50/p90/p99/max ms",
            "complete",
        ],
    );
    let mut rows = Vec::new();
    for workers in arguments.either(&[1, 2][..], &[1, 2, 4, 8]) {
        let settings = Settings { workers: *workers, ..arguments.settings("adaptive") };
        let outcome = measure(&settings, &arguments.plan(feeds_of(400), 1000.0))?;
        let all_per_s = outcome.voluntary_per_s + outcome.involuntary_per_s;
        table.row(&[
            workers.to_string(),
            format!("{}/{}", outcome.threads[0], outcome.threads[1]),
            format!("{:.1} %", outcome.cpu * 100.0),
            format!("{:.3}", outcome.cpu_s_per_million),
            switches(&outcome),
            format!("{:.5}", all_per_s / outcome.delivered_per_s),
            latencies(&outcome.latency),
            complete(&outcome),
        ]);
        rows.push(json!({ "workers": workers, "outcome": outcome }));
    }
    arguments.show(&table);
    Ok(Value::Array(rows))
}
