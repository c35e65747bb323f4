//! Recorded packets at the rate at which they were recorded.

use super::filtered::FilterCost;
use super::{agreement, complete, feeds_of, latencies, measure};
use crate::Arguments;
use crate::filters;
use crate::load::Plan;
use crate::table::Table;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) fn recorded(arguments: &Arguments) -> Result<Value> {
    let recording = arguments.recorded()?;
    let recording = recording
        .context("the series recorded needs --recording FILE; tools/packets fetches one")?;
    let mut table = Table::new(
        "Recorded packets at their own rate, none repeated, each with its mark behind it",
        &[
            "clients",
            "lines/s",
            "octets/line",
            "delivered/s",
            "CPU",
            "CPU-s/M",
            "p50/p90/p99/max ms",
            "complete",
            "counters",
        ],
    );
    let mut rows = Vec::new();
    let all = [("400 full feeds", feeds_of(400)), ("1000 filtered", filters::mixed(1000))];
    for (who, receivers) in &all[..arguments.either(1, 2)] {
        let plan = arguments.plan(receivers.clone(), recording.rate());
        let plan = Plan { duplicates: 0.0, recording: Some(Arc::clone(&recording)), ..plan };
        let outcome = measure(&arguments.settings("adaptive"), &plan)?;
        let octets = outcome.octets_per_s / outcome.delivered_per_s;
        table.row(&[
            (*who).to_owned(),
            format!("{:.0}", outcome.rate),
            format!("{octets:.0}"),
            format!("{:.0}", outcome.delivered_per_s),
            format!("{:.1} %", outcome.cpu * 100.0),
            format!("{:.3}", outcome.cpu_s_per_million),
            latencies(&outcome.latency),
            complete(&outcome),
            agreement(&outcome),
        ]);
        let filtered = !receivers[0].is_empty();
        let cost = filtered.then(|| FilterCost::of(&outcome, receivers.len())).transpose()?;
        rows.push(json!({ "clients": who, "outcome": outcome, "cost": cost }));
    }
    arguments.show(&table);
    Ok(json!({
        "packets": recording.packets().len(), "left_out": recording.left_out(),
        "rate": recording.rate(), "rows": rows,
    }))
}
