//! The two threads beside the one that reads rings: one makes rows durable, one maintains
//! their destination.

use crate::ring_destination::RingDestination;
use crate::status::Status;
use chronoscope_clock as clock;
use chronoscope_store::{Maintained, StoreError};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Interval between two checks whether a minute is to be sealed.
const MAINTAIN_EVERY: Duration = Duration::from_millis(100);
/// After a failure.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// State that the threads share.
#[derive(Debug, Default)]
pub(crate) struct Maintenance {
    stop: AtomicBool,
    sealed_rows: AtomicU64,
    expired_rows: AtomicU64,
    append_error: Mutex<Option<String>>,
    sync_error: Mutex<Option<String>>,
    maintain_error: Mutex<Option<String>>,
    /// Message about a deletion that waits for a confirmation.
    deletion_waits: Mutex<Option<String>>,
    age: Mutex<Age>,
}

/// From when the age of rows counts: never further from the last append than time has passed since, so
/// that a clock which is set ahead does not delete what it makes look old.
#[derive(Debug, Default)]
struct Age {
    appended_ns: Option<i64>,
    seen_at_ns: u64,
}

impl Age {
    /// The instant from which it counts, by the clock, the last append and the monotonic clock.
    fn counts_from(&mut self, now_ns: i64, appended_ns: Option<i64>, monotonic_ns: u64) -> i64 {
        if self.appended_ns != appended_ns {
            *self = Self { appended_ns, seen_at_ns: monotonic_ns };
        }
        let passed_ns = monotonic_ns.saturating_sub(self.seen_at_ns);
        appended_ns.map_or(now_ns, |at| now_ns.min(at.saturating_add_unsigned(passed_ns)))
    }
}

impl Maintenance {
    /// Makes rows durable, again and again: those that come while one `fdatasync` runs share the
    /// next one.
    pub(crate) fn sync_loop(&self, destination: &RingDestination, every: Duration) {
        while !self.stop.load(Ordering::Relaxed) {
            if destination.has_unsynced() {
                note(&self.sync_error, destination.sync().err());
            }
            clock::sleep(every);
        }
    }

    /// Seals, merges and deletes what is due.
    pub(crate) fn maintain_loop(&self, destination: &RingDestination) {
        while !self.stop.load(Ordering::Relaxed) {
            let result = self.maintain(destination);
            let pause = match &result {
                Ok(done) => {
                    self.sealed_rows.fetch_add(done.sealed_rows, Ordering::Relaxed);
                    self.expired_rows.fetch_add(done.expired_rows, Ordering::Relaxed);
                    if done.again { Duration::ZERO } else { MAINTAIN_EVERY }
                }
                Err(_) => RETRY_AFTER,
            };
            note(&self.maintain_error, result.err());
            if !pause.is_zero() {
                clock::sleep(pause);
            }
        }
    }

    fn maintain(&self, destination: &RingDestination) -> Result<Maintained, StoreError> {
        let now_ns = clock::utc_now_ns();
        let aged_at_ns = {
            let mut age = self.age.lock().unwrap_or_else(PoisonError::into_inner);
            age.counts_from(now_ns, destination.appended_ns(), clock::monotonic_ns())
        };
        let done = destination.maintain(now_ns, aged_at_ns)?;
        let waits = (done.waiting_rows > 0).then(|| {
            format!(
                "{} rows are old enough to be deleted, more than a tenth of all at once: is the clock \
                 right? They stay until `chronoscope store confirm-deletion`",
                done.waiting_rows
            )
        });
        *self.deletion_waits.lock().unwrap_or_else(PoisonError::into_inner) = waits;
        Ok(done)
    }

    /// Makes everything durable that was appended, trying until `deadline_ns` (monotonic).
    pub(crate) fn sync_now(&self, destination: &RingDestination, deadline_ns: u64) {
        loop {
            let result = destination.sync();
            let done = result.is_ok();
            note(&self.sync_error, result.err());
            if done || clock::monotonic_ns() > deadline_ns {
                return;
            }
            // A log that failed is put right by maintenance.
            note(&self.maintain_error, self.maintain(destination).err());
        }
    }

    /// Ends both loops.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Notes why rows were refused.
    pub(crate) fn failed(&self, error: &StoreError) {
        *self.append_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
    }

    /// Adds what the threads know to the status.
    pub(crate) fn fill(&self, status: &mut Status) {
        status.sealed_rows = self.sealed_rows.load(Ordering::Relaxed);
        status.expired_rows = self.expired_rows.load(Ordering::Relaxed);
        let mut append_error = self.append_error.lock().unwrap_or_else(PoisonError::into_inner);
        if !status.refused {
            *append_error = None;
        }
        let errors = [&self.sync_error, &self.maintain_error, &self.deletion_waits];
        let said = |error: &Mutex<Option<String>>| {
            error.lock().unwrap_or_else(PoisonError::into_inner).clone()
        };
        status.error = append_error.clone().or_else(|| errors.into_iter().find_map(said));
    }
}

fn note(slot: &Mutex<Option<String>>, error: Option<StoreError>) {
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = error.map(|error| error.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_ahead_does_not_make_rows_old() {
        const DAY_NS: i64 = 86_400_000_000_000;
        let mut age = Age::default();
        // A new store goes by the clock.
        assert_eq!(age.counts_from(7, None, 0), 7);
        // The clock jumps by 40 days; three seconds have passed since the last append.
        assert_eq!(age.counts_from(100, Some(50), 1_000), 50);
        assert_eq!(age.counts_from(40 * DAY_NS, Some(50), 4_000), 3_050);
        // A clock that is behind is believed: rows stay longer.
        assert_eq!(age.counts_from(10, Some(50), 9_000), 10);
        // The next append is by the new clock.
        assert_eq!(age.counts_from(40 * DAY_NS, Some(40 * DAY_NS - 5), 9_000), 40 * DAY_NS - 5);
    }
}
