//! Lists of leaves: the first of them in an order, and the chains of those that are named.

use super::leaf_tables::LeafTables;
use super::shard_picture::ShardPicture;
use crate::chain_list::{ChainOrder, First};
use crate::error::QueryError;
use crate::series::Point;
use arrow_array::types::UInt32Type;
use chronoscope_clickhouse::{ClickHouseError, Node, ResultRows};
use chronoscope_model::{ChainId, Flags};
use chronoscope_store::Minute;
use std::collections::{BTreeSet, HashMap};

const FOREIGN: u8 = Flags::FOREIGN.0;

impl ShardPicture {
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
        let linked = self.plan().linked.as_ref();
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
