//! Which clients may want a packet whatever their filter says: an index over what they heard.

use super::client::Client;
use crate::callsign::Callsign;
use hashbrown::HashMap;
use smallvec::SmallVec;

/// Callsigns in upper case, and the clients that may be interested in packets from or for them. It
/// may name too many: the client's own list decides.
#[derive(Debug)]
pub(super) struct Interest {
    slots: HashMap<Callsign, SmallVec<[usize; 2]>, foldhash::fast::FixedState>,
}

impl Interest {
    pub(super) fn new(seed: u64) -> Self {
        Self { slots: HashMap::with_hasher(foldhash::fast::FixedState::with_seed(seed)) }
    }

    pub(super) fn add(&mut self, call: &[u8], slot: usize) {
        let Some(call) = upper(call) else { return };
        let slots = self.slots.entry(call).or_default();
        if !slots.contains(&slot) {
            slots.push(slot);
        }
    }

    /// The clients that may be interested.
    pub(super) fn of(&self, call: &[u8]) -> SmallVec<[usize; 2]> {
        upper(call).and_then(|call| self.slots.get(&call)).cloned().unwrap_or_default()
    }

    pub(super) fn clear(&mut self) {
        self.slots.clear();
    }

    /// All that a client is interested in.
    pub(super) fn take(&mut self, slot: usize, client: &Client, now_ns: u64) {
        if !client.is_igate() {
            return;
        }
        if let Some(login) = &client.login {
            self.add(login.as_bytes(), slot);
        }
        if let Some(heard) = client.heard.as_deref() {
            let saved = heard.save(now_ns);
            for (call, _) in saved.stations.iter().chain(&saved.courtesy) {
                self.add(call.as_bytes(), slot);
            }
        }
    }
}

fn upper(call: &[u8]) -> Option<Callsign> {
    Callsign::new(&call.to_ascii_uppercase())
}
