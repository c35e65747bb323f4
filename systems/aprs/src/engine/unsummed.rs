//! Counts of what was written, before they go into the sums of all workers.

use super::client::{Client, Door};
use super::meter::{Gauge, Total};
use super::output::Written;
use super::server::Server;
use std::sync::Arc;

/// What was written to clients of one port, and is not yet in the sums of that port and of its
/// protocol: other workers add to these too, so that each addition may cost as much as a packet.
#[derive(Debug, Default)]
pub(super) struct Unsummed {
    of: Option<(Option<Arc<Gauge>>, Total)>,
    octets: u64,
    packets: u64,
}

impl Unsummed {
    /// Adds what was written to a client.
    pub(super) fn add(&mut self, server: &Server, client: &Client, written: Written) {
        let gauge = match &client.door {
            Door::Listener { gauge, .. } => Some(gauge),
            Door::Uplink { .. } => None,
        };
        let is_same = self.of.as_ref().is_some_and(|(of, total)| {
            of.as_ref().map(Arc::as_ptr) == gauge.map(Arc::as_ptr) && *total == client.total()
        });
        if !is_same {
            self.sum(server);
            self.of = Some((gauge.cloned(), client.total()));
        }
        self.octets += written.octets;
        self.packets += written.packets;
    }

    /// Adds it to the sums.
    pub(super) fn sum(&mut self, server: &Server) {
        let Self { of, octets, packets } = std::mem::take(self);
        let Some((gauge, total)) = of else { return };
        if let Some(gauge) = gauge {
            gauge.meter.sent(octets, packets);
        }
        server.total(total).sent(octets, packets);
    }
}
