//! Making the sketches of a cluster, some minutes at a time.

use super::ask::ClusterView;
use super::row_counts::{counts, counts_sql};
use crate::error::QueryError;
use crate::progress::Progress;
use chronoscope_clickhouse::Node;
use chronoscope_clock::utc_now_ns;
use std::ops::RangeInclusive;

/// Rows that one statement counts, unless a minute has more: a second of a processor or so.
const STATEMENT_ROWS: u64 = 5_000_000;
/// Minutes of a day, the unit of the table's parts.
const DAY_MINUTES: i64 = 24 * 60;
/// Most minutes that one statement names.
const STATEMENT_MINUTES: usize = 240;

impl ClusterView {
    /// Makes the sketches of the minutes (since 1970) in a range that have other rows than were
    /// counted; the number of minutes, each on each shard. Shards work at the same time, and each
    /// reads its own rows: some 0.15 µs of its processor a row. Any number of processes may do so.
    ///
    /// # Errors
    /// [`QueryError::ClickHouse`], and `StoreError::Cancelled`; what was made before stays.
    pub(super) fn make_sketches(
        &self,
        minutes: &RangeInclusive<i64>,
        progress: &Progress,
    ) -> Result<u64, QueryError> {
        let made = self.cluster().on_all(|_, node| Ok(of_shard(node, minutes, progress)))?;
        made.into_iter().sum()
    }
}

fn of_shard(
    node: &Node,
    minutes: &RangeInclusive<i64>,
    progress: &Progress,
) -> Result<u64, QueryError> {
    let known = node.sketched_minutes(minutes)?;
    let mut changed = counts(node, &counts_sql(std::slice::from_ref(minutes)))?;
    changed.retain(|(minute, now)| {
        known
            .get(minute)
            .is_none_or(|known| known.rows != now.rows || known.native != now.rows - now.foreign)
    });
    changed.sort_unstable_by_key(|(minute, _)| *minute);
    let newest = known.values().map(|known| known.version).max().unwrap_or(0);
    // A later version is the greater one, also where the clock was set back.
    let version = utc_now_ns().cast_unsigned().max(newest + 1);
    let with_rows: Vec<(i64, u64)> =
        changed.iter().map(|(minute, now)| (*minute, now.rows)).collect();
    for statement in statements(&with_rows) {
        progress.check()?;
        node.make_sketches(&statement, version)?;
    }
    Ok(changed.len() as u64)
}

/// The minutes of each statement: of one day, with so many rows at most.
fn statements(minutes: &[(i64, u64)]) -> Vec<Vec<i64>> {
    let mut statements: Vec<Vec<i64>> = Vec::new();
    let mut sum = 0;
    for (minute, rows) in minutes {
        sum += rows;
        match statements.last_mut() {
            Some(last)
                if sum <= STATEMENT_ROWS
                    && last.len() < STATEMENT_MINUTES
                    && last[0].div_euclid(DAY_MINUTES) == minute.div_euclid(DAY_MINUTES) =>
            {
                last.push(*minute);
            }
            _ => {
                sum = *rows;
                statements.push(vec![*minute]);
            }
        }
    }
    statements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_of_a_day_and_not_too_large() {
        let minutes = [(1, 10), (2, STATEMENT_ROWS - 10), (3, 1), (1439, 1), (1440, 1)];
        assert_eq!(statements(&minutes), [vec![1, 2], vec![3, 1439], vec![1440]]);
        assert_eq!(statements(&[(5, STATEMENT_ROWS * 2), (6, 1)]), [vec![5], vec![6]]);
        assert!(statements(&[]).is_empty());
    }
}
