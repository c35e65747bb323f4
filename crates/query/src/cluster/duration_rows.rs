//! Of the rows that durations are made of the columns that durations need. Where the shards have
//! linked a minute's chains, nothing else of it is fetched.
//!
//! This serves durations from a chain's own root to the leaves of a class ([`is_of_leaves`]): the
//! path of a row says whether it is such a leaf, and its chain was linked by [`ClusterView::seal`].
//! Where there are foreign rows within reach, most rows within reach have to be in minutes that are
//! linked; chains that are not whole, or have rows in the others, are fetched with all their rows, and
//! put together here.

use super::ask::ClusterView;
use super::fetched::FetchedMinute;
use super::leaves::{Leaves, Versions, WantedPaths};
use super::linked_cells::LinkedCells;
use super::minute_states::MinuteStates;
use super::missing::Missing;
use super::names::ClusterNames;
use super::needed::NeededMinutes;
use super::row_counts::{MinuteRows, RowCounts, minutes_of};
use super::rows_view::{KnownBesidesRows, RowsView};
use super::take::FetchError;
use crate::error::QueryError;
use crate::progress::Progress;
use crate::question::{Clocks, DurationKind, Limits, Question};
use chronoscope_clickhouse::{ClickHouseError, Cluster, SealedMinute, fingerprint};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whether the columns of the leaves suffice for the durations of a question, as far as it can tell by
/// itself.
pub(super) fn is_of_leaves(question: &Question) -> bool {
    question.kind == DurationKind::Acpd
        && question.leaf.is_some()
        && question.attributes.is_empty()
        && question.clocks == Clocks::Raw
        && !question.split
}

/// Which rows a question about leaves is answered from.
pub(super) struct LeafPlan {
    pub(super) names: ClusterNames,
    /// What is known besides rows.
    known: KnownBesidesRows,
    pub(super) wanted: WantedPaths,
    /// Rows of the minutes in which roots may have started, and of all minutes within reach.
    pub(super) counts: RowCounts,
    pub(super) around: RowCounts,
    /// Of these minutes those whose chains are linked.
    pub(super) versions: Versions,
    /// The linked chains, where there are foreign rows.
    pub(super) linked: Option<LinkedCells>,
    /// Then the rows of open minutes.
    pub(super) open: Vec<Arc<FetchedMinute>>,
}

/// The minutes of a question, and what of them is linked: as in [`LeafPlan`].
struct LinkedMinutes {
    counts: RowCounts,
    around: RowCounts,
    versions: Versions,
    linked: Option<LinkedCells>,
}

/// The result of a thread; its panic goes on here.
pub(super) fn joined<T>(
    thread: std::thread::ScopedJoinHandle<'_, Result<T, ClickHouseError>>,
) -> Result<T, ClickHouseError> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The versions of minutes whose native chains are linked.
fn versions(sealed: &[BTreeMap<i64, SealedMinute>], counts: &RowCounts) -> Versions {
    let version = |minute: &i64, shard: usize, rows: &MinuteRows| match rows.native() {
        0 => Some(None),
        rows => Some(Some(*sealed[shard].get(minute).filter(|known| known.rows == rows)?)),
    };
    let mut versions = Versions::new();
    for (minute, rows) in counts {
        let of_shards: Option<Vec<_>> =
            rows.iter().enumerate().map(|(shard, rows)| version(minute, shard, rows)).collect();
        versions.extend(of_shards.map(|of_shards| (*minute, of_shards)));
    }
    versions
}

impl LeafPlan {
    /// The minutes whose rows have to be put together.
    pub(super) fn rest(&self) -> impl Iterator<Item = i64> {
        self.counts.keys().filter(|minute| !self.versions.contains_key(minute)).copied()
    }

    /// Whether all linked rows that were read were still there. Else the question is answered in
    /// another way: it took longer than replaced linkings are kept.
    pub(super) fn is_kept(&self, cluster: &Cluster) -> Result<bool, QueryError> {
        Ok(match &self.linked {
            Some(linked) => linked.is_kept(cluster)?,
            None => true,
        })
    }

    /// The cells with chains that have to be put together.
    pub(super) fn loose(&self) -> Option<&LinkedCells> {
        self.linked.as_ref().filter(|linked| linked.has_chains())
    }
}

impl ClusterView {
    /// Where the leaves of a question are; `None` where their columns do not suffice.
    pub(super) fn leaf_plan(
        &self,
        question: &Question,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<Option<LeafPlan>, QueryError> {
        if !is_of_leaves(question) {
            return Ok(None);
        }
        let Some(needed) = NeededMinutes::of_question(question, limits) else { return Ok(None) };
        // Asked at the same time: small statements, of which each waits for its answer.
        let asked = std::thread::scope(|scope| {
            let names = scope.spawn(|| ClusterNames::read(self.cluster()));
            let notes = scope.spawn(|| {
                let mut missing = Missing::default();
                let notes = self.notes(&mut missing)?;
                Ok(missing.0.is_empty().then_some(notes))
            });
            let minutes = minutes_of(&question.start_ns);
            let states = MinuteStates::read(self.cluster(), &needed.range(), &minutes)?;
            let extent = states.extent.clone();
            let minutes = self.linked_minutes(question, &needed, states, limits)?;
            Ok::<_, QueryError>((joined(names)?, joined(notes)?, extent, minutes))
        })?;
        let (names, Some(notes), extent, Some(minutes)) = asked else { return Ok(None) };
        let known = self.known_besides_rows(notes, extent)?;
        let LinkedMinutes { mut counts, around, versions, mut linked } = minutes;
        let mut open = Vec::new();
        if let Some(linked) = &mut linked {
            if !linked.is_under(fingerprint(&names.aliases)) {
                return Ok(None);
            }
            let of_open = (linked.open_minutes(), &needed.range());
            let rows = match self.open_rows(of_open, &names, progress) {
                Ok(Some(rows)) => rows,
                Ok(None) | Err(FetchError::NewPath) => return Ok(None),
                Err(FetchError::Failed(error)) => return Err(error),
            };
            open = rows.minutes;
            let minutes = minutes_of(&question.start_ns);
            let reached = linked.set_straddling(self.cluster(), &minutes, rows.straddling)?;
            for (minute, rows) in &mut counts {
                // What is taken of these changes with the chains that straddle.
                let also = if reached.contains(minute) { linked.fingerprint() } else { 0 };
                for (shard, rows) in rows.iter_mut().enumerate() {
                    rows.linked = linked.version(*minute, shard) ^ also;
                }
            }
        }
        let wanted = WantedPaths::of(question, &names);
        Ok(wanted.map(|wanted| LeafPlan {
            names,
            known,
            wanted,
            counts,
            around,
            versions,
            linked,
            open,
        }))
    }

    /// The minutes of a question and what of them is linked; `None` where that does not suffice.
    fn linked_minutes(
        &self,
        question: &Question,
        needed: &NeededMinutes,
        states: MinuteStates,
        limits: &Limits,
    ) -> Result<Option<LinkedMinutes>, QueryError> {
        let MinuteStates { around, sealed, .. } = states;
        let mut linked = match around.values().flatten().any(|rows| rows.foreign > 0) {
            true => match LinkedCells::of(self.cluster(), &needed.range(), &around, limits)? {
                None => return Ok(None),
                linked => linked,
            },
            false => None,
        };
        let minutes = minutes_of(&question.start_ns);
        let mut counts = around.clone();
        counts.retain(|minute, _| minutes.contains(minute));
        let mut versions = versions(&sealed, &counts);
        let unlinked = counts.keys().filter(|minute| !versions.contains_key(minute));
        if let Some(linked) = &mut linked {
            linked.open(unlinked.copied());
            if !linked.suffices(&around) {
                return Ok(None);
            }
            versions.retain(|minute, _| !linked.open_minutes().contains(minute));
        }
        if counts.len() > versions.len() && versions.is_empty() {
            return Ok(None);
        }
        Ok(Some(LinkedMinutes { counts, around, versions, linked }))
    }

    /// As [`Self::leaf_rows`]; `None` also where a shard is missing and the question goes on without
    /// it.
    pub(crate) fn leaf_rows_of_all(
        &self,
        question: &Question,
        with_chains: bool,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<Option<RowsView<'static>>, QueryError> {
        self.unless_missing(|| self.leaf_rows(question, with_chains, limits, progress))
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
        match self.leaf_plan(question, limits, progress)? {
            Some(plan) => self.planned_rows(plan, with_chains, progress),
            None => Ok(None),
        }
    }

    /// Whether all columns of a plan's leaves are here already, without roots' hosts.
    pub(super) fn keeps(&self, plan: &LeafPlan) -> bool {
        let (wanted, linked) = (plan.wanted.clone(), plan.linked.clone());
        let leaves = Leaves { wanted, with_chains: false, with_root_hosts: false, linked };
        let mut counts = plan.counts.clone();
        counts.retain(|minute, _| plan.versions.contains_key(minute));
        !counts.is_empty() && self.fetched.has_leaves(&leaves, &counts)
    }

    /// The rows of a plan.
    pub(super) fn planned_rows(
        &self,
        plan: LeafPlan,
        with_chains: bool,
        progress: &Progress,
    ) -> Result<Option<RowsView<'static>>, QueryError> {
        let Some(mut view) = self.assembled_rows(&plan, progress)? else { return Ok(None) };
        let with_root_hosts = !view.clocks().is_empty();
        let LeafPlan { wanted, counts, versions, linked, .. } = plan;
        let leaves = Leaves { wanted, with_chains, with_root_hosts, linked };
        match self.fetched.leaves(self.cluster(), &leaves, (&counts, &versions), progress) {
            Ok(minutes) => view.add(minutes),
            // Nobody names a path here: an error of another kind is told.
            Err(FetchError::NewPath) => return Ok(None),
            Err(FetchError::Failed(error)) => return Err(error),
        }
        if let Some(linked) = &leaves.linked
            && !linked.is_kept(self.cluster())?
        {
            return Ok(None);
        }
        Ok(Some(view))
    }

    /// The rows of a plan that have to be put together; `None` where a path was named meanwhile, or a
    /// shard is missing.
    pub(super) fn assembled_rows(
        &self,
        plan: &LeafPlan,
        progress: &Progress,
    ) -> Result<Option<RowsView<'static>>, QueryError> {
        // With linked chains the rest is among the open minutes.
        let mut rest = plan.rest().filter(|_| plan.linked.is_none()).peekable();
        let mut view = match rest.peek() {
            None => RowsView::without_rows(plan.names.clone(), plan.known.clone()),
            Some(_) => self.rows_of_minutes(rest, progress)?,
        };
        if !view.away().is_empty() {
            return Ok(None);
        }
        view.add(plan.open.clone());
        if let Some(linked) = plan.loose() {
            let mut around = plan.around.clone();
            around.retain(|minute, _| !linked.open_minutes().contains(minute));
            let cells = (linked, &around);
            match self.fetched.loose(self.cluster(), &plan.names, cells, progress) {
                Ok(minutes) => view.add(minutes),
                Err(FetchError::NewPath) => return Ok(None),
                Err(FetchError::Failed(error)) => return Err(error),
            }
        }
        Ok(Some(view))
    }
}
