//! Index over the stations that clients have heard: finds clients that may want a packet whatever
//! their filter passes.

use super::client::Client;
use crate::callsign::Callsign;
use crate::filter::ClientSlot;
use hashbrown::HashMap;
use slab::Slab;
use smallvec::SmallVec;

/// Callsigns by which the index grows at least before it is rebuilt.
const GROWTH_MIN: usize = 4096;

/// Callsigns in upper case, and the clients that may be interested in packets from or for them. It
/// may name too many: the client's own list decides.
#[derive(Debug)]
pub(super) struct Interest {
    slots: HashMap<Callsign, Slots, foldhash::fast::FixedState>,
    /// Clients of the callsigns that have several.
    many: Vec<Vec<u32>>,
    /// Number of callsigns after the last rebuild.
    rebuilt: usize,
}

/// Clients of one callsign: mostly one.
#[derive(Clone, Copy, Debug)]
enum Slots {
    One(u32),
    /// Index in `many`: smaller than a pointer, and thousands of callsigns have one of these.
    Many(u32),
}

impl Interest {
    pub(super) fn new(seed: u64) -> Self {
        let slots = HashMap::with_hasher(foldhash::fast::FixedState::with_seed(seed));
        Self { slots, many: Vec::new(), rebuilt: 0 }
    }

    pub(super) fn add(&mut self, call: &[u8], slot: usize) {
        let Some(call) = upper(call) else { return };
        let slot = ClientSlot::of(slot).0;
        let slots = self.slots.entry(call).or_insert(Slots::One(slot));
        match *slots {
            Slots::One(known) if known == slot => {}
            Slots::One(known) => {
                *slots = Slots::Many(u32::try_from(self.many.len()).unwrap_or(u32::MAX));
                self.many.push(vec![known, slot]);
            }
            Slots::Many(index) => {
                let known = &mut self.many[index as usize];
                if !known.contains(&slot) {
                    known.push(slot);
                }
            }
        }
    }

    /// The clients that may be interested.
    pub(super) fn of(&self, call: &[u8]) -> SmallVec<[usize; 2]> {
        let slots = match upper(call).and_then(|call| self.slots.get(&call)) {
            None => &[],
            Some(Slots::One(slot)) => std::slice::from_ref(slot),
            Some(Slots::Many(index)) => &self.many[*index as usize][..],
        };
        slots.iter().map(|slot| *slot as usize).collect()
    }

    /// Whether the index has grown so much since the last rebuild that another one is due: clients
    /// forget stations, the index does not by itself.
    pub(super) fn is_grown(&self) -> bool {
        self.slots.len() > 2 * self.rebuilt + GROWTH_MIN
    }

    /// Puts in what clients are interested in now, and nothing else.
    pub(super) fn rebuild(&mut self, clients: &Slab<Client>, now_ns: u64) {
        self.slots.clear();
        self.many.clear();
        for (slot, client) in clients {
            self.take(slot, client, now_ns);
        }
        self.rebuilt = self.slots.len();
        self.slots.shrink_to(2 * self.rebuilt + GROWTH_MIN);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.slots.len()
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
