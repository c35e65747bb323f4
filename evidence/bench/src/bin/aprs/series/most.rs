//! The most lines a second that the server delivers whole to 400 full feeds. Most of these only
//! count octets, so that the generator leaves the processors to the server.

use super::{complete, feeds_of, latencies, measure};
use crate::Arguments;
use crate::load::{Outcome, Plan};
use crate::table::Table;
use anyhow::Result;
use serde_json::{Value, json};

const CLIENTS: usize = 400;
/// Of these, those that check each line.
const CHECKING: usize = 8;
/// Lines a second to begin with, and the most that are tried.
const FROM: f64 = 20_000.0;
const UP_TO: f64 = 640_000.0;
/// Halvings of the step between the largest rate that was delivered and the least that was not.
const HALVINGS: u32 = 3;
/// The generator must have sent so much of what it was to send.
const SENT_MIN: f64 = 0.97;
/// A server that lags further behind does not keep up, whatever it makes up for later.
const P99_MS_MAX: f64 = 1000.0;

pub(crate) fn most(arguments: &Arguments) -> Result<Value> {
    let mut table = Table::new(
        "The most that 400 full feeds get whole (392 of them count octets, 8 check each line)",
        &[
            "lines/s",
            "delivered/s",
            "GB/s",
            "CPU",
            "user",
            "generator",
            "CPU-s/M",
            "p50/p90/p99/max ms",
            "load",
            "complete",
        ],
    );
    let mut rows = Vec::new();
    let (mut good, mut bad) = (None, None);
    let mut rate = FROM;
    let mut halvings = 0;
    loop {
        let plan = Plan {
            duplicates: 0.0,
            sinks: CLIENTS - CHECKING,
            ..arguments.plan(feeds_of(CHECKING), rate)
        };
        let outcome = measure(&arguments.default_settings("adaptive"), &plan)?;
        let keeps_up = keeps_up(&outcome, rate);
        row(&mut table, rate, &outcome, keeps_up);
        rows.push(json!({ "rate": rate, "keeps_up": keeps_up, "outcome": outcome }));
        if keeps_up {
            good = Some(rate);
        } else {
            bad = Some(rate);
        }
        rate = match (good, bad) {
            (Some(good), None) if good < UP_TO => 2.0 * good,
            (Some(good), Some(bad)) if halvings < HALVINGS => (good + bad) / 2.0,
            (None, Some(bad)) if halvings < HALVINGS => bad / 2.0,
            _ => break,
        };
        halvings += u32::from(bad.is_some());
    }
    arguments.show(&table);
    let delivered = good.map(|rate| rate * count(CLIENTS));
    Ok(json!({ "lines_per_s": good, "delivered_per_s": delivered, "runs": rows }))
}

fn keeps_up(outcome: &Outcome, rate: f64) -> bool {
    let is_whole = (outcome.missing, outcome.misordered, outcome.cut) == (0, 0, 0);
    is_whole && outcome.rate >= SENT_MIN * rate && outcome.latency.p99_ms <= P99_MS_MAX
}

#[allow(clippy::cast_precision_loss)]
fn count(clients: usize) -> f64 {
    clients as f64
}

fn row(table: &mut Table, rate: f64, outcome: &Outcome, keeps_up: bool) {
    // All get the same: what those who check got, times all.
    let all = count(CLIENTS) / count(CHECKING);
    let delivered_per_s = outcome.delivered_per_s * all;
    table.row(&[
        format!("{:.0} of {rate:.0}{}", outcome.rate, if keeps_up { "" } else { ", too many" }),
        format!("{delivered_per_s:.0}"),
        format!("{:.2}", outcome.octets_per_s * all / 1e9),
        format!("{:.0} %", outcome.cpu * 100.0),
        format!("{:.0} %", outcome.user * 100.0),
        format!("{:.0} %", outcome.generator_cpu * 100.0),
        format!("{:.3}", outcome.cpu * 1e6 / delivered_per_s),
        latencies(&outcome.latency),
        format!("{:.1}", outcome.load_average),
        complete(outcome),
    ]);
}

#[cfg(test)]
mod tests {
    use super::keeps_up;
    use crate::load::{Latency, Outcome};

    #[test]
    fn a_rate_is_delivered_when_all_of_it_is_sent_whole_and_in_time() {
        let latency = Latency { p99_ms: 20.0, ..Latency::default() };
        let good = Outcome { rate: 99.0, latency, ..Outcome::default() };
        assert!(keeps_up(&good, 100.0));
        assert!(!keeps_up(&good, 110.0), "the generator did not get rid of all");
        assert!(!keeps_up(&Outcome { missing: 1, ..good.clone() }, 100.0));
        assert!(!keeps_up(&Outcome { cut: 1, ..good.clone() }, 100.0));
        let latency = Latency { p99_ms: 1001.0, ..latency };
        assert!(!keeps_up(&Outcome { latency, ..good }, 100.0));
    }
}
