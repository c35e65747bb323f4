//! Destination of the rows of rings: the store of this host, or the spool of an agent.

use crate::status::Status;
use chronoscope_model::ProcessId;
use chronoscope_store::{Append, Ledger, Maintained, Positions, Spool, Store, StoreError};
use std::sync::Arc;

/// Destination of the rows of rings. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) enum RingDestination {
    Files(Arc<Store>),
    Spool(Arc<Spool>),
}

impl RingDestination {
    pub(crate) fn append(&self, input: &Append<'_>, now_ns: i64) -> Result<u64, StoreError> {
        match self {
            Self::Files(store) => store.append(input, now_ns),
            Self::Spool(spool) => spool.append(input, now_ns),
        }
    }

    pub(crate) fn sync(&self) -> Result<u64, StoreError> {
        match self {
            Self::Files(store) => store.sync(),
            Self::Spool(spool) => spool.sync(),
        }
    }

    pub(crate) fn durable_rows(&self) -> u64 {
        match self {
            Self::Files(store) => store.durable_rows(),
            Self::Spool(spool) => spool.durable_rows(),
        }
    }

    /// Whether the destination is a store: rows of exporters go to a store, never into a spool.
    pub(crate) const fn is_store(&self) -> bool {
        matches!(self, Self::Files(_))
    }

    /// Whether rows wait for being made durable.
    pub(crate) fn has_unsynced(&self) -> bool {
        let (durable, rows) = match self {
            Self::Files(store) => (store.durable_rows(), store.backlog().rows),
            Self::Spool(spool) => (spool.durable_rows(), spool.backlog().rows),
        };
        durable < rows
    }

    pub(crate) fn cursors(&self, process: ProcessId) -> Option<Positions> {
        match self {
            Self::Files(store) => store.cursors(process),
            Self::Spool(spool) => spool.cursors(process),
        }
    }

    pub(crate) fn ledger(&self) -> Ledger {
        match self {
            Self::Files(store) => store.ledger(),
            Self::Spool(spool) => spool.ledger(),
        }
    }

    /// Time of the last append, by the clock at that time.
    pub(crate) fn appended_ns(&self) -> Option<i64> {
        match self {
            Self::Files(store) => store.appended_ns(),
            Self::Spool(_) => None,
        }
    }

    /// Does the maintenance that is due; a spool needs none. The age of rows counts from
    /// `aged_at_ns`.
    pub(crate) fn maintain(&self, now_ns: i64, aged_at_ns: i64) -> Result<Maintained, StoreError> {
        match self {
            Self::Files(store) => store.maintain_keeping(now_ns, aged_at_ns),
            Self::Spool(_) => Ok(Maintained::default()),
        }
    }

    /// Writes the destination's state into the status.
    pub(crate) fn fill(&self, status: &mut Status) {
        let ledger = self.ledger();
        status.lost_rows = ledger.lost_rows();
        status.damaged_rows = ledger.damaged_rows;
        match self {
            Self::Files(store) => {
                let backlog = store.backlog();
                status.stored_rows = backlog.rows;
                status.durable_rows = backlog.durable_rows;
                status.unsealed_rows = backlog.unsealed_rows;
                status.unsealed_bytes = backlog.unsealed_bytes;
                status.log_bytes = backlog.log_bytes;
                status.late_rows = backlog.late_rows;
            }
            Self::Spool(spool) => {
                let backlog = spool.backlog();
                status.stored_rows = backlog.rows;
                status.durable_rows = backlog.durable_rows;
                status.log_bytes = backlog.log_bytes;
                let delivery = status.delivery.get_or_insert_default();
                delivery.acknowledged_rows = backlog.acknowledged_rows;
                delivery.waiting_rows = backlog.waiting_rows;
                delivery.dropped_rows = backlog.dropped_rows;
                delivery.spool_bytes = backlog.log_bytes;
            }
        }
    }
}
