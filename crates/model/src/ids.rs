//! Numbers that stand for things: small, copied freely, the same on every host.

use crate::hash;
use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty), $width:literal) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash,
            bytemuck::Pod, bytemuck::Zeroable,
        )]
        #[repr(transparent)]
        pub struct $name(pub $inner);

        impl $name {
            /// Stands where there is none: no parent, or not known.
            pub const NONE: Self = Self(0);

            /// Whether this is [`Self::NONE`].
            pub const fn is_none(self) -> bool {
                self.0 == 0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!("{:0", $width, "x}"), self.0)
            }
        }
    };
}

id!(
    /// A transaction class: the hash of its application's name and its own.
    ClassId(u64), "16"
);
id!(
    /// A path: the classes from a chain's root down to a transaction, as one hash.
    PathId(u64), "16"
);
id!(
    /// One execution of a program on one host.
    ProcessId(u64), "16"
);
id!(
    /// One transaction.
    TransactionId(u64), "16"
);
id!(
    /// One chain: all transactions under one root. 128 bits, so that a W3C trace id fits.
    ChainId(u128), "32"
);

impl ClassId {
    /// The id of class `name` of `application`.
    pub const fn of(application: &str, name: &str) -> Self {
        Self(hash::hash_pair(application.as_bytes(), name.as_bytes()))
    }
}

impl ProcessId {
    /// The id of the process `pid` on `host` that started at `start_ns` (UTC, nanoseconds).
    /// The start keeps two processes apart that were given the same number.
    pub const fn of(host: &str, pid: u32, start_ns: i64) -> Self {
        let who = hash::hash_bytes(host.as_bytes());
        Self(hash::combine(hash::combine(who, pid as u64), start_ns as u64))
    }
}

impl PathId {
    /// The path that has only a root.
    pub const fn root(class: ClassId) -> Self {
        Self(hash::combine(0, class.0))
    }

    /// The path one step further down.
    pub const fn child(self, class: ClassId) -> Self {
        Self(hash::combine(self.0, class.0))
    }

    /// The path through `classes`, root first; [`Self::NONE`] when there are none.
    pub fn of(classes: &[ClassId]) -> Self {
        match classes {
            [] => Self::NONE,
            [root, rest @ ..] => rest.iter().fold(Self::root(*root), |path, c| path.child(*c)),
        }
    }
}

impl ChainId {
    /// A chain id from its two halves, the more significant first.
    pub const fn from_halves(high: u64, low: u64) -> Self {
        Self(((high as u128) << 64) | low as u128)
    }

    /// The more significant half.
    pub const fn high(self) -> u64 {
        (self.0 >> 64) as u64
    }

    /// The less significant half.
    #[allow(clippy::cast_possible_truncation)] // the half is what is asked for
    pub const fn low(self) -> u64 {
        self.0 as u64
    }
}

impl std::str::FromStr for ChainId {
    type Err = std::num::ParseIntError;

    /// Reads the hexadecimal form that `Display` writes.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u128::from_str_radix(text, 16).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_its_classes_in_order() {
        let (a, b) = (ClassId::of("MRTS", "decodePlots"), ClassId::of("MRTS", "Correlate"));
        assert_eq!(PathId::of(&[a, b]), PathId::root(a).child(b));
        assert_ne!(PathId::of(&[a, b]), PathId::of(&[b, a]));
        assert_ne!(PathId::of(&[a]), PathId::of(&[a, a]));
        assert_eq!(PathId::of(&[]), PathId::NONE);
    }

    #[test]
    fn the_application_is_part_of_the_class() {
        let name = "TrackStore_updateTrack";
        assert_ne!(ClassId::of("MSG", name), ClassId::of("CWP", name));
    }

    #[test]
    fn a_chain_id_reads_back() {
        let id = ChainId::from_halves(0xdead, 0xbeef);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!((id.high(), id.low()), (0xdead, 0xbeef));
    }
}
