//! Durations that cross hosts, counted by the shards with the error bounds that the hosts' clocks give
//! them.

use super::clock_sql::ClockSql;
use super::leaf_tables::LeafTables;
use arrow_array::types::UInt32Type;
use chronoscope_chain::{Crossings, Shortest};
use chronoscope_clickhouse::{ClickHouseError, Node, ResultRows};
use chronoscope_store::ClockTable;
use std::str::FromStr;

/// By the number of the path in [`LeafTables::paths`].
pub(super) type PathCrossings = Vec<Crossings>;

/// The clocks of the hosts, as shards are asked with them.
pub(super) struct AskedClocks {
    were_read: bool,
    /// Where they can be sent to the shards.
    sql: Option<ClockSql>,
}

impl AskedClocks {
    pub(super) fn of(clocks: &ClockTable) -> Self {
        Self { were_read: !clocks.is_empty(), sql: ClockSql::of(clocks) }
    }

    /// The leaves of a shard that cross hosts, by path; `None` where there are some and the shard
    /// cannot count them.
    pub(super) fn crossings(
        &self,
        node: &Node,
        tables: &LeafTables<'_>,
        shard: usize,
    ) -> Result<Option<PathCrossings>, ClickHouseError> {
        let mut found = vec![Crossings::default(); tables.paths.len()];
        if !self.were_read || !may_cross(node, tables, shard)? {
            return Ok(Some(found));
        }
        let Some(clocks) = &self.sql else { return Ok(None) };
        if let Some(rows) = tables.crossing_rows(shard, clocks) {
            node.query_beside(&clocks.counting(&rows), &clocks.spans, |batch| {
                add(&ResultRows { node, batch }, &mut found)
            })?;
        }
        Ok(Some(found))
    }
}

/// Whether leaves may cross hosts: of most it is known how many do.
fn may_cross(node: &Node, tables: &LeafTables<'_>, shard: usize) -> Result<bool, ClickHouseError> {
    let Some(statements) = tables.crossing(shard) else { return Ok(true) };
    let mut crossing = 0;
    for sql in statements {
        node.query(&sql, |batch| {
            let rows = ResultRows { node, batch };
            crossing += rows.ids("crossing")?.iter().sum::<u64>();
            Ok(())
        })?;
    }
    Ok(crossing > 0)
}

fn add(rows: &ResultRows<'_>, found: &mut [Crossings]) -> Result<(), ClickHouseError> {
    let (count, unknown) = (rows.ids("crossing")?, rows.ids("unknown")?);
    let (error_ns_max, share_count) = (rows.ids("error_max")?, rows.ids("share_count")?);
    let (explained, negative) = (rows.ids("explaineds")?, rows.ids("negatives")?);
    let negative_explained = rows.ids("negatives_explained")?;
    for (row, number) in rows.numbers::<UInt32Type>("number")?.iter().enumerate() {
        let of_path = found.get_mut(*number as usize);
        let of_path = of_path.ok_or_else(|| rows.node.unexpected_column("number"))?;
        let shortest: i128 = large(rows, "shortest", row)?;
        of_path.merge(&Crossings {
            count: count[row],
            unknown: unknown[row],
            error_ns_max: error_ns_max[row],
            error_ns_sum: large(rows, "error_sum", row)?,
            share_sum: large(rows, "share_sum", row)?,
            share_count: share_count[row],
            explained: explained[row],
            negative: negative[row],
            negative_explained: negative_explained[row],
            shortest: Some(unpacked(shortest)),
        });
    }
    Ok(())
}

/// The shortest duration: in the upper half its length, in the lower one its error bound, where the
/// highest bit says that it is not known.
fn unpacked(packed: i128) -> Shortest {
    let (upper, lower) = (packed >> 64, packed & i128::from(i64::MAX));
    let is_known = (packed >> 63) & 1 == 0;
    Shortest {
        duration_ns: i64::try_from(upper).unwrap_or(i64::MAX), // it has 64 bits
        error_ns: u64::try_from(lower).ok().filter(|_| is_known),
    }
}

/// A number of 128 bits, which comes as text.
fn large<T: FromStr>(
    rows: &ResultRows<'_>,
    column: &str,
    row: usize,
) -> Result<T, ClickHouseError> {
    let number = rows.texts(column)?.value(row).parse();
    number.map_err(|_| rows.node.unexpected_column(column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What a statement packs is found again, and the smallest number is the shortest duration.
        #[test]
        fn the_shortest_is_packed(
            all in prop::collection::vec((any::<i64>(), prop::option::of(0u64..1 << 62)), 1..9),
        ) {
            let packed = |(duration_ns, error_ns): &(i64, Option<u64>)| {
                (i128::from(*duration_ns) << 64) + i128::from(error_ns.unwrap_or(1 << 63))
            };
            let mut expected = Crossings::default();
            all.iter().for_each(|(duration_ns, error_ns)| expected.add(*duration_ns, *error_ns));
            let shortest = all.iter().map(packed).min().map(unpacked);
            prop_assert_eq!(shortest, expected.shortest);
        }
    }
}
