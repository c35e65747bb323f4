//! Statistics of every class in the store, from the sketches: no row is read.

use crate::{Damage, Minute, Slot, Snapshot, StoreError, read_sketch};
use chronoscope_model::{ClassName, Histogram, Status};
use std::collections::BTreeMap;
use std::ops::Range;

/// What the rows of one class are like, over all paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassStatistics {
    /// Elapsed times in nanoseconds. Count, sum, smallest and largest are exact, quantiles at most
    /// 3.125 % too large.
    pub elapsed: Histogram,
    /// Thread CPU time of all rows together, in nanoseconds.
    pub cpu_ns: u64,
    /// Rows whose status is not GOOD.
    pub not_good: u64,
}

/// Statistics by class, and sketches that could not be read.
///
/// `start_ns` (UTC, nanoseconds since 1970) is cut at whole minutes of root starts: a minute counts
/// when it begins in it. Rows that are not sealed yet are counted too.
///
/// # Errors
/// [`StoreError::Io`] with [`StoreError::is_missing`] when a segment has been removed since the
/// snapshot was taken: take a new one.
pub fn classes(
    snapshot: &Snapshot,
    start_ns: &Range<i64>,
) -> Result<(BTreeMap<ClassName, ClassStatistics>, Vec<Damage>), StoreError> {
    let mut classes: BTreeMap<ClassName, ClassStatistics> = BTreeMap::new();
    let mut damage = Vec::new();
    let wanted = |minute: Minute| start_ns.contains(&minute.start_ns());
    for segment in snapshot.segments().iter().filter(|segment| wanted(segment.slot.minute)) {
        match read_sketch(&segment.sketch_path) {
            Ok(rows) => {
                for row in rows {
                    let name = ClassName { application: row.application, class: row.class };
                    let class = classes.entry(name).or_default();
                    class.elapsed.merge(&row.elapsed);
                    class.cpu_ns = class.cpu_ns.saturating_add(row.cpu_ns);
                    class.not_good += row.not_good;
                }
            }
            Err(error) if error.is_missing() => return Err(error),
            Err(error) => damage.push(Damage {
                path: segment.sketch_path.clone(),
                position: 0,
                reason: error.to_string(),
                rows_lost: segment.row_count,
            }),
        }
    }
    for record in snapshot.unsealed().records() {
        if wanted(Slot::of(record).minute) {
            let unnamed =
                || ClassName { application: String::new(), class: format!("?{}", record.class) };
            let name = snapshot.names().class(record.class).cloned().unwrap_or_else(unnamed);
            let class = classes.entry(name).or_default();
            class.elapsed.add(record.elapsed_ns);
            class.cpu_ns = class.cpu_ns.saturating_add(record.cpu_ns);
            class.not_good += u64::from(record.status() != Status::Good);
        }
    }
    Ok((classes, damage))
}
