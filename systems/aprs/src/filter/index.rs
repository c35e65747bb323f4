//! All clients' filters at once: who gets a packet.

use super::evaluate::{Context, Subject};
use super::name::Name;
use super::set::FilterSet;
use super::stations::Facts;
use super::term::{Centre, Term};
use crate::callsign::Callsign;
use crate::packet::{Packet, Position};
use hashbrown::HashMap;
use std::sync::Arc;

/// A client's place in the index: small numbers, given by the caller, that may be used again once
/// removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientSlot(pub u32);

/// What the index is told about a client.
#[derive(Clone, Debug)]
pub struct IndexedClient {
    /// What it asked for.
    pub filters: Arc<FilterSet>,
    /// Who it is: where it is when it did not say so itself.
    pub login: Callsign,
    /// Where it said it is.
    pub position: Option<Position>,
}

/// Finds the clients whose filters match a packet.
#[derive(Debug)]
pub struct FilterIndex {
    clients: HashMap<ClientSlot, IndexedClient, foldhash::fast::FixedState>,
    /// Stations and objects that filters ask about: how many do, and where it is.
    followed: HashMap<Name, (u32, Option<Position>), foldhash::fast::FixedState>,
}

impl FilterIndex {
    /// An empty index; `seed` is for its hash tables.
    pub fn new(seed: u64) -> Self {
        Self {
            clients: HashMap::with_hasher(foldhash::fast::FixedState::with_seed(seed)),
            followed: HashMap::with_hasher(foldhash::fast::FixedState::with_seed(seed)),
        }
    }

    /// Takes up a client, in place of the one that has the slot. `last_position` is asked for
    /// stations that the filter is about and that no other filter is.
    pub fn insert(
        &mut self,
        slot: ClientSlot,
        client: IndexedClient,
        last_position: &dyn Fn(&[u8]) -> Option<Position>,
    ) {
        self.remove(slot);
        for name in followed(&client) {
            let octets = name.bits().to_le_bytes();
            let find = || (0, last_position(&octets[..name.len() as usize]));
            self.followed.entry(name).or_insert_with(find).0 += 1;
        }
        self.clients.insert(slot, client);
    }

    /// Forgets a client; nothing happens when there is none.
    pub fn remove(&mut self, slot: ClientSlot) {
        let Some(client) = self.clients.remove(&slot) else { return };
        for name in followed(&client) {
            if let Some(entry) = self.followed.get_mut(&name) {
                entry.0 -= 1;
                if entry.0 == 0 {
                    self.followed.remove(&name);
                }
            }
        }
    }

    /// A station or object has moved, or its position is not known any more. To be told of every
    /// change of the position history.
    pub fn moved(&mut self, name: &[u8], position: Option<Position>) {
        if let Some(entry) = self.followed.get_mut(&Name::new(name)) {
            entry.1 = position;
        }
    }

    /// A client said where it is.
    pub fn client_moved(&mut self, slot: ClientSlot, position: Position) {
        if let Some(client) = self.clients.get_mut(&slot) {
            client.position = Some(position);
        }
    }

    /// Appends the slots of all clients that get `packet`, each once.
    pub fn matches(&mut self, packet: &Packet, facts: Facts, out: &mut Vec<ClientSlot>) {
        let subject = Subject::new(packet, facts);
        for (slot, client) in &self.clients {
            let known = Known { index: self, client };
            if client.filters.passes(&subject, &super::evaluate::ContextCentres(&known)) {
                out.push(*slot);
            }
        }
    }
}

/// Stations whose position `client`'s filters ask for.
fn followed(client: &IndexedClient) -> impl Iterator<Item = Name> {
    let login = Name::new(client.login.as_bytes());
    client
        .filters
        .filters()
        .flat_map(|filter| filter.passes.iter().chain(&filter.excludes))
        .filter_map(move |term| match term {
            Term::Range(range) => match range.centre {
                Centre::Station(name) => Some(name),
                Centre::Client => Some(login),
                Centre::Fixed(_) => None,
            },
            _ => None,
        })
}

struct Known<'a> {
    index: &'a FilterIndex,
    client: &'a IndexedClient,
}

impl Context for Known<'_> {
    fn position_of(&self, name: &[u8]) -> Option<Position> {
        self.index.followed.get(&Name::new(name))?.1
    }

    fn own_position(&self) -> Option<Position> {
        self.client.position.or_else(|| self.position_of(self.client.login.as_bytes()))
    }
}
