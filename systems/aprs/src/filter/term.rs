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
        /// Field of the packet that is compared.
        field: Field,
        /// Patterns of which one has to match.
        patterns: Box<[Pattern]>,
    },
    /// `r f m`, and `t` with a distance.
    Range(Range),
    /// `q`: the q construct of the packet.
    QConstruct {
        /// Accepted q constructs: bits as [`q_bit`] gives them.
        letters: u16,
        /// Positions of igates as well.
        igates: bool,
    },
    /// `s`: symbols on the map.
    Symbol(Arc<Symbols>),
    /// `t`: types of packets.
    Type(Types),
}

/// Field of a packet that a list of names is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Field {
    /// `b`, `p`: the source, and that of the innermost packet of a third party.
    Source,
    /// `d`: digipeaters that the packet went through.
    Digipeater,
    /// `e`: the callsign after the q construct.
    Entry,
    /// `g`: addressee of a message.
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
    /// Number of fields.
    pub(super) const COUNT: usize = 6;
}

/// Within a distance of a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    /// Centre of the range.
    pub(super) centre: Centre,
    /// Radius of the range.
    pub(super) radius: Radius,
    /// Accepted types; `None` for all.
    pub(super) types: Option<Types>,
}

/// Centre of a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Centre {
    /// At a place.
    Fixed { position: Position, point: Point },
    /// Last position of a station or object.
    Station(Name),
    /// Last position of the client itself.
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

/// The bit of a q construct's last letter; 0 for one that filters cannot name.
pub(super) fn q_bit(letter: u8) -> u16 {
    b"CXUoOSrRZI".iter().position(|known| *known == letter).map_or(0, |bit| 1 << bit)
}
