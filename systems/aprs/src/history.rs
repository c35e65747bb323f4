//! Position history: the last reported position of every station, object and item, for a day.
//!
//! Filters ask: `m` and `f` where the client or its friend is, `t/…/call/km` where a station is. A
//! packet with a position says it of its source (a third-party packet of the station in it), and one
//! with an object or item of that alone; one that kills an object or item has it forgotten (aprsc,
//! `src/historydb.c`). Letters in either case are the same, as in the filters that ask; aprsc compares
//! octet by octet. Bounded in time and in number: whoever was not heard for longest goes first.
//!
//! Not here: the packets themselves.

use crate::callsign::{CALLSIGN_LEN_MAX, Callsign};
use crate::packet::{Packet, Position, Types};
use foldhash::quality::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::hash::{BuildHasher, Hasher};

/// Names remembered at most, by default: five times those of the whole of APRS-IS in a day.
pub const NAMES_MAX: usize = 500_000;
/// Index that stands for no node.
const NONE: u32 = u32::MAX;

/// A place that changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moved {
    /// Station, object or item.
    pub name: Callsign,
    /// Present position; `None` where it is not known.
    pub position: Option<Position>,
}

/// The last position of each name. Names that were heard are in a list, the one that was heard
/// last at its end.
#[derive(Clone, Debug)]
pub struct History {
    hash: FixedState,
    keep_ns: u64,
    names_max: usize,
    index: HashTable<u32>,
    nodes: Vec<Node>,
    /// Nodes that are not in use, linked by `next`.
    free: u32,
    oldest: u32,
    newest: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    name: Callsign,
    position: Position,
    heard_ns: u64,
    previous: u32,
    next: u32,
}

/// A name's last position in a form that another process understands.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SavedPosition {
    /// The name; a character is an octet.
    pub name: String,
    /// Degrees, north positive.
    pub latitude: f32,
    /// Degrees, east positive.
    pub longitude: f32,
    /// Age of the last report, in nanoseconds.
    pub age_ns: u64,
}

impl History {
    /// Knows nothing yet. `seed` makes the hashes this server's own, `keep_ns` is how long a
    /// position is known, in nanoseconds, `names_max` for how many names, at least 1.
    pub fn new(seed: u64, keep_ns: u64, names_max: usize) -> Self {
        Self {
            hash: FixedState::with_seed(seed),
            keep_ns,
            names_max: names_max.clamp(1, NONE as usize),
            index: HashTable::new(),
            nodes: Vec::new(),
            free: NONE,
            oldest: NONE,
            newest: NONE,
        }
    }

    /// Last reported position of `name`.
    pub fn get(&self, name: &[u8]) -> Option<Position> {
        let hash = self.hash_of(name);
        let at = self.index.find(hash, |at| self.is_of(*at, name))?;
        Some(self.node(*at).position)
    }

    /// Updates the history from a packet that is not a duplicate, at `now_ns` of the monotonic
    /// clock. Returns the change of position; a repeated position is no change.
    pub fn record(&mut self, packet: &Packet, now_ns: u64) -> Option<Moved> {
        let (name, position) = tells(packet)?;
        self.set(name, position, now_ns)
    }

    /// Sets or removes the position of `name`.
    pub fn set(
        &mut self,
        name: Callsign,
        position: Option<Position>,
        now_ns: u64,
    ) -> Option<Moved> {
        let before = self.get(name.as_bytes());
        match position {
            Some(position) => self.put(name, position, now_ns),
            None => self.remove(name.as_bytes()),
        }
        (before != position).then_some(Moved { name, position })
    }

    /// Removes at most `count_max` expired names, and reports each. Only this call looks at the
    /// time: call it once a second with more than can arrive in a second.
    pub fn expire(&mut self, now_ns: u64, count_max: usize, mut forgotten: impl FnMut(Callsign)) {
        for _ in 0..count_max {
            let Some(node) = self.nodes.get(self.oldest as usize).copied() else { return };
            if now_ns.saturating_sub(node.heard_ns) <= self.keep_ns {
                return;
            }
            self.remove(node.name.as_bytes());
            forgotten(node.name);
        }
    }

    /// Sets the time for which a position is remembered, in nanoseconds.
    pub fn keep_for(&mut self, keep_ns: u64) {
        self.keep_ns = keep_ns;
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// None is known.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Saves all positions for another process; the name that was not heard for longest comes
    /// first.
    pub fn save(&self, now_ns: u64) -> Vec<SavedPosition> {
        let mut saved = Vec::with_capacity(self.len());
        let mut at = self.oldest;
        while let Some(node) = self.nodes.get(at as usize) {
            saved.push(SavedPosition {
                name: node.name.as_bytes().iter().map(|octet| char::from(*octet)).collect(),
                latitude: node.position.latitude,
                longitude: node.position.longitude,
                age_ns: now_ns.saturating_sub(node.heard_ns),
            });
            at = node.next;
        }
        saved
    }

    /// Adds what another process knew. A name that cannot be one is left out; how many there were.
    pub fn restore(&mut self, saved: &[SavedPosition], now_ns: u64) -> usize {
        let mut refused = 0;
        for one in saved {
            let octets: Option<Vec<u8>> =
                one.name.chars().map(|letter| u8::try_from(letter).ok()).collect();
            let Some(name) = octets.as_deref().and_then(Callsign::new) else {
                refused += 1;
                continue;
            };
            let position = Position { latitude: one.latitude, longitude: one.longitude };
            self.put(name, position, now_ns.saturating_sub(one.age_ns));
        }
        refused
    }

    fn put(&mut self, name: Callsign, position: Position, now_ns: u64) {
        let hash = self.hash_of(name.as_bytes());
        let found = self.index.find(hash, |at| self.is_of(*at, name.as_bytes())).copied();
        if let Some(at) = found {
            self.unlink(at);
            let node = &mut self.nodes[at as usize];
            (node.position, node.heard_ns) = (position, now_ns);
            self.link_newest(at);
            return;
        }
        if self.len() >= self.names_max {
            let oldest = self.node(self.oldest).name;
            self.remove(oldest.as_bytes());
        }
        let at = self.take(Node { name, position, heard_ns: now_ns, previous: NONE, next: NONE });
        let (nodes, state) = (&self.nodes, &self.hash);
        let rehash = |at: &u32| hash_with(state, nodes[*at as usize].name.as_bytes());
        match self.index.entry(hash, |other| *other == at, rehash) {
            Entry::Occupied(_) => {}
            Entry::Vacant(entry) => {
                entry.insert(at);
            }
        }
        self.link_newest(at);
    }

    fn remove(&mut self, name: &[u8]) {
        let hash = self.hash_of(name);
        let nodes = &self.nodes;
        let found = self.index.find_entry(hash, |at| same(&nodes[*at as usize], name));
        let Ok(entry) = found else { return };
        let (at, _) = entry.remove();
        self.unlink(at);
        self.nodes[at as usize].next = self.free;
        self.free = at;
    }

    fn take(&mut self, node: Node) -> u32 {
        let at = self.free;
        if let Some(free) = self.nodes.get_mut(at as usize) {
            self.free = free.next;
            *free = node;
            return at;
        }
        self.nodes.push(node);
        // `names_max` is at most `NONE`, which keeps every index below it.
        u32::try_from(self.nodes.len() - 1).unwrap_or(NONE - 1)
    }

    fn unlink(&mut self, at: u32) {
        let Node { previous, next, .. } = *self.node(at);
        match self.nodes.get_mut(previous as usize) {
            Some(node) => node.next = next,
            None => self.oldest = next,
        }
        match self.nodes.get_mut(next as usize) {
            Some(node) => node.previous = previous,
            None => self.newest = previous,
        }
    }

    fn link_newest(&mut self, at: u32) {
        let newest = self.newest;
        match self.nodes.get_mut(newest as usize) {
            Some(node) => node.next = at,
            None => self.oldest = at,
        }
        let node = &mut self.nodes[at as usize];
        (node.previous, node.next) = (newest, NONE);
        self.newest = at;
    }

    fn node(&self, at: u32) -> &Node {
        &self.nodes[at as usize]
    }

    fn is_of(&self, at: u32, name: &[u8]) -> bool {
        same(self.node(at), name)
    }

    fn hash_of(&self, name: &[u8]) -> u64 {
        hash_with(&self.hash, name)
    }
}

fn same(node: &Node, name: &[u8]) -> bool {
    node.name.as_bytes().eq_ignore_ascii_case(name)
}

fn hash_with(state: &FixedState, name: &[u8]) -> u64 {
    let mut folded = [0; CALLSIGN_LEN_MAX];
    for (to, from) in folded.iter_mut().zip(name) {
        *to = from.to_ascii_uppercase();
    }
    let mut hasher = state.build_hasher();
    hasher.write(&folded[..name.len().min(CALLSIGN_LEN_MAX)]);
    hasher.finish()
}

/// Name whose position a packet reports, and the position; `None` for a killed object or item.
fn tells(packet: &Packet) -> Option<(Callsign, Option<Position>)> {
    let position = packet.position?;
    let name = Callsign::new(packet.subject())?;
    if packet.types.intersects(Types::OBJECT | Types::ITEM) {
        return Some((name, (!is_dead(packet)).then_some(position)));
    }
    packet.types.contains(Types::POSITION).then_some((name, Some(position)))
}

/// After an object's or item's name, padded with spaces, comes `*` or `!` where it lives and `_`
/// where it does not (APRS protocol reference 1.0.1, chapter 11).
fn is_dead(packet: &Packet) -> bool {
    let end = packet.name.as_ref().map_or(0, |name| usize::from(name.end));
    let after = packet.line[end..].iter().find(|octet| **octet != b' ');
    after == Some(&b'_')
}

#[cfg(test)]
mod tests;
