//! Whether a packet matches a term: the definition of every filter.

use super::geometry::Point;
use super::name::Name;
use super::stations::Facts;
use super::term::{Centre, Field, Range, Symbols, Term, q_bit};
use crate::packet::{Packet, Position, Types};
use smallvec::SmallVec;

/// Digipeaters of a path that are looked at: aprsc's bound.
const DIGIPEATERS_MAX: usize = 10;

/// Positions of stations that one client's filter needs.
pub trait Context {
    /// Last position of a station or object; `None` when it is not known. The name is spelled as in
    /// the filter; letter case does not matter.
    fn position_of(&self, name: &[u8]) -> Option<Position>;

    /// Last position of the client: its own report, even when its packets are not passed on, or
    /// else the last position of its callsign.
    fn own_position(&self) -> Option<Position>;
}

/// Centres of ranges.
pub(super) trait Centres {
    /// The point, when it is known.
    fn centre(&self, centre: Centre) -> Option<Point>;
}

/// Centres that a [`Context`] knows.
pub(super) struct ContextCentres<'a>(pub(super) &'a dyn Context);

impl Centres for ContextCentres<'_> {
    fn centre(&self, centre: Centre) -> Option<Point> {
        match centre {
            Centre::Fixed { point, .. } => Some(point),
            Centre::Station(name) => {
                let octets = name.bits().to_le_bytes();
                self.0.position_of(&octets[..name.len() as usize]).map(Point::new)
            }
            Centre::Client => self.0.own_position().map(Point::new),
        }
    }
}

/// A packet as filters see it.
pub(super) struct Subject<'a> {
    pub(super) packet: &'a Packet,
    pub(super) facts: Facts,
    /// Point of [`Facts::position`].
    pub(super) point: Option<Point>,
    pub(super) source: Name,
    /// Source of the innermost packet of a third party.
    pub(super) inner_source: Option<Name>,
    pub(super) destination: Name,
    pub(super) object: Option<Name>,
    pub(super) addressee: Option<Name>,
    pub(super) entry: Option<Name>,
    /// Digipeaters that it went through: up to the last one with a `*`.
    pub(super) used_digipeaters: SmallVec<[Name; DIGIPEATERS_MAX]>,
    /// The bit of its q construct.
    pub(super) q_bit: u16,
}

impl<'a> Subject<'a> {
    pub(super) fn new(packet: &'a Packet, facts: Facts) -> Self {
        let named = packet.types.intersects(Types::OBJECT | Types::ITEM);
        let message = packet.types.contains(Types::MESSAGE);
        Self {
            packet,
            facts,
            point: facts.position.map(Point::new),
            source: Name::new(packet.source()),
            inner_source: packet.inner_source().filter(|_| !named).map(Name::new),
            destination: Name::new(packet.destination()),
            object: packet.name().filter(|_| named).map(Name::new),
            addressee: packet.addressee().filter(|_| message).map(Name::new),
            entry: packet.entries().next().map(Name::new),
            used_digipeaters: used_digipeaters(packet),
            q_bit: q_bit(packet.q()[2]),
        }
    }

    /// The names in a field.
    pub(super) fn names(&self, field: Field) -> SmallVec<[Name; DIGIPEATERS_MAX]> {
        let optional = |name: Option<Name>| name.into_iter().collect();
        match field {
            Field::Source => std::iter::once(self.source).chain(self.inner_source).collect(),
            Field::Digipeater => self.used_digipeaters.clone(),
            Field::Entry => optional(self.entry),
            Field::Addressee => optional(self.addressee),
            Field::Object => optional(self.object),
            Field::Destination => optional(Some(self.destination)),
        }
    }

    /// Whether it is of one of `types`. Who asks for weather gets the positions of stations whose
    /// weather has none, and nothing else of them.
    pub(super) fn is_of(&self, types: Types) -> bool {
        self.packet.types.intersects(types)
            || types.contains(Types::WEATHER)
                && self.facts.from_weather_station
                && self.packet.types.contains(Types::POSITION)
    }

    /// Whether it is a position of a known igate.
    pub(super) fn is_igates_position(&self) -> bool {
        self.facts.from_igate && self.packet.types.contains(Types::POSITION)
    }
}

impl Term {
    /// Whether `subject` matches.
    pub(super) fn matches(&self, subject: &Subject<'_>, centres: &dyn Centres) -> bool {
        match self {
            Self::Area(area) => subject.facts.position.is_some_and(|at| area.contains(at)),
            Self::Names { field, patterns } => subject
                .names(*field)
                .iter()
                .any(|name| patterns.iter().any(|pattern| pattern.matches(*name))),
            Self::Range(range) => range.matches(subject, centres),
            Self::QConstruct { letters, igates } => {
                subject.q_bit & letters != 0 || *igates && subject.is_igates_position()
            }
            Self::Symbol(symbols) => symbols.matches(subject.packet),
            Self::Type(types) => subject.is_of(*types),
        }
    }
}

impl Range {
    fn matches(&self, subject: &Subject<'_>, centres: &dyn Centres) -> bool {
        self.types.is_none_or(|types| subject.is_of(types))
            && subject.point.is_some_and(|point| {
                centres.centre(self.centre).is_some_and(|centre| self.radius.reaches(centre, point))
            })
    }
}

impl Symbols {
    pub(super) fn matches(&self, packet: &Packet) -> bool {
        let Some(symbol) = packet.symbol else { return false };
        if symbol.table == b'/' {
            return self.primary.contains(&symbol.code);
        }
        self.alternate.contains(&symbol.code)
            && (self.overlays.is_empty()
                || symbol.table != b'\\' && self.overlays.contains(&symbol.table))
    }
}

/// Digipeaters up to the last that has a `*`, without it.
fn used_digipeaters(packet: &Packet) -> SmallVec<[Name; DIGIPEATERS_MAX]> {
    let mut names = SmallVec::new();
    let mut used = 0;
    for digipeater in packet.digis().take(DIGIPEATERS_MAX) {
        let name = digipeater.strip_suffix(b"*");
        names.push(Name::new(name.unwrap_or(digipeater)));
        if name.is_some() {
            used = names.len();
        }
    }
    names.truncate(used);
    names
}
