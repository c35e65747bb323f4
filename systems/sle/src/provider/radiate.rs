//! The thread that radiates an instance's CLTUs, each in its time.

use super::Log;
use super::served::Served;
use crate::pdu::{CltuId, CltuStatus};
use crate::recording::{self, RADIATE_CLTU};
use crate::service::fcltu::{Modem, Queue, Queued, Step};
use crate::time::Now;
use chronoscope_record::{Started, Status};
use std::sync::Arc;
use std::time::Duration;

/// Radiates until the queue is closed.
pub(super) fn run(served: &Served, queue: &Arc<Queue>, modem: &Modem, log: &Log) {
    let records = recording::is_on();
    let mut on_air: Option<(CltuId, Started)> = None;
    let mut refused = 0u64;
    loop {
        let now = Now::read();
        let step = queue.next(now);
        if let Step::Wait(until_ns) = step {
            queue.wait(Some(Duration::from_nanos(until_ns.saturating_sub(now.monotonic_ns))));
            continue;
        }
        // Whatever is next, what was being radiated is no more.
        if let Some((cltu, transaction)) = on_air.take() {
            transaction.stop(status_of(queue, cltu));
        }
        match step {
            Step::Radiate(cltu) => {
                let transaction = records.then(|| begin(served, &cltu)).flatten();
                if let Err(error) = modem.radiate(&cltu.data) {
                    refused += 1;
                    // Once each power of two: a modem that is not there refuses all.
                    if refused.is_power_of_two() {
                        log.say(&format!(
                            "{}: the modem did not take CLTU {} ({refused} so far): {error}",
                            served.name, cltu.cltu
                        ));
                    }
                }
                on_air = transaction.map(|transaction| (cltu.cltu, transaction));
            }
            Step::Idle => queue.wait(None),
            Step::Wait(_) => {}
            Step::Closed => return,
        }
    }
}

/// A CLTU's waiting ends, and its radiation begins. Those before it that were discarded end with
/// it, ABORTED.
fn begin(served: &Served, cltu: &Queued) -> Option<Started> {
    let mut queued = served.queued();
    while let Some((id, waiting)) = queued.pop_front() {
        if id == cltu.cltu {
            drop(queued);
            let radiate = RADIATE_CLTU.start_with(&waiting.correlator());
            waiting.stop(Status::Good);
            return Some(radiate);
        }
        drop(waiting);
    }
    None
}

/// How the radiation of a CLTU ended.
fn status_of(queue: &Queue, cltu: CltuId) -> Status {
    let last = queue.look(|radiation| radiation.report().last_processed);
    let was_cut = last
        .is_some_and(|last| last.cltu == cltu && matches!(last.status, CltuStatus::Interrupted));
    if was_cut { Status::Aborted } else { Status::Good }
}
