//! Types of a packet: a set, since a position can be weather as well.

use std::ops::{BitOr, BitOrAssign};

/// A set of types, as the filter `t` asks for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Types(u16);

impl Types {
    /// Says where it is.
    pub const POSITION: Self = Self(1);
    /// The packet is an object.
    pub const OBJECT: Self = Self(1 << 1);
    /// The packet is an item.
    pub const ITEM: Self = Self(1 << 2);
    /// A message to one station.
    pub const MESSAGE: Self = Self(1 << 3);
    /// A message or object of a weather service.
    pub const NWS: Self = Self(1 << 4);
    /// The packet has weather data.
    pub const WEATHER: Self = Self(1 << 5);
    /// The packet has telemetry data.
    pub const TELEMETRY: Self = Self(1 << 6);
    /// A query: to all, or in a message to one station.
    pub const QUERY: Self = Self(1 << 7);
    /// A status report.
    pub const STATUS: Self = Self(1 << 8);
    /// The format of the packet is user defined.
    pub const USER_DEFINED: Self = Self(1 << 9);
    /// The packet is from the Citizen Weather Observer Program.
    pub const CWOP: Self = Self(1 << 10);
    /// The packet lists a station's capabilities.
    pub const CAPABILITIES: Self = Self(1 << 11);
    /// A packet of somebody else in it.
    pub const THIRD_PARTY: Self = Self(1 << 12);

    /// All of `other` are in here.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the set has at least one type of `other`.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The set as bits: bit numbers in [0, 12], in the order of the constants.
    pub const fn bits(self) -> u16 {
        self.0
    }
}

impl BitOr for Types {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Types {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
