//! The attribute value that the durations above a broken limit have in common, for its alarm.

use super::judge::{Judgement, LimitKind, LimitReport};
use crate::limits::{Limit, Limited};
use chronoscope_query::{
    LeafLevel, QueryEnvironment, QueryError, Question, REACH, SlowLimit, StoreView, slow_attributes,
};
use chronoscope_store::{MINUTE_NS, Minute};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Longest time that is looked at: what is slow now.
const LOOKED_AT_NS: i64 = 10 * MINUTE_NS;
/// Durations above a limit of which attributes are read, and others: enough for a value that stands
/// out, and a moment's work.
const SAMPLE: usize = 1_000;
/// Broken limits that are looked at in one answer: with many of them the system is slow as a whole.
const LIMITS_MAX: usize = 4;
/// Most rows of a cluster that are fetched for it: some seconds' work where none is here yet.
const FETCHED_MAX: u64 = 4_000_000;

/// The attribute value by which the durations above a limit differ most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AttributeCause {
    /// The durations that have it, as a filter.
    pub(super) filter: String,
    /// It in words, with its shares.
    pub(super) sentence: String,
}

/// A limit: its subject as text, and the longest duration.
type LimitName = (String, u64);

/// The cause of each limit, and the minute in which it was sought.
type KnownCauses = BTreeMap<LimitName, (Minute, Option<AttributeCause>)>;

/// The causes of broken limits, as they were found in this minute.
#[derive(Debug, Default)]
pub(super) struct AttributeCauses {
    known: Mutex<KnownCauses>,
}

impl AttributeCauses {
    /// The causes of the broken limits among `reports`, in their order. Each is sought once a
    /// minute, in the time since the limit is broken.
    ///
    /// # Errors
    /// [`QueryError`] when the store cannot be read.
    pub(super) fn of(
        &self,
        reports: &[LimitReport],
        (view, at_ns): (&StoreView, i64),
        limits: &[Limit],
        asking: &QueryEnvironment<'_>,
    ) -> Result<Vec<Option<AttributeCause>>, QueryError> {
        let minute = Minute::of(at_ns);
        let mut left = LIMITS_MAX;
        let broken = reports.iter().filter(|report| report.state == Judgement::Broken);
        let causes = broken.map(|report| {
            let limit = limits.iter().find(|limit| is_of(report, limit));
            let Some(limit) = limit.filter(|_| left > 0) else { return Ok(None) };
            left -= 1;
            let name = (report.what.clone(), report.limit_ns);
            let known = self.lock().get(&name).filter(|known| known.0 == minute).cloned();
            if let Some((_, cause)) = known {
                return Ok(cause);
            }
            let from_ns = report.since_ns.unwrap_or(at_ns).max(at_ns.saturating_sub(LOOKED_AT_NS));
            let question = Question { start_ns: from_ns..at_ns, ..question(limit) };
            let slow = (SlowLimit::Above(limit.limit_ns), SAMPLE);
            let cause = match are_few(view, &question.start_ns)? {
                false => None,
                true => {
                    let rows = view.rows_of(&[&question], asking.limits, asking.progress)?;
                    let found = slow_attributes(&rows, &question, slow, asking)?;
                    found.more_often().next().map(|first| AttributeCause {
                        filter: first.filter.to_string(),
                        sentence: found.sentence.clone(),
                    })
                }
            };
            self.lock().insert(name, (minute, cause.clone()));
            Ok(cause)
        });
        causes.collect()
    }

    fn lock(&self) -> MutexGuard<'_, KnownCauses> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the rows around a time may be looked at in passing: those of a cluster are fetched.
fn are_few(view: &StoreView, start_ns: &Range<i64>) -> Result<bool, QueryError> {
    let StoreView::Cluster(remote) = view else { return Ok(true) };
    let reach = i64::try_from(REACH.as_nanos()).unwrap_or(i64::MAX);
    let first = Minute::of(start_ns.start.saturating_sub(reach));
    let counts = remote.minute_counts(&(first..=Minute::of(start_ns.end)))?;
    Ok(counts.values().sum::<u64>() <= FETCHED_MAX)
}

/// Whether a report is on durations above a limit.
fn is_of(report: &LimitReport, limit: &Limit) -> bool {
    report.kind != LimitKind::Arrivals
        && report.limit_ns == limit.limit_ns
        && report.what == limit.what()
}

/// The durations that a limit bounds.
fn question(limit: &Limit) -> Question {
    match &limit.of {
        Limited::Class(class) => Question::sync(&class.0),
        Limited::Chain { root, leaf, level, .. } => {
            let level = level.map_or(LeafLevel::Any, LeafLevel::Exactly);
            Question { level, ..Question::acpd(&root.0, &leaf.0) }
        }
    }
}
