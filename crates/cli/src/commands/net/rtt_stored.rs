//! `chronoscope net rtt --from-store`: round trips that were measured before, by anybody.

use super::stored;
use super::table::range;
use crate::args::net::Rtt;
use crate::exit::Exit;
use crate::screen::show;
use crate::text::{Table, count, duration};
use crate::times::Zone;
use anyhow::Result;
use chronoscope_formats::json;
use chronoscope_net::probe::Series;
use chronoscope_net::rows::RoundTrip;
use chronoscope_statistics::{Quantile, nearest_rank};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Round trips between two hosts by one kind with one size: `from`, `to`, `by`, octets.
type Between = (String, String, String, u64);

/// Largest number of pairs of hosts; rows of others are counted.
const PAIRS_MAX: usize = 10_000;

/// Stored round trips of one pair.
#[derive(Default)]
struct Stored {
    series: Series,
    firsts_ns: Vec<u64>,
}

impl Stored {
    fn take(&mut self, row: &RoundTrip) {
        if row.first {
            self.firsts_ns.extend(row.took_ns);
        } else {
            self.series.steady.push((row.start_ns, row.took_ns));
        }
    }
}

/// Shows the measurements since `from`.
pub(super) fn from_store(args: &Rtt, from: &str) -> Result<Exit> {
    let range = range(from, None, &Zone::new(false))?;
    let source = args.data.source()?;
    let mut all: BTreeMap<Between, Stored> = BTreeMap::new();
    let mut left_out = 0_u64;
    stored::round_trips(&source, &range, &mut |row| {
        let key = (row.from.clone(), row.to.clone(), row.by.clone(), row.octets);
        if all.len() < PAIRS_MAX || all.contains_key(&key) {
            all.entry(key).or_default().take(&row);
        } else {
            left_out += 1;
        }
    })?;
    if left_out > 0 {
        say!("{} round trips of too many pairs of hosts were left out", count(left_out));
    }
    if all.is_empty() {
        say!("no round trips in {source} since then: chronoscope net rtt TARGET makes them");
        return Ok(Exit::Nothing);
    }
    for stored in all.values_mut() {
        stored.firsts_ns.sort_unstable();
    }
    if args.json {
        let pairs: Vec<Value> = all.iter().map(document).collect();
        show(&format!("{:#}\n", json::document("rtt", json!({ "stored": pairs }))))?;
    } else {
        show(&table(&all))?;
    }
    Ok(Exit::Done)
}

fn table(all: &BTreeMap<Between, Stored>) -> String {
    let heading = ["", "octets", "first", "best", "p50", "p90", "p99", "max", "steady", "lost"];
    let mut table = Table::new(&heading);
    for ((from, to, by, octets), stored) in all {
        let time = |ns: Option<u64>| ns.map_or("–".to_owned(), |ns| duration(ns as f64));
        let summary = stored.series.summary();
        table.row(vec![
            format!("{from} to {to} by {by}"),
            count(*octets),
            time(nearest_rank(&stored.firsts_ns, Quantile::P50)),
            time(summary.best_ns),
            time(summary.p50_ns),
            time(summary.p90_ns),
            time(summary.p99_ns),
            time(summary.max_ns),
            count(summary.count),
            count(summary.lost),
        ]);
    }
    table.to_string()
}

fn document(((from, to, by, octets), stored): (&Between, &Stored)) -> Value {
    let summary = stored.series.summary();
    json!({
        "from": from,
        "to": to,
        "by": by,
        "octets": octets,
        "firsts": stored.firsts_ns.len(),
        "first_p50_ns": nearest_rank(&stored.firsts_ns, Quantile::P50),
        "first_max_ns": stored.firsts_ns.last(),
        "count": summary.count,
        "lost": summary.lost,
        "best_ns": summary.best_ns,
        "p50_ns": summary.p50_ns,
        "p90_ns": summary.p90_ns,
        "p99_ns": summary.p99_ns,
        "max_ns": summary.max_ns,
    })
}
