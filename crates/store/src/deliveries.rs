//! Up to which instant each source of rows has delivered.
//!
//! That a root has no leaf means nothing before the process that would record the leaf has
//! delivered everything up to the end of the root's time. A collector notes how far it has read a
//! ring, and that a ring was read to its end after its process had ended. A source of spans says
//! nothing of itself: it has delivered up to the latest end among its spans, as long as it exports
//! them in the order in which they ended. Another may export for the first time; the collector
//! notes how far its own clock is, so that a question can allow for that.
//!
//! Limits: at most [`SOURCES_MAX`] processes; beyond, the one that delivered longest ago is
//! forgotten and counts as one of which nothing is known.

use chronoscope_model::ProcessId;
use std::collections::BTreeMap;

/// By the collector's clock, spans are here so long after they ended, or were dropped by their
/// exporter: an SDK's batch waits for 5 s, and is tried again for 10 s (OpenTelemetry's defaults
/// `OTEL_BSP_SCHEDULE_DELAY` and `OTEL_EXPORTER_OTLP_TIMEOUT`).
pub const SPANS_WITHIN_NS: i64 = 15_000_000_000;

/// Most processes that are remembered: some 1.5 MB of memory.
pub const SOURCES_MAX: usize = 1 << 16;

/// Stands for "all that it ever will": the process has ended and its ring was read to the end.
pub const DELIVERED_ALL: i64 = i64::MAX;

/// Delivery state of each process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deliveries(BTreeMap<ProcessId, Delivery>);

/// Delivery state of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Delivery {
    /// Everything that ended before is here or known to be lost: UTC, nanoseconds since 1970, by
    /// the clock of its host.
    pub until_ns: i64,
    /// Whether the process exports spans; such a source sends no delivery notes.
    pub exports: bool,
}

impl Deliveries {
    /// Takes in how far a process has delivered. An earlier instant than is known changes nothing.
    pub fn insert(&mut self, process: ProcessId, delivery: Delivery) {
        let known = self.0.entry(process).or_insert(delivery);
        *known = (*known).max(delivery);
        if self.0.len() > SOURCES_MAX {
            let oldest = self.0.iter().min_by_key(|(id, at)| (**at, **id)).map(|(id, _)| *id);
            oldest.map(|id| self.0.remove(&id));
        }
    }

    /// Up to when a process has delivered; `None` when nobody said.
    pub fn of(&self, process: ProcessId) -> Option<i64> {
        self.0.get(&process).map(|delivery| delivery.until_ns)
    }

    /// Whether a process exports spans.
    pub fn exports(&self, process: ProcessId) -> bool {
        self.0.get(&process).is_some_and(|delivery| delivery.exports)
    }

    /// Up to which instant of its own clock the collector itself has looked for rows.
    pub fn collector_ns(&self) -> Option<i64> {
        self.of(ProcessId::NONE)
    }

    /// All that is known.
    pub fn iter(&self) -> impl Iterator<Item = (ProcessId, Delivery)> {
        self.0.iter().map(|(process, delivery)| (*process, *delivery))
    }

    /// Whether nobody ever said anything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets processes that `keep` does not want.
    pub(crate) fn retain(&mut self, keep: impl Fn(ProcessId) -> bool) {
        self.0.retain(|process, _| keep(*process));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_does_not_go_back() {
        let mut deliveries = Deliveries::default();
        let until = |until_ns| Delivery { until_ns, exports: false };
        deliveries.insert(ProcessId(1), until(50));
        deliveries.insert(ProcessId(1), until(20));
        assert_eq!(deliveries.of(ProcessId(1)), Some(50));
        deliveries.insert(ProcessId(1), until(DELIVERED_ALL));
        assert_eq!(deliveries.of(ProcessId(1)), Some(DELIVERED_ALL));
        assert_eq!(deliveries.of(ProcessId(2)), None);
    }

    #[test]
    fn beyond_the_limit_the_one_that_is_silent_longest_goes() {
        let mut deliveries = Deliveries::default();
        let most = i64::try_from(SOURCES_MAX).unwrap();
        for n in 0..=most {
            let delivery = Delivery { until_ns: n, exports: true };
            deliveries.insert(ProcessId(n.unsigned_abs()), delivery);
        }
        assert_eq!(deliveries.of(ProcessId(0)), None);
        assert_eq!(deliveries.of(ProcessId(1)), Some(1));
    }
}
