//! State shared by the connection's thread and the other threads.

use crate::status::{DeliveryStatus, Status};
use chronoscope_clock as clock;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most hosts whose clock is told to be this one's: containers have names of their own.
const HOSTS_MAX: usize = 64;

/// State of the delivery to a collector, shared by the connection's thread and the others.
#[derive(Debug, Default)]
pub(super) struct DeliveryState {
    /// Time of the end, on the monotonic clock; 0 while it is not known.
    end_by_ns: AtomicU64,
    status: Mutex<DeliveryStatus>,
    hosts: Mutex<BTreeSet<String>>,
}

impl DeliveryState {
    /// Deliver what is in the spool, and end then or at that time.
    pub(super) fn end_by(&self, deadline_ns: u64) {
        self.end_by_ns.store(deadline_ns.max(1), Ordering::Release);
    }

    pub(super) fn is_ending(&self) -> bool {
        self.end_by_ns.load(Ordering::Acquire) > 0
    }

    pub(super) fn is_over(&self) -> bool {
        let deadline_ns = self.end_by_ns.load(Ordering::Acquire);
        deadline_ns > 0 && clock::monotonic_ns() >= deadline_ns
    }

    /// Adds to a status what is known here; learns from it whose clock this is.
    pub(super) fn fill(&self, status: &mut Status) {
        {
            let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
            for process in &status.processes {
                if hosts.len() < HOSTS_MAX && !hosts.contains(&process.host) {
                    hosts.insert(process.host.clone());
                }
            }
        }
        let known = self.status();
        let delivery = status.delivery.get_or_insert_default();
        delivery.to.clone_from(&known.to);
        delivery.connected = known.connected;
        delivery.connections = known.connections;
        delivery.error.clone_from(&known.error);
        delivery.renumbered = known.renumbered;
        delivery.notice.clone_from(&known.notice);
        delivery.clock_offset_ns = known.clock_offset_ns;
        delivery.clock_error_ns = known.clock_error_ns;
    }

    /// Notes that a connection has ended, or was not made, and why; how many were welcomed so far.
    pub(super) fn ended(&self, error: Option<String>) -> u64 {
        let mut status = self.status();
        status.connected = false;
        status.error = error;
        status.connections
    }

    /// Notes that the clock of a host is this one.
    pub(super) fn add_host(&self, host: String) {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner).insert(host);
    }

    /// The hosts whose clock is this one.
    pub(super) fn hosts(&self) -> Vec<String> {
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        hosts.iter().cloned().collect()
    }

    pub(super) fn status(&self) -> MutexGuard<'_, DeliveryStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
