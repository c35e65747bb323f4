//! A term of a filter.

use super::geometry::{Area, Point, Radius};
use super::name::{Name, Pattern};
use crate::packet::{Position, Types};
use std::sync::Arc;

/// One term, without its sign.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Term {
    /// `a`: in a box.
    Area(Area),
    /// `b d e g o p u`: something has one of these names.
    Names {
        /// What is compared.
        field: Field,
        /// With what.
        patterns: Box<[Pattern]>,
    },
    /// `r f m`, and `t` with a distance.
    Range(Range),
    /// `q`: how the packet came in.
    QConstruct {
        /// Which q constructs: bits as [`q_bit`] gives them.
        letters: u16,
        /// Positions of igates as well.
        igates: bool,
    },
    /// `s`: symbols on the map.
    Symbol(Arc<Symbols>),
    /// `t`: types of packets.
    Type(Types),
}

/// What a list of names is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Field {
    /// `b`, `p`: the source, and that of the innermost packet of a third party.
    Source,
    /// `d`: digipeaters that the packet went through.
    Digipeater,
    /// `e`: the callsign after the q construct.
    Entry,
    /// `g`: whom a message is for.
    Addressee,
    /// `o`: the name of an object or item.
    Object,
    /// `u`: the destination with its SSID.
    Destination,
}

impl Field {
    /// All fields.
    pub(super) const ALL: [Self; Self::COUNT] = [
        Self::Source,
        Self::Digipeater,
        Self::Entry,
        Self::Addressee,
        Self::Object,
        Self::Destination,
    ];
    /// How many there are.
    pub(super) const COUNT: usize = 6;
}

/// Within a distance of a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    /// Of which place.
    pub(super) centre: Centre,
    /// How far.
    pub(super) radius: Radius,
    /// Only these types.
    pub(super) types: Option<Types>,
}

/// Where a range has its centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Centre {
    /// At a place.
    Fixed { position: Position, point: Point },
    /// Where a station or object was last.
    Station(Name),
    /// Where the client itself was last.
    Client,
}

/// Symbols: a code of `primary` in the primary table; a code of `alternate` in the alternate table,
/// and then with one of `overlays` over it where there are any.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Symbols {
    pub(super) primary: Box<[u8]>,
    pub(super) alternate: Box<[u8]>,
    pub(super) overlays: Box<[u8]>,
}

/// The bit of a q construct's last letter; 0 for one that nobody can ask for.
pub(super) fn q_bit(letter: u8) -> u16 {
    b"CXUoOSrRZI".iter().position(|known| *known == letter).map_or(0, |bit| 1 << bit)
}
