//! Linking the native chains of a cluster once, a minute at a time.
//!
//! A chain's rows are on one shard, and native rows in the minute of their root's start: of a minute
//! on a shard every native chain is whole. Its rows are linked by the code that seals segments; what
//! is wrong with a row is stored on the shard ([`chronoscope_clickhouse::SealedMinute`]), so that
//! questions need neither the other rows of its chain nor anything to be put together.

use super::ask::ClusterView;
use super::decode::{COLUMNS, Decoded};
use super::names::ClusterNames;
use super::row_counts::count_rows;
use super::sql::IN_ORDER;
use super::take::{FetchError, take_in};
use crate::error::QueryError;
use crate::progress::Progress;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int32Type, Int64Type, TimestampNanosecondType, UInt8Type, UInt16Type, UInt64Type,
};
use chronoscope_chain::links::bits;
use chronoscope_clickhouse::{
    ClickHouseError, Node, ResultRows, SealedMinute, UnusualRow, root_class_text,
};
use chronoscope_clock::utc_now_ns;
use chronoscope_model::schema::column;
use chronoscope_model::{Batch, ChainId, Flags, Names};
use chronoscope_store::{Order, each_schema_batch};
use std::ops::RangeInclusive;

/// Rows of a minute on a shard that are linked at once; more are cut where a chain ends.
const PIECE_ROWS: usize = 1 << 19;
/// Rows of a minute that are one piece; others may come while it is fetched.
const PIECE_ROWS_AT_ONCE: u64 = PIECE_ROWS as u64 / 2;
/// What a row cannot tell by itself.
const UNUSUAL: u8 = bits::ANCESTOR_MISSING | bits::BEFORE_PARENT;
const FOREIGN: u8 = Flags::FOREIGN.0;

/// What was sealed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sealed {
    /// Minutes, each on each shard that has rows of it.
    pub minutes: u64,
    /// Native rows that were linked.
    pub rows: u64,
    /// Rows without an ancestor, or that started before their parent.
    pub unusual: u64,
    /// Rows of chains with foreign rows that were linked, native ones of them included.
    pub foreign: u64,
    /// Minutes of which sketches were made, each on each shard.
    pub sketched: u64,
}

impl ClusterView {
    /// Links the chains of the minutes (since 1970) in a range that have more or fewer rows
    /// than when they were linked last, first the native ones, and makes their sketches. Any number of processes may do so at the same time.
    ///
    /// Memory: some 500,000 rows of one shard. Cost of native chains: all rows of the minutes are fetched.
    ///
    /// # Errors
    /// [`QueryError::ClickHouse`], and `StoreError::Cancelled`; what was sealed before stays.
    pub fn seal(
        &self,
        minutes: &RangeInclusive<i64>,
        progress: &Progress,
    ) -> Result<Sealed, QueryError> {
        let counts = count_rows(self.cluster(), std::slice::from_ref(minutes))?;
        let known = self.cluster().sealed_minutes(minutes)?;
        let mut sealed = Sealed::default();
        let mut names: Option<ClusterNames> = None;
        for (shard, node) in self.cluster().nodes().iter().enumerate() {
            // A minute that was linked before there were durations is linked once more.
            let changed = counts.iter().filter(|(minute, rows)| {
                let rows = rows[shard].native();
                let is_current =
                    |known: &SealedMinute| (known.rows, known.durations) == (rows, rows);
                rows > 0 && !known[shard].get(minute).is_some_and(is_current)
            });
            let changed: Vec<i64> = changed.map(|(minute, _)| *minute).collect();
            for minute in changed {
                progress.check()?;
                let current = match names.take() {
                    Some(names) => names,
                    None => ClusterNames::read(self.cluster())?,
                };
                let before = known[shard].get(&minute).map_or(0, |known| known.version);
                // A later version is the greater one, also where the clock was set back.
                let version = utc_now_ns().cast_unsigned().max(before + 1);
                match self.seal_minute((shard, node), (minute, version), &current, progress) {
                    Ok(None) => names = Some(current),
                    Ok(Some(one)) => {
                        names = Some(current);
                        sealed.minutes += 1;
                        sealed.rows += one.rows;
                        sealed.unusual += one.unusual;
                    }
                    // It is sealed the next time, with its new path.
                    Err(FetchError::NewPath) => {}
                    Err(FetchError::Failed(error)) => return Err(error),
                }
            }
        }
        sealed.sketched = self.make_sketches(minutes, progress)?;
        sealed.foreign = self.link_foreign(minutes, progress)?;
        Ok(sealed)
    }

    /// `None` where its rows changed meanwhile: it is sealed the next time.
    fn seal_minute(
        &self,
        (shard, node): (usize, &Node),
        (minute, version): (i64, u64),
        names: &ClusterNames,
        progress: &Progress,
    ) -> Result<Option<SealedMinute>, FetchError> {
        let mut linking = Linking::default();
        linking.fetch(node, minute, names, progress)?;
        let (rows, unusual) = (linking.rows, linking.unusual.len() as u64);
        if !self.cluster().fill_durations(shard, (minute, version), rows)? {
            return Ok(None);
        }
        let sealed = SealedMinute { version, rows, unusual, durations: rows };
        self.cluster().seal_minute(shard, minute, sealed, &linking.unusual)?;
        Ok(Some(sealed))
    }
}

/// The order that keeps chains whole where a minute's rows are linked in pieces. Rows that do not know
/// the class of their root stand apart from their chain in the table: only then it is sorted.
fn order_of(node: &Node, native: &str) -> Result<&'static str, ClickHouseError> {
    let sql = format!(
        "SELECT count() AS rows, countIf(top = '' OR startsWith(top, '?')) AS apart \
         FROM transactions WHERE {native}"
    );
    let (mut all, mut apart) = (0, 0);
    node.query(&sql, |batch| {
        let rows = ResultRows { node, batch };
        all += rows.ids("rows")?.iter().sum::<u64>();
        apart += rows.ids("apart")?.iter().sum::<u64>();
        Ok(())
    })?;
    Ok(match (all, apart) {
        // One piece, in whatever order.
        (..=PIECE_ROWS_AT_ONCE, _) => "",
        (_, 0) => IN_ORDER,
        _ => "ORDER BY chain_high, chain_low SETTINGS max_bytes_before_external_sort = 1000000000",
    })
}

/// A minute being linked.
#[derive(Default)]
struct Linking {
    decoded: Decoded,
    /// Rows that wait for the end of their chain.
    waiting: Batch,
    rows: u64,
    unusual: Vec<UnusualRow>,
}

impl Linking {
    fn fetch(
        &mut self,
        node: &Node,
        minute: i64,
        names: &ClusterNames,
        progress: &Progress,
    ) -> Result<(), FetchError> {
        let native = format!("minute = {minute} AND bitAnd(flags, {FOREIGN}) = 0");
        let order = order_of(node, &native)?;
        let sql = format!("SELECT {COLUMNS} FROM transactions WHERE {native} {order}");
        take_in(node, &sql, |rows| {
            progress.check()?;
            self.decoded.add(rows, names).map_err(FetchError::from_decoding)?;
            for (_, batch) in std::mem::take(&mut self.decoded.slots) {
                for record in batch.records() {
                    let last = self.waiting.records().last();
                    let is_full = self.waiting.len() >= PIECE_ROWS;
                    if is_full && last.is_some_and(|last| last.chain() != record.chain()) {
                        self.link(names)?;
                    }
                    self.waiting.push(*record, b"");
                }
            }
            Ok(())
        })?;
        self.link(names)
    }

    /// Links the rows that wait.
    fn link(&mut self, known: &ClusterNames) -> Result<(), FetchError> {
        let batch = std::mem::take(&mut self.waiting);
        self.rows += batch.len() as u64;
        let mut names: Names = known.names.clone();
        names.merge(&self.decoded.names);
        let (unusual, mut complete) = (&mut self.unusual, true);
        let linked = each_schema_batch(&batch, &names, Order::Chain, |columns| {
            match unusual_of(&columns) {
                Some(found) => unusual.extend(found),
                None => complete = false,
            }
            Ok(())
        });
        let reason = match linked {
            Ok(()) if complete => return Ok(()),
            Ok(()) => "a column of the schema is missing".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(ClickHouseError::Rows { reason }.into())
    }
}

/// The rows of a batch of which something is wrong; `None` where a column is missing.
fn unusual_of(batch: &RecordBatch) -> Option<Vec<UnusualRow>> {
    let column = |name: &str| batch.column_by_name(name);
    let links = column(column::LINKS)?.as_primitive_opt::<UInt8Type>()?.values();
    let wanted: Vec<usize> = (0..links.len()).filter(|row| links[*row] & UNUSUAL != 0).collect();
    if wanted.is_empty() {
        return Some(Vec::new());
    }
    let word = |name: &str, row: usize| -> Option<String> {
        let words = column(name)?.as_dictionary_opt::<Int32Type>()?;
        let texts = words.values().as_string_opt::<i32>()?;
        Some(words.key(row).map_or_else(String::new, |key| texts.value(key).to_owned()))
    };
    let id = |name: &str, row: usize| -> Option<u64> {
        Some(column(name)?.as_primitive_opt::<UInt64Type>()?.value(row))
    };
    let instant = |name: &str, row: usize| -> Option<i64> {
        Some(column(name)?.as_primitive_opt::<TimestampNanosecondType>()?.value(row))
    };
    let rows = wanted.into_iter().map(|row| {
        let application = word(column::ROOT_APPLICATION, row)?;
        let class = word(column::ROOT_CLASS, row)?;
        let elapsed = column(column::ELAPSED_NS)?.as_primitive_opt::<Int64Type>()?;
        let level = column(column::LEVEL)?.as_primitive_opt::<UInt16Type>()?;
        Some(UnusualRow {
            path: word(column::PATH, row)?,
            top: root_class_text(&application, &class),
            hosts: [word(column::HOST, row)?, word(column::ROOT_HOST, row)?],
            chain: ChainId::from_halves(id(column::CHAIN_HIGH, row)?, id(column::CHAIN_LOW, row)?),
            id: id(column::ID, row)?,
            start_ns: instant(column::START, row)?,
            elapsed_ns: elapsed.value(row),
            root_start_ns: instant(column::ROOT_START, row)?,
            level: level.value(row),
            links: links[row],
        })
    });
    rows.collect()
}
