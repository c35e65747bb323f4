//! Roots of a chain and the leaves below them, with the doubts that the chain's rows leave.

/// One leaf below a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// From the root's start to the leaf's end, in nanoseconds.
    pub duration_ns: i64,
    /// Receiver of the leaf: the caller's number of a process or host.
    pub receiver: u32,
    /// The leaf FAILED or was ABORTED, and is no arrival.
    pub failed: bool,
}

/// Reasons why the rows of a chain leave a root's arrival unknown. Several may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubts(u8);

impl Doubts {
    /// A leaf of the chain cannot be linked up to any root: a row between is missing.
    pub const UNLINKED_LEAF: Self = Self(0x01);
    /// A leaf ended before the root started: the clocks of their hosts disagree.
    pub const NEGATIVE: Self = Self(0x02);
    /// A transaction elsewhere names the chain as a further parent; such links are not followed.
    pub const FURTHER_PARENT: Self = Self(0x04);
    /// Another chain was found to continue this one after its rows had been stored apart.
    pub const LATE_ALIAS: Self = Self(0x08);
    /// A source of the chain keeps only a share of its transactions.
    pub const SAMPLED: Self = Self(0x10);

    /// The union of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` hold.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// A root with the leaves below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Root {
    /// Start time: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Index of the root's row; `None` where only its descendants are present.
    pub row: Option<usize>,
    /// Leaves below the root, in the order of the rows.
    pub leaves: Vec<Leaf>,
    /// Doubts that the chain's rows leave.
    pub doubts: Doubts,
    /// The root's correlator carried no ancestors: aliases may have joined other chains to its own.
    pub foreign: bool,
    /// Whether its raw start is in the requested time range.
    pub(crate) in_range: bool,
    /// Ancestors of it are not known: another of its class may stand above.
    pub(crate) hidden: bool,
}
