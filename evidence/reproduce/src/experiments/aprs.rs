//! aprsc: the APRS-IS server under load.

mod clients;
mod feeds;
mod line;
mod requirements;
mod status;
mod threads;

use super::{list, number};
use crate::outcome::ItemResults;
use crate::run::Run;
use anyhow::Result;
use serde_json::Value;

/// Series of the load generator that are read here.
const SERIES: [&str; 9] = [
    "paper",
    "live",
    "full-feed",
    "filters",
    "clients",
    "ceiling",
    "workers",
    "bursts",
    "dupe-window",
];

/// Runs the load generator, which starts a server of its own for each point.
///
/// # Errors
/// When it fails.
pub fn run(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    let packets = run.root.join("tools/packets");
    let recording = run.tool("packets", &packets).text();
    run.go_on()?; // whatever the recording's end, it was not the signal
    let quick = run.quick;
    let mut call = run.call("aprs")?.arg("--json");
    if quick {
        call = call.arg("--quick");
    }
    if let Ok(path) = &recording {
        call = call.arg("--recording").arg(path.trim()).arg("recorded");
    }
    items(&call.args(SERIES).json()?)
}

/// The items, out of what the load generator printed.
fn items(printed: &Value) -> Result<Vec<ItemResults>> {
    Ok(vec![
        requirements::requirements(printed)?,
        threads::threads(printed)?,
        clients::memory(printed)?,
        feeds::full_feed(printed)?,
        status::status(printed)?,
        clients::filtered(printed)?,
        clients::live(printed)?,
    ])
}

/// Whether all packets reached all clients, in order and once.
fn is_complete(outcome: &Value) -> bool {
    lost(outcome) == 0.0
}

/// Packets that clients missed, got late or twice, and clients that were cut; NaN where the program
/// did not count them.
fn lost(outcome: &Value) -> f64 {
    let counts = ["missing", "misordered", "cut"].iter();
    counts.map(|key| outcome[*key].as_f64().unwrap_or(f64::NAN)).sum()
}

#[cfg(test)]
mod tests;
