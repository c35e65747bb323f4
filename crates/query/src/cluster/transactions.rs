//! All transactions of a range of time, some minutes at a time.

use super::ask::ClusterView;
use super::fetched::{FetchedMinute, groups_of};
use super::row_counts::minutes_of;
use crate::error::QueryError;
use crate::progress::Progress;
use chronoscope_clickhouse::ClickHouseError;
use chronoscope_model::Transaction;
use chronoscope_store::Transactions;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// The transactions of a cluster in the order of a store of files. At the first error it ends.
pub(crate) struct ClusterTransactions {
    cluster: ClusterView,
    range: Range<i64>,
    /// Groups of minutes that are still to be read.
    groups: VecDeque<Vec<i64>>,
    /// What is being read, with the files that it is read from.
    rows: Option<(Transactions, Vec<Arc<FetchedMinute>>)>,
}

impl ClusterTransactions {
    /// Those of chains whose root started in a range, foreign ones by their own start: UTC,
    /// nanoseconds since 1970.
    ///
    /// # Errors
    /// When a shard does not answer.
    pub(crate) fn new(cluster: ClusterView, range: Range<i64>) -> Result<Self, QueryError> {
        let groups = match range.is_empty() {
            true => VecDeque::new(),
            false => groups_of(cluster.cluster(), &minutes_of(&range))?.into(),
        };
        Ok(Self { cluster, range, groups, rows: None })
    }

    /// Fetches the next minutes; whether there are any.
    fn advance(&mut self) -> Result<bool, QueryError> {
        let Some(minutes) = self.groups.pop_front() else { return Ok(false) };
        let rows = self.cluster.rows_of_minutes(minutes, &Progress::default())?;
        if let Some(shard) = rows.away().first() {
            // A copy or an export without a shard would look whole.
            return Err(ClickHouseError::from(shard.clone()).into());
        }
        let (snapshot, files) = rows.into_fetched();
        self.rows = snapshot.map(|snapshot| (snapshot.transactions(self.range.clone()), files));
        Ok(true)
    }
}

impl Iterator for ClusterTransactions {
    type Item = Result<Transaction, QueryError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((rows, _)) = &mut self.rows {
                match rows.next() {
                    Some(row) => return Some(row.map_err(QueryError::from)),
                    None => self.rows = None,
                }
            }
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.groups.clear();
                    return Some(Err(error));
                }
            }
        }
    }
}
