//! One question being answered on several threads: how the work is spread, and what happens to a
//! segment that cannot be read.

use crate::context::QuestionContext;
use crate::question::Limits;
use crate::spread::spread;
use chronoscope_chain::{ROW_BYTES, RowAttributes};
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

    /// Memory for rows of [`ROW_BYTES`], in bytes: what is left of the limit beside the attributes
    /// that rows have on top, where these are asked for.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let all = self.limits.memory_bytes;
        if self.shared.attributes.is_none() {
            return all;
        }
        let (own, more) = (ROW_BYTES as u64, size_of::<RowAttributes>() as u64);
        (u128::from(all) * u128::from(own) / u128::from(own + more)).try_into().unwrap_or(all)
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
