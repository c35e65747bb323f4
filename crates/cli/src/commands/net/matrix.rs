//! `chronoscope net matrix`: round trips between all pairs of hosts.

use super::collection::Collection;
use crate::args::net::{Matrix, Shown};
use crate::environment;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::{progress, show};
use crate::text::{Table, duration};
use anyhow::{Context, Result};
use chronoscope_formats::json;
use chronoscope_net::answer::Token;
use chronoscope_net::matrix::{self, Cell, Host, Options};
use chronoscope_net::probe::{Series, Summary};
use chronoscope_net::rows::RoundTrip;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A row or column is marked when its median exceeds that of all by this factor.
const SLOW: f64 = 1.5;

/// Runs the command.
pub(crate) fn matrix(args: &Matrix) -> Result<Exit> {
    let interrupt = Interrupt::install()?;
    let hosts = hosts(args)?;
    let token = environment::token(args.token_file.as_deref())?;
    let options = Options {
        token: token.as_ref().map(|token| Token::new(token.secret())),
        octets: args.size as usize,
        count: args.count,
        every: args.every,
        timeout: args.timeout,
        at_once: args.at_once as usize,
    };
    let collection = Collection::begin(&args.data)?;
    let mut found = Found::default();
    let pairs = hosts.len() * hosts.len();
    let mut cell = |from: usize, to: usize, cell: &Cell| {
        if let Some(series) = cell.series() {
            record(&series, &hosts[from].name, &hosts[to].name, u64::from(args.size));
        }
        found.take(from, to, cell);
        progress(&format!("{} of {pairs} pairs", found.cells.len() + found.failed.len()));
    };
    matrix::measure(&hosts, &options, interrupt.flag(), &mut cell);
    progress("");
    if args.json {
        show(&format!("{:#}\n", json::document("matrix", document(&hosts, &found)?)))?;
    } else {
        show(&words(args, &hosts, &found))?;
    }
    collection.end()?;
    let measured = found.cells.keys().any(|(from, to)| from != to);
    if interrupt.is_set() {
        say!("interrupted: pairs that were not measured are empty");
    }
    Ok(if measured { Exit::Done } else { Exit::Nothing })
}

fn hosts(args: &Matrix) -> Result<Vec<Host>> {
    let Some(path) = &args.hosts else { return Ok(matrix::hosts(&args.to.join("\n"))?) };
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    matrix::hosts(&text).with_context(|| path.display().to_string())
}

/// Records each round trip of a series.
pub(super) fn record(series: &Series, from: &str, to: &str, octets: u64) {
    let mut row = RoundTrip {
        from: from.to_owned(),
        to: to.to_owned(),
        by: "udp".to_owned(),
        first: true,
        octets,
        start_ns: series.start_ns,
        took_ns: series.first_ns,
    };
    row.record();
    row.first = false;
    for (start_ns, took_ns) in &series.steady {
        (row.start_ns, row.took_ns) = (*start_ns, *took_ns);
        row.record();
    }
}

/// Measured pairs.
#[derive(Default)]
struct Found {
    cells: BTreeMap<(usize, usize), Summary>,
    failed: BTreeMap<(usize, usize), String>,
}

impl Found {
    fn take(&mut self, from: usize, to: usize, cell: &Cell) {
        match cell {
            Cell::Measured(measured) => {
                let summary = Series::from(measured.clone()).summary();
                if summary.count == 0 && summary.first_ns.is_none() {
                    let why = measured.loss.clone().unwrap_or_else(|| "lost".to_owned());
                    self.failed.insert((from, to), format!("all round trips were lost: {why}"));
                } else {
                    self.cells.insert((from, to), summary);
                }
            }
            Cell::Failed(why) => {
                self.failed.insert((from, to), why.clone());
            }
        }
    }

    /// Median of the measured pairs of different hosts that `of` selects.
    fn median(&self, of: impl Fn(usize, usize) -> bool) -> Option<u64> {
        let pairs = self.cells.iter().filter(|((from, to), _)| from != to && of(*from, *to));
        let mut all: Vec<u64> = pairs.filter_map(|(_, summary)| summary.p50_ns).collect();
        all.sort_unstable();
        chronoscope_statistics::nearest_rank(&all, chronoscope_statistics::Quantile::P50)
    }

    fn is_slow(&self, median: Option<u64>) -> bool {
        let all = self.median(|_, _| true);
        median.zip(all).is_some_and(|(own, all)| own as f64 > SLOW * all as f64)
    }
}

fn words(args: &Matrix, hosts: &[Host], found: &Found) -> String {
    let shown: &[(Shown, &str)] = match args.show {
        Shown::Median => &[(Shown::Median, "median")],
        Shown::Best => &[(Shown::Best, "best")],
        Shown::First => &[(Shown::First, "first")],
        Shown::All => &[(Shown::Median, "median"), (Shown::Best, "best"), (Shown::First, "first")],
    };
    let mut words = String::new();
    for (which, name) in shown {
        words += &table(hosts, found, *which, name);
        words.push('\n');
    }
    let slow = |of: &dyn Fn(usize) -> Option<u64>| -> Vec<&str> {
        let all = hosts.iter().enumerate();
        all.filter(|(host, _)| found.is_slow(of(*host))).map(|(_, h)| h.name.as_str()).collect()
    };
    let asks = slow(&|host| found.median(|from, _| from == host));
    let replies = slow(&|host| found.median(|_, to| to == host));
    if !asks.is_empty() {
        words += &format!("> slow to ask (row): {}\n", asks.join(", "));
    }
    if !replies.is_empty() {
        words += &format!("> slow to reply (column): {}\n", replies.join(", "));
    }
    for ((from, to), why) in &found.failed {
        words += &match from == to {
            true => format!("– {}: {why}\n", hosts[*from].name),
            false => format!("– {} to {}: {why}\n", hosts[*from].name, hosts[*to].name),
        };
    }
    words
}

/// Rows ask, columns reply; they are numbered, as names are too long for so many.
fn table(hosts: &[Host], found: &Found, which: Shown, name: &str) -> String {
    let mark = |number: usize, median| match found.is_slow(median) {
        true => format!("{number} >"),
        false => number.to_string(),
    };
    let mut heading = vec![format!("{name}, from … to")];
    heading.extend((0..hosts.len()).map(|to| mark(to + 1, found.median(|_, t| t == to))));
    let mut table = Table::new(&heading.iter().map(String::as_str).collect::<Vec<_>>());
    for (from, host) in hosts.iter().enumerate() {
        let number = mark(from + 1, found.median(|f, _| f == from));
        let mut row = vec![format!("{number} {}", host.name)];
        row.extend((0..hosts.len()).map(|to| {
            let ns = found.cells.get(&(from, to)).and_then(|summary| match which {
                Shown::Best => summary.best_ns,
                Shown::First => summary.first_ns,
                Shown::Median | Shown::All => summary.p50_ns,
            });
            ns.map_or("–".to_owned(), |ns| duration(ns as f64))
        }));
        table.row(row);
    }
    table.to_string()
}

fn document(hosts: &[Host], found: &Found) -> Result<Value> {
    let name = |host: usize| hosts[host].name.as_str();
    let mut pairs = Vec::new();
    for ((from, to), summary) in &found.cells {
        let summary = serde_json::to_value(summary)?;
        pairs.push(json!({ "from": name(*from), "to": name(*to), "summary": summary }));
    }
    for ((from, to), why) in &found.failed {
        pairs.push(json!({ "from": name(*from), "to": name(*to), "failed": why }));
    }
    let each: Vec<Value> = (0..hosts.len())
        .map(|host| {
            let (asks, replies) =
                (found.median(|from, _| from == host), found.median(|_, to| to == host));
            json!({
                "name": name(host), "answers_on": hosts[host].peer.to_string(),
                "asks_p50_ns": asks, "replies_p50_ns": replies,
                "slow_to_ask": found.is_slow(asks), "slow_to_reply": found.is_slow(replies),
            })
        })
        .collect();
    Ok(json!({ "hosts": each, "pairs": pairs }))
}
