//! The two threads beside the one that reads rings: one makes rows durable, one keeps the sink.

use crate::sink::Sink;
use crate::status::Status;
use chronoscope_clock as clock;
use chronoscope_store::StoreError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often it is looked whether a minute's wait is over.
const MAINTAIN_EVERY: Duration = Duration::from_millis(100);
/// After a failure.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// What the threads share.
#[derive(Debug, Default)]
pub(crate) struct Keeping {
    stop: AtomicBool,
    sealed_rows: AtomicU64,
    expired_rows: AtomicU64,
    append_error: Mutex<Option<String>>,
    sync_error: Mutex<Option<String>>,
    maintain_error: Mutex<Option<String>>,
}

impl Keeping {
    /// Makes rows durable, again and again: those that come while one `fdatasync` runs share the
    /// next one.
    pub(crate) fn sync_loop(&self, sink: &Sink, every: Duration) {
        while !self.stop.load(Ordering::Relaxed) {
            if sink.has_unsynced() {
                note(&self.sync_error, sink.sync().err());
            }
            clock::sleep(every);
        }
    }

    /// Seals, merges and deletes what is due.
    pub(crate) fn maintain_loop(&self, sink: &Sink) {
        while !self.stop.load(Ordering::Relaxed) {
            let result = sink.maintain(clock::utc_now_ns());
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

    /// Makes everything durable that was appended, trying until `deadline_ns` (monotonic).
    pub(crate) fn sync_now(&self, sink: &Sink, deadline_ns: u64) {
        loop {
            let result = sink.sync();
            let done = result.is_ok();
            note(&self.sync_error, result.err());
            if done || clock::monotonic_ns() > deadline_ns {
                return;
            }
            // A log that failed is put right by maintenance.
            note(&self.maintain_error, sink.maintain(clock::utc_now_ns()).err());
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
        let errors = [&self.sync_error, &self.maintain_error];
        let said = |error: &Mutex<Option<String>>| {
            error.lock().unwrap_or_else(PoisonError::into_inner).clone()
        };
        status.error = append_error.clone().or_else(|| errors.into_iter().find_map(said));
    }
}

fn note(slot: &Mutex<Option<String>>, error: Option<StoreError>) {
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = error.map(|error| error.to_string());
}
