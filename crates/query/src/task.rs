//! One question being answered on several threads: how the work is spread, and what happens to a
//! segment that cannot be read.

use crate::context::QuestionContext;
use crate::question::Limits;
use crate::spread::spread;
use chronoscope_model::schema::column;
use chronoscope_store::segment_file::SegmentFile;
use chronoscope_store::{Damage, Segment, StoreError};
use std::sync::Mutex;

/// One question being answered.
pub(crate) struct Task<'a> {
    pub(crate) shared: &'a QuestionContext<'a>,
    pub(crate) limits: &'a Limits,
    pub(crate) damage: Mutex<Vec<Damage>>,
}

impl Task<'_> {
    /// Lets all threads work through `jobs`; every thread has its own state, and all states are
    /// returned. The first error ends the work.
    pub(crate) fn spread<J: Sync, S: Send>(
        &self,
        jobs: &[J],
        state: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, &J) -> Result<(), StoreError> + Sync,
    ) -> Result<Vec<S>, StoreError> {
        spread(jobs, self.limits.threads, state, |mine, job| {
            self.shared.progress.check().and_then(|()| work(mine, job))
        })
    }

    /// Passes over a segment that cannot be read, and remembers it. A segment that is gone is no
    /// damage: the snapshot is too old.
    pub(crate) fn or_damage<T>(
        &self,
        segment: &Segment,
        result: Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_missing() || error.is_cancelled() => Err(error),
            Err(error) => {
                let damage = Damage {
                    path: segment.path.clone(),
                    position: 0,
                    reason: error.to_string(),
                    rows_lost: segment.row_count,
                };
                let mut known = self.damage.lock().unwrap_or_else(|e| e.into_inner());
                if !known.contains(&damage) {
                    known.push(damage);
                }
                Ok(None)
            }
        }
    }

    /// Whether no root in a segment started in the time that is asked for.
    pub(crate) fn is_outside(&self, file: &SegmentFile) -> bool {
        let wanted = &self.shared.window_ns;
        let beyond = |column| {
            let range = file.range(column);
            range.is_some_and(|r| *r.end() < wanted.start || *r.start() >= wanted.end)
        };
        beyond(column::START) && beyond(column::ROOT_START)
    }
}
