//! Clients with filters. No line is repeated, so that each reaches the filters.

use super::{latencies, measure, megabytes};
use crate::Arguments;
use crate::filters;
use crate::load::{Outcome, Plan};
use crate::table::Table;
use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::{Value, json};

/// CPU time of the server, by what it did for it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct FilterCost {
    /// Packets a second that the duplicate check let through: those that reach the filters. The
    /// server's own count.
    uniques_per_s: f64,
    /// Packets a second times clients whose filters could let them through.
    pairs_per_s: f64,
    /// CPU time a packet received, microseconds.
    us_per_packet_in: f64,
    /// CPU time a packet that reaches the filters, microseconds.
    us_per_packet: f64,
    /// CPU time a packet and client with a filter, nanoseconds.
    ns_per_pair: f64,
}

impl FilterCost {
    /// Of a run in which all `client_count` clients had filters.
    ///
    /// # Errors
    /// When the server's counters were not read, or no packet reached the filters.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn of(outcome: &Outcome, client_count: usize) -> Result<Self> {
        let status = outcome.status.as_ref().context("the status page was not read")?;
        let (received_per_s, uniques_per_s) = (status.received_per_s, status.uniques_per_s);
        anyhow::ensure!(uniques_per_s > 0.0, "no packet reached the filters");
        let pairs_per_s = uniques_per_s * client_count as f64;
        Ok(Self {
            uniques_per_s,
            pairs_per_s,
            us_per_packet_in: outcome.cpu * 1e6 / received_per_s,
            us_per_packet: outcome.cpu * 1e6 / uniques_per_s,
            ns_per_pair: outcome.cpu * 1e9 / pairs_per_s,
        })
    }
}

pub(crate) fn filtered(arguments: &Arguments) -> Result<Value> {
    let mut table = Table::new(
        "1000 lines/s, none repeated, to clients with filters; CPU by a packet in, a packet that \
         reaches the filters, and a packet and client",
        &[
            "clients",
            "to filters/s",
            "out/s",
            "CPU",
            "us/packet in",
            "us/packet",
            "ns/pair",
            "p50/p90/p99/max ms",
            "RSS MB",
            "by callsign: due/got",
        ],
    );
    let mut rows = Vec::new();
    for client_count in [100, 400, 1000, 2000, 4000, 10_000] {
        if arguments.quick && ![400, 4000].contains(&client_count) {
            continue;
        }
        let plan = arguments.plan(filters::mixed(client_count), 1000.0);
        let plan = Plan { duplicates: 0.0, ..plan };
        let outcome = measure(&arguments.settings("adaptive"), &plan)?;
        let cost = FilterCost::of(&outcome, client_count)?;
        let [due, got] = outcome.named;
        table.row(&[
            client_count.to_string(),
            format!("{:.0}", cost.uniques_per_s),
            format!("{:.0}", outcome.delivered_per_s),
            format!("{:.1} %", outcome.cpu * 100.0),
            format!("{:.1}", cost.us_per_packet_in),
            format!("{:.1}", cost.us_per_packet),
            format!("{:.1}", cost.ns_per_pair),
            latencies(&outcome.latency),
            format!("{:.1}", megabytes(outcome.rss_kb)),
            format!("{due}/{got}"),
        ]);
        rows.push(json!({ "clients": client_count, "outcome": outcome, "cost": cost }));
    }
    arguments.show(&table);
    Ok(Value::Array(rows))
}

#[cfg(test)]
mod tests {
    use super::FilterCost;
    use crate::load::Outcome;
    use crate::status::StatusPage;

    #[test]
    fn cost_is_by_what_reaches_the_filters() {
        // Half a core for 1000 packets a second, 200 of them repeated, and 50 clients.
        let status =
            StatusPage { received_per_s: 1000.0, uniques_per_s: 800.0, ..StatusPage::default() };
        let outcome = Outcome { cpu: 0.5, status: Some(status), ..Outcome::default() };
        let cost = FilterCost::of(&outcome, 50).unwrap();
        assert_eq!((cost.uniques_per_s, cost.pairs_per_s), (800.0, 40_000.0));
        assert_eq!((cost.us_per_packet_in, cost.us_per_packet), (500.0, 625.0));
        assert_eq!(cost.ns_per_pair, 12_500.0);
        assert!(FilterCost::of(&Outcome::default(), 50).is_err());
    }
}
