//! Losses, deliveries and clocks: what senders say besides their rows.

use super::inserts::PLAIN;
use crate::Cluster;
use crate::error::ClickHouseError;
use crate::insert::escaped;
use crate::rows::ResultRows;
use crate::schema;
use arrow_array::RecordBatch;
use arrow_array::types::{UInt8Type, UInt32Type};
use chronoscope_model::{Names, ProcessId, ProcessName};
use chronoscope_store::{ClockReading, ClockTable, Delivery, Ledger, Loss, RemoteNotes};
use std::fmt::Write;
use std::ops::Range;

/// Shortest time between two readings of one host's clock that are read back: as often as agents
/// tell them.
const CLOCK_STEP_NS: i64 = 10_000_000_000;
/// Readings of one host that are read back at most, by and large.
const CLOCK_READINGS_MAX: i64 = 4096;
/// The tables of what senders say.
const NOTES: [&str; 5] = ["lost", "losses", "deliveries", "deletions", "clocks"];

impl Cluster {
    /// Writes what senders say besides their rows. `ahead_ns`, `error_ns`: how far the clock by
    /// which hosts' clocks were read is ahead of the first shard's, and the bound of its error.
    ///
    /// # Errors
    /// [`ClickHouseError`]; a part may be written. The same again does no harm.
    pub fn write_notes(
        &self,
        notes: &RemoteNotes<'_>,
        (ahead_ns, error_ns): (i64, u64),
    ) -> Result<(), ClickHouseError> {
        let RemoteNotes { names, lost, losses, delivered, clocks } = *notes;
        // A String takes everything.
        let (mut of_lost, mut of_losses) = (String::new(), String::new());
        for (process, rows) in lost {
            let _ = writeln!(of_lost, "{}\t{rows}", name(*process, names));
        }
        for Loss { process, from_ns, until_ns, rows } in losses {
            let process = name(*process, names);
            let _ = writeln!(of_losses, "{process}\t{from_ns}\t{until_ns}\t{rows}");
        }
        let (mut of_deliveries, mut of_clocks) = (String::new(), String::new());
        for (process, Delivery { until_ns, exports }) in delivered {
            let _ = writeln!(of_deliveries, "{}\t{until_ns}\t{}", process.0, u8::from(*exports));
        }
        for ClockReading { host, at_ns, offset_ns, error_ns: own_ns } in clocks {
            let (at_ns, host) = (at_ns.saturating_sub(ahead_ns), escaped(host));
            let offset_ns = offset_ns.saturating_add(ahead_ns);
            let _ = writeln!(
                of_clocks,
                "{host}\t{at_ns}\t{offset_ns}\t{}",
                own_ns.saturating_add(error_ns)
            );
        }
        let process = "process, application, host, pid, start_ns";
        let tables = [
            (format!("lost ({process}, rows)"), of_lost),
            (format!("losses ({process}, from_ns, until_ns, rows)"), of_losses),
            ("deliveries (process, until_ns, exports)".to_owned(), of_deliveries),
            ("clocks (host, at_ns, offset_ns, error_ns)".to_owned(), of_clocks),
        ];
        for (table, lines) in tables.iter().filter(|(_, lines)| !lines.is_empty()) {
            let sql = format!("INSERT INTO {table} FORMAT TSV");
            self.first().insert(&PLAIN, &sql, lines.as_bytes())?;
        }
        Ok(())
    }

    /// Rows that processes lost in all.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn lost_rows(&self) -> Result<Vec<(ProcessName, u64)>, ClickHouseError> {
        let node = self.first();
        let sql = "SELECT application, host, pid, start_ns, rows FROM lost FINAL";
        let mut lost = Vec::new();
        node.query(sql, |batch| {
            let rows = ResultRows { node, batch };
            for row in 0..batch.num_rows() {
                lost.push((process_name(&rows, row)?, rows.ids("rows")?[row]));
            }
            Ok(())
        })?;
        Ok(lost)
    }

    /// Losses, deliveries, deletions and readings of clocks, with the names of those that lost rows, in
    /// the form that a store of files has them in; its other fields are empty. And since when the
    /// tables have what senders lost: UTC, nanoseconds since 1970; `i64::MIN` where they had the
    /// tables of losses before any row.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn ledger(&self) -> Result<(Ledger, i64), ClickHouseError> {
        let node = self.first();
        // Of empty tables nothing is asked: each statement takes a round trip of every question.
        let counts = NOTES.map(|table| format!("(SELECT count() FROM {table})")).join(", ");
        let sql = format!("SELECT {counts}, {} FROM versions", schema::losses_since());
        let answer = node.execute(&[], &sql)?;
        let mut answers = answer.splitn(NOTES.len() + 1, '\t');
        let filled = NOTES.map(|_| answers.next().is_some_and(|count| count != "0"));
        let since_ns = answers.next().and_then(schema::losses_since_ns);
        let since_ns = since_ns.ok_or_else(|| node.unexpected_column("version"))?;
        let [has_lost, has_losses, has_deliveries, has_deletions, has_clocks] = filled;
        let mut ledger = Ledger::default();
        let columns = "process, application, host, pid, start_ns";
        let ask =
            |has: bool,
             sql: &str,
             each: &mut dyn FnMut(&RecordBatch) -> Result<(), ClickHouseError>| {
                if has { node.query(sql, each) } else { Ok(()) }
            };
        ask(has_lost, &format!("SELECT {columns}, rows FROM lost FINAL"), &mut |batch| {
            let rows = ResultRows { node, batch };
            for row in 0..batch.num_rows() {
                let process = named(&rows, row, &mut ledger.names)?;
                ledger.lost.insert(process, rows.ids("rows")?[row]);
            }
            Ok(())
        })?;
        let sql = format!("SELECT {columns}, from_ns, until_ns, rows FROM losses FINAL");
        ask(has_losses, &sql, &mut |batch| {
            let rows = ResultRows { node, batch };
            let (from, until) = (rows.times("from_ns")?, rows.times("until_ns")?);
            for row in 0..batch.num_rows() {
                let process = named(&rows, row, &mut ledger.names)?;
                let (from_ns, until_ns) = (from[row], until[row]);
                let rows = rows.ids("rows")?[row];
                ledger.losses.insert(Loss { process, from_ns, until_ns, rows });
            }
            Ok(())
        })?;
        // A total comes behind its losses, and of gaps there is none.
        let counted: Vec<ProcessId> = ledger.losses.iter().map(|loss| loss.process).collect();
        for process in counted {
            let rows = ledger.losses.rows(process);
            let total = ledger.lost.entry(process).or_default();
            *total = (*total).max(rows);
        }
        let sql = "SELECT process, until_ns, exports FROM deliveries FINAL";
        ask(has_deliveries, sql, &mut |batch| {
            let rows = ResultRows { node, batch };
            let (processes, until) = (rows.ids("process")?, rows.times("until_ns")?);
            let exports = rows.numbers::<UInt8Type>("exports")?;
            for row in 0..batch.num_rows() {
                let delivery = Delivery { until_ns: until[row], exports: exports[row] != 0 };
                ledger.deliveries.insert(ProcessId(processes[row]), delivery);
            }
            Ok(())
        })?;
        if has_deletions {
            self.deletions()?.into_iter().for_each(|deletion| ledger.deletions.insert(deletion));
        }
        if has_clocks {
            ledger.clocks = self.clock_table(&(i64::MIN..i64::MAX))?;
        }
        Ok((ledger, since_ns))
    }

    /// Whether there are readings of hosts' clocks.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn has_clocks(&self) -> Result<bool, ClickHouseError> {
        Ok(self.first().execute(&[], "SELECT count() > 0 FROM clocks")? == "1")
    }

    /// Readings of the hosts' clocks in a time range (UTC, nanoseconds since 1970), beside the clock
    /// of the first shard; of a long range the best ones of equal parts of it.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn clock_table(&self, range: &Range<i64>) -> Result<ClockTable, ClickHouseError> {
        let node = self.first();
        let Range { start, end } = range;
        let within = format!("at_ns >= {start} AND at_ns < {end}");
        // The range that has readings: the one that is asked for may be all of time.
        let sql = format!(
            "SELECT intDiv(max(at_ns) - min(at_ns), {CLOCK_READINGS_MAX}), count() FROM clocks \
             WHERE {within}"
        );
        let answer = node.execute(&[], &sql)?;
        let (step_ns, count) =
            answer.split_once('\t').ok_or_else(|| node.unexpected_column("at_ns"))?;
        let mut table = ClockTable::default();
        if count == "0" {
            return Ok(table);
        }
        let step_ns: i64 = step_ns.parse().map_err(|_| node.unexpected_column("at_ns"))?;
        let step_ns = step_ns.max(CLOCK_STEP_NS);
        let sql = format!(
            "SELECT CAST(host, 'String') AS host, tupleElement(best, 1) AS at_ns, \
             tupleElement(best, 2) AS offset_ns, tupleElement(best, 3) AS error_ns FROM \
             (SELECT host, argMin((at_ns, offset_ns, error_ns), error_ns) AS best \
             FROM clocks WHERE {within} GROUP BY host, intDiv(at_ns, {step_ns})) \
             ORDER BY at_ns, host"
        );
        node.query(&sql, |batch| {
            let rows = ResultRows { node, batch };
            let (hosts, errors) = (rows.texts("host")?, rows.ids("error_ns")?);
            let (at, offsets) = (rows.times("at_ns")?, rows.times("offset_ns")?);
            for row in 0..batch.num_rows() {
                table.insert(&ClockReading {
                    host: hosts.value(row).to_owned(),
                    at_ns: at[row],
                    offset_ns: offsets[row],
                    error_ns: errors[row],
                });
            }
            Ok(())
        })?;
        Ok(table)
    }
}

/// The columns of a process in TSV.
fn name(process: ProcessId, names: &Names) -> String {
    let known = names.process(process);
    let (application, host) = known
        .map_or_else(Default::default, |known| (escaped(&known.application), escaped(&known.host)));
    let (pid, start_ns) = known.map_or((0, 0), |known| (known.pid, known.start_ns));
    format!("{}\t{application}\t{host}\t{pid}\t{start_ns}", process.0)
}

/// The process of a row; its name is added to the known ones.
fn named(
    rows: &ResultRows<'_>,
    row: usize,
    names: &mut Names,
) -> Result<ProcessId, ClickHouseError> {
    let process = ProcessId(rows.ids("process")?[row]);
    let name = process_name(rows, row)?;
    if name.id() == process {
        names.add_process(name);
    }
    Ok(process)
}

fn process_name(rows: &ResultRows<'_>, row: usize) -> Result<ProcessName, ClickHouseError> {
    Ok(ProcessName {
        application: rows.texts("application")?.value(row).to_owned(),
        host: rows.texts("host")?.value(row).to_owned(),
        pid: rows.numbers::<UInt32Type>("pid")?[row],
        start_ns: rows.times("start_ns")?[row],
    })
}
