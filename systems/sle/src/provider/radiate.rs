//! The thread that radiates an instance's CLTUs, each in its time.

use super::log::ProviderLog;
use crate::pdu::{CltuId, CltuStatus};
use crate::recording;
use crate::service::fcltu::{Modem, RadiationQueue, RadiationStep};
use crate::time::Now;
use chronoscope_record::{Class, Started, Status};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Waiting data units as transactions at most: as many as the recorder has room for.
const WAITING_MAX: usize = 65_536;

/// Transactions of the data units that wait for radiation.
#[derive(Debug, Default)]
pub(super) struct WaitingTransactions(Mutex<VecDeque<(CltuId, Started)>>);

impl WaitingTransactions {
    /// One more. What was discarded with its session stays until the next one is radiated; the
    /// oldest go where that are too many.
    pub(super) fn push(&self, unit: CltuId, waiting: Started) {
        let mut queued = self.lock();
        let oldest = if queued.len() >= WAITING_MAX { queued.pop_front() } else { None };
        queued.push_back((unit, waiting));
        drop(queued);
        drop(oldest);
    }

    /// The last one was not taken after all.
    pub(super) fn take_back(&self) {
        let last = self.lock().pop_back();
        if let Some((_, waiting)) = last {
            waiting.discard();
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(CltuId, Started)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A data unit's waiting ends, and its radiation begins. Those before it that were discarded
    /// end with it, ABORTED.
    fn begin(&self, unit: CltuId, class: &Class) -> Option<Started> {
        let mut queued = self.lock();
        while let Some((id, waiting)) = queued.pop_front() {
            if id == unit {
                drop(queued);
                let radiate = class.start_with(&waiting.correlator());
                waiting.stop(Status::Good);
                return Some(radiate);
            }
            drop(waiting);
        }
        None
    }
}

/// An instance whose data units are radiated, and the recording of the radiation.
pub(super) struct RadiatedInstance<'a> {
    /// Name of the instance.
    pub(super) name: &'a str,
    /// Transactions of the waiting data units.
    pub(super) waiting: &'a WaitingTransactions,
    /// The class of a radiation.
    pub(super) class: &'static Class,
}

/// Radiates until the queue is closed.
pub(super) fn run(
    whose: &RadiatedInstance<'_>,
    queue: &Arc<RadiationQueue>,
    modem: &Modem,
    log: &ProviderLog,
) {
    let records = recording::is_on();
    let mut on_air: Option<(CltuId, Started)> = None;
    let mut refused = 0u64;
    loop {
        let now = Now::read();
        let step = queue.next(now);
        if let RadiationStep::Wait(until_ns) = step {
            queue.wait(Some(Duration::from_nanos(until_ns.saturating_sub(now.monotonic_ns))));
            continue;
        }
        // Whatever is next, what was being radiated is no more.
        if let Some((cltu, transaction)) = on_air.take() {
            transaction.stop(status_of(queue, cltu));
        }
        match step {
            RadiationStep::Radiate(cltu) => {
                let transaction =
                    records.then(|| whose.waiting.begin(cltu.cltu, whose.class)).flatten();
                if let Err(error) = modem.radiate(&cltu.data) {
                    refused += 1;
                    // Once each power of two: a modem that is not there refuses all.
                    if refused.is_power_of_two() {
                        log.say(&format!(
                            "{}: data unit {} could not be sent to the modem ({refused} so far): {error}",
                            whose.name, cltu.cltu
                        ));
                    }
                }
                on_air = transaction.map(|transaction| (cltu.cltu, transaction));
            }
            RadiationStep::Idle => queue.wait(None),
            RadiationStep::Wait(_) => {}
            RadiationStep::Closed => return,
        }
    }
}

/// Transaction status at the end of the radiation of a CLTU.
fn status_of(queue: &RadiationQueue, cltu: CltuId) -> Status {
    let last = queue.look(|radiation| radiation.report().last_processed);
    let was_cut = last
        .is_some_and(|last| last.cltu == cltu && matches!(last.status, CltuStatus::Interrupted));
    if was_cut { Status::Aborted } else { Status::Good }
}
