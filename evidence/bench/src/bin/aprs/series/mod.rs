//! The series: each is a table, and the same as JSON.

mod bare;
pub(crate) mod bursts;
pub(crate) mod clients;
pub(crate) mod dupe_window;
pub(crate) mod feeds;
pub(crate) mod filtered;
pub(crate) mod frontier;
pub(crate) mod limit;
pub(crate) mod most;
pub(crate) mod others;
pub(crate) mod rates;
pub(crate) mod recorded;
pub(crate) mod soak;
pub(crate) mod workers;

use crate::load::{self, Latency, Outcome, Plan};
use crate::server::{Server, Settings};
use anyhow::Result;

/// Full feeds for so many clients.
fn feeds_of(client_count: usize) -> Vec<String> {
    vec![String::new(); client_count]
}

/// Every run has a server of its own: none starts with another's memory.
fn measure(settings: &Settings, plan: &Plan) -> Result<Outcome> {
    let server = Server::start(settings)?;
    let outcome = load::run(&server, plan)?;
    tell(plan, &outcome);
    Ok(outcome)
}

/// Progress: a line for each run.
fn tell(plan: &Plan, outcome: &Outcome) {
    eprintln!(
        "aprs: {} clients, {:.0} lines/s: {:.0} delivered/s, p99 {:.1} ms, {} missing; counters {}",
        plan.filters.len(),
        outcome.rate,
        outcome.delivered_per_s,
        outcome.latency.p99_ms,
        outcome.missing,
        agreement(outcome),
    );
}

/// Whether the server counted what the generator did.
fn agreement(outcome: &Outcome) -> String {
    match &outcome.status {
        None => "not read".to_owned(),
        Some(status) if status.difference_pct == 0.0 => "the same".to_owned(),
        Some(status) => format!("{:.3} % off ({})", status.difference_pct, status.differs_most),
    }
}

/// Whether all packets reached all clients, in order and once.
fn complete(outcome: &Outcome) -> String {
    match (outcome.missing, outcome.misordered, outcome.cut) {
        (0, 0, 0) => "yes".to_owned(),
        (missing, misordered, cut) => {
            format!("{missing} missing, {misordered} misordered, {cut} cut")
        }
    }
}

fn latencies(latency: &Latency) -> String {
    let Latency { p50_ms, p90_ms, p99_ms, max_ms } = latency;
    format!("{p50_ms:.1}/{p90_ms:.1}/{p99_ms:.1}/{max_ms:.1}")
}

#[allow(clippy::cast_precision_loss)]
fn megabytes(kilobytes: u64) -> f64 {
    kilobytes as f64 / 1000.0
}

/// Context switches a second: voluntary and involuntary.
fn switches(outcome: &Outcome) -> String {
    format!("{:.0}/{:.0}", outcome.voluntary_per_s, outcome.involuntary_per_s)
}
