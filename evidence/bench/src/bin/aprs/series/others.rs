//! What others do to a client, and what the recorder costs.

use super::{complete, feeds_of, latencies, measure};
use crate::Arguments;
use crate::load::{Plan, Trouble};
use crate::server::Settings;
use crate::table::Table;
use anyhow::Result;
use serde_json::{Value, json};

pub(crate) fn trouble(arguments: &Arguments) -> Result<Value> {
    let mut table = Table::new(
        "100 full feeds at 1000 lines/s while others misbehave",
        &["who", "CPU", "p50/p90/p99/max ms", "p99 to none", "complete"],
    );
    let mut rows = Vec::new();
    let mut alone = f64::NAN;
    for trouble in [Trouble::None, Trouble::Stuck, Trouble::Flood, Trouble::SlowLogin] {
        let plan = arguments.plan(feeds_of(100), 1000.0);
        let plan = Plan { trouble, others: trouble != Trouble::None, ..plan };
        let outcome = measure(&arguments.settings("adaptive"), &plan)?;
        if trouble == Trouble::None {
            alone = outcome.latency.p99_ms;
        }
        table.row(&[
            format!("{trouble:?}"),
            format!("{:.1} %", outcome.cpu * 100.0),
            latencies(&outcome.latency),
            format!("{:.2}", outcome.latency.p99_ms / alone),
            complete(&outcome),
        ]);
        rows.push(json!({ "who": format!("{trouble:?}"), "outcome": outcome }));
    }
    arguments.show(&table);
    Ok(Value::Array(rows))
}

/// Pairs of runs, on and off in turn: both see the same machine.
pub(crate) fn recorder(arguments: &Arguments) -> Result<Value> {
    let pairs = arguments.either(2, 5);
    let mut ratios = Vec::new();
    for pair in 0..pairs {
        let mut cpu = [0.0; 2];
        for turn in 0..2 {
            let on = (pair + turn) % 2;
            let settings = Settings { record: on == 1, ..arguments.settings("adaptive") };
            let plan = arguments.plan(feeds_of(100), 1000.0);
            cpu[on] = measure(&settings, &plan)?.cpu;
        }
        ratios.push(cpu[1] / cpu[0]);
    }
    ratios.sort_by(f64::total_cmp);
    let mut table = Table::new(
        "CPU with every packet recorded to CPU without, 100 full feeds at 1000 lines/s",
        &["pairs", "least", "median", "most"],
    );
    let cell = |ratio: f64| format!("{ratio:.4}");
    let median = ratios[pairs / 2];
    table.row(&[pairs.to_string(), cell(ratios[0]), cell(median), cell(ratios[pairs - 1])]);
    arguments.show(&table);
    Ok(json!({ "ratios": ratios, "median": median }))
}
