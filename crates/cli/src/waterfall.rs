//! One chain as a waterfall: a line a transaction, in the order of the tree, with its place in
//! time as a bar.

use crate::text::{self, Table};
use crate::times::Zone;
use chronoscope_chain::{ClockShift, in_tree_order};
use chronoscope_model::Transaction;
use chronoscope_store::ClockTable;
use std::collections::HashMap;

const BAR_CELLS: usize = 48;

/// The picture of a chain's transactions, which may come in any order and with some missing. Where
/// clocks were read it says by how much a stamp may be off beside the first transaction's.
pub(crate) fn waterfall(transactions: &[Transaction], clocks: &ClockTable, zone: &Zone) -> String {
    let Some(begin) = transactions.iter().map(|t| t.start_ns).min() else {
        return "no transactions\n".to_owned();
    };
    let end = transactions.iter().map(end_of).max().unwrap_or(begin);
    let order = in_tree_order(transactions);
    let known: HashMap<_, _> = transactions.iter().map(|t| (t.id, t)).collect();
    let mut heads = vec!["transaction", "at", "elapsed", "CPU", "process", "", "remarks"];
    if !clocks.is_empty() {
        heads.insert(2, "clocks");
    }
    let mut table = Table::new(&heads);
    let first = order.first().map(|(row, _)| &transactions[*row]);
    for (row, depth) in order {
        let t = &transactions[row];
        let place = t.process.as_ref().map_or("?".to_owned(), |p| format!("{}:{}", p.host, p.pid));
        let mut row = vec![
            format!("{}{}", "  ".repeat(depth.min(24)), t.class),
            text::duration((t.start_ns - begin) as f64),
            text::duration(t.elapsed_ns as f64),
            text::duration(t.cpu_ns as f64),
            place,
            format!("{:<BAR_CELLS$}", span(t, begin, end)),
            remarks(t, known.get(&t.parent).copied()),
        ];
        if !clocks.is_empty() {
            row.insert(2, band(first, t, clocks));
        }
        table.row(row);
    }
    let total = text::duration((end - begin) as f64);
    format!(
        "{} transactions in {total}, from {} ({})\n{table}",
        transactions.len(),
        zone.instant(begin),
        zone.name()
    )
}

/// By how much a transaction's place may be off beside that of the first: the difference of their
/// hosts' clocks and its error. Nothing on the same host.
fn band(first: Option<&Transaction>, t: &Transaction, clocks: &ClockTable) -> String {
    let host = |t: &Transaction| t.process.as_ref().map(|process| process.host.clone());
    let other = |first: &&Transaction| host(first).is_none() || host(first) != host(t);
    let Some(first) = first.filter(|first| first.id != t.id).filter(other) else {
        return String::new();
    };
    let both = clocks.of_transaction(first).zip(clocks.of_transaction(t));
    both.map_or("±?".to_owned(), |(first, this)| {
        let shift = ClockShift::between(first, this);
        let error = text::duration(shift.error_ns as f64);
        match shift.correction_ns {
            0 => format!("±{error}"),
            ns => format!("{}{} ±{error}", sign(ns), text::duration(ns.unsigned_abs() as f64)),
        }
    })
}

const fn sign(ns: i64) -> char {
    if ns < 0 { '−' } else { '+' }
}

fn end_of(t: &Transaction) -> i64 {
    t.start_ns.saturating_add_unsigned(t.elapsed_ns)
}

/// Blanks, then as many cells as the transaction took of the whole; at least one.
fn span(t: &Transaction, begin: i64, end: i64) -> String {
    let whole = u128::from(end.abs_diff(begin).max(1));
    let cell = |ns: i64| {
        let cell = u128::from(ns.abs_diff(begin)) * BAR_CELLS as u128 / whole;
        usize::try_from(cell).unwrap_or(BAR_CELLS)
    };
    let from = cell(t.start_ns).min(BAR_CELLS - 1);
    let to = cell(end_of(t)).clamp(from + 1, BAR_CELLS);
    format!("{}{}", " ".repeat(from), "█".repeat(to - from))
}

/// What a reader should know about a line before believing it.
fn remarks(t: &Transaction, parent: Option<&Transaction>) -> String {
    let mut remarks = Vec::new();
    match parent {
        None if !t.parent.is_none() => remarks.push("parent missing".to_owned()),
        Some(parent) if t.start_ns < parent.start_ns => {
            remarks.push("starts before its parent: clocks disagree".to_owned());
        }
        _ => {}
    }
    if t.status != chronoscope_model::Status::Good {
        remarks.push(t.status.to_string());
    }
    let context = crate::commands::context(t);
    if !context.is_empty() {
        remarks.push(context);
    }
    remarks.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::{Names, Record, TransactionId};

    fn transaction(id: u64, parent: u64, start_ns: i64, elapsed_ns: u64) -> Transaction {
        let record = Record {
            id: TransactionId(id),
            parent: TransactionId(parent),
            start_ns,
            elapsed_ns,
            ..Record::default()
        };
        Transaction::from_record(&record, &[], &Names::default())
    }

    #[test]
    fn orphans_are_shown_as_such() {
        let chain = [
            transaction(4, 2, 30, 5),
            transaction(1, 0, 0, 10),
            transaction(3, 1, 20, 5),
            transaction(2, 1, 10, 5),
            transaction(9, 77, 15, 5),
        ];
        let text = waterfall(&chain, &ClockTable::default(), &Zone::new(true));
        assert!(text.starts_with("5 transactions in 35 ns"), "{text}");
        assert_eq!(text.matches("parent missing").count(), 1);
    }

    #[test]
    fn damage_is_drawn_once() {
        let loops = [transaction(1, 2, 0, 1), transaction(2, 1, 0, 1), transaction(3, 3, 0, 1)];
        let text = waterfall(&loops, &ClockTable::default(), &Zone::new(true));
        assert_eq!(text.lines().count(), 2 + loops.len(), "{text}");
        assert_eq!(waterfall(&[], &ClockTable::default(), &Zone::new(true)), "no transactions\n");
    }
}
