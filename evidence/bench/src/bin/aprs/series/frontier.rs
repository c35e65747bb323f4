//! CPU against latency: the server writes at fixed intervals, and at its own. Beside each the kernel
//! alone makes writes of the same number and size, which no interval can do without.

use super::bare::{Bare, Writes};
use super::{complete, feeds_of, measure};
use crate::Arguments;
use crate::filters;
use crate::load::{Outcome, Plan};
use crate::table::Table;
use anyhow::Result;
use serde_json::{Value, json};

/// Clients, and what is to be reached with them at 1000 lines a second.
struct Crowd {
    what: &'static str,
    filters: fn() -> Vec<String>,
    /// Intervals to run, in milliseconds.
    intervals_ms: &'static [u32],
    /// CPU seconds: a million packets delivered for full feeds, a million lines in for filters.
    cpu_aim_s: f64,
    p99_aim_ms: f64,
    cpu_of: fn(&Outcome) -> f64,
}

const CROWDS: [Crowd; 2] = [
    Crowd {
        what: "400 full feeds; CPU-s a million packets delivered",
        filters: || feeds_of(400),
        intervals_ms: &[4, 6, 8, 10, 14, 20, 36, 72],
        cpu_aim_s: 0.40,
        p99_aim_ms: 10.0,
        cpu_of: |outcome| outcome.cpu_s_per_million,
    },
    Crowd {
        what: "4000 filtered clients; CPU-s a million lines in",
        filters: || filters::mixed(4000),
        intervals_ms: &[8, 16, 24, 40, 72, 144],
        cpu_aim_s: 120.0,
        p99_aim_ms: 25.0,
        cpu_of: |outcome| outcome.cpu_s_per_million_in,
    },
];

pub(crate) fn frontier(arguments: &Arguments) -> Result<Value> {
    let mut results = serde_json::Map::new();
    for crowd in &CROWDS {
        let mut table = Table::new(
            "CPU against latency at 1000 lines/s, none repeated, by the interval of writing",
            &[
                crowd.what,
                "user",
                "system",
                "to aim",
                "p50",
                "p99 ms",
                "to aim",
                "writes/s",
                "octets",
                "us/write",
                "bare",
                "to bare",
                "bare CPU-s",
                "generator",
                "load",
                "complete",
            ],
        );
        let mut rows = Vec::new();
        let fixed = crowd.intervals_ms.iter().map(|ms| format!("{ms}ms"));
        for batching in ["adaptive".to_owned()].into_iter().chain(fixed) {
            rows.push(point(arguments, crowd, &batching, &mut table)?);
        }
        arguments.show(&table);
        results.insert(crowd.what.to_owned(), Value::Array(rows));
    }
    Ok(Value::Object(results))
}

/// One interval, and right after it the kernel alone.
fn point(arguments: &Arguments, crowd: &Crowd, batching: &str, table: &mut Table) -> Result<Value> {
    let plan = Plan { duplicates: 0.0, ..arguments.plan((crowd.filters)(), 1000.0) };
    let outcome = measure(&arguments.default_settings(batching), &plan)?;
    let (writes, bare) = same_writes(&outcome, plan.filters.len(), arguments.either(0.7, 2.0))?;
    let cpu_s = (crowd.cpu_of)(&outcome);
    let write_us = outcome.cpu * 1e6 / outcome.reads_per_s.max(1.0);
    let p99_ms = outcome.latency.p99_ms;
    table.row(&[
        format!("{batching}: {cpu_s:.3}"),
        format!("{:.3}", cpu_s * outcome.user / outcome.cpu),
        format!("{:.3}", cpu_s * outcome.system / outcome.cpu),
        format!("{:.2}", cpu_s / crowd.cpu_aim_s),
        format!("{:.1}", outcome.latency.p50_ms),
        format!("{p99_ms:.1}"),
        format!("{:.2}", p99_ms / crowd.p99_aim_ms),
        format!("{:.0}", writes.per_s),
        writes.octets.to_string(),
        format!("{write_us:.2}"),
        format!("{:.2}", bare.write_us),
        format!("{:.2}", write_us / bare.write_us),
        format!("{:.3}", cpu_s * bare.write_us / write_us),
        format!("{:.0} %", outcome.generator_cpu * 100.0),
        format!("{:.1}", outcome.load_average),
        complete(&outcome),
    ]);
    Ok(json!({
        "batching": batching, "outcome": outcome, "cpu_s": cpu_s, "cpu_aim_s": crowd.cpu_aim_s,
        "p99_aim_ms": crowd.p99_aim_ms, "write_us": write_us, "writes": writes, "bare": bare,
    }))
}

/// The kernel's cost of as many writes as the server made, of as many octets each.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn same_writes(outcome: &Outcome, sockets: usize, seconds: f64) -> Result<(Writes, Bare)> {
    let octets = (outcome.octets_per_s / outcome.reads_per_s.max(1.0)) as usize;
    let writes = Writes { sockets, octets, per_s: outcome.reads_per_s.max(1.0), burst: 32 };
    Ok((writes, writes.cost(seconds)?))
}
