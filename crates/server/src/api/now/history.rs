//! The last hour, minute by minute and path by path, from the sketches and the rows not yet sealed.

use chronoscope_model::{ClassName, Flags};
use chronoscope_statistics::{Histogram, Quantile};
use chronoscope_store::{MINUTE_NS, Minute, Segment, Slot, Snapshot, StoreError, read_sketch};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Length of the history.
pub(super) const MINUTES: i64 = 60;
/// Paths that are followed in a minute; further ones are ignored.
pub(super) const PATHS_MAX: usize = 2_000;

/// One path in one minute.
#[derive(Clone, Debug)]
pub(super) struct PathMinute {
    pub(super) class: ClassName,
    /// True for rows without root and path, such as spans of OpenTelemetry.
    pub(super) foreign: bool,
    pub(super) count: u64,
    pub(super) elapsed: Buckets,
    pub(super) since_root: Buckets,
}

/// A compact histogram.
#[derive(Clone, Debug, Default)]
pub(super) struct Buckets {
    counts: Box<[(u16, u64)]>,
    median_ns: Option<u64>,
}

impl Buckets {
    pub(super) fn of(histogram: &Histogram) -> Self {
        let counts = histogram.buckets();
        let counts = counts.map(|(bucket, n)| (u16::try_from(bucket).unwrap_or(u16::MAX), n));
        Self { counts: counts.collect(), median_ns: histogram.quantile(Quantile::P50) }
    }

    /// The median; `None` when nothing was counted.
    pub(super) fn median_ns(&self) -> Option<f64> {
        self.median_ns.map(|ns| ns as f64)
    }

    /// Count of values above a limit: exact but for those in the limit's own bucket, which count as
    /// within it.
    pub(super) fn above(&self, limit_ns: u64) -> u64 {
        let own = chronoscope_statistics::bucket_index(limit_ns);
        let above = self.counts.iter().filter(|(bucket, _)| usize::from(*bucket) > own);
        above.map(|(_, count)| count).sum()
    }
}

/// A path as text, and its statistics in one minute.
type Sketch = Arc<Vec<(String, PathMinute)>>;

/// Sketches of the last hour, read once: sealed files never change.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<HashMap<PathBuf, Sketch>>);

/// The paths of one minute.
pub(super) type ByPath = BTreeMap<String, Vec<PathMinute>>;

/// The last hour.
#[derive(Debug, Default)]
pub(super) struct History {
    /// By minute and path; several entries where a minute lies in several files.
    pub(super) minutes: BTreeMap<Minute, ByPath>,
    /// The current minute, as far as it has been recorded.
    pub(super) running: ByPath,
    /// Unreadable sketches, as text.
    pub(super) damage: Vec<String>,
}

impl Cache {
    /// Minutes before `until` that have ended by then, and the one that has not.
    pub(super) fn history(
        &self,
        snapshot: &Snapshot,
        until_ns: i64,
    ) -> Result<History, StoreError> {
        let last = Minute::of(until_ns); // which has not ended
        let wanted = |minute: Minute| minute <= last && minute.0 >= last.0.saturating_sub(MINUTES);
        let mut history = History::default();
        let mut used = HashSet::new();
        for segment in snapshot.segments().iter().filter(|segment| wanted(segment.slot.minute)) {
            match self.sketch(segment) {
                Ok(sketch) => {
                    let minute = history.minutes.entry(segment.slot.minute).or_default();
                    for (path, row) in sketch.iter() {
                        minute.entry(path.clone()).or_default().push(row.clone());
                    }
                }
                Err(error) if error.is_missing() => return Err(error),
                Err(error) => history.damage.push(error.to_string()),
            }
            used.insert(&segment.sketch_path);
        }
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cached.retain(|path, _| used.contains(path));
        drop(cached);
        for (minute, paths) in unsealed(snapshot, &wanted) {
            let into = history.minutes.entry(minute).or_default();
            for (path, row) in paths {
                into.entry(path).or_default().push(row);
            }
        }
        history.running = history.minutes.remove(&last).unwrap_or_default();
        Ok(history)
    }

    fn sketch(&self, segment: &Segment) -> Result<Sketch, StoreError> {
        let path = &segment.sketch_path;
        let cached = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = cached().get(path) {
            return Ok(known.clone());
        }
        let rows = read_sketch(segment)?.into_iter().take(PATHS_MAX).map(|row| {
            let class = ClassName { application: row.application, class: row.class };
            // Foreign rows have no path: their class distinguishes them.
            let foreign = row.path.is_empty();
            let path = if foreign { class.to_string() } else { row.path };
            let minute = PathMinute {
                class,
                foreign,
                count: row.elapsed.count(),
                elapsed: Buckets::of(&row.elapsed),
                since_root: Buckets::of(&row.since_root),
            };
            (path, minute)
        });
        let sketch: Sketch = Arc::new(rows.collect());
        cached().insert(path.clone(), sketch.clone());
        Ok(sketch)
    }
}

/// Sums over the rows of one path in one minute.
#[derive(Default)]
struct Sums {
    elapsed: Histogram,
    since_root: Histogram,
}

/// The unsealed rows by minute and path.
fn unsealed(
    snapshot: &Snapshot,
    wanted: &dyn Fn(Minute) -> bool,
) -> BTreeMap<Minute, Vec<(String, PathMinute)>> {
    let names = snapshot.names();
    let mut sums: BTreeMap<Minute, HashMap<(u64, u64), Sums>> = BTreeMap::new();
    let mut words = HashMap::new();
    for record in snapshot.unsealed().records() {
        let minute = Slot::of(record).minute;
        if !wanted(minute) {
            continue;
        }
        let key = (record.path.0, record.class.0);
        let sums = sums.entry(minute).or_default().entry(key).or_default();
        sums.elapsed.add(record.elapsed_ns);
        if let Some(Ok(ns)) = record.since_root_ns().map(u64::try_from) {
            sums.since_root.add(ns);
        }
        words.entry(key).or_insert_with(|| {
            let class = names.class(record.class).cloned();
            let foreign = record.path.is_none() || record.flags().contains(Flags::FOREIGN);
            let path = (!foreign).then(|| names.path_text(record.path));
            class.map(|class| (path.unwrap_or_else(|| class.to_string()), class, foreign))
        });
    }
    let named = |sums: HashMap<(u64, u64), Sums>| {
        let rows = sums.into_iter().filter_map(|(key, sums)| {
            let (path, class, foreign) = words.get(&key)?.clone()?; // not named yet: the next time
            let row = PathMinute {
                class,
                foreign,
                count: sums.elapsed.count(),
                elapsed: Buckets::of(&sums.elapsed),
                since_root: Buckets::of(&sums.since_root),
            };
            Some((path, row))
        });
        rows.collect()
    };
    sums.into_iter().map(|(minute, sums)| (minute, named(sums))).collect()
}

/// The median over several parts of a minute: that of the part with the most rows, which is nearly
/// always the only part.
pub(super) fn median(parts: &[PathMinute], of: impl Fn(&PathMinute) -> &Buckets) -> Option<f64> {
    parts.iter().max_by_key(|part| part.count).and_then(|part| of(part).median_ns())
}

/// Start of a minute.
pub(super) const fn begin_ns(minute: Minute) -> i64 {
    minute.0.saturating_mul(MINUTE_NS)
}
