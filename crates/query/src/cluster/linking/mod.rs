//! Linking the chains of a cluster that have foreign rows or further parents, once: rows without ancestors in their
//! correlators get what native rows say of themselves ([`chronoscope_clickhouse::LinkedRow`]).
//!
//! Foreign rows lie in the minutes of their own starts, so that a chain is in several minutes, and
//! with the chains that continue it (aliases) on several shards. A minute that has other rows than
//! when it was linked last is linked again: all chains with rows in it that have foreign rows within
//! [`REACH_MINUTES`] are put together by the code that answers questions, and their cells are
//! published at once. A chain that is not whole (an ancestor is missing, an id is there twice,
//! ancestors were dropped) or longer than [`SPAN_NS`] stays loose: what a question says of it depends
//! on the time that is asked for.
//!
//! Cost: the chains' ids of two hours are read for each minute, and the rows of its chains are
//! fetched, in the order of chains. Memory: one chain, and [`cells::WRITE_ROWS`] rows.

mod assemble;
mod cells;
mod fan_in;
mod fetch;

use super::ask::ClusterView;
use super::linked_cells::SPAN_NS;
use super::names::ClusterNames;
use super::row_counts::{MinuteRows, RowCounts, count_rows};
use super::take::FetchError;
use crate::error::QueryError;
use crate::progress::Progress;
use assemble::Assembly;
use cells::CellWriter;
use chronoscope_clickhouse::{
    Cluster, LinkedCell, Linkings, Publication, fingerprint, new_version,
};
use chronoscope_model::ChainId;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

/// Minutes before and after a row in which others of its chain are looked for: as
/// [`crate::REACH`].
const REACH_MINUTES: i64 = 60;
/// Minutes around one that has lost rows that are linked anew: a linked chain is no longer.
const SPAN_MINUTES: i64 = SPAN_NS / 60_000_000_000;
/// Rows of minutes that are linked at once, unless it is a single minute.
const GROUP_ROWS: u64 = 1 << 22;
/// Most minutes from the first to the last of those that are linked at once.
const GROUP_MINUTES: i64 = 240;
/// Time for which an alias may be on its way, by the first shard's clock.
const ALIAS_WAY_NS: i64 = 60_000_000_000;

/// Linking some minutes.
struct Linking<'a> {
    cluster: &'a Cluster,
    names: &'a ClusterNames,
    counts: &'a RowCounts,
    progress: &'a Progress,
    /// Chains by what they belong to, where that has several.
    joined: &'a HashMap<ChainId, BTreeSet<ChainId>>,
    state: &'a Linkings,
    /// The minutes whose cells are written anew, whatever they were.
    dirty: &'a BTreeSet<i64>,
    assembly: Assembly,
    writer: CellWriter<'a>,
    rows: u64,
}

impl ClusterView {
    /// Links the chains with foreign rows in the minutes of a range (since 1970) that have other rows
    /// than when they were linked last, and those whose aliases have changed. Any number of
    /// processes may do so: of two that link at the same time one has worked in vain. The result is
    /// the number of rows.
    pub(super) fn link_foreign(
        &self,
        minutes: &RangeInclusive<i64>,
        progress: &Progress,
    ) -> Result<u64, QueryError> {
        let cluster = self.cluster();
        let wide = minutes.start().saturating_sub(REACH_MINUTES)
            ..=minutes.end().saturating_add(REACH_MINUTES);
        let mut state = cluster.linkings(&wide)?;
        let counts = count_rows(cluster, std::slice::from_ref(&wide))?;
        let is_linked = |rows: &MinuteRows| rows.foreign > 0 || rows.links > 0;
        if !counts.values().flatten().any(is_linked) && state.sequence == 0 {
            return Ok(0);
        }
        let (told, told_until_ns) =
            cluster.aliases_since(state.aliases_until_ns.saturating_sub(ALIAS_WAY_NS))?;
        let names = ClusterNames::read(cluster)?;
        let aliases = fingerprint(&names.aliases);
        let mut renamed = BTreeSet::new();
        if aliases != state.aliases {
            // Rows of whatever minute may belong to other chains now.
            state = cluster.linkings(&(i64::MIN..=i64::MAX))?;
            let ends = told.iter().flat_map(|alias| [alias.chain, alias.continues]);
            renamed.extend(ends.map(|chain| names.aliases.resolve(chain)));
        }
        let dirty = dirty_minutes(minutes, &counts, &state, cluster.shard_count());
        let mut groups = groups(&dirty, &counts);
        if groups.is_empty() && aliases != state.aliases {
            groups.push(BTreeSet::new());
        }
        let joined = joined(&names);
        let mut rows = 0;
        for group in groups {
            let mut linking = Linking {
                cluster,
                names: &names,
                counts: &counts,
                progress,
                joined: &joined,
                state: &state,
                dirty: &group,
                assembly: Assembly::new(&names),
                writer: CellWriter::new(cluster, new_version()),
                rows: 0,
            };
            match linking.link(&renamed) {
                Ok(()) => {}
                // It is linked the next time, with its new path.
                Err(FetchError::NewPath) => return Ok(rows),
                Err(FetchError::Failed(error)) => return Err(error),
            }
            let linked = linking.rows;
            let publication = linking.finish((aliases, told_until_ns))?;
            if !cluster.publish_linking(&state, &publication)? {
                // Another one links them.
                return Ok(rows);
            }
            rows += linked;
            renamed.clear();
            state.follow(publication);
        }
        Ok(rows)
    }
}

impl Linking<'_> {
    fn link(&mut self, renamed: &BTreeSet<ChainId>) -> Result<(), FetchError> {
        let mut met = BTreeSet::new();
        if let (Some(first), Some(last)) = (self.dirty.first(), self.dirty.last()) {
            let window = first.saturating_sub(REACH_MINUTES)..=last.saturating_add(REACH_MINUTES);
            for shard in 0..self.cluster.shard_count() {
                let near = self.counts.range(window.clone());
                if near.map(|(_, rows)| rows[shard].foreign).sum::<u64>() > 0 {
                    met.extend(self.link_shard(shard, &window)?);
                }
            }
            let met: Vec<ChainId> = met.difference(renamed).copied().collect();
            self.link_joined(&met, Some(&window))?;
        }
        let renamed: Vec<ChainId> = renamed.iter().copied().collect();
        self.link_joined(&renamed, None)?;
        self.link_inputs(&renamed)
    }

    /// Writes what is left, and says what is to be published.
    fn finish(self, (aliases, aliases_until_ns): (u64, i64)) -> Result<Publication, QueryError> {
        let Self { cluster, counts, state, dirty, assembly, mut writer, .. } = self;
        writer.flush()?;
        cluster.add_paths(&assembly.new_paths())?;
        let mut cells: BTreeMap<(i64, usize), LinkedCell> = BTreeMap::new();
        let version = writer.version;
        for minute in dirty {
            for shard in 0..cluster.shard_count() {
                let rows = counts.get(minute).map(|rows| rows[shard]).unwrap_or_default();
                let (rows, foreign, links) = (rows.rows, rows.foreign, rows.links);
                let cell = LinkedCell { version, rows, foreign, links, ..LinkedCell::default() };
                cells.insert((*minute, shard), cell);
            }
        }
        for (at, changed) in &writer.changed {
            // A cell that was not linked before says so by its numbers of rows.
            let known = state.cells.get(at).copied().unwrap_or_default();
            if known.version > 0 {
                let joined: Vec<ChainId> = changed.links.iter().copied().collect();
                let without = [&changed.components[..], &changed.chains[..], &joined[..]];
                cluster.copy_linked(*at, (known.version, version), without)?;
            }
            cells.insert(*at, LinkedCell { version, ..known });
        }
        for (at, (linked, chains)) in &writer.written {
            let cell = cells.entry(*at).or_insert(LinkedCell { version, ..LinkedCell::default() });
            cell.linked += linked;
            cell.chains += chains;
        }
        Ok(Publication { version, aliases, aliases_until_ns, cells })
    }
}

/// The minutes of a range that have other rows than when they were linked.
fn dirty_minutes(
    minutes: &RangeInclusive<i64>,
    counts: &RowCounts,
    state: &Linkings,
    shards: usize,
) -> BTreeSet<i64> {
    let all: BTreeSet<i64> =
        counts.keys().copied().chain(state.cells.keys().map(|(minute, _)| *minute)).collect();
    let (mut dirty, mut shrunk) = (BTreeSet::new(), Vec::new());
    for minute in all.range(minutes.clone()) {
        for shard in 0..shards {
            let now = counts.get(minute).map(|rows| rows[shard]).unwrap_or_default();
            let known = state.cells.get(&(*minute, shard)).copied().unwrap_or_default();
            let is_same = (now.rows, now.foreign) == (known.rows, known.foreign);
            if is_same && now.links == known.links {
                continue;
            }
            dirty.insert(*minute);
            if now.rows < known.rows || now.foreign < known.foreign {
                shrunk.push(*minute);
            }
        }
    }
    for minute in shrunk {
        let near = minute.saturating_sub(SPAN_MINUTES)..=minute.saturating_add(SPAN_MINUTES);
        dirty.extend(all.range(near).filter(|near| minutes.contains(near)));
    }
    dirty
}

/// Minutes that are linked at once.
fn groups(dirty: &BTreeSet<i64>, counts: &RowCounts) -> Vec<BTreeSet<i64>> {
    let mut groups: Vec<BTreeSet<i64>> = Vec::new();
    let mut rows = 0;
    for minute in dirty {
        let new: u64 = counts.get(minute).iter().flat_map(|rows| rows.iter()).map(|r| r.rows).sum();
        let near = |group: &BTreeSet<i64>| {
            group.first().is_some_and(|first| minute - first < GROUP_MINUTES)
        };
        match groups.last_mut().filter(|group| near(group) && rows + new <= GROUP_ROWS) {
            Some(group) => {
                group.insert(*minute);
                rows += new;
            }
            None => {
                groups.push(BTreeSet::from([*minute]));
                rows = new;
            }
        }
    }
    groups
}

/// The chains that belong to another one or have others, by what they belong to.
fn joined(names: &ClusterNames) -> HashMap<ChainId, BTreeSet<ChainId>> {
    let mut joined: HashMap<ChainId, BTreeSet<ChainId>> = HashMap::new();
    for alias in names.aliases.iter() {
        let component = names.aliases.resolve(alias.chain);
        joined.entry(component).or_default().extend([alias.chain, alias.continues, component]);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::super::row_counts::MinuteRows;
    use super::*;

    fn counts(of: &[(i64, [(u64, u64); 2])]) -> RowCounts {
        let rows =
            |(rows, foreign): (u64, u64)| MinuteRows { rows, foreign, ..MinuteRows::default() };
        of.iter().map(|(minute, both)| (*minute, both.map(rows).to_vec())).collect()
    }

    fn state(of: &[(i64, [(u64, u64); 2])]) -> Linkings {
        let mut state = Linkings::default();
        for (minute, both) in of {
            for (shard, (rows, foreign)) in both.iter().enumerate() {
                let cell = LinkedCell { rows: *rows, foreign: *foreign, ..LinkedCell::default() };
                state.cells.insert((*minute, shard), cell);
            }
        }
        state
    }

    #[test]
    fn minutes_with_other_rows_are_linked_again() {
        let known = state(&[(1, [(5, 2), (0, 0)]), (3, [(7, 7), (1, 0)]), (30, [(4, 4), (0, 0)])]);
        let more = counts(&[(1, [(5, 2), (1, 1)]), (3, [(7, 7), (1, 0)]), (9, [(1, 0), (0, 0)])]);
        // Minute 30 has lost all of its rows, and nothing is within its reach.
        let dirty = |range| dirty_minutes(&range, &more, &known, 2).into_iter().collect::<Vec<_>>();
        assert_eq!(dirty(0..=100), [1, 9, 30]);
        assert_eq!(dirty(2..=8), [0i64; 0]);
        let fewer = counts(&[(1, [(5, 2), (0, 0)]), (3, [(6, 6), (1, 0)]), (30, [(4, 4), (0, 0)])]);
        let dirty = dirty_minutes(&(0..=100), &fewer, &known, 2);
        assert_eq!(dirty.into_iter().collect::<Vec<_>>(), [1, 3], "and those within its reach");
    }

    #[test]
    fn groups_are_bounded_by_rows_and_time() {
        let most = GROUP_ROWS;
        let of = |rows| [(rows, 1), (0, 0)];
        let counts = counts(&[(1, of(most - 1)), (2, of(1)), (3, of(1)), (300, of(9 * most))]);
        let dirty: BTreeSet<i64> = counts.keys().copied().chain([299]).collect();
        let groups: Vec<Vec<i64>> =
            groups(&dirty, &counts).into_iter().map(|group| group.into_iter().collect()).collect();
        assert_eq!(groups, [vec![1, 2], vec![3], vec![299], vec![300]]);
    }
}
