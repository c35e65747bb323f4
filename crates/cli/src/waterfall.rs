//! One chain as a waterfall: a line for each transaction, in the order of the tree, with a bar for
//! its time, and its properties below.

use crate::attributes::{Processes, Shown};
use crate::causes::{Remark, Stamps, before_parent, likely};
use crate::text::{self, Table, known_duration};
use crate::times::Zone;
use chronoscope_chain::{ChainStatus, ClockShift, in_tree_order};
use chronoscope_model::{Flags, Transaction};
use chronoscope_store::ClockTable;
use std::collections::{HashMap, HashSet};

/// Cells of a bar, and the fewest where lines have to fit a terminal.
const BAR_CELLS: usize = 48;
const BAR_CELLS_MIN: usize = 12;

/// The picture of a chain's transactions, which may come in any order and with some missing. With
/// clock readings it also shows the possible error of a stamp relative to the first transaction's.
pub(crate) fn waterfall(
    transactions: &[Transaction],
    clocks: &ClockTable,
    zone: &Zone,
    shown: Shown,
) -> String {
    let Some(begin) = transactions.iter().map(|t| t.start_ns).min() else {
        return "no transactions\n".to_owned();
    };
    let end = transactions.iter().map(end_of).max().unwrap_or(begin);
    let order = in_tree_order(transactions);
    let status = ChainStatus::of(transactions);
    let picture = Picture { transactions, clocks, status: &status, order: &order, begin, end };
    let mut table = picture.table(BAR_CELLS);
    if let Shown::Folded { columns } = shown {
        // The bar is shortened before the text is.
        let beyond = table.width().saturating_sub(columns);
        if beyond > 0 {
            table = picture.table(BAR_CELLS.saturating_sub(beyond).max(BAR_CELLS_MIN));
        }
    }
    let total = text::duration((end - begin) as f64);
    let mut page = format!(
        "{} transactions in {total}, from {} ({})\n{}\n",
        transactions.len(),
        zone.instant(begin),
        zone.name(),
        status_line(&status)
    );
    let processes = Processes::of(transactions);
    let table = table.to_string();
    let mut lines = table.lines();
    page.extend(lines.next().map(|heading| format!("{heading}\n")));
    for (line, (row, depth)) in lines.zip(&order) {
        page += &format!("{line}\n");
        let margin = 2 * indent(*depth) + 2;
        for line in links(&transactions[*row], transactions, margin) {
            page += &format!("{line}\n");
        }
        for line in shown.lines(&transactions[*row], margin, &processes) {
            page += &format!("{line}\n");
        }
    }
    page += &processes.lines(shown);
    page + &notes(transactions)
}

/// The status of the chain, in a sentence.
pub(crate) fn status_line(found: &ChainStatus) -> String {
    let mut line = format!("status {}", found.status);
    if found.not_good > 0 {
        line += &format!(": {} of them not GOOD", text::count(found.not_good));
    }
    if found.independent_not_good > 0 {
        let count = text::count(found.independent_not_good);
        line += &format!("; {count} independent ones not GOOD, which does not count");
    }
    line
}

/// Links that are named for each row; a batch may have a thousand.
const LINKS_MAX: usize = 8;

/// A line for each further parent of a transaction: its class where it is in this chain, else its
/// chain, which `chronoscope chain` shows.
fn links(t: &Transaction, transactions: &[Transaction], margin: usize) -> Vec<String> {
    let margin = " ".repeat(margin);
    let parents = &t.extras.further_parents;
    let mut lines: Vec<String> = parents
        .iter()
        .take(LINKS_MAX)
        .map(|parent| {
            let is_it = |row: &&Transaction| (row.chain, row.id) == (parent.chain, parent.id);
            match transactions.iter().find(is_it) {
                Some(row) => format!("{margin}also takes {} (id {})", row.class, row.id),
                None => format!("{margin}also takes {} of chain {}", parent.id, parent.chain),
            }
        })
        .collect();
    if let Some(more) = parents.len().checked_sub(LINKS_MAX + 1) {
        lines.push(format!("{margin}and {} more", more + 1));
    }
    if parents.is_empty() && t.flags.contains(Flags::FURTHER_PARENTS) {
        lines.push(format!("{margin}also takes others that its row had no room for"));
    }
    lines
}

/// Remarks on the chain as a whole.
fn notes(transactions: &[Transaction]) -> String {
    let mut ids = HashSet::new();
    let repeated = transactions.iter().filter(|t| !ids.insert(t.id)).count();
    let mut notes = Stamps::of(transactions).remarks();
    if repeated > 0 {
        let cause = likely(Remark::RepeatedId);
        notes.push(format!("{repeated} rows have the id of another: {cause}"));
    }
    notes.into_iter().map(|note| format!("{note}\n")).collect()
}

/// Deep trees are not moved out of the screen.
fn indent(depth: usize) -> usize {
    depth.min(24)
}

struct Picture<'a> {
    transactions: &'a [Transaction],
    clocks: &'a ClockTable,
    status: &'a ChainStatus,
    /// Rows of `transactions` with their depths, as they are drawn.
    order: &'a [(usize, usize)],
    begin: i64,
    end: i64,
}

impl Picture<'_> {
    fn table(&self, bar_cells: usize) -> Table {
        let Self { transactions, clocks, status, order, begin, end } = *self;
        let known: HashMap<_, _> = transactions.iter().map(|t| (t.id, t)).collect();
        let mut heads = vec!["transaction", "at", "elapsed", "CPU", "process", "", "remarks"];
        if !clocks.is_empty() {
            heads.insert(2, "clocks");
        }
        let mut table = Table::new(&heads);
        let first = order.first().map(|(row, _)| &transactions[*row]);
        for (row, depth) in order {
            let t = &transactions[*row];
            let counts = status.counts.get(*row).copied().unwrap_or(true);
            let place =
                t.process.as_ref().map_or("?".to_owned(), |p| format!("{}:{}", p.host, p.pid));
            let mut row = vec![
                format!("{}{}", "  ".repeat(indent(*depth)), t.class),
                text::duration((t.start_ns - begin) as f64),
                text::duration(t.elapsed_ns as f64),
                known_duration(t.known_cpu_ns().map(|ns| ns as f64)),
                place,
                format!("{:<bar_cells$}", span(t, begin, end, bar_cells)),
                remarks(t, known.get(&t.parent).copied(), counts),
            ];
            if !clocks.is_empty() {
                row.insert(2, band(first, t, clocks));
            }
            table.row(row);
        }
        table
    }
}

/// Possible error of a transaction's position relative to the first: the difference of their hosts'
/// clock offsets and its error. Nothing on the same host.
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
fn span(t: &Transaction, begin: i64, end: i64, bar_cells: usize) -> String {
    let whole = u128::from(end.abs_diff(begin).max(1));
    let cell = |ns: i64| {
        let cell = u128::from(ns.abs_diff(begin)) * bar_cells as u128 / whole;
        usize::try_from(cell).unwrap_or(bar_cells)
    };
    let from = cell(t.start_ns).min(bar_cells - 1);
    let to = cell(end_of(t)).clamp(from + 1, bar_cells);
    format!("{}{}", " ".repeat(from), "█".repeat(to - from))
}

/// Remarks on the reliability of a line.
fn remarks(t: &Transaction, parent: Option<&Transaction>, counts: bool) -> String {
    let mut remarks = Vec::new();
    match parent {
        None if !t.parent.is_none() => remarks.push("parent missing".to_owned()),
        Some(parent) if t.start_ns < parent.start_ns => {
            let cause = likely(before_parent(t, parent));
            remarks.push(format!("starts before its parent: {cause}"));
        }
        _ => {}
    }
    if t.status != chronoscope_model::Status::Good {
        let effect = if counts { "" } else { " (independent)" };
        remarks.push(format!("{}{effect}", t.status));
    }
    remarks.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::{ChainId, FurtherParent, Names, Record, TransactionId};

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
        let text = waterfall(&chain, &ClockTable::default(), &Zone::new(true), Shown::All);
        assert!(text.starts_with("5 transactions in 35 ns"), "{text}");
        assert_eq!(text.matches("parent missing").count(), 1);
    }

    /// A span as OpenTelemetry's instrumentations make them: 25 attributes, some long.
    fn foreign() -> Transaction {
        let mut span = transaction(1, 0, 0, 1_000_000);
        span.flags = chronoscope_model::Flags::FOREIGN;
        for number in 0..20 {
            span.properties.push((format!("process.detail.{number}"), "x".repeat(70)));
        }
        for (key, value) in [
            ("messaging.destination.name", "orders"),
            ("http.request.method", "POST"),
            ("exception.message", "a line\nand another"),
            ("db.query.text", &"SELECT ".repeat(40)),
        ] {
            span.properties.push((key.to_owned(), value.to_owned()));
        }
        span.metrics.push(("messaging.batch.size".to_owned(), 3.0));
        span
    }

    #[test]
    fn attributes_are_folded_to_the_width_of_a_terminal_with_the_important_ones_first() {
        let (clocks, zone) = (ClockTable::default(), Zone::new(true));
        for columns in [80, 120] {
            let text = waterfall(&[foreign()], &clocks, &zone, Shown::Folded { columns });
            for line in text.lines() {
                assert!(line.chars().count() <= columns, "{line}");
            }
            assert!(text.contains("messaging.destination.name=orders"), "{text}");
            assert!(text.contains("exception.message=a line\\nand another"), "{text}");
            assert!(text.contains(" more, --all shows them"), "{text}");
        }
    }

    #[test]
    fn without_a_terminal_every_attribute_is_whole_on_its_line() {
        let (clocks, zone) = (ClockTable::default(), Zone::new(true));
        let text = waterfall(&[foreign()], &clocks, &zone, Shown::All);
        assert_eq!(text.lines().count(), 3 + 1 + 25, "{text}");
        assert!(text.contains(&format!("db.query.text={}", "SELECT ".repeat(40))), "{text}");
    }

    #[test]
    fn cpu_time_of_a_foreign_row_without_any_is_unknown() {
        let (clocks, zone) = (ClockTable::default(), Zone::new(true));
        let mut rows = [foreign(), transaction(2, 1, 0, 7)];
        rows[1].cpu_ns = 7;
        let text = waterfall(&rows, &clocks, &zone, Shown::Folded { columns: 200 });
        let cpu = |line: &str| line.split_whitespace().nth(5).map(str::to_owned);
        let lines: Vec<_> = text.lines().filter(|line| line.contains("█")).collect();
        assert_eq!(cpu(lines[0]).as_deref(), Some("–"), "{text}");
        assert_eq!(cpu(lines[1]).as_deref(), Some("7"), "{text}");
    }

    #[test]
    fn remarks_about_a_chain_name_their_likely_causes() {
        let mut rows: Vec<_> = (1..=20).map(|n| transaction(n, n - 1, 0, 1_000_000)).collect();
        rows.push(rows[5].clone());
        let text = waterfall(&rows, &ClockTable::default(), &Zone::new(true), Shown::All);
        assert!(text.contains("1 rows have the id of another: likely a batch that was sent twice"));
        assert!(text.contains("have a resolution of 1 ms"), "{text}");
        rows[7].start_ns = -1;
        let text = waterfall(&rows, &ClockTable::default(), &Zone::new(true), Shown::All);
        assert!(text.contains("starts before its parent: likely"), "{text}");
        assert!(!text.contains("have a resolution of 1 ms"), "{text}");
    }

    #[test]
    fn further_parents_are_named_below_their_row() {
        let mut rows = [transaction(1, 0, 0, 9), transaction(2, 1, 1, 1), transaction(3, 1, 4, 1)];
        let link =
            |chain, id| FurtherParent { chain: ChainId(chain), id: TransactionId(id), root: None };
        rows[2].extras.further_parents = vec![link(0, 2), link(7, 5)];
        rows[1].flags = Flags::FURTHER_PARENTS;
        let text = waterfall(&rows, &ClockTable::default(), &Zone::new(true), Shown::All);
        assert!(text.contains("also takes ::?0000000000000000 (id 0000000000000002)"), "{text}");
        assert!(
            text.contains(&format!("also takes 0000000000000005 of chain {}", ChainId(7))),
            "{text}"
        );
        assert!(text.contains("also takes others that its row had no room for"), "{text}");
        rows[2].extras.further_parents = vec![link(7, 5); 12];
        let text = waterfall(&rows, &ClockTable::default(), &Zone::new(true), Shown::All);
        assert_eq!(text.matches("of chain").count(), LINKS_MAX);
        assert!(text.contains("and 4 more"), "{text}");
    }

    #[test]
    fn an_independent_failure_is_shown_and_does_not_count() {
        let mut rows = [transaction(1, 0, 0, 9), transaction(2, 1, 1, 1), transaction(3, 1, 4, 1)];
        rows[1].status = chronoscope_model::Status::Failed;
        rows[1].flags = Flags::INDEPENDENT;
        let text = waterfall(&rows, &ClockTable::default(), &Zone::new(true), Shown::All);
        let status = "status GOOD; 1 independent ones not GOOD, which does not count\n";
        assert!(text.contains(status) && text.contains("FAILED (independent)"), "{text}");
        rows[2].status = chronoscope_model::Status::Aborted;
        let text = waterfall(&rows, &ClockTable::default(), &Zone::new(true), Shown::All);
        assert!(text.contains("status ABORTED: 1 of them not GOOD; 1 independent"), "{text}");
    }

    #[test]
    fn attributes_of_a_resource_are_shown_once_for_each_process() {
        let process = |pid| chronoscope_model::ProcessName {
            application: "shop".into(),
            host: "a".into(),
            pid,
            start_ns: 1,
        };
        let rows: Vec<Transaction> = (1..=4)
            .map(|id| {
                let mut row = transaction(id, id - 1, 0, 9);
                row.process = Some(process(if id < 4 { 7 } else { 8 }));
                for (key, value) in [("os.type", "linux"), ("service.version", "1.2")] {
                    // One row of process 7 was recorded after a change.
                    let value = if id == 3 && key == "service.version" { "1.3" } else { value };
                    row.properties.push((format!("otel.resource.{key}"), value.to_owned()));
                }
                row.properties.push(("own".to_owned(), id.to_string()));
                row
            })
            .collect();
        let (clocks, zone) = (ClockTable::default(), Zone::new(true));
        for shown in [Shown::All, Shown::Folded { columns: 120 }] {
            let text = waterfall(&rows, &clocks, &zone, shown);
            assert_eq!(text.matches("os.type=linux").count(), 2, "{text}");
            assert_eq!(text.matches("service.version=1.2").count(), 2, "{text}");
            assert_eq!(text.matches("service.version=1.3").count(), 1, "{text}");
            assert_eq!(text.matches("own=").count(), 4, "{text}");
            assert!(text.contains("shop a:7") && text.contains("shop a:8"), "{text}");
        }
    }

    #[test]
    fn damage_is_drawn_once() {
        let loops = [transaction(1, 2, 0, 1), transaction(2, 1, 0, 1), transaction(3, 3, 0, 1)];
        let text = waterfall(&loops, &ClockTable::default(), &Zone::new(true), Shown::All);
        assert_eq!(text.lines().count(), 3 + loops.len(), "{text}");
        let nothing = waterfall(&[], &ClockTable::default(), &Zone::new(true), Shown::All);
        assert_eq!(nothing, "no transactions\n");
    }
}
