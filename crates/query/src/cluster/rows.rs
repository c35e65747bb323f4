//! All rows of a cluster, minute by minute, as transactions in words: for copies of a store.

use super::ask::ClusterView;
use super::fetch::{ALL, CONTEXT, between, transaction};
use chronoscope_clickhouse::{ClickHouseError, ResultRows};
use chronoscope_model::schema::column;
use chronoscope_model::{ChainId, Transaction};
use chronoscope_store::Minute;
use std::collections::BTreeSet;
use std::ops::Range;

impl ClusterView {
    /// The minutes that have rows of chains whose root started in a range (UTC, nanoseconds since
    /// 1970; foreign rows by their own start), ascending.
    ///
    /// # Errors
    /// [`ClickHouseError`], also when one of the shards does not answer.
    pub fn minutes(&self, range: &Range<i64>) -> Result<BTreeSet<Minute>, ClickHouseError> {
        let sql = format!("SELECT DISTINCT minute FROM transactions WHERE {}", rooted_in(range));
        let by_shard = self.cluster().on_all(|_, node| {
            let mut minutes = BTreeSet::new();
            node.query(&sql, |batch| {
                let rows = ResultRows { node, batch };
                minutes.extend(rows.times("minute")?.iter().map(|minute| Minute(*minute)));
                Ok(())
            })?;
            Ok(minutes)
        })?;
        Ok(by_shard.into_iter().flatten().collect())
    }

    /// Gives the rows of a minute to `each`, shard after shard, those of a range as in
    /// [`Self::minutes`].
    ///
    /// # Errors
    /// [`ClickHouseError`], perhaps after some rows were given out.
    pub fn rows_of_minute(
        &self,
        minute: Minute,
        range: &Range<i64>,
        each: &mut dyn FnMut(Transaction),
    ) -> Result<(), ClickHouseError> {
        let sql = format!(
            "SELECT {ALL}, {CONTEXT}, chain_high, chain_low FROM transactions \
             WHERE minute = {} AND {}",
            minute.0,
            rooted_in(range)
        );
        for node in self.cluster().nodes() {
            node.query(&sql, |batch| {
                let rows = ResultRows { node, batch };
                let (high, low) = (rows.ids(column::CHAIN_HIGH)?, rows.ids(column::CHAIN_LOW)?);
                for row in 0..batch.num_rows() {
                    each(transaction(&rows, row, ChainId::from_halves(high[row], low[row]))?);
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// The condition of rows whose root started in a range; for rows without ancestors the column has
/// their own start.
fn rooted_in(range: &Range<i64>) -> String {
    let Range { start, end } = range;
    let minutes = Minute::of(*start).0..=Minute::of(end.saturating_sub(1)).0;
    let started = "toUnixTimestamp64Nano(root_start)";
    format!("{} AND {started} >= {start} AND {started} < {end}", between("minute", &minutes))
}
