//! Pictures and lists of leaves, counted by the shards: of the leaves of linked chains nothing
//! travels but how many lie in each cell, the longest and the shortest of each column, and those that
//! are listed.
//!
//! What is not linked is put together here; whoever draws adds both.

use super::ask::ClusterView;
use super::cell_sql::CellSql;
use super::duration_rows::LeafPlan;
use super::leaf_tables::LeafTables;
use super::rows_view::RowsView;
use super::shard_crossings::AskedClocks;
use super::shard_extents::{extents, marked};
use crate::chain_list::{ChainOrder, First};
use crate::chunk::{PathText, both};
use crate::error::QueryError;
use crate::progress::Progress;
use crate::question::{Limits, Question};
use crate::scatter::wider;
use crate::series::Point;
use arrow_array::types::UInt32Type;
use chronoscope_chain::links::bits;
use chronoscope_chain::{Counts, Crossings};
use chronoscope_clickhouse::{ClickHouseError, Node, ResultRows};
use chronoscope_model::{ChainId, Flags};
use chronoscope_statistics::Edges;
use chronoscope_store::Minute;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

const FOREIGN: u8 = Flags::FOREIGN.0;

/// A plan of leaves with the rows of it that are put together here.
pub(crate) struct ShardPicture {
    view: ClusterView,
    plan: LeafPlan,
    question: Question,
    /// The rows that are put together here, and all that is known besides rows.
    pub(crate) rest: RowsView<'static>,
}

/// The leaves in a column of a picture.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ShardColumn {
    pub(crate) counts: Counts,
    /// Shortest and longest.
    pub(crate) durations_ns: Option<(u64, u64)>,
    /// The first start of those that took longest.
    pub(crate) start_ns: i64,
}

/// The leaves in the cells of a picture.
#[derive(Debug)]
pub(crate) struct ShardCells {
    /// The paths that have any.
    pub(crate) paths: Vec<Arc<PathText>>,
    /// Number of the path, column, row and number of leaves.
    pub(crate) cells: Vec<(usize, usize, usize, u64)>,
}

impl ClusterView {
    /// What the shards say of the leaves of a question; `None` where these do not suffice.
    pub(crate) fn shard_picture(
        &self,
        question: &Question,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<Option<ShardPicture>, QueryError> {
        self.unless_missing(|| {
            let Some(plan) = self.leaf_plan(question, limits, progress)? else { return Ok(None) };
            let Some(rest) = self.assembled_rows(&plan, progress)? else { return Ok(None) };
            let (view, question) = (self.clone(), question.clone());
            Ok(Some(ShardPicture { view, plan, question, rest }))
        })
    }
}

impl ShardPicture {
    fn tables(&self) -> LeafTables<'_> {
        LeafTables::new(&self.plan, &self.question)
    }

    /// Asks every shard; what was linked must be there still when all have answered.
    fn on_all<T: Send>(
        &self,
        ask: impl Fn(usize, &Node) -> Result<T, ClickHouseError> + Sync,
    ) -> Result<Vec<T>, QueryError> {
        let cluster = self.view.cluster();
        let found = cluster.on_all(ask)?;
        if self.plan.is_kept(cluster)? { Ok(found) } else { Err(QueryError::LinkedAnew) }
    }

    /// First and last start; `None` without leaves.
    pub(crate) fn starts_ns(&self) -> Result<Option<(i64, i64)>, QueryError> {
        let tables = self.tables();
        let by_shard = self.on_all(|shard, node| extents(node, &tables, shard))?;
        let extents = by_shard.iter().flat_map(HashMap::values);
        Ok(extents.fold(None, |all, extent| both(all, extent.starts_ns)))
    }

    /// The leaves that cross hosts, where clocks were read; `None` where the shards cannot tell their
    /// error bounds.
    pub(crate) fn crossings(&self) -> Result<Option<Crossings>, QueryError> {
        if self.rest.clocks().is_empty() {
            return Ok(Some(Crossings::default()));
        }
        let (tables, clocks) = (self.tables(), AskedClocks::of(self.rest.clocks()));
        let by_shard = self.on_all(|shard, node| clocks.crossings(node, &tables, shard))?;
        let mut all = Crossings::default();
        for theirs in by_shard {
            let Some(by_path) = theirs else { return Ok(None) };
            by_path.iter().for_each(|of_path| all.merge(of_path));
        }
        Ok(Some(all))
    }

    /// The columns of a picture that begins at `start_ns`: those that have any leaves, negative ones
    /// in one that is behind all.
    pub(crate) fn columns(
        &self,
        start_ns: i64,
        columns: &Edges,
    ) -> Result<BTreeMap<usize, ShardColumn>, QueryError> {
        let (tables, column) = (self.tables(), column_of(start_ns, columns));
        let packing = Packing::of(start_ns, columns);
        let by_shard = self
            .on_all(|shard, node| columns_of(node, &tables, shard, (&column, columns, packing)))?;
        let mut all: BTreeMap<usize, ShardColumn> = BTreeMap::new();
        let mut are_known = true;
        for (number, theirs) in by_shard.into_iter().flatten() {
            let mine = all.entry(number).or_default();
            mine.counts.add(&theirs.counts);
            are_known &= theirs.durations_ns.is_none_or(|(_, longest)| packing.holds(longest));
            if let Some((shortest, longest)) = theirs.durations_ns {
                let known = mine.durations_ns.map(|known| (known.0, known.1, mine.start_ns));
                let both = wider(known, (shortest, longest, theirs.start_ns));
                (mine.durations_ns, mine.start_ns) = (Some((both.0, both.1)), both.2);
            }
        }
        if are_known {
            return Ok(all);
        }
        let longest = |(number, column): (&usize, &ShardColumn)| {
            Some((*number, column.durations_ns.filter(|_| *number < columns.count())?.1))
        };
        let longest: Vec<(usize, u64)> = all.iter().filter_map(longest).collect();
        let starts =
            self.on_all(|shard, node| starts_of(node, &tables, shard, (&column, &longest)))?;
        let mut first: HashMap<usize, i64> = HashMap::new();
        for (number, start) in starts.into_iter().flatten() {
            let known = first.entry(number).or_insert(start);
            *known = start.min(*known);
        }
        for (number, column) in &mut all {
            column.start_ns = first.get(number).copied().unwrap_or(start_ns);
        }
        Ok(all)
    }

    /// The cells of a picture that have any leaves, and their paths.
    pub(crate) fn cells(
        &self,
        start_ns: &Range<i64>,
        (columns, rows): (&Edges, &Edges),
    ) -> Result<ShardCells, QueryError> {
        let tables = self.tables();
        let column = column_of(start_ns.start, columns);
        let row = CellSql::of(rows, "duration");
        let (width, height) = (columns.count(), rows.count());
        let all = (tables.paths.len() as u64) * (width as u64) * (height as u64);
        // A smaller key is grouped faster.
        let key = if u32::try_from(all).is_ok() { "UInt32" } else { "UInt64" };
        let sql = |table: String| {
            format!(
                "{}SELECT toUInt64(cell) AS cell, rows FROM (SELECT \
                 to{key}(({} * {width} + {}) * {height} + {}) AS cell, count() AS rows \
                 FROM {table} WHERE duration >= 0 GROUP BY cell)",
                CellSql::with_all(&[&column, &row]),
                tables.path_number(),
                column.cell,
                row.cell
            )
        };
        let mut counted: HashMap<u64, u64> = HashMap::new();
        let by_shard = self.on_all(|shard, node| {
            let mut found = Vec::new();
            let Some(table) = tables.all(shard) else { return Ok(found) };
            node.query(&sql(table), |batch| {
                let rows = ResultRows { node, batch };
                let cells = rows.ids("cell")?.iter().copied();
                found.extend(cells.zip(rows.ids("rows")?.iter().copied()));
                Ok(())
            })?;
            Ok(found)
        })?;
        for (cell, rows) in by_shard.into_iter().flatten() {
            *counted.entry(cell).or_default() += rows;
        }
        let paths = tables.paths.iter().map(|(_, path)| Arc::clone(path)).collect();
        let mut found = ShardCells { paths, cells: Vec::new() };
        for (cell, rows) in counted {
            let cell = usize::try_from(cell).unwrap_or(usize::MAX);
            let (path, of_path) = (cell / (width * height), cell % (width * height));
            if path < found.paths.len() {
                found.cells.push((path, of_path / height, of_path % height, rows));
            }
        }
        Ok(found)
    }

    /// How many leaves there are, and the first of them in an order.
    pub(crate) fn firsts(
        &self,
        order: ChainOrder,
        limit: usize,
    ) -> Result<(u64, Vec<First>), QueryError> {
        let tables = self.tables();
        let by_shard =
            self.on_all(|shard, node| firsts_of(node, &tables, shard, (order, limit)))?;
        let (mut total, mut all) = (0, Vec::new());
        for (theirs, firsts) in by_shard {
            total += theirs;
            all.extend(firsts);
        }
        all.sort_unstable();
        all.truncate(limit);
        Ok((total, all))
    }

    /// The chains of some leaves.
    pub(crate) fn locate(&self, points: &[Point]) -> Result<Vec<Option<ChainId>>, QueryError> {
        if points.is_empty() {
            return Ok(Vec::new());
        }
        let tables = self.tables();
        let by_shard = self.on_all(|shard, node| {
            let mut found = Vec::new();
            for sql in self.locating(&tables, shard, points) {
                node.query(&sql, |batch| {
                    let rows = ResultRows { node, batch };
                    let (high, low) = (rows.ids("high")?, rows.ids("low")?);
                    let (starts, lengths) = (rows.times("root_ns")?, rows.times("duration")?);
                    for (row, start_ns) in starts.iter().enumerate() {
                        let duration_ns = lengths[row].unsigned_abs();
                        let point = Point { start_ns: *start_ns, duration_ns };
                        found.push((point, ChainId::from_halves(high[row], low[row])));
                    }
                    Ok(())
                })?;
            }
            Ok(found)
        })?;
        let mut chains: HashMap<Point, ChainId> = HashMap::new();
        for (point, chain) in by_shard.into_iter().flatten() {
            let known = chains.entry(point).or_insert(chain);
            *known = chain.min(*known);
        }
        Ok(points.iter().map(|point| chains.get(point).copied()).collect())
    }

    /// The statements that find the chains of some leaves on a shard.
    fn locating(&self, tables: &LeafTables<'_>, shard: usize, points: &[Point]) -> Vec<String> {
        let minutes: BTreeSet<i64> =
            points.iter().map(|point| Minute::of(point.start_ns).0).collect();
        let minutes: Vec<i64> = minutes.into_iter().collect();
        let numbers: Vec<String> = minutes.iter().map(i64::to_string).collect();
        let pairs =
            points.iter().map(|point| format!("({},{})", point.start_ns, point.duration_ns));
        let pairs = pairs.collect::<Vec<_>>().join(",");
        let starts: BTreeSet<i64> = points.iter().map(|point| point.start_ns).collect();
        let starts: Vec<String> = starts
            .iter()
            .map(|ns| format!("fromUnixTimestamp64Nano(toInt64({ns}),'UTC')"))
            .collect();
        let linked = self.plan.linked.as_ref();
        let without = linked.map_or_else(String::new, |linked| linked.without_foreign(shard));
        let hosts = tables.of_hosts();
        let native = format!(
            "SELECT chain_high AS high, chain_low AS low, \
             toUnixTimestamp64Nano(root_start) AS root_ns, \
             toUnixTimestamp64Nano(start) + elapsed_ns - root_ns AS duration FROM transactions \
             WHERE minute IN ({}) AND {} AND root_start IN ({}) \
             AND bitAnd(flags, {FOREIGN}) = 0 AND (root_ns, duration) IN ({pairs}){hosts}{without}",
            numbers.join(","),
            tables.of_paths(),
            starts.join(",")
        );
        let cells = linked.and_then(|linked| Some((linked, linked.listed(&minutes, shard)?)));
        let linked = cells.map(|(linked, cells)| {
            format!(
                "SELECT component_high AS high, component_low AS low, root_start_ns AS root_ns, \
                 start_ns + elapsed_ns - root_start_ns AS duration FROM linked_rows \
                 WHERE (minute, version) IN ({cells}) AND {} AND (root_ns, duration) IN \
                 ({pairs}){hosts}{}",
                tables.of_path_texts(),
                linked.without_loose(shard)
            )
        });
        [native].into_iter().chain(linked).collect()
    }
}

/// A duration and the start of its root in one number: the greatest is the longest duration, and of
/// equal ones the one that starts first. The start counts within its column, in the lower bits.
#[derive(Clone, Copy)]
struct Packing {
    /// Start of the first column.
    start_ns: i64,
    /// Nanoseconds of a column, rounded down.
    width_ns: u64,
    bits: u32,
}

impl Packing {
    fn of(start_ns: i64, columns: &Edges) -> Self {
        let count = columns.count() as u64;
        let width_ns = columns.all().last().copied().unwrap_or(0) / count;
        // A column begins at most its number and two more behind so many widths.
        let most = width_ns.saturating_add(count).saturating_add(2);
        Self { start_ns, width_ns, bits: u64::BITS - most.leading_zeros() }
    }

    const fn mask(self) -> u64 {
        (1_u64 << self.bits) - 1
    }

    /// The number for a row of the column with a number, in SQL.
    fn sql(self, column: &str) -> String {
        let Self { start_ns, width_ns, bits } = self;
        format!(
            "bitOr(bitShiftLeft(toUInt64(duration), {bits}), \
             toUInt64({} - (root_ns - toInt64({start_ns}) - toInt64({column}) * {width_ns})))",
            self.mask()
        )
    }

    /// Whether a duration has room.
    const fn holds(self, duration_ns: u64) -> bool {
        self.bits <= 48 && duration_ns >> (u64::BITS - self.bits) == 0
    }

    /// The start in a number of a column.
    fn start_ns(self, packed: u64, column: usize) -> i64 {
        let since = (column as u64).saturating_mul(self.width_ns);
        let since = since.saturating_add(self.mask() - (packed & self.mask()));
        self.start_ns.saturating_add_unsigned(since)
    }
}

/// The column of a root's start.
fn column_of(start_ns: i64, columns: &Edges) -> CellSql {
    CellSql::of(columns, &format!("(root_ns - toInt64({start_ns}))"))
}

fn columns_of(
    node: &Node,
    tables: &LeafTables<'_>,
    shard: usize,
    (column, columns, packing): (&CellSql, &Edges, Packing),
) -> Result<Vec<(usize, ShardColumn)>, ClickHouseError> {
    let mut found = Vec::new();
    let behind = columns.count();
    let number = format!("toUInt32({} + {behind} * (duration < 0)) AS x", column.cell);
    let with = CellSql::with_all(&[column]);
    if let Some(table) = tables.all(shard) {
        let marks = match tables.linked(shard) {
            None => "toUInt64(0) AS before_parent, toUInt64(0) AS assembled".to_owned(),
            Some(_) => format!(
                "{}, {}",
                marked(bits::BEFORE_PARENT, "before_parent"),
                marked(bits::ASSEMBLED, "assembled")
            ),
        };
        let packed = if packing.holds(0) { packing.sql(&column.cell) } else { "0".to_owned() };
        let sql = format!(
            "{with}SELECT {number}, count() AS rows, min(duration) AS shortest, \
             max(duration) AS longest, max(toUInt64({packed})) AS packed, {marks} \
             FROM {table} GROUP BY x"
        );
        let mut add = |rows: &ResultRows<'_>| add_columns(rows, behind, packing, &mut found);
        node.query(&sql, |batch| add(&ResultRows { node, batch }))?;
    }
    if let Some(table) = tables.unusual(shard) {
        let sql = format!(
            "{with}SELECT {number}, {}, {} FROM {table} WHERE duration >= 0 GROUP BY x",
            marked(bits::ANCESTOR_MISSING, "incomplete"),
            marked(bits::BEFORE_PARENT, "before_parent"),
        );
        node.query(&sql, |batch| {
            let rows = ResultRows { node, batch };
            let (incomplete, before) = (rows.ids("incomplete")?, rows.ids("before_parent")?);
            for (row, number) in rows.numbers::<UInt32Type>("x")?.iter().enumerate() {
                let mut column = ShardColumn::default();
                column.counts.incomplete = incomplete[row];
                column.counts.before_parent = before[row];
                found.push((*number as usize, column));
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// Adds columns with their counts; those from `behind` on are of negative durations.
fn add_columns(
    rows: &ResultRows<'_>,
    behind: usize,
    packing: Packing,
    found: &mut Vec<(usize, ShardColumn)>,
) -> Result<(), ClickHouseError> {
    let (numbers, counts) = (rows.numbers::<UInt32Type>("x")?, rows.ids("rows")?);
    let (shortest, longest) = (rows.times("shortest")?, rows.times("longest")?);
    let (before, assembled) = (rows.ids("before_parent")?, rows.ids("assembled")?);
    let packed = rows.ids("packed")?;
    for (row, number) in numbers.iter().enumerate() {
        let mut column = ShardColumn::default();
        if *number as usize >= behind {
            column.counts.negative = counts[row];
            found.push((behind, column));
            continue;
        }
        column.counts.used = counts[row];
        column.counts.before_parent = before[row];
        column.counts.foreign = assembled[row];
        let range = (shortest[row].unsigned_abs(), longest[row].unsigned_abs());
        column.durations_ns = Some(range);
        if packing.holds(range.1) {
            column.start_ns = packing.start_ns(packed[row], *number as usize);
        }
        found.push((*number as usize, column));
    }
    Ok(())
}

/// The first starts on a shard of leaves of a given length, by column.
fn starts_of(
    node: &Node,
    tables: &LeafTables<'_>,
    shard: usize,
    (column, longest): (&CellSql, &[(usize, u64)]),
) -> Result<Vec<(usize, i64)>, ClickHouseError> {
    let mut found = Vec::new();
    let least = longest.iter().map(|(_, ns)| *ns).min();
    let (Some(table), Some(least)) = (tables.all(shard), least) else { return Ok(found) };
    let (numbers, lengths): (Vec<String>, Vec<String>) =
        longest.iter().map(|(number, ns)| (number.to_string(), ns.to_string())).unzip();
    let sql = format!(
        "{}SELECT toUInt32({}) AS x, min(root_ns) AS first_root FROM {table} \
         WHERE duration >= {least} \
         AND toUInt64(duration) = transform(x, [{}], [{}], toUInt64(9223372036854775808)) \
         GROUP BY x",
        CellSql::with_all(&[column]),
        column.cell,
        numbers.join(","),
        lengths.join(",")
    );
    node.query(&sql, |batch| {
        let rows = ResultRows { node, batch };
        let numbers = rows.numbers::<UInt32Type>("x")?.iter().map(|number| *number as usize);
        found.extend(numbers.zip(rows.times("first_root")?.iter().copied()));
        Ok(())
    })?;
    Ok(found)
}

/// The number of leaves on a shard, and the first of them: what decides is looked for first, by itself.
fn firsts_of(
    node: &Node,
    tables: &LeafTables<'_>,
    shard: usize,
    (order, limit): (ChainOrder, usize),
) -> Result<(u64, Vec<First>), ClickHouseError> {
    let Some(table) = tables.all(shard) else { return Ok((0, Vec::new())) };
    // Unsigned, and smaller for those that come first.
    let key = match order {
        ChainOrder::Longest => "toUInt64(9223372036854775807 - duration)",
        ChainOrder::Shortest => "toUInt64(duration)",
        ChainOrder::First => "bitXor(reinterpretAsUInt64(root_ns), toUInt64(9223372036854775808))",
    };
    let most = limit.max(1);
    let sql = format!(
        "SELECT count() AS total, groupArraySorted({most})({key}) AS firsts FROM {table} \
         WHERE duration >= 0"
    );
    let (mut total, mut last) = (0, None);
    node.query(&sql, |batch| {
        let rows = ResultRows { node, batch };
        let lists = rows.id_lists("firsts")?;
        for (row, count) in rows.ids("total")?.iter().enumerate() {
            total += count;
            last = lists[row].last().copied().or(last);
        }
        Ok(())
    })?;
    let mut found = Vec::new();
    let Some(last) = last else { return Ok((total, found)) };
    let sql = format!(
        "SELECT {} AS number, host, root_ns, duration FROM {table} \
         WHERE duration >= 0 AND {key} <= {last} \
         ORDER BY {key}, root_ns, duration, path, host LIMIT {most}",
        tables.path_number()
    );
    node.query(&sql, |batch| {
        let rows = ResultRows { node, batch };
        let (starts, lengths) = (rows.times("root_ns")?, rows.times("duration")?);
        let (numbers, hosts) = (rows.numbers::<UInt32Type>("number")?, rows.texts("host")?);
        for (row, start_ns) in starts.iter().enumerate() {
            let path = tables.paths.get(numbers[row] as usize);
            let (_, path) = path.ok_or_else(|| node.unexpected_column("number"))?;
            let point = Point { start_ns: *start_ns, duration_ns: lengths[row].unsigned_abs() };
            found.push(First::of(order, path, hosts.value(row), point));
        }
        Ok(())
    })?;
    Ok((total, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_statistics::Scale;
    use proptest::prelude::*;

    proptest! {
        /// A start is found again in the number that its column's rows are packed into.
        #[test]
        fn starts_are_packed(
            span in (1u64..1 << 62).prop_map(|v| v >> (v % 61)),
            count in 1usize..3000,
            since in any::<u64>(),
            start_ns in -1_000_000i64..1_000_000,
        ) {
            let (span, since) = (span.max(1), since % span.max(1));
            let columns = Edges::new(Scale::Linear, 0..span, count);
            let packing = Packing::of(start_ns, &columns);
            prop_assume!(packing.holds(0));
            let column = columns.cell(since);
            let within = since - column as u64 * packing.width_ns;
            prop_assert!(within <= packing.mask());
            let duration_ns = u64::MAX >> packing.bits;
            prop_assert!(packing.holds(duration_ns) && !packing.holds(duration_ns + 1));
            let packed = duration_ns << packing.bits | (packing.mask() - within);
            prop_assert_eq!(packing.start_ns(packed, column), start_ns + since.cast_signed());
        }
    }
}
