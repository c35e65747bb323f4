//! All clients' filters at once: who gets a packet.
//!
//! Each passing term of each client is in lists by what a packet must have to match it: a name, a
//! name's beginning, a cell of the Earth's surface, a type, a q construct, a symbol's code. A
//! packet's keys lead to some lists; each term there matches, or matches after a test. A whole
//! filter is walked only for clients that are found this way and have exclusions. A look-up
//! allocates nothing.

mod grid;
mod lists;

use super::evaluate::{Centres, Subject};
use super::geometry::{Area, Point, Radius};
use super::name::Name;
use super::set::FilterSet;
use super::stations::Facts;
use super::term::{Centre, Field, Range, Symbols, Term};
use crate::callsign::Callsign;
use crate::packet::{Packet, Position, Types};
use foldhash::fast::FixedState;
use grid::Cells;
use hashbrown::HashMap;
use lists::{ListKey, Lists, Posting, PostingPosition, Set, index};
use smallvec::SmallVec;
use std::sync::Arc;

/// A client's place in the index: small numbers, given by the caller, that may be used again once
/// removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientSlot(pub u32);

impl ClientSlot {
    /// The place of this number. There are never so many clients that it would not fit.
    pub fn of(slot: usize) -> Self {
        Self(u32::try_from(slot).unwrap_or(u32::MAX))
    }
}

/// A client as the index sees it.
#[derive(Clone, Debug)]
pub struct IndexedClient {
    /// Filters of the client and of its port.
    pub filters: Arc<FilterSet>,
    /// Login of the client, whose last position counts when the client has not reported its own.
    pub login: Callsign,
    /// Position that the client reported.
    pub position: Option<Position>,
}

/// Finds the clients whose filters match a packet.
#[derive(Debug)]
pub struct FilterIndex {
    clients: Vec<Option<Client>>,
    terms: Vec<IndexedTerm>,
    /// Terms that are not in use.
    free: Vec<u32>,
    lists: Lists,
    /// Sets of types and of q constructs that have a list: every packet is compared with each.
    sets: Vec<Set>,
    followed: HashMap<Name, Followed, FixedState>,
    /// For each slot: the packet that it was last found for.
    found: Vec<u32>,
    packet_number: u32,
}

#[derive(Debug)]
struct Client {
    login: Name,
    /// Position that the client reported.
    position: Option<Position>,
    /// Its passing terms; most clients have one.
    terms: SmallVec<[u32; 2]>,
    rare: Option<Box<Rare>>,
}

/// What most clients do not have.
#[derive(Debug)]
struct Rare {
    /// Its filters, where there are exclusions in them.
    filters: Option<Arc<FilterSet>>,
    /// Stations whose position its filters ask for, as often as they do.
    followed: Box<[Name]>,
}

/// A term that passes packets.
#[derive(Debug)]
struct IndexedTerm {
    slot: u32,
    motion: Motion,
    test: Test,
    places: Box<[PostingPosition]>,
}

/// Test that a packet found in a term's list must still pass.
#[derive(Debug)]
enum Test {
    /// No test: every packet found matches.
    None,
    Area(Area),
    Circle {
        centre: Point,
        radius: Radius,
        types: Option<Types>,
    },
    Symbol(Arc<Symbols>),
}

/// Station or client whose movement moves a circle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Motion {
    Never,
    WithStation,
    WithClient,
}

/// A station or object that ranges are around.
#[derive(Debug, Default)]
struct Followed {
    /// Terms of all clients that are about it, exclusions included.
    users: u32,
    position: Option<Position>,
    point: Option<Point>,
    /// Passing terms centred on it, or that would be if their clients had not reported a position.
    terms: Vec<u32>,
}

impl FilterIndex {
    /// An empty index; `seed` is for its hash tables.
    pub fn new(seed: u64) -> Self {
        Self {
            clients: Vec::new(),
            terms: Vec::new(),
            free: Vec::new(),
            lists: Lists::new(seed),
            sets: Vec::new(),
            followed: HashMap::with_hasher(FixedState::with_seed(seed)),
            found: Vec::new(),
            packet_number: 0,
        }
    }

    /// Inserts a client, in place of the one that has the slot. `last_position` is called for
    /// stations that this filter refers to and no other filter does.
    pub fn insert(
        &mut self,
        slot: ClientSlot,
        client: IndexedClient,
        last_position: &dyn Fn(&[u8]) -> Option<Position>,
    ) {
        self.remove(slot);
        let at = slot.0 as usize;
        if self.clients.len() <= at {
            self.clients.resize_with(at + 1, || None);
            self.found.resize(at + 1, 0);
        }
        let IndexedClient { filters, login, position } = client;
        let login = Name::new(login.as_bytes());
        let followed: Box<[Name]> = followed_names(&filters, login).collect();
        for name in &followed {
            self.follow(*name, last_position);
        }
        let mut terms = SmallVec::new();
        // All names, types and q constructs of a client are one term: they need no test.
        let mut keys = Vec::new();
        for term in filters.filters().flat_map(|filter| &filter.passes) {
            match term {
                Term::Names { field, patterns } => keys.extend(
                    patterns
                        .iter()
                        .filter(|pattern| pattern.name.len() > 0)
                        .map(|pattern| ListKey::name(*field, *pattern)),
                ),
                Term::Type(types) => keys.push(self.set(Set::Types(*types))),
                Term::QConstruct { letters, igates } => {
                    keys.push(self.set(Set::Q(*letters, *igates)));
                }
                Term::Symbol(symbols) => terms.push(self.add_symbols(slot.0, symbols)),
                Term::Area(area) => {
                    let term = self.add(slot.0, Motion::Never, Test::Area(*area));
                    self.place(term, grid::cells_of_area(*area).into_iter().map(ListKey::cell));
                    terms.push(term);
                }
                Term::Range(range) => terms.push(self.add_range(slot.0, login, position, range)),
            }
        }
        if !keys.is_empty() {
            keys.sort_unstable();
            keys.dedup();
            let term = self.add(slot.0, Motion::Never, Test::None);
            self.place(term, keys.into_iter());
            terms.push(term);
        }
        let excludes = filters.filters().any(|filter| !filter.excludes.is_empty());
        let rare = (excludes || !followed.is_empty())
            .then(|| Box::new(Rare { filters: excludes.then_some(filters), followed }));
        terms.shrink_to_fit();
        self.clients[at] = Some(Client { login, position, terms, rare });
    }

    /// Forgets a client; nothing happens when there is none.
    pub fn remove(&mut self, slot: ClientSlot) {
        let Some(client) = self.clients.get_mut(slot.0 as usize).and_then(Option::take) else {
            return;
        };
        for name in client.rare.iter().flat_map(|rare| &rare.followed) {
            let Some(followed) = self.followed.get_mut(name) else { continue };
            followed.users -= 1;
            if followed.users == 0 {
                self.followed.remove(name);
            } else {
                followed.terms.retain(|term| self.terms[*term as usize].slot != slot.0);
            }
        }
        for term in client.terms {
            self.displace(term);
            self.terms[term as usize].test = Test::None;
            self.free.push(term);
        }
    }

    /// Updates the index after a station or object has moved or its position has expired. To be
    /// called for every change of the position history.
    pub fn moved(&mut self, name: &[u8], position: Option<Position>) {
        let Some(followed) = self.followed.get_mut(&Name::new(name)) else { return };
        if followed.position == position {
            return;
        }
        followed.position = position;
        followed.point = position.map(Point::new);
        let terms = std::mem::take(&mut followed.terms);
        for term in &terms {
            let IndexedTerm { slot, motion, .. } = self.terms[*term as usize];
            let said = self.clients[slot as usize].as_ref().and_then(|client| client.position);
            if motion == Motion::WithStation || said.is_none() {
                self.move_circle(*term, position);
            }
        }
        if let Some(followed) = self.followed.get_mut(&Name::new(name)) {
            followed.terms = terms;
        }
    }

    /// Updates the index after a client has reported its position.
    pub fn client_moved(&mut self, slot: ClientSlot, position: Position) {
        let Some(Some(client)) = self.clients.get_mut(slot.0 as usize) else { return };
        if client.position == Some(position) {
            return;
        }
        client.position = Some(position);
        let terms = std::mem::take(&mut client.terms);
        for term in &terms {
            if self.terms[*term as usize].motion == Motion::WithClient {
                self.move_circle(*term, Some(position));
            }
        }
        if let Some(Some(client)) = self.clients.get_mut(slot.0 as usize) {
            client.terms = terms;
        }
    }

    /// Appends the slots of all clients that get `packet`, each once.
    pub fn matches(&mut self, packet: &Packet, facts: Facts, out: &mut Vec<ClientSlot>) {
        if self.packet_number == u32::MAX {
            self.found.fill(0);
            self.packet_number = 0;
        }
        self.packet_number += 1;
        let subject = Subject::new(packet, facts);
        let mut search = Search {
            subject: &subject,
            clients: &self.clients,
            terms: &self.terms,
            followed: &self.followed,
            found: &mut self.found,
            packet_number: self.packet_number,
            out,
        };
        for field in Field::ALL {
            if self.lists.has_names(field) {
                for name in subject.names(field) {
                    self.lists.of_name(field, name, |list| search.untested(list));
                }
            }
        }
        for set in &self.sets {
            if set.has(&subject) {
                search.untested(self.lists.get(ListKey::set(*set)));
            }
        }
        if let Some(symbol) = packet.symbol {
            search.tested(self.lists.get(ListKey::symbol(symbol.code)));
        }
        if let Some(position) = facts.position {
            for cell in grid::cells_of(position) {
                search.tested(self.lists.get(ListKey::cell(cell)));
            }
        }
    }

    /// Lists, terms, sets and followed stations that are in use.
    #[cfg(test)]
    pub(super) fn size(&self) -> (usize, usize, usize, usize) {
        let terms = self.terms.len() - self.free.len();
        (self.lists.len(), terms, self.sets.len(), self.followed.len())
    }

    fn follow(&mut self, name: Name, last_position: &dyn Fn(&[u8]) -> Option<Position>) {
        let followed = self.followed.entry(name).or_insert_with(|| {
            let octets = name.bits().to_le_bytes();
            let position = last_position(&octets[..name.len() as usize]);
            Followed { position, point: position.map(Point::new), ..Followed::default() }
        });
        followed.users += 1;
    }

    /// The key of a set that packets are compared with from now on.
    fn set(&mut self, set: Set) -> ListKey {
        let key = ListKey::set(set);
        if self.lists.get(key).is_empty()
            && !self.sets.iter().any(|known| ListKey::set(*known) == key)
        {
            self.sets.push(set);
        }
        key
    }

    fn add(&mut self, slot: u32, motion: Motion, test: Test) -> u32 {
        let term = IndexedTerm { slot, motion, test, places: Box::default() };
        match self.free.pop() {
            Some(free) => {
                self.terms[free as usize] = term;
                free
            }
            None => {
                self.terms.push(term);
                index(self.terms.len() - 1)
            }
        }
    }

    fn add_symbols(&mut self, slot: u32, symbols: &Arc<Symbols>) -> u32 {
        let term = self.add(slot, Motion::Never, Test::Symbol(Arc::clone(symbols)));
        let mut codes: Vec<u8> =
            symbols.primary.iter().chain(&symbols.alternate).copied().collect();
        codes.sort_unstable();
        codes.dedup();
        self.place(term, codes.into_iter().map(ListKey::symbol));
        term
    }

    fn add_range(&mut self, slot: u32, login: Name, said: Option<Position>, range: &Range) -> u32 {
        let (motion, name) = match range.centre {
            Centre::Fixed { .. } => (Motion::Never, None),
            Centre::Station(name) => (Motion::WithStation, Some(name)),
            Centre::Client => (Motion::WithClient, Some(login)),
        };
        let Range { radius, types, .. } = *range;
        // Where the centre is not known, there are no places, and the test is never made.
        let nowhere = Point::new(Position { latitude: 0.0, longitude: 0.0 });
        let term = self.add(slot, motion, Test::Circle { centre: nowhere, radius, types });
        let known = name.and_then(|name| self.followed.get_mut(&name)).and_then(|followed| {
            followed.terms.push(term);
            followed.position
        });
        let position = match range.centre {
            Centre::Fixed { position, .. } => Some(position),
            Centre::Station(_) => known,
            Centre::Client => said.or(known),
        };
        self.move_circle(term, position);
        term
    }

    /// Puts a circle where its centre is now.
    fn move_circle(&mut self, term: u32, position: Option<Position>) {
        self.displace(term);
        let Some(position) = position else { return };
        let mut cells = Cells::new();
        if let Test::Circle { centre, radius, .. } = &mut self.terms[term as usize].test {
            *centre = Point::new(position);
            cells = grid::cells_of_circle(position, *radius);
        }
        self.place(term, cells.into_iter().map(ListKey::cell));
    }

    /// Puts a term into lists: it is in none yet.
    fn place(&mut self, term: u32, keys: impl ExactSizeIterator<Item = ListKey>) {
        let places =
            keys.enumerate().map(|(number, key)| self.lists.push(key, term, index(number)));
        self.terms[term as usize].places = places.collect();
    }

    /// Takes a term out of all its lists.
    fn displace(&mut self, term: u32) {
        for number in 0..self.terms[term as usize].places.len() {
            let place = self.terms[term as usize].places[number];
            let (moved, emptied) = self.lists.remove(place);
            if let Some(moved) = moved {
                self.terms[moved.term as usize].places[moved.place as usize] = moved.to;
            }
            if let Some(key) = emptied.filter(|key| key.is_set()) {
                self.sets.retain(|set| ListKey::set(*set) != key);
            }
        }
        self.terms[term as usize].places = Box::default();
    }
}

/// Stations whose position filters ask for, as often as they do.
fn followed_names(filters: &FilterSet, login: Name) -> impl Iterator<Item = Name> {
    filters.filters().flat_map(|filter| filter.passes.iter().chain(&filter.excludes)).filter_map(
        move |term| match term {
            Term::Range(range) => match range.centre {
                Centre::Station(name) => Some(name),
                Centre::Client => Some(login),
                Centre::Fixed { .. } => None,
            },
            _ => None,
        },
    )
}

/// Look-up of one packet.
struct Search<'a> {
    subject: &'a Subject<'a>,
    clients: &'a [Option<Client>],
    terms: &'a [IndexedTerm],
    followed: &'a HashMap<Name, Followed, FixedState>,
    found: &'a mut [u32],
    packet_number: u32,
    out: &'a mut Vec<ClientSlot>,
}

impl Search<'_> {
    /// A list whose terms all match.
    fn untested(&mut self, list: &[Posting]) {
        for posting in list {
            self.find(self.terms[posting.term as usize].slot);
        }
    }

    /// A list whose terms may match.
    fn tested(&mut self, list: &[Posting]) {
        for posting in list {
            let term = &self.terms[posting.term as usize];
            if self.found[term.slot as usize] != self.packet_number
                && term.test.passes(self.subject)
            {
                self.find(term.slot);
            }
        }
    }

    /// A term of a client matches.
    fn find(&mut self, slot: u32) {
        let found = &mut self.found[slot as usize];
        if *found == self.packet_number {
            return;
        }
        *found = self.packet_number;
        let Some(client) = &self.clients[slot as usize] else { return };
        if let Some(filters) = client.rare.as_ref().and_then(|rare| rare.filters.as_ref()) {
            let centres = ClientCentres { client, followed: self.followed };
            if !filters.passes(self.subject, &centres) {
                return;
            }
        }
        self.out.push(ClientSlot(slot));
    }
}

impl Set {
    fn has(self, subject: &Subject<'_>) -> bool {
        match self {
            Self::Types(types) => subject.is_of(types),
            Self::Q(letters, igates) => {
                subject.q_bit & letters != 0 || igates && subject.is_igates_position()
            }
        }
    }
}

impl Test {
    fn passes(&self, subject: &Subject<'_>) -> bool {
        match self {
            Self::None => true,
            Self::Area(area) => subject.facts.position.is_some_and(|at| area.contains(at)),
            Self::Circle { centre, radius, types } => {
                subject.point.is_some_and(|point| radius.reaches(*centre, point))
                    && types.is_none_or(|types| subject.is_of(types))
            }
            Self::Symbol(symbols) => symbols.matches(subject.packet),
        }
    }
}

/// Centres of one client's ranges.
struct ClientCentres<'a> {
    client: &'a Client,
    followed: &'a HashMap<Name, Followed, FixedState>,
}

impl Centres for ClientCentres<'_> {
    fn centre(&self, centre: Centre) -> Option<Point> {
        match centre {
            Centre::Fixed { point, .. } => Some(point),
            Centre::Station(name) => self.followed.get(&name)?.point,
            Centre::Client => match self.client.position {
                Some(position) => Some(Point::new(position)),
                None => self.followed.get(&self.client.login)?.point,
            },
        }
    }
}
