//! Evaluation of the pairs.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use chronoscope_track::compare::{Threshold, VerdictError, pair};

use super::Request;
use super::results::Results;
use super::system::System;

/// A row for each change and count, and whether all is as it should be.
pub(crate) fn print(
    system: &System,
    results: &Results,
    request: &Request,
) -> Result<bool, VerdictError> {
    let threshold = Threshold::floor(system.exactness());
    println!("threshold {} %, one pair each\n", threshold.part * 100.0);
    let columns = ["pairs", "moved", "least", "median", "most"];
    let [pairs, moved, least, median, most] = columns;
    println!(
        "{:<10} {:<24} {pairs:>6} {moved:>6} {least:>11} {median:>11} {most:>11}",
        "change", "count"
    );
    let (rows, right) = judged(system, results, request)?;
    for (change, count, row) in &rows {
        row.print(change, count);
    }
    println!();
    for count in &counts(results, request.rounds) {
        unchanged(results, request.rounds, count);
    }
    println!("{}", if right { "no false alarm, nothing missed" } else { "NOT as it should be" });
    Ok(right)
}

/// The same as JSON, and whether all is as it should be.
pub(crate) fn json(
    system: &System,
    results: &Results,
    request: &Request,
    method: &str,
) -> Result<(Value, bool), VerdictError> {
    let (rows, right) = judged(system, results, request)?;
    let rows = rows.iter().map(|(change, count, row)| {
        json!({
            "change": change, "count": count, "moved": row.moved, "absent": row.absent,
            "changes": row.changes,
        })
    });
    let document = json!({
        "version": 1, "of": system.title(), "method": method,
        "threshold": Threshold::floor(system.exactness()).part, "right": right,
        "rows": rows.collect::<Value>(),
    });
    Ok((document, right))
}

/// A change, a count, and its pairs.
type Judged = (String, String, Row);

/// The pairs of each change by each count, and whether all are as they should be.
fn judged(
    system: &System,
    results: &Results,
    request: &Request,
) -> Result<(Vec<Judged>, bool), VerdictError> {
    let threshold = Threshold::floor(system.exactness());
    let (mut rows, mut right) = (Vec::new(), true);
    for (index, change) in system.changes().into_iter().enumerate() {
        let version = index + 1;
        let rounds = if version == 1 { request.rounds } else { request.changed };
        for count in counts(results, request.rounds) {
            let row = Row::of(results, version, rounds, &count, threshold)?;
            right &= row.is_right(version > 1 && system.is_changed(&count));
            rows.push((change.clone(), count, row));
        }
    }
    Ok((rows, right))
}

/// All that any run counted.
fn counts(results: &Results, rounds: usize) -> BTreeSet<String> {
    let runs = (0..rounds).flat_map(|round| [0, 1].map(|version| results.get(round, version)));
    runs.flatten().flat_map(|run| run.keys().cloned()).collect()
}

/// The pairs of one change, by one count.
struct Row {
    /// Relative changes, sorted.
    changes: Vec<f64>,
    moved: usize,
    /// Pairs in which one run or both have no such count.
    absent: usize,
}

impl Row {
    fn of(
        results: &Results,
        version: usize,
        rounds: usize,
        count: &str,
        threshold: Threshold,
    ) -> Result<Row, VerdictError> {
        let mut row = Row { changes: Vec::new(), moved: 0, absent: 0 };
        for round in 0..rounds {
            let value = |version| results.get(round, version)?.get(count).copied();
            let (Some(before), Some(after)) = (value(0), value(version)) else {
                row.absent += 1;
                continue;
            };
            let verdict = pair(before as f64, after as f64, threshold)?;
            row.changes.push(verdict.change());
            row.moved += usize::from(verdict.moved);
        }
        row.changes.sort_by(f64::total_cmp);
        Ok(row)
    }

    /// Whether no pair is absent, and all were called moved where they should be, else none.
    fn is_right(&self, moves: bool) -> bool {
        self.absent == 0 && self.moved == if moves { self.changes.len() } else { 0 }
    }

    fn print(&self, change: &str, count: &str) {
        let (pairs, moved) = (self.changes.len(), self.moved);
        let at = |part: usize| self.changes.get((pairs.max(1) - 1) * part / 2).copied();
        let percent = |part| at(part).map_or("–".to_owned(), |v| format!("{:+.5} %", v * 100.0));
        let (least, median, most) = (percent(0), percent(1), percent(2));
        print!(
            "{change:<10} {count:<24} {pairs:>6} {moved:>6} {least:>11} {median:>11} {most:>11}"
        );
        match self.absent {
            0 => println!(),
            absent => println!("  NOT COUNTED in {absent}"),
        }
    }
}

/// Differences between runs of unchanged programs.
fn unchanged(results: &Results, rounds: usize, count: &str) {
    let runs = (0..rounds).flat_map(|round| [0, 1].map(|version| results.get(round, version)));
    let values = runs.flatten().filter_map(|run| run.get(count));
    let mut values: Vec<f64> = values.map(|count| *count as f64).collect();
    values.sort_by(f64::total_cmp);
    if let (Some(least), Some(most)) = (values.first(), values.last()) {
        let (percent, runs) = ((most / least - 1.0) * 100.0, values.len());
        println!("{count}: any two of the {runs} unchanged runs differ by {percent:.5} % at most");
    }
}
