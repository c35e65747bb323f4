//! What each collector publishes of now: its agents, their programs, and open transactions.

use super::inserts::{PLAIN, optional};
use crate::Cluster;
use crate::error::ClickHouseError;
use crate::insert::escaped;
use crate::rows::ResultRows;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrowPrimitiveType};
use std::fmt::Write;

/// An agent, as a collector sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of `collect::AgentStatus`")]
pub struct AgentRow {
    /// The collector that tells of it.
    pub collector: u64,
    pub id: String,
    pub host: String,
    pub program: String,
    pub connected: bool,
    pub away_since_ns: Option<i64>,
    pub answers_rings: bool,
    pub heard_ns: i64,
    pub rows: u64,
    pub next_row: u64,
    pub other_rows: u64,
    pub gap_rows: u64,
    pub clock_offset_ns: Option<i64>,
    pub clock_error_ns: Option<u64>,
}

/// A process whose ring an agent reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramRow {
    /// The collector that tells of it.
    pub collector: u64,
    /// Id of the agent.
    pub agent: String,
    /// Host of the process.
    pub host: String,
    /// Its application.
    pub application: String,
    /// Its number on the host.
    pub pid: u32,
    /// Whether it runs.
    pub alive: bool,
    /// Transactions that it recorded since it began.
    pub recorded: u64,
    /// Transactions that it could not record since it began.
    pub lost: u64,
    /// Transactions that have not ended.
    pub open: u64,
}

/// Open transactions of a class on a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenRow {
    /// The collector that tells of them.
    pub collector: u64,
    /// The host.
    pub host: String,
    /// The class's application.
    pub application: String,
    /// The class.
    pub class: String,
    /// How many there are.
    pub count: u64,
    /// When the oldest of them began: UTC, nanoseconds since 1970, by the clock of its host.
    pub oldest_start_ns: i64,
}

/// What a collector publishes, or what several have published.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// The agents.
    pub agents: Vec<AgentRow>,
    /// The processes.
    pub programs: Vec<ProgramRow>,
    /// Open transactions.
    pub open: Vec<OpenRow>,
}

impl Cluster {
    /// Writes what a collector publishes under a number. It is seen when a heartbeat names the
    /// number.
    ///
    /// # Errors
    /// [`ClickHouseError`]; a part may have been written, which nobody sees.
    pub fn publish(
        &self,
        collector: u64,
        round: u64,
        published: &Published,
    ) -> Result<(), ClickHouseError> {
        let mut tables = [
            (
                "agents (collector, round, id, host, program, connected, away_since_ns, answers_rings, \
              heard_ns, rows, next_row, other_rows, gap_rows, clock_offset_ns, clock_error_ns)",
                String::new(),
            ),
            (
                "programs (collector, round, agent, host, application, pid, alive, recorded, lost, open)",
                String::new(),
            ),
            (
                "open (collector, round, host, application, class, count, oldest_start_ns)",
                String::new(),
            ),
        ];
        let [(_, agents), (_, programs), (_, open)] = &mut tables;
        let key = format!("{collector}\t{round}");
        // A String takes everything.
        for row in &published.agents {
            let (id, host) = (escaped(&row.id), escaped(&row.host));
            let (program, connected) = (escaped(&row.program), u8::from(row.connected));
            let (away, answers) = (optional(row.away_since_ns), u8::from(row.answers_rings));
            let AgentRow { heard_ns, rows, next_row, other_rows, gap_rows, .. } = row;
            let (offset, error) = (optional(row.clock_offset_ns), optional(row.clock_error_ns));
            let _ = writeln!(
                agents,
                "{key}\t{id}\t{host}\t{program}\t{connected}\t{away}\t{answers}\t{heard_ns}\t{rows}\t\
                 {next_row}\t{other_rows}\t{gap_rows}\t{offset}\t{error}"
            );
        }
        for row in &published.programs {
            let (agent, host) = (escaped(&row.agent), escaped(&row.host));
            let (application, alive) = (escaped(&row.application), u8::from(row.alive));
            let ProgramRow { pid, recorded, lost, open, .. } = row;
            let _ = writeln!(
                programs,
                "{key}\t{agent}\t{host}\t{application}\t{pid}\t{alive}\t{recorded}\t{lost}\t{open}"
            );
        }
        for row in &published.open {
            let (host, application) = (escaped(&row.host), escaped(&row.application));
            let (class, OpenRow { count, oldest_start_ns, .. }) = (escaped(&row.class), row);
            let _ =
                writeln!(open, "{key}\t{host}\t{application}\t{class}\t{count}\t{oldest_start_ns}");
        }
        for (table, lines) in tables.iter().filter(|(_, lines)| !lines.is_empty()) {
            self.first().insert(
                &PLAIN,
                &format!("INSERT INTO {table} FORMAT TSV"),
                lines.as_bytes(),
            )?;
        }
        Ok(())
    }

    /// What collectors have published under these numbers.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn published(&self, rounds: &[(u64, u64)]) -> Result<Published, ClickHouseError> {
        let mut published = Published::default();
        if rounds.is_empty() {
            return Ok(published);
        }
        let keys = rounds.iter().map(|(collector, round)| format!("({collector}, {round})"));
        let keys = keys.collect::<Vec<_>>().join(", ");
        let select = |table: &str| {
            format!("SELECT * EXCEPT (at) FROM {table} WHERE (collector, round) IN ({keys})")
        };
        let node = self.first();
        node.query(&select("agents"), |batch| {
            let rows = Cells { rows: ResultRows { node, batch } };
            for row in 0..batch.num_rows() {
                published.agents.push(rows.agent(row)?);
            }
            Ok(())
        })?;
        node.query(&select("programs"), |batch| {
            let rows = Cells { rows: ResultRows { node, batch } };
            for row in 0..batch.num_rows() {
                published.programs.push(rows.program(row)?);
            }
            Ok(())
        })?;
        node.query(&select("open"), |batch| {
            let rows = Cells { rows: ResultRows { node, batch } };
            for row in 0..batch.num_rows() {
                published.open.push(rows.open(row)?);
            }
            Ok(())
        })?;
        Ok(published)
    }
}

/// Cells of an answer by row and column.
struct Cells<'a> {
    rows: ResultRows<'a>,
}

impl Cells<'_> {
    fn text(&self, name: &str, row: usize) -> Result<String, ClickHouseError> {
        Ok(self.rows.texts(name)?.value(row).to_owned())
    }

    fn flag(&self, name: &str, row: usize) -> Result<bool, ClickHouseError> {
        Ok(self.rows.numbers::<UInt8Type>(name)?[row] != 0)
    }

    fn count(&self, name: &str, row: usize) -> Result<u64, ClickHouseError> {
        Ok(self.rows.ids(name)?[row])
    }

    fn optional<T: ArrowPrimitiveType>(
        &self,
        name: &str,
        row: usize,
    ) -> Result<Option<T::Native>, ClickHouseError> {
        let column = self.rows.batch.column_by_name(name);
        let column = column.and_then(|column| column.as_primitive_opt::<T>());
        let column = column.ok_or_else(|| self.rows.node.unexpected_column(name))?;
        Ok(column.is_valid(row).then(|| column.value(row)))
    }

    fn agent(&self, row: usize) -> Result<AgentRow, ClickHouseError> {
        Ok(AgentRow {
            collector: self.count("collector", row)?,
            id: self.text("id", row)?,
            host: self.text("host", row)?,
            program: self.text("program", row)?,
            connected: self.flag("connected", row)?,
            away_since_ns: self.optional::<Int64Type>("away_since_ns", row)?,
            answers_rings: self.flag("answers_rings", row)?,
            heard_ns: self.rows.times("heard_ns")?[row],
            rows: self.count("rows", row)?,
            next_row: self.count("next_row", row)?,
            other_rows: self.count("other_rows", row)?,
            gap_rows: self.count("gap_rows", row)?,
            clock_offset_ns: self.optional::<Int64Type>("clock_offset_ns", row)?,
            clock_error_ns: self.optional::<UInt64Type>("clock_error_ns", row)?,
        })
    }

    fn program(&self, row: usize) -> Result<ProgramRow, ClickHouseError> {
        Ok(ProgramRow {
            collector: self.count("collector", row)?,
            agent: self.text("agent", row)?,
            host: self.text("host", row)?,
            application: self.text("application", row)?,
            pid: self.rows.numbers::<UInt32Type>("pid")?[row],
            alive: self.flag("alive", row)?,
            recorded: self.count("recorded", row)?,
            lost: self.count("lost", row)?,
            open: self.count("open", row)?,
        })
    }

    fn open(&self, row: usize) -> Result<OpenRow, ClickHouseError> {
        Ok(OpenRow {
            collector: self.count("collector", row)?,
            host: self.text("host", row)?,
            application: self.text("application", row)?,
            class: self.text("class", row)?,
            count: self.count("count", row)?,
            oldest_start_ns: self.rows.times("oldest_start_ns")?[row],
        })
    }
}
