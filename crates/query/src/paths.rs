//! Every path in the store and how long chains take along it. Whole minutes come from the sketches;
//! rows are read only of the minutes that the time range cuts.

use crate::classes::word;
use crate::loads::taken_apart;
use crate::minute_share::{MinuteShare, root_start_ns};
use crate::progress::Progress;
use crate::question::Limits;
use crate::spread::spread;
use chronoscope_model::schema::column;
use chronoscope_model::{ClassName, Flags, Names};
use chronoscope_statistics::Histogram;
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile};
use chronoscope_store::{
    Damage, RowKind, Segment, SketchRow, Snapshot, StoreError, read_since_root,
};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Statistics of the chains along one path.
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
/// Rows count whose root started in `start_ns` (UTC, nanoseconds since 1970). Rows that are not
/// sealed yet are counted too. A range that begins or ends within a minute costs reading that
/// minute's rows, in six columns.
///
/// # Errors
/// [`StoreError::Io`] with [`StoreError::is_missing`] when a segment has been removed since the
/// snapshot was taken: take a new one. [`StoreError::Cancelled`].
pub fn paths(
    snapshot: &Snapshot,
    start_ns: &Range<i64>,
    progress: &Progress,
) -> Result<(BTreeMap<String, PathStatistics>, Vec<Damage>), StoreError> {
    let (mut paths, damage) = of_segments(snapshot, start_ns, progress)?;
    for record in snapshot.unsealed().records() {
        let known = !record.path.is_none() && !record.flags().contains(Flags::FOREIGN);
        if known && start_ns.contains(&root_start_ns(record)) {
            let path = paths.entry(snapshot.names().path_text(record.path)).or_default();
            if let Some(Ok(ns)) = record.since_root_ns().map(u64::try_from) {
                path.since_root.add(ns);
            }
        }
    }
    add_hops(&mut paths, snapshot.names());
    Ok((paths, damage))
}

/// Adds the classes of the paths that were named.
pub(crate) fn add_hops(paths: &mut ByPath, names: &Names) {
    let mut hops = HashMap::new();
    for (id, classes) in names.paths() {
        let known: Option<Vec<_>> = classes.iter().map(|id| names.class(*id).cloned()).collect();
        hops.insert(names.path_text(id), known);
    }
    for (words, path) in paths {
        if let Some(Some(known)) = hops.remove(words) {
            path.hops = known;
        }
    }
}

pub(crate) type ByPath = BTreeMap<String, PathStatistics>;

/// Statistics of the sealed part of a time range, and the parts that could not be read. On several
/// threads: most of the cost is opening a thousand small files.
fn of_segments(
    snapshot: &Snapshot,
    start_ns: &Range<i64>,
    progress: &Progress,
) -> Result<(ByPath, Vec<Damage>), StoreError> {
    let wanted =
        |segment: &&Segment| MinuteShare::of(segment.slot.minute, start_ns) != MinuteShare::Nothing;
    let segments: Vec<_> = snapshot.segments().iter().filter(wanted).collect();
    progress.expect(segments.len() as u64);
    let new = || (ByPath::new(), Vec::new());
    let threads = Limits::default().threads;
    let states = spread(&segments, threads, new, |(paths, damage), segment| {
        let (path, read) = match MinuteShare::of(segment.slot.minute, start_ns) {
            MinuteShare::Some => (&segment.path, of_rows(segment, start_ns)),
            MinuteShare::All | MinuteShare::Nothing => {
                (&segment.sketch_path, read_since_root(segment).map(of_sketch))
            }
        };
        match read {
            Ok(found) => merge(paths, found),
            Err(error) if error.is_missing() => return Err(error),
            Err(error) => damage.push(Damage {
                path: path.clone(),
                position: 0,
                reason: error.to_string(),
                rows_lost: segment.row_count,
            }),
        }
        progress.tick()
    })?;
    let (mut paths, mut damage) = (ByPath::new(), snapshot.damage().to_vec());
    for (theirs, theirs_damage) in states {
        damage.extend(theirs_damage);
        merge(&mut paths, theirs);
    }
    damage.sort_by(|a: &Damage, b| a.path.cmp(&b.path));
    Ok((paths, damage))
}

fn merge(paths: &mut ByPath, others: ByPath) {
    for (words, path) in others {
        let mine = paths.entry(words).or_default();
        mine.since_root.merge(&path.since_root);
        if mine.hops.is_empty() {
            mine.hops = path.hops;
        }
    }
}

fn of_sketch(rows: Vec<SketchRow>) -> ByPath {
    let mut paths = ByPath::new();
    for row in rows.into_iter().filter(|row| !row.path.is_empty()) {
        let class = ClassName { application: row.application, class: row.class };
        let hops = taken_apart(&row.path, class);
        let of_path = PathStatistics { hops, since_root: row.since_root };
        merge(&mut paths, ByPath::from([(row.path, of_path)]));
    }
    paths
}

/// The rows of a segment whose root started in a range.
fn of_rows(segment: &Segment, start_ns: &Range<i64>) -> Result<ByPath, StoreError> {
    let mut paths = ByPath::new();
    if segment.slot.kind == RowKind::Foreign {
        return Ok(paths);
    }
    let file = SegmentFile::open(segment)?;
    let wanted = [
        column::APPLICATION,
        column::CLASS,
        column::PATH,
        column::ROOT_START,
        column::START,
        column::ELAPSED_NS,
    ];
    for batch in file.read(&wanted, None, None)? {
        let batch = batch.map_err(file.unreadable())?;
        let columns = SegmentColumns { file: &file, batch: &batch };
        let (applications, application_words) = columns.words(column::APPLICATION)?;
        let (classes, class_words) = columns.words(column::CLASS)?;
        let (keys, path_words) = columns.words(column::PATH)?;
        let (roots, starts) =
            (columns.instants(column::ROOT_START)?, columns.instants(column::START)?);
        let elapsed = columns.nanoseconds(column::ELAPSED_NS)?;
        let mut of_batch: HashMap<i32, PathStatistics> = HashMap::new();
        for row in (0..batch.num_rows()).filter(|row| start_ns.contains(&roots[*row])) {
            let path = of_batch.entry(keys[row]).or_insert_with(|| {
                let class = ClassName {
                    application: word(&application_words, applications[row]).to_owned(),
                    class: word(&class_words, classes[row]).to_owned(),
                };
                let hops = taken_apart(word(&path_words, keys[row]), class);
                PathStatistics { hops, ..PathStatistics::default() }
            });
            let end_ns = starts[row].saturating_add(elapsed[row]);
            if let Ok(ns) = u64::try_from(end_ns.saturating_sub(roots[row])) {
                path.since_root.add(ns);
            }
        }
        let named = of_batch.into_iter().map(|(key, path)| (word(&path_words, key), path));
        let named = named.filter(|(words, _)| !words.is_empty());
        merge(&mut paths, named.map(|(words, path)| (words.to_owned(), path)).collect());
    }
    Ok(paths)
}
