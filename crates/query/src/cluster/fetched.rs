//! Minutes of a cluster as segments on this computer: what the questions of files read.
//!
//! A minute is fetched when a question needs it and kept for the next one, as long as the shards
//! have as many rows of it as then: rows are added and removed, never changed. Its rows are sealed
//! as a store of files seals them, those of all shards together, so that every question has one
//! definition. Memory: [`GROUP_ROWS`] rows of each shard; disk: [`BYTES_MAX`].

use super::decode::{COLUMNS, Decoded};
use super::folder::PassingFolder;
use super::leaf_fetch::LeafFetch;
use super::leaves::{Leaves, Versions};
use super::linked_cells::LinkedCells;
use super::missing::Missing;
use super::names::ClusterNames;
use super::needed::NeededMinutes;
use super::row_counts::{MinuteRows, RowCounts, count_reachable_rows, count_rows};
use super::sql::IN_ORDER;
use super::take::{FetchError, new_file_number, take_in};
use crate::error::QueryError;
use crate::progress::Progress;
use crate::spread::spread;
use chronoscope_clickhouse::{ClickHouseError, Cluster, Node};
use chronoscope_model::{Batch, Names};
use chronoscope_store::{Aliases, Segment, Slot, StoreError, seal_aside};
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Rows of a shard that are held in memory at once; a minute with more becomes several segments.
const GROUP_ROWS: u64 = 1 << 19;
/// As [`GROUP_ROWS`], of which only the columns of leaves are held.
const LEAF_GROUP_ROWS: u64 = 1 << 22;
/// Most bytes of segments that are kept, and that one question may need.
const BYTES_MAX: u64 = 8 << 30;

/// The minutes that were fetched. Shared by all views of a cluster in this process.
#[derive(Debug, Default)]
pub(super) struct FetchedMinutes {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    folder: Option<Arc<PassingFolder>>,
    minutes: BTreeMap<MinuteKey, Arc<FetchedMinute>>,
    /// Number of questions so far.
    questions: u64,
    /// Under which foreign rows were fetched.
    aliases: Aliases,
}

/// What was fetched of a minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct MinuteKey {
    /// The key of the leaves whose columns they are; `None` for all rows.
    leaves: Option<u64>,
    minute: i64,
}

/// The rows of one minute, or that there are none.
#[derive(Debug)]
pub(super) struct FetchedMinute {
    pub(super) segments: Vec<Segment>,
    /// Rows by shard when it was fetched.
    rows: Vec<MinuteRows>,
    /// The last question that needed it.
    used: AtomicU64,
    /// The files' folder stays as long as they are used.
    _folder: Arc<PassingFolder>,
}

impl FetchedMinutes {
    /// The rows of the minutes that are needed and have any, without those of shards that are
    /// missing. Others who ask wait meanwhile.
    pub(super) fn of(
        &self,
        cluster: &Cluster,
        names: &ClusterNames,
        needed: &[NeededMinutes],
        (away, progress): (&mut Missing, &Progress),
    ) -> Result<Vec<Arc<FetchedMinute>>, FetchError> {
        let ranges: Vec<_> = needed.iter().map(NeededMinutes::range).collect();
        let mut counts = count_reachable_rows(cluster, away, &ranges)?;
        counts.retain(|minute, rows| needed.iter().any(|needed| needed.has(*minute, rows)));
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.rename(&names.aliases);
        let (mut found, missing) = kept.find(None, &counts);
        let folder = kept.folder()?;
        let fetching = Fetching { cluster, names, folder: &folder, away, progress };
        for group in groups(&missing, GROUP_ROWS) {
            let fetched = fetching.fetch(&group, &|_| Some("1".to_owned()))?;
            kept.keep((None, &missing), fetched, &mut found)?;
        }
        Ok(found)
    }

    /// Whether the columns of leaves are kept of all these minutes, as they are now.
    pub(super) fn has_leaves(&self, leaves: &Leaves, counts: &RowCounts) -> bool {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iter().all(|(minute, rows)| {
            let key = MinuteKey { leaves: Some(leaves.key()), minute: *minute };
            kept.minutes.get(&key).is_some_and(|known| known.rows == *rows)
        })
    }

    /// All rows of loose chains in some minutes.
    pub(super) fn loose(
        &self,
        cluster: &Cluster,
        names: &ClusterNames,
        (linked, counts): (&LinkedCells, &RowCounts),
        progress: &Progress,
    ) -> Result<Vec<Arc<FetchedMinute>>, FetchError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.rename(&names.aliases);
        let mut hasher = DefaultHasher::new();
        ("loose chains", linked.fingerprint()).hash(&mut hasher);
        let key = Some(hasher.finish());
        let (mut found, missing) = kept.find(key, counts);
        if missing.is_empty() {
            return Ok(found);
        }
        let folder = kept.folder()?;
        let minutes: Vec<i64> = missing.keys().copied().collect();
        let away = &Missing::default();
        let fetching = Fetching { cluster, names, folder: &folder, away, progress };
        let fetched = fetching.fetch(&minutes, &|shard| linked.is_loose(shard))?;
        kept.keep((key, &missing), fetched, &mut found)?;
        Ok(found)
    }

    /// The rows of some minutes for which a condition holds on each shard, which cells and a text tell
    /// from others.
    pub(super) fn chosen(
        &self,
        cluster: &Cluster,
        names: &ClusterNames,
        (linked, about, wanted): (&LinkedCells, &str, &(dyn Fn(usize) -> Option<String> + Sync)),
        counts: &RowCounts,
        progress: &Progress,
    ) -> Result<Vec<Arc<FetchedMinute>>, FetchError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.rename(&names.aliases);
        let mut hasher = DefaultHasher::new();
        ("chosen rows", about, linked.fingerprint()).hash(&mut hasher);
        let key = Some(hasher.finish());
        let (mut found, missing) = kept.find(key, counts);
        let folder = kept.folder()?;
        let away = &Missing::default();
        let fetching = Fetching { cluster, names, folder: &folder, away, progress };
        for group in groups(&missing, GROUP_ROWS) {
            let fetched = fetching.fetch(&group, wanted)?;
            kept.keep((key, &missing), fetched, &mut found)?;
        }
        Ok(found)
    }

    /// The columns of leaves in some minutes, of which `versions` says what their chains are like.
    pub(super) fn leaves(
        &self,
        cluster: &Cluster,
        leaves: &Leaves,
        (counts, versions): (&RowCounts, &Versions),
        progress: &Progress,
    ) -> Result<Vec<Arc<FetchedMinute>>, FetchError> {
        let counts: RowCounts = counts
            .iter()
            .filter(|(minute, _)| versions.contains_key(minute))
            .map(|(minute, rows)| (*minute, rows.clone()))
            .collect();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let key = Some(leaves.key());
        let (mut found, missing) = kept.find(key, &counts);
        let folder = kept.folder()?;
        for group in groups(&missing, LEAF_GROUP_ROWS) {
            let asked = LeafFetch { cluster, leaves, versions, folder: folder.path(), progress };
            let fetched = asked.fetch(&group)?;
            kept.keep((key, &missing), fetched, &mut found)?;
        }
        Ok(found)
    }
}

impl Kept {
    fn folder(&mut self) -> Result<Arc<PassingFolder>, StoreError> {
        if let Some(folder) = &self.folder {
            return Ok(Arc::clone(folder));
        }
        let folder = Arc::new(PassingFolder::new()?);
        self.folder = Some(Arc::clone(&folder));
        Ok(folder)
    }

    /// Forgets the foreign rows that may belong to other chains now.
    fn rename(&mut self, aliases: &Aliases) {
        if self.aliases != *aliases {
            self.aliases = aliases.clone();
            self.minutes.retain(|_, minute| minute.rows.iter().all(|rows| rows.foreign == 0));
        }
    }

    /// The minutes that are there as they are now, and the others.
    fn find(
        &mut self,
        leaves: Option<u64>,
        counts: &RowCounts,
    ) -> (Vec<Arc<FetchedMinute>>, RowCounts) {
        self.questions += 1;
        let (mut found, mut missing) = (Vec::new(), RowCounts::new());
        for (minute, rows) in counts {
            let key = MinuteKey { leaves, minute: *minute };
            match self.minutes.get(&key).filter(|known| known.rows == *rows) {
                Some(known) => {
                    known.used.store(self.questions, Ordering::Relaxed);
                    found.push(Arc::clone(known));
                }
                None => _ = missing.insert(*minute, rows.clone()),
            }
        }
        (found, missing)
    }

    /// Keeps what was fetched. An error where one question needs too much.
    fn keep(
        &mut self,
        (leaves, missing): (Option<u64>, &RowCounts),
        fetched: BTreeMap<i64, Vec<Segment>>,
        found: &mut Vec<Arc<FetchedMinute>>,
    ) -> Result<(), FetchError> {
        let folder = self.folder()?;
        for (minute, segments) in fetched {
            let Some(rows) = missing.get(&minute).cloned() else { continue };
            let used = AtomicU64::new(self.questions);
            let fetched = FetchedMinute { segments, rows, used, _folder: Arc::clone(&folder) };
            let fetched = Arc::new(fetched);
            self.minutes.insert(MinuteKey { leaves, minute }, Arc::clone(&fetched));
            found.push(fetched);
        }
        self.make_room();
        let bytes: u64 = found.iter().map(|minute| minute.size_bytes()).sum();
        if bytes > BYTES_MAX {
            return Err(FetchError::Failed(QueryError::TooMuchToFetch { most: BYTES_MAX }));
        }
        Ok(())
    }

    /// Forgets the minutes that were not needed for longest, where all take too much.
    fn make_room(&mut self) {
        let mut bytes: u64 = self.minutes.values().map(|minute| minute.size_bytes()).sum();
        while bytes > BYTES_MAX {
            let used = |minute: &FetchedMinute| minute.used.load(Ordering::Relaxed);
            let oldest = self.minutes.iter().min_by_key(|(_, minute)| used(minute));
            let Some(key) = oldest.map(|(key, _)| *key) else { return };
            bytes -= self.minutes.remove(&key).map_or(0, |minute| minute.size_bytes());
        }
    }
}

impl FetchedMinute {
    fn size_bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.size_bytes).sum()
    }
}

impl Drop for FetchedMinute {
    fn drop(&mut self) {
        for segment in &self.segments {
            // What stays is removed with the folder.
            let _ = std::fs::remove_file(&segment.path);
            let _ = std::fs::remove_file(&segment.sketch_path);
        }
    }
}

/// Minutes that are fetched at once: no shard has more than `most` rows of them, unless it is a single
/// minute.
pub(super) fn groups(missing: &RowCounts, most: u64) -> Vec<Vec<i64>> {
    let mut groups: Vec<Vec<i64>> = Vec::new();
    let mut rows: Vec<u64> = Vec::new();
    for (minute, new) in missing {
        let new: Vec<u64> = new.iter().map(|new| new.rows).collect();
        let sum = |(known, new): (&u64, &u64)| known.saturating_add(*new);
        let both: Vec<u64> = rows.iter().zip(&new).map(sum).collect();
        match groups.last_mut() {
            Some(group) if both.iter().all(|rows| *rows <= most) => {
                group.push(*minute);
                rows = both;
            }
            _ => {
                groups.push(vec![*minute]);
                rows = new;
            }
        }
    }
    groups
}

/// The minutes of a range that have rows, in groups that can be fetched at once.
pub(super) fn groups_of(
    cluster: &Cluster,
    range: &RangeInclusive<i64>,
) -> Result<Vec<Vec<i64>>, ClickHouseError> {
    Ok(groups(&count_rows(cluster, std::slice::from_ref(range))?, GROUP_ROWS))
}

/// Minutes being fetched.
struct Fetching<'a> {
    cluster: &'a Cluster,
    names: &'a ClusterNames,
    folder: &'a PassingFolder,
    /// Shards that are not asked.
    away: &'a Missing,
    progress: &'a Progress,
}

/// Rows of a slot that are to be sealed.
struct Unsealed {
    slot: Slot,
    batch: Batch,
    number: u64,
}

impl Fetching<'_> {
    /// The segments of some minutes, by minute: of each shard the rows for which a condition holds,
    /// where it has one.
    fn fetch(
        &self,
        minutes: &[i64],
        wanted: &(dyn Fn(usize) -> Option<String> + Sync),
    ) -> Result<BTreeMap<i64, Vec<Segment>>, FetchError> {
        let list = minutes.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        let failed = Mutex::new(None);
        let sealed = Mutex::new(Vec::new());
        let asked = self.cluster.on_all(|shard, node| {
            let is_away = self.away.0.iter().any(|shard| shard.is(node));
            let Some(wanted) = wanted(shard).filter(|_| !is_away) else { return Ok(None) };
            let sql = format!(
                "SELECT {COLUMNS} FROM transactions WHERE minute IN ({list}) AND {wanted} {IN_ORDER}"
            );
            let fetched = self.fetch_shard(node, &sql, &sealed);
            Ok(match fetched {
                Ok(decoded) => Some(decoded),
                Err(error) => {
                    let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                    // A failure says more than a word that came late.
                    if !matches!(&*failed, Some(FetchError::Failed(_))) {
                        *failed = Some(error);
                    }
                    None
                }
            })
        });
        let rest = asked?;
        if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let mut names = self.names.names.clone();
        let mut slots: BTreeMap<Slot, Batch> = BTreeMap::new();
        for decoded in rest.into_iter().flatten() {
            names.merge(&decoded.names);
            for (slot, batch) in decoded.slots {
                let all = slots.entry(slot).or_default();
                match all.is_empty() {
                    true => *all = batch,
                    false => batch
                        .records()
                        .iter()
                        .for_each(|record| all.push(*record, batch.context(record))),
                }
            }
        }
        self.seal(slots, &names, &sealed)?;
        let mut minutes: BTreeMap<i64, Vec<Segment>> =
            minutes.iter().map(|minute| (*minute, Vec::new())).collect();
        for segment in sealed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            minutes.entry(segment.slot.minute.0).or_default().push(segment);
        }
        minutes.values_mut().for_each(|segments| count_parts(segments));
        Ok(minutes)
    }

    /// The rows of one shard; those beyond what memory may hold are sealed on the way.
    fn fetch_shard(
        &self,
        node: &Node,
        sql: &str,
        sealed: &Mutex<Vec<Segment>>,
    ) -> Result<Decoded, FetchError> {
        let mut decoded = Decoded::default();
        take_in(node, sql, |rows| {
            self.progress.check()?;
            decoded.add(rows, self.names).map_err(FetchError::from_decoding)?;
            if decoded.rows > 2 * GROUP_ROWS {
                let mut names = self.names.names.clone();
                names.merge(&decoded.names);
                decoded.rows = 0;
                self.seal(std::mem::take(&mut decoded.slots), &names, sealed)?;
            }
            Ok(())
        })?;
        Ok(decoded)
    }

    fn seal(
        &self,
        slots: BTreeMap<Slot, Batch>,
        names: &Names,
        sealed: &Mutex<Vec<Segment>>,
    ) -> Result<(), StoreError> {
        let jobs = slots.into_iter().map(|(slot, batch)| {
            let number = new_file_number();
            Unsealed { slot, batch, number }
        });
        let jobs: Vec<Unsealed> = jobs.collect();
        let threads = crate::question::Limits::default().threads;
        let states = spread(&jobs, threads, Vec::new, |done, job| {
            self.progress.check()?;
            let (folder, Unsealed { slot, batch, number }) = (self.folder.path(), job);
            done.push(seal_aside(folder, *number, *slot, batch, names)?);
            Ok(())
        })?;
        let mut sealed = sealed.lock().unwrap_or_else(PoisonError::into_inner);
        sealed.extend(states.into_iter().flatten());
        Ok(())
    }
}

/// Tells the segments of a minute how many there are of their slot.
fn count_parts(segments: &mut [Segment]) {
    let mut parts: BTreeMap<Slot, u32> = BTreeMap::new();
    segments.iter().for_each(|segment| *parts.entry(segment.slot).or_default() += 1);
    for segment in segments {
        segment.parts = parts.get(&segment.slot).copied().unwrap_or(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_as_large_as_memory_allows() {
        let most = GROUP_ROWS;
        let counts =
            [(1, [3, 4]), (2, [most - 3, 0]), (5, [1, 0]), (6, [9 * most, 1]), (7, [1, 1])];
        let of =
            |rows: [u64; 2]| rows.map(|rows| MinuteRows { rows, ..MinuteRows::default() }).to_vec();
        let counts: RowCounts = counts.map(|(minute, rows)| (minute, of(rows))).into();
        assert_eq!(groups(&counts, most), [vec![1, 2], vec![5], vec![6], vec![7]]);
        assert!(groups(&RowCounts::new(), most).is_empty());
    }
}
