//! Of the rows that durations are made of the columns that durations need. Where the shards have
//! linked a minute's chains, nothing else of it is fetched.
//!
//! This serves durations from a chain's own root to the leaves of a class
//! ([`is_of_leaves`]) in minutes without foreign rows: the path of a row says whether it is such a
//! leaf, and its chain was linked by [`ClusterView::seal`].

use super::ask::ClusterView;
use super::leaves::{Leaves, Versions, WantedPaths};
use super::names::ClusterNames;
use super::needed::NeededMinutes;
use super::row_counts::{MinuteRows, count_rows, minutes_of};
use super::rows_view::RowsView;
use super::take::FetchError;
use crate::error::QueryError;
use crate::progress::Progress;
use crate::question::{Clocks, DurationKind, Limits, Question};

/// Whether the columns of the leaves suffice for the durations of a question, as far as it can tell by
/// itself.
pub(super) fn is_of_leaves(question: &Question) -> bool {
    question.kind == DurationKind::Acpd
        && question.leaf.is_some()
        && question.attributes.is_empty()
        && question.clocks == Clocks::Raw
        && !question.split
}

impl ClusterView {
    /// As [`Self::leaf_rows`]; `None` also where a shard is missing and the question goes on without
    /// it.
    pub(crate) fn leaf_rows_of_all(
        &self,
        question: &Question,
        with_chains: bool,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<Option<RowsView<'static>>, QueryError> {
        match self.leaf_rows(question, with_chains, limits, progress) {
            Err(QueryError::ClickHouse(error)) if self.cluster().goes_on_after(&error) => Ok(None),
            rows => rows,
        }
    }

    /// The rows of a question about leaves: the columns of them that durations need of the minutes
    /// whose chains the shards have linked, and all rows of the others. `None` where the columns
    /// do not suffice.
    fn leaf_rows(
        &self,
        question: &Question,
        with_chains: bool,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<Option<RowsView<'static>>, QueryError> {
        if !is_of_leaves(question) {
            return Ok(None);
        }
        let Some(needed) = NeededMinutes::of_question(question, limits) else { return Ok(None) };
        let mut counts = count_rows(self.cluster(), &[needed.range()])?;
        if counts.values().flatten().any(|rows| rows.foreign > 0) {
            return Ok(None);
        }
        let minutes = minutes_of(&question.start_ns);
        counts.retain(|minute, _| minutes.contains(minute));
        let sealed = self.cluster().sealed_minutes(&minutes)?;
        let version = |minute: &i64, shard: usize, rows: &MinuteRows| match rows.rows {
            0 => Some(None),
            rows => Some(Some(*sealed[shard].get(minute).filter(|known| known.rows == rows)?)),
        };
        let mut versions = Versions::new();
        for (minute, rows) in &counts {
            let of_shards: Option<Vec<_>> =
                rows.iter().enumerate().map(|(shard, rows)| version(minute, shard, rows)).collect();
            versions.extend(of_shards.map(|of_shards| (*minute, of_shards)));
        }
        if versions.is_empty() && !counts.is_empty() {
            return Ok(None);
        }
        let names = ClusterNames::read(self.cluster())?;
        let Some(wanted) = WantedPaths::of(question, &names) else { return Ok(None) };
        let rest = counts.keys().filter(|minute| !versions.contains_key(minute)).copied();
        let mut view = self.rows_of_minutes(rest, progress)?;
        if !view.away().is_empty() {
            return Ok(None);
        }
        let with_root_hosts = !view.clocks().is_empty();
        let leaves = Leaves { wanted, with_chains, with_root_hosts };
        let fetched = self.fetched.leaves(self.cluster(), &leaves, (&counts, &versions), progress);
        match fetched {
            Ok(minutes) => view.add(minutes),
            // Nobody names a path here: an error of another kind is told.
            Err(FetchError::NewPath) => return Ok(None),
            Err(FetchError::Failed(error)) => return Err(error),
        }
        Ok(Some(view))
    }
}
