//! Counters that all workers add to.

use crate::config::{Listener, Protocol};
use crate::status::Traffic;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// [`Traffic`] that is added to by several threads.
#[derive(Debug, Default)]
pub(super) struct Meter {
    bytes_rx: AtomicU64,
    bytes_tx: AtomicU64,
    packets_rx: AtomicU64,
    packets_tx: AtomicU64,
    duplicates: AtomicU64,
    dropped: AtomicU64,
    drops: Mutex<Vec<u64>>,
}

impl Meter {
    /// Adds the counts since the last call.
    pub(super) fn add(&self, more: &Traffic) {
        let pairs = [
            (&self.bytes_rx, more.bytes_rx),
            (&self.bytes_tx, more.bytes_tx),
            (&self.packets_rx, more.packets_rx),
            (&self.packets_tx, more.packets_tx),
            (&self.duplicates, more.duplicates),
            (&self.dropped, more.dropped),
        ];
        for (sum, count) in pairs {
            if count > 0 {
                sum.fetch_add(count, Relaxed);
            }
        }
        if !more.drops.is_empty() {
            let mut drops = self.drops.lock().unwrap_or_else(PoisonError::into_inner);
            if drops.len() < more.drops.len() {
                drops.resize(more.drops.len(), 0);
            }
            for (sum, count) in drops.iter_mut().zip(&more.drops) {
                *sum += count;
            }
        }
    }

    /// Counts octets and packets sent.
    pub(super) fn sent(&self, bytes: u64, packets: u64) {
        self.bytes_tx.fetch_add(bytes, Relaxed);
        self.packets_tx.fetch_add(packets, Relaxed);
    }

    pub(super) fn read(&self) -> Traffic {
        Traffic {
            bytes_rx: self.bytes_rx.load(Relaxed),
            bytes_tx: self.bytes_tx.load(Relaxed),
            packets_rx: self.packets_rx.load(Relaxed),
            packets_tx: self.packets_tx.load(Relaxed),
            duplicates: self.duplicates.load(Relaxed),
            dropped: self.dropped.load(Relaxed),
            drops: self.drops.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

/// Counters of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortCounters {
    /// Traffic of the port.
    pub traffic: Traffic,
    /// Clients that are there now.
    pub clients: u64,
    /// Most clients that were there at a time.
    pub clients_peak: u64,
    /// Connections that were accepted and admitted.
    pub connects: u64,
    /// Connections that were refused: full.
    pub refused: u64,
}

/// A port and its counters.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) listener: Arc<Listener>,
    pub(super) gauge: Arc<Gauge>,
}

/// Counters of a port, which outlive a change of its configuration.
#[derive(Debug, Default)]
pub(super) struct Gauge {
    pub(super) meter: Meter,
    clients: AtomicU64,
    clients_peak: AtomicU64,
    connects: AtomicU64,
    refused: AtomicU64,
}

impl Gauge {
    /// Counts a connection; whether there is room for it among `clients_max`. Where there is, it
    /// must [`leave`](Self::leave) some time.
    pub(super) fn enter(&self, clients_max: u64) -> bool {
        let clients = self.clients.fetch_add(1, Relaxed) + 1;
        if clients > clients_max {
            self.clients.fetch_sub(1, Relaxed);
            self.refused.fetch_add(1, Relaxed);
            return false;
        }
        self.connects.fetch_add(1, Relaxed);
        self.clients_peak.fetch_max(clients, Relaxed);
        true
    }

    /// Counts a connection that was refused for another reason.
    pub(super) fn refuse(&self) {
        self.refused.fetch_add(1, Relaxed);
    }

    /// A client that was there before this program.
    pub(super) fn inherit(&self) {
        let clients = self.clients.fetch_add(1, Relaxed) + 1;
        self.clients_peak.fetch_max(clients, Relaxed);
    }

    pub(super) fn leave(&self) {
        self.clients.fetch_sub(1, Relaxed);
    }

    pub(super) fn read(&self) -> PortCounters {
        PortCounters {
            traffic: self.meter.read(),
            clients: self.clients.load(Relaxed),
            clients_peak: self.clients_peak.load(Relaxed),
            connects: self.connects.load(Relaxed),
            refused: self.refused.load(Relaxed),
        }
    }

    /// Takes over what an earlier program counted, but for the clients that are there.
    pub(super) fn restore(&self, counters: &PortCounters) {
        self.meter.add(&counters.traffic);
        self.clients_peak.fetch_max(counters.clients_peak, Relaxed);
        self.connects.fetch_add(counters.connects, Relaxed);
        self.refused.fetch_add(counters.refused, Relaxed);
    }
}

/// The total that a packet is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Total {
    Tcp,
    Udp,
    Sctp,
}

impl From<Protocol> for Total {
    fn from(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Tcp | Protocol::WebSocket => Self::Tcp,
            Protocol::Udp => Self::Udp,
            Protocol::Sctp => Self::Sctp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Gauge, Traffic};

    #[test]
    fn who_does_not_fit_is_refused_and_counted() {
        let gauge = Gauge::default();
        assert_eq!([gauge.enter(2), gauge.enter(2), gauge.enter(2)], [true, true, false]);
        gauge.leave();
        assert!(gauge.enter(2));
        let read = gauge.read();
        assert_eq!((read.clients, read.clients_peak, read.connects, read.refused), (2, 2, 3, 1));
    }

    #[test]
    fn reasons_of_different_reach_add_up() {
        let gauge = Gauge::default();
        let mut traffic = Traffic::default();
        traffic.count_drop(3);
        gauge.meter.add(&traffic);
        traffic.count_drop(1);
        gauge.meter.add(&traffic);
        assert_eq!(gauge.meter.read().drops, [0, 1, 0, 2]);
    }
}
