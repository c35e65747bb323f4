//! Pictures and lists of leaves, counted by the shards: of the leaves of linked chains nothing
//! travels but how many lie in each cell, the longest and the shortest of each column, and those that
//! are listed.
//!
//! What is not linked is put together here; whoever draws adds both.

use super::ask::ClusterView;
use super::duration_rows::LeafPlan;
use super::leaf_tables::LeafTables;
use super::rows_view::RowsView;
use super::shard_crossings::AskedClocks;
use super::shard_extents::{PathExtents, extents, shortest};
use crate::chunk::{Extent, both};
use crate::error::QueryError;
use crate::progress::Progress;
use crate::question::{Limits, Question};
use chronoscope_chain::Crossings;
use chronoscope_clickhouse::{ClickHouseError, Node};

/// A plan of leaves with the rows of it that are put together here.
pub(crate) struct ShardPicture {
    view: ClusterView,
    plan: LeafPlan,
    question: Question,
    /// The rows that are put together here, and all that is known besides rows.
    pub(crate) rest: RowsView<'static>,
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
    pub(super) const fn plan(&self) -> &LeafPlan {
        &self.plan
    }

    pub(super) fn tables(&self) -> LeafTables<'_> {
        LeafTables::new(&self.plan, &self.question)
    }

    /// Asks every shard; what was linked must be there still when all have answered.
    pub(super) fn on_all<T: Send>(
        &self,
        ask: impl Fn(usize, &Node) -> Result<T, ClickHouseError> + Sync,
    ) -> Result<Vec<T>, QueryError> {
        let cluster = self.view.cluster();
        let found = cluster.on_all(ask)?;
        if self.plan.is_kept(cluster)? { Ok(found) } else { Err(QueryError::LinkedAnew) }
    }

    /// What encloses all leaves of the question that are used.
    pub(crate) fn extent(&self) -> Result<Extent, QueryError> {
        let tables = self.tables();
        let by_shard = self.on_all(|shard, node| extent_of(node, &tables, shard))?;
        let mut all = Extent::default();
        by_shard.iter().for_each(|extent| all.merge(extent));
        Ok(all)
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
}

/// What encloses the leaves on a shard.
fn extent_of(
    node: &Node,
    tables: &LeafTables<'_>,
    shard: usize,
) -> Result<Extent, ClickHouseError> {
    let by_path: PathExtents = extents(node, tables, shard)?;
    let (mut starts_ns, mut durations_ns) = (None, None);
    for extent in by_path.values() {
        starts_ns = both(starts_ns, extent.starts_ns);
        durations_ns = both(durations_ns, extent.durations_ns);
    }
    let durations_ns = match durations_ns {
        // A minute that was linked by an earlier program: its rows tell.
        Some((..0, longest)) => {
            let known = shortest(node, tables, shard)?;
            known.map(|shortest| (shortest.unsigned_abs(), longest.unsigned_abs()))
        }
        known => known.map(|(shortest, longest)| (shortest.unsigned_abs(), longest.unsigned_abs())),
    };
    Ok(Extent { count: 0, starts_ns, durations_ns })
}
