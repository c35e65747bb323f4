//! Share of a store that senders over the network may take: the rest is kept for the rings of this
//! host.
//!
//! Every minute that has rows is a file when it is sealed, and memory until then. A sender may
//! number its rows' minutes as it likes, so that a few megabytes could open a thousand of them.

use super::error::IngestError;
use super::limits::OPEN_SLOTS_MAX;
use crate::duration::nanos;
use chronoscope_model::Batch;
use chronoscope_store::{MINUTE_NS, Slot, Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// About how long a minute waits for being sealed.
const OPEN_FOR: Duration = Duration::from_mins(2);
/// Minutes so near to now may always be opened, in minutes before and after: there are few of them.
const NEAR: (i64, i64) = (15, 2);
/// Rows of the network are refused beyond so many times the memory, or the log, at which minutes are
/// sealed early; rows of this host's rings beyond four times.
const REFUSE_AT: u64 = 2;

/// Number of a batch's rows, from the first on, that may be taken at `now_ns` (UTC).
///
/// # Errors
/// [`IngestError::Busy`] when no row may be taken because sealing is behind.
pub(super) fn rows_that_fit(
    store: &Store,
    batch: &Batch,
    now_ns: i64,
) -> Result<usize, IngestError> {
    let backlog = store.backlog();
    let options = store.options();
    let memory_max = options.buffer_bytes.saturating_mul(REFUSE_AT);
    if backlog.unsealed_bytes > memory_max
        || backlog.log_bytes > options.log_bytes.saturating_mul(REFUSE_AT)
    {
        let buffered_bytes = backlog.unsealed_bytes;
        return Err(IngestError::Busy(StoreError::Backlog {
            buffered_bytes,
            bytes_max: memory_max,
        }));
    }
    Ok(fit(batch, now_ns, |far| store.opened_by(far)))
}

/// Minutes into which rows of the network went where nothing is kept until it is sealed: before a
/// cluster. Each counts as open for as long as it would wait for being sealed here.
#[derive(Debug, Default)]
pub(super) struct ClusterMinutes(Mutex<BTreeMap<Slot, u64>>);

impl ClusterMinutes {
    /// Number of a batch's rows, from the first on, that may be passed on at `now_ns` (UTC), which
    /// is
    /// `monotonic_ns`. Their minutes count as open from then on.
    pub(super) fn rows_that_fit(&self, batch: &Batch, now_ns: i64, monotonic_ns: u64) -> usize {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let until_ns = nanos(OPEN_FOR);
        open.retain(|_, opened_ns| monotonic_ns.saturating_sub(*opened_ns) < until_ns);
        let fits = fit(batch, now_ns, |far| {
            let new = far.iter().filter(|slot| !open.contains_key(slot)).copied().collect();
            (open.len(), new)
        });
        for slot in batch.records()[..fits].iter().map(Slot::of) {
            if !is_near(slot, now_ns) {
                open.entry(slot).or_insert(monotonic_ns);
            }
        }
        fits
    }
}

/// Number of a batch's rows, from the first on, that may be taken under the limit of open minutes.
/// `opened` returns the number of open minutes, and which of the given ones would be opened.
fn fit(
    batch: &Batch,
    now_ns: i64,
    opened: impl FnOnce(&BTreeSet<Slot>) -> (usize, BTreeSet<Slot>),
) -> usize {
    let mut far = BTreeSet::new();
    let mut last = None;
    for slot in batch.records().iter().map(Slot::of) {
        if last != Some(slot) && !is_near(slot, now_ns) {
            far.insert(slot);
        }
        last = Some(slot);
    }
    if far.is_empty() {
        return batch.len();
    }
    let (open, new) = opened(&far);
    let room = OPEN_SLOTS_MAX.saturating_sub(open);
    if new.len() <= room {
        return batch.len();
    }
    let mut opened = BTreeSet::new();
    let too_many = |slot: Slot| {
        new.contains(&slot)
            && !opened.contains(&slot)
            && (opened.len() >= room || !opened.insert(slot))
    };
    let fits = batch.records().iter().map(Slot::of).position(too_many);
    fits.unwrap_or(batch.len())
}

/// Whether rows of a minute may be expected now.
fn is_near(slot: Slot, now_ns: i64) -> bool {
    let minutes = now_ns.div_euclid(MINUTE_NS).saturating_sub(slot.minute.0);
    (-NEAR.1..=NEAR.0).contains(&minutes)
}
