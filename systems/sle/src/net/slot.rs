//! The place of a connection among those of its listener.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// One connection's place among those that a listener allows; free when dropped.
#[derive(Debug)]
pub struct ConnectionSlot {
    seats: Arc<ConnectionSlots>,
    address: IpAddr,
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut taken = self.seats.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = taken.get_mut(&self.address) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.address);
            }
        }
    }
}

/// Number of connections of each address.
#[derive(Debug, Default)]
pub(super) struct ConnectionSlots(Mutex<HashMap<IpAddr, usize>>);

impl ConnectionSlots {
    /// `None` when there are `max` already, or three quarters (rounded up) of them from this
    /// address: a host alone does not lock out the others.
    pub(super) fn take(self: &Arc<Self>, address: IpAddr, max: usize) -> Option<ConnectionSlot> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = taken.values().sum();
        let own = taken.get(&address).copied().unwrap_or(0);
        if all >= max || own >= max - max / 4 {
            return None;
        }
        taken.insert(address, own + 1);
        Some(ConnectionSlot { seats: Arc::clone(self), address })
    }

    pub(super) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }
}
