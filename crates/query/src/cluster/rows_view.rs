//! Stored rows as the questions of files read them: of files, or fetched from a cluster.

use super::ask::ClusterView;
use super::fetched::FetchedMinute;
use super::missing::Missing;
use super::names::ClusterNames;
use super::needed::NeededMinutes;
use super::notes::Notes;
use super::row_counts::{count_reachable_rows, minutes_of};
use super::take::FetchError;
use crate::error::QueryError;
use crate::progress::Progress;
use chronoscope_clickhouse::{ClickHouseError, MissingShard, ResultRows};
use chronoscope_store::{Ledger, Minute, Segment, Snapshot, WholeStore};
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Number of attempts for rows among which a path is named meanwhile.
const TRIES: usize = 5;

/// The rows that a question needs, as a snapshot. Of a cluster it has the minutes that were asked
/// for and no others; their files are removed some time after this was dropped.
#[derive(Debug)]
pub struct RowsView<'a>(Rows<'a>);

#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // one at a time, never in a collection
enum Rows<'a> {
    Files(&'a Snapshot),
    Fetched { snapshot: Snapshot, minutes: Vec<Arc<FetchedMinute>>, away: Vec<MissingShard> },
}

impl<'a> RowsView<'a> {
    pub(crate) const fn of_files(snapshot: &'a Snapshot) -> Self {
        Self(Rows::Files(snapshot))
    }

    /// Nothing but what is known besides rows.
    pub(super) fn without_rows(names: ClusterNames, known: KnownBesidesRows) -> RowsView<'static> {
        fetched((names, known.ledger), (Vec::new(), Vec::new()), known.whole)
    }

    /// The shards whose rows are not in it.
    pub(super) fn away(&self) -> &[MissingShard] {
        match &self.0 {
            Rows::Files(_) => &[],
            Rows::Fetched { away, .. } => away,
        }
    }

    /// Adds minutes that this view does not have yet.
    pub(super) fn add(&mut self, more: Vec<Arc<FetchedMinute>>) {
        if let Rows::Fetched { snapshot, minutes, .. } = &mut self.0 {
            snapshot.add_segments(more.iter().flat_map(|minute| minute.segments.iter().cloned()));
            minutes.extend(more);
        }
    }

    /// The snapshot of fetched rows, and what keeps its files.
    pub(super) fn into_fetched(self) -> (Option<Snapshot>, Vec<Arc<FetchedMinute>>) {
        match self.0 {
            Rows::Files(_) => (None, Vec::new()),
            Rows::Fetched { snapshot, minutes, .. } => (Some(snapshot), minutes),
        }
    }
}

impl Deref for RowsView<'_> {
    type Target = Snapshot;

    fn deref(&self) -> &Snapshot {
        match &self.0 {
            Rows::Files(snapshot) => snapshot,
            Rows::Fetched { snapshot, .. } => snapshot,
        }
    }
}

/// What is known of a cluster besides its rows and their names.
#[derive(Clone, Debug)]
pub(super) struct KnownBesidesRows {
    ledger: Ledger,
    whole: WholeStore,
}

impl ClusterView {
    /// What is known besides rows of a cluster of which no shard is missing.
    pub(super) fn known_besides_rows(
        &self,
        notes: Notes,
        extent: Option<Range<i64>>,
    ) -> Result<KnownBesidesRows, ClickHouseError> {
        let known = extent.clone().or(Some(0..0));
        let whole = self.whole(&notes, i64::MIN, known, Missing::default())?;
        Ok(KnownBesidesRows { ledger: notes.ledger, whole: WholeStore { extent, ..whole } })
    }

    /// The rows of some minutes; where the URL has `missing=say`, of the shards that answer.
    ///
    /// # Errors
    /// [`QueryError::ClickHouse`] when a shard does not answer, [`QueryError::TooMuchToFetch`].
    pub(crate) fn rows(
        &self,
        needed: &[NeededMinutes],
        progress: &Progress,
    ) -> Result<RowsView<'static>, QueryError> {
        let mut last = None;
        for _ in 1..TRIES {
            match self.try_rows(needed, progress) {
                Ok(rows) => return Ok(rows),
                Err(FetchError::NewPath) => {}
                // A shard that went away meanwhile: the next time it is known to be missing.
                Err(FetchError::Failed(QueryError::ClickHouse(error)))
                    if self.cluster().goes_on_after(&error) =>
                {
                    last = Some(error);
                }
                Err(FetchError::Failed(error)) => return Err(error),
            }
        }
        let node = &self.cluster().nodes()[0];
        let new_path = || node.unexpected_column("path (it is not in the table paths)");
        Err(last.unwrap_or_else(new_path).into())
    }

    fn try_rows(
        &self,
        needed: &[NeededMinutes],
        progress: &Progress,
    ) -> Result<RowsView<'static>, FetchError> {
        let (cluster, mut missing) = (self.cluster(), Missing::default());
        let extent = self.reachable_extent(&mut missing)?;
        let names = ClusterNames::read_reachable(cluster, &mut missing)?;
        let notes = self.notes(&mut missing)?;
        let minutes = match needed {
            [] => Vec::new(),
            needed => self.fetched.of(cluster, &names, needed, (&mut missing, progress))?,
        };
        let first = needed.iter().map(|needed| *needed.range().start()).min();
        let known_extent = extent.clone().or(Some(0..0));
        let away = missing.0.clone();
        let whole = self.whole(&notes, first.unwrap_or(i64::MIN), known_extent, missing)?;
        let whole = WholeStore { extent, ..whole };
        Ok(fetched((names, notes.ledger), (minutes, away), whole))
    }

    /// The newest rows of a range of root starts: whole minutes of at least `most` rows and one more,
    /// so that it shows whether there are others.
    ///
    /// # Errors
    /// As [`Self::rows`].
    pub(crate) fn newest_rows(
        &self,
        range: &Range<i64>,
        most: u64,
        progress: &Progress,
    ) -> Result<RowsView<'static>, QueryError> {
        let minutes = minutes_of(range);
        let (cluster, mut missing) = (self.cluster(), Missing::default());
        let counts = count_reachable_rows(cluster, &mut missing, std::slice::from_ref(&minutes))?;
        let mut sum = 0_u64;
        let mut first = *minutes.end();
        for (minute, rows) in counts.iter().rev() {
            first = *minute;
            if sum >= most {
                break;
            }
            sum = rows.iter().fold(sum, |sum, rows| sum.saturating_add(rows.rows));
        }
        let last = *minutes.end();
        self.rows(&[NeededMinutes { whole: first..=last, foreign_last: last }], progress)
    }

    /// The rows of some minutes, each for itself.
    pub(super) fn rows_of_minutes(
        &self,
        minutes: impl IntoIterator<Item = i64>,
        progress: &Progress,
    ) -> Result<RowsView<'static>, QueryError> {
        let one = |minute| NeededMinutes { whole: minute..=minute, foreign_last: minute };
        let needed: Vec<NeededMinutes> = minutes.into_iter().map(one).collect();
        self.rows(&needed, progress)
    }

    /// Number of rows on all shards; where the URL has `missing=say`, on those that answer.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn row_count(&self) -> Result<u64, ClickHouseError> {
        let by_shard = self.cluster().ask_all(&mut Vec::new(), |_, node| {
            let mut count = 0;
            node.query("SELECT count() AS rows FROM transactions", |batch| {
                count += ResultRows { node, batch }.ids("rows")?.iter().sum::<u64>();
                Ok(())
            })?;
            Ok(count)
        })?;
        Ok(by_shard.into_iter().sum())
    }

    /// From the first minute that has rows to the end of the last one, as
    /// [`Snapshot::extent`] has it; where the URL has `missing=say`, of the shards that answer.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn extent(&self) -> Result<Option<Range<i64>>, ClickHouseError> {
        self.reachable_extent(&mut Missing::default())
    }

    pub(super) fn reachable_extent(
        &self,
        missing: &mut Missing,
    ) -> Result<Option<Range<i64>>, ClickHouseError> {
        // Answered from the parts' own bounds, without a scan.
        let sql = "SELECT min(minute) AS first, max(minute) AS last FROM transactions \
            HAVING count() > 0";
        let by_shard = self.cluster().ask_all(&mut missing.0, |_, node| {
            let mut found = None;
            node.query(sql, |batch| {
                let rows = ResultRows { node, batch };
                let (first, last) = (rows.times("first")?, rows.times("last")?);
                found = first.first().copied().zip(last.first().copied()).or(found);
                Ok(())
            })?;
            Ok(found)
        })?;
        let found = by_shard.into_iter().flatten();
        let both = found.reduce(|(a, b), (first, last)| (a.min(first), b.max(last)));
        Ok(both.map(|(first, last)| Minute(first).start_ns()..Minute(last).end_ns()))
    }
}

fn fetched(
    (names, ledger): (ClusterNames, Ledger),
    (minutes, away): (Vec<Arc<FetchedMinute>>, Vec<MissingShard>),
    whole: WholeStore,
) -> RowsView<'static> {
    let segments: Vec<Segment> =
        minutes.iter().flat_map(|minute| minute.segments.iter().cloned()).collect();
    let ClusterNames { names: known, aliases, .. } = names;
    let mut ledger = Ledger { aliases, ..ledger };
    ledger.names.merge(&known);
    let snapshot = Snapshot::of_segments(segments, ledger, whole);
    RowsView(Rows::Fetched { snapshot, minutes, away })
}
