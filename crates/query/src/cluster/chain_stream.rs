//! Rows of chains as they come from a shard, in batches that are cut where a chain ends.

use super::sql::{IN_ORDER, between, quoted};
use super::words::{Ended, Words};
use crate::question::{Limits, Question};
use crate::row_batches::{BatchContent, BatchedQuestion};
use arrow_array::RecordBatch;
use arrow_array::types::{UInt8Type, UInt16Type};
use chronoscope_chain::ROW_BYTES;
use chronoscope_clickhouse::{ClickHouseError, Node, ResultRows, SentTable};
use chronoscope_model::schema::column;
use chronoscope_model::{Batch, ChainId, Flags, NO_PROCESS_CPU, ProcessId, Record, TransactionId};
use std::fmt::Write;
use std::ops::Range;

/// Rows of a batch, unless memory is short: large enough that a batch costs nothing beside them.
const BATCH_ROWS: u64 = 256 * 1024;

/// A question on its way through one shard.
pub(super) struct ChainStream<'a> {
    pub(super) node: &'a Node,
    pub(super) words: &'a Words,
    pub(super) batched: &'a BatchedQuestion<'a>,
    pub(super) limits: &'a Limits,
}

/// The columns that chains are put together from.
const HOPS: &str = "chain_high, chain_low, id, parent, \
    toUnixTimestamp64Nano(start) AS start_ns, elapsed_ns";
/// Columns that only native rows have.
const TOLD: &str =
    "level, toUnixTimestamp64Nano(root_start) AS root_start_ns, xxHash64(path) AS path_hash";
/// The hosts, where clocks were read.
const ON_HOSTS: &str =
    ", xxHash64(host) AS host_hash, xxHash64(ifNull(root_host, '')) AS root_host_hash";
/// The class of rows whose path does not tell it.
const CLASS: &str =
    "flags, xxHash64(application) AS application_hash, xxHash64(class) AS class_hash";
const FOREIGN: u8 = Flags::FOREIGN.0;

impl ChainStream<'_> {
    /// The columns of hosts, as far as they are needed.
    const fn on_hosts(&self) -> &'static str {
        if self.batched.wants_hosts() { ON_HOSTS } else { "" }
    }

    /// The condition of foreign rows that may matter. With the class of their root, which is empty,
    /// little is read of a table that has none.
    fn is_foreign(&self) -> String {
        let minutes = between("minute", &self.batched.minutes().1);
        format!("(top = '' AND bitAnd(flags, {FOREIGN}) != 0 AND {minutes})")
    }

    /// Whole chains that may matter: those with foreign rows first, then the others.
    ///
    /// Rows come in meanwhile, and both statements must agree on which chains have foreign rows. So the
    /// second leaves out what the first has found, and not what has foreign rows by then: a native
    /// chain whose first foreign row comes in between is counted as it was before. Costs 16 bytes for
    /// each chain with foreign rows.
    pub(super) fn ask_chains(&self, tops: &[String]) -> Result<(), Ended> {
        let foreign = self.ask_foreign()?;
        self.ask_native(tops, &foreign)
    }

    /// Foreign and mixed chains, sorted there (on disk where memory is short).
    fn ask_foreign(&self) -> Result<ForeignChains, Ended> {
        let minutes = between("minute", &self.batched.minutes().0);
        let (is_foreign, on_hosts) = (self.is_foreign(), self.on_hosts());
        let sql = format!(
            "SELECT {HOPS}, {TOLD}, {CLASS}{on_hosts} FROM transactions WHERE {is_foreign} \
             OR (bitAnd(flags, {FOREIGN}) = 0 AND {minutes} AND (chain_high, chain_low) IN \
             (SELECT chain_high, chain_low FROM transactions WHERE {is_foreign})) \
             ORDER BY chain_high, chain_low \
             SETTINGS max_bytes_before_external_sort = 1000000000"
        );
        let mut found = ForeignChains::default();
        self.stream(BatchContent::Chains, (&sql, None), |record| {
            found.add(record);
            true
        })?;
        found.sort();
        Ok(found)
    }

    /// Native chains of the roots that matter, in the order that they are stored in; without those
    /// that have foreign rows.
    fn ask_native(&self, tops: &[String], foreign: &ForeignChains) -> Result<(), Ended> {
        let minutes = between("minute", &self.batched.minutes().0);
        let tops = tops.iter().map(|top| quoted(top)).chain(["''".to_owned()]);
        let tops = tops.collect::<Vec<_>>().join(", ");
        let on_hosts = self.on_hosts();
        let mixed = foreign.mixed();
        let without = mixed.as_ref().map_or_else(String::new, |SentTable { name, .. }| {
            format!(
                "AND (chain_high, chain_low) NOT IN (SELECT chain_high, chain_low FROM {name}) "
            )
        });
        let sql = format!(
            "SELECT {HOPS}, {TOLD}{on_hosts} FROM transactions \
             WHERE {minutes} AND top IN ({tops}) AND bitAnd(flags, {FOREIGN}) = 0 \
             {without}{IN_ORDER}"
        );
        // The statement leaves out mixed chains; foreign ones may have got their first native row since.
        // Rows of a chain follow each other: it is looked up once.
        let (mut last, mut is_native) = (None, true);
        self.stream(BatchContent::Chains, (&sql, mixed.as_ref()), |record| {
            let chain = record.chain();
            if last != Some(chain) {
                (last, is_native) = (Some(chain), !foreign.has(chain));
            }
            is_native
        })
    }

    /// Rows of the classes that are asked for, each for itself.
    pub(super) fn ask_each(&self, question: &Question) -> Result<(), Ended> {
        let (native, foreign) = self.batched.minutes();
        let minutes = *native.start().min(foreign.start())..=*native.end().max(foreign.end());
        let selected = self.words.names.classes().filter(|(_, name)| question.root.selects(name));
        let selected = selected
            .map(|(_, name)| format!("({}, {})", quoted(&name.application), quoted(&name.class)));
        let selected: Vec<_> = selected.collect();
        if selected.is_empty() {
            return Ok(());
        }
        let Range { start, end } = question.start_ns;
        let sql = format!(
            "SELECT {HOPS}, {TOLD}, {CLASS} FROM transactions \
             WHERE {} AND (application, class) IN ({}) \
             AND toUnixTimestamp64Nano(start) >= {start} \
             AND toUnixTimestamp64Nano(start) < {end}",
            between("minute", &minutes),
            selected.join(", ")
        );
        self.stream(BatchContent::Each, (&sql, None), |_| true)
    }

    /// Asks the rows of a statement, with the table that it reads, in batches that are cut where a
    /// chain ends. Rows that `take` refuses are left out.
    fn stream(
        &self,
        content: BatchContent,
        (sql, beside): (&str, Option<&SentTable>),
        mut take: impl FnMut(&Record) -> bool,
    ) -> Result<(), Ended> {
        let row_bytes = (size_of::<Record>() + ROW_BYTES) as u64;
        let rows_max = (self.limits.memory_bytes / row_bytes).clamp(1, BATCH_ROWS);
        let mut waiting = Batch::default();
        let mut last = ChainId::NONE;
        let mut ended = None;
        let each = |batch: &RecordBatch| {
            let rows = Rows::of(ResultRows { node: self.node, batch })?;
            for row in 0..batch.num_rows() {
                let Some(record) = rows.record(row, self.words) else {
                    ended = Some(Ended::NewWord);
                    return Err(self.node.unexpected_column("path"));
                };
                if !take(&record) {
                    continue;
                }
                let chain = record.chain();
                let is_full = waiting.len() as u64 >= rows_max;
                if is_full && (chain != last || content == BatchContent::Each) {
                    let full = std::mem::take(&mut waiting);
                    if let Err(error) = self.batched.add(content, full) {
                        ended = Some(Ended::Failed(error.into()));
                        return Err(self.node.unexpected_column("none"));
                    }
                }
                last = chain;
                waiting.push(record, b"");
            }
            Ok(())
        };
        let read = match beside {
            None => self.node.query(sql, each),
            Some(table) => self.node.query_beside(sql, table, each),
        };
        match ended {
            Some(ended) => return Err(ended),
            None => read?,
        }
        self.batched.add(content, waiting).map_err(|error| Ended::Failed(error.into()))
    }
}

/// The chains that were found with foreign rows.
#[derive(Default)]
struct ForeignChains {
    /// Each once; ascending when sorted.
    all: Vec<ChainId>,
    /// Those among them with native rows, as lines of a table.
    mixed: String,
    /// The last one that is in `mixed`.
    last_mixed: Option<ChainId>,
}

impl ForeignChains {
    /// Adds the chain of a row; rows of a chain follow each other.
    fn add(&mut self, record: &Record) {
        let chain = record.chain();
        if self.all.last() != Some(&chain) {
            self.all.push(chain);
        }
        if !record.flags().contains(Flags::FOREIGN) && self.last_mixed != Some(chain) {
            self.last_mixed = Some(chain);
            // A String takes everything.
            let _ = writeln!(self.mixed, "{}\t{}", chain.high(), chain.low());
        }
    }

    /// Puts them in the order by which [`Self::has`] finds them.
    fn sort(&mut self) {
        self.all.sort_unstable();
    }

    fn has(&self, chain: ChainId) -> bool {
        self.all.binary_search(&chain).is_ok()
    }

    /// Those with native rows, for a statement; `None` without any.
    fn mixed(&self) -> Option<SentTable> {
        let columns = "chain_high UInt64, chain_low UInt64".to_owned();
        let table = || SentTable { name: "mixed".to_owned(), columns, rows: self.mixed.clone() };
        (!self.mixed.is_empty()).then(table)
    }
}

/// Some rows of an answer, by column; what was not asked for is `None`.
struct Rows<'a> {
    chain_high: &'a [u64],
    chain_low: &'a [u64],
    id: &'a [u64],
    parent: &'a [u64],
    start: &'a [i64],
    elapsed: &'a [i64],
    level: &'a [u16],
    root_start: &'a [i64],
    path: &'a [u64],
    class: Option<(&'a [u8], &'a [u64], &'a [u64])>,
    /// Hashes of their hosts and of their roots'.
    hosts: Option<(&'a [u64], &'a [u64])>,
}

impl<'a> Rows<'a> {
    fn of(rows: ResultRows<'a>) -> Result<Self, ClickHouseError> {
        let class = match rows.batch.column_by_name(column::FLAGS) {
            None => None,
            Some(_) => Some((
                rows.numbers::<UInt8Type>(column::FLAGS)?,
                rows.ids("application_hash")?,
                rows.ids("class_hash")?,
            )),
        };
        let hosts = match rows.batch.column_by_name("host_hash") {
            None => None,
            Some(_) => Some((rows.ids("host_hash")?, rows.ids("root_host_hash")?)),
        };
        Ok(Self {
            hosts,
            chain_high: rows.ids(column::CHAIN_HIGH)?,
            chain_low: rows.ids(column::CHAIN_LOW)?,
            id: rows.ids(column::ID)?,
            parent: rows.ids(column::PARENT)?,
            start: rows.times("start_ns")?,
            elapsed: rows.times(column::ELAPSED_NS)?,
            level: rows.numbers::<UInt16Type>(column::LEVEL)?,
            root_start: rows.times("root_start_ns")?,
            path: rows.ids("path_hash")?,
            class,
        })
    }

    /// A row as a record; `None` when its words are not known.
    fn record(&self, row: usize, words: &Words) -> Option<Record> {
        let flags = self.class.map_or(0, |(flags, _, _)| flags[row]);
        let path = words.path(self.path[row])?;
        let class = match self.class {
            Some((_, applications, classes)) => {
                *words.classes.get(&(applications[row], classes[row]))?
            }
            // The last of its path.
            None => words.names.path(path).and_then(|path| path.last().copied())?,
        };
        let (process, root_process) = match self.hosts {
            Some((own, root)) => (words.host(own[row])?, words.host(root[row])?),
            None => (ProcessId::NONE, ProcessId::NONE),
        };
        Some(Record {
            start_ns: self.start[row],
            elapsed_ns: self.elapsed[row].cast_unsigned(),
            cpu_ns: 0,
            process_cpu_ns: NO_PROCESS_CPU,
            chain_high: self.chain_high[row],
            chain_low: self.chain_low[row],
            id: TransactionId(self.id[row]),
            parent: TransactionId(self.parent[row]),
            class,
            path,
            root_start_ns: self.root_start[row],
            root_process,
            process,
            context_offset: 0,
            context_len: 0,
            level: self.level[row],
            thread: 0,
            status: 0,
            flags,
            reserved: 0,
        })
    }
}
