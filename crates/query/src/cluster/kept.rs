//! Questions that take longer than replaced durations are kept.

use super::ask::ClusterView;
use super::duration_rows::is_of_leaves;
use super::row_counts::minutes_of;
use crate::error::QueryError;
use crate::question::Question;
use chronoscope_clickhouse::DURATIONS_KEPT;
use chronoscope_clock::monotonic_ns;
use std::time::Duration;

/// The servers' clocks are read in whole seconds, and a statement is under way for a while.
const MARGIN: Duration = Duration::from_secs(5);

impl ClusterView {
    /// What `read` finds of durations that the shards have filled in; `None` where some of them may
    /// have been deleted meanwhile, because one of the minutes was linked anew. Costs nothing where
    /// `read` takes less than [`DURATIONS_KEPT`].
    pub(crate) fn while_kept<T>(
        &self,
        question: &Question,
        read: impl FnOnce() -> Result<T, QueryError>,
    ) -> Result<Option<T>, QueryError> {
        self.while_kept_for(DURATIONS_KEPT.saturating_sub(MARGIN), question, read)
    }

    fn while_kept_for<T>(
        &self,
        kept: Duration,
        question: &Question,
        read: impl FnOnce() -> Result<T, QueryError>,
    ) -> Result<Option<T>, QueryError> {
        let begun_ns = monotonic_ns();
        let found = read()?;
        let took = Duration::from_nanos(monotonic_ns().saturating_sub(begun_ns));
        if took < kept || !is_of_leaves(question) {
            return Ok(Some(found));
        }
        let minutes = minutes_of(&question.start_ns);
        let is_anew =
            self.unless_missing(|| Ok(Some(self.cluster().is_linked_anew(&minutes, took)?)))?;
        Ok((is_anew == Some(false)).then_some(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_clickhouse::Cluster;

    #[test]
    fn what_took_long_and_is_of_leaves_is_looked_at_again() {
        // No server is there: who asks it gets an error.
        let view = ClusterView::new(Cluster::new("clickhouse://127.0.0.1:1/nowhere").unwrap());
        let (leaves, whole) = (Question::acpd("a", "b"), Question::apcd("a"));
        let kept = |kept, question| view.while_kept_for(kept, question, || Ok(7));
        assert_eq!(kept(DURATIONS_KEPT, &leaves).unwrap(), Some(7));
        assert_eq!(kept(Duration::ZERO, &whole).unwrap(), Some(7));
        assert!(kept(Duration::ZERO, &leaves).is_err());
    }
}
