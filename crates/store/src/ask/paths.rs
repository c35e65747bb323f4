//! Every path in the store and how long chains take along it, from the sketches: no row is read.

use super::loads::taken_apart;
use super::spread::spread;
use super::{Limits, Progress};
use crate::segment::read_since_root;
use crate::{Damage, Segment, SketchRow, Slot, Snapshot, StoreError};
use chronoscope_model::{ClassName, Flags, Histogram};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// What chains are like along one path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathStatistics {
    /// The classes from the chain's root to the path's end, root first; as far as the path's words
    /// tell them apart where nobody named them.
    pub hops: Vec<ClassName>,
    /// From the root's start to the end of the path's last transaction (ACPD), in nanoseconds.
    /// Count, sum, smallest and largest are exact, quantiles at most 3.125 % too large. Durations
    /// that clocks make negative are not in it.
    pub since_root: Histogram,
}

/// Statistics by path in words, and sketches that could not be read. Rows of foreign chains know no
/// path and are not here.
///
/// `start_ns` (UTC, nanoseconds since 1970) is cut at whole minutes of root starts, as in
/// [`classes`](super::classes()). Rows that are not sealed yet are counted too.
///
/// # Errors
/// [`StoreError::Io`] with [`StoreError::is_missing`] when a segment has been removed since the
/// snapshot was taken: take a new one. [`StoreError::Cancelled`].
pub fn paths(
    snapshot: &Snapshot,
    start_ns: &Range<i64>,
    progress: &Progress,
) -> Result<(BTreeMap<String, PathStatistics>, Vec<Damage>), StoreError> {
    let (mut paths, damage) = of_sketches(snapshot, start_ns, progress)?;
    for record in snapshot.unsealed().records() {
        let known = !record.path.is_none() && !record.flags().contains(Flags::FOREIGN);
        if known && start_ns.contains(&Slot::of(record).minute.start_ns()) {
            let path = paths.entry(snapshot.names().path_text(record.path)).or_default();
            if let Some(Ok(ns)) = record.since_root_ns().map(u64::try_from) {
                path.since_root.add(ns);
            }
        }
    }
    let mut hops = HashMap::new();
    let names = snapshot.names();
    for (id, classes) in names.paths() {
        let known: Option<Vec<_>> = classes.iter().map(|id| names.class(*id).cloned()).collect();
        hops.insert(names.path_text(id), known);
    }
    for (words, path) in &mut paths {
        if let Some(Some(known)) = hops.remove(words) {
            path.hops = known;
        }
    }
    Ok((paths, damage))
}

type ByPath = BTreeMap<String, PathStatistics>;

/// What the sketches of a time say; and what could not be read. On several threads: opening a
/// thousand small files is what it costs.
fn of_sketches(
    snapshot: &Snapshot,
    start_ns: &Range<i64>,
    progress: &Progress,
) -> Result<(ByPath, Vec<Damage>), StoreError> {
    let wanted = |segment: &&Segment| start_ns.contains(&segment.slot.minute.start_ns());
    let segments: Vec<_> = snapshot.segments().iter().filter(wanted).collect();
    progress.expect(segments.len() as u64);
    let new = || (ByPath::new(), Vec::new());
    let threads = Limits::default().threads;
    let states = spread(&segments, threads, new, |(paths, damage), segment| {
        match read_since_root(&segment.sketch_path) {
            Ok(rows) => rows.into_iter().for_each(|row| add(paths, row)),
            Err(error) if error.is_missing() => return Err(error),
            Err(error) => damage.push(Damage {
                path: segment.sketch_path.clone(),
                position: 0,
                reason: error.to_string(),
                rows_lost: segment.row_count,
            }),
        }
        progress.tick()
    })?;
    let (mut paths, mut damage) = new();
    for (theirs, theirs_damage) in states {
        damage.extend(theirs_damage);
        for (words, path) in theirs {
            let mine: &mut PathStatistics = paths.entry(words).or_default();
            mine.since_root.merge(&path.since_root);
            if mine.hops.is_empty() {
                mine.hops = path.hops;
            }
        }
    }
    damage.sort_by(|a: &Damage, b| a.path.cmp(&b.path));
    Ok((paths, damage))
}

fn add(paths: &mut ByPath, row: SketchRow) {
    if row.path.is_empty() {
        return;
    }
    let known = paths.contains_key(&row.path);
    let path = paths.entry(row.path.clone()).or_default();
    if !known {
        let class = ClassName { application: row.application, class: row.class };
        path.hops = taken_apart(&row.path, class);
    }
    path.since_root.merge(&row.since_root);
}
