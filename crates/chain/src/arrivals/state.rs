//! States of a root: arrived, failed, open, missing, or unknown with the reason.

/// Reason why a root is unknown; where several hold, the first in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unknown {
    /// [`super::Doubts::FURTHER_PARENT`].
    FurtherParent,
    /// [`super::Doubts::LATE_ALIAS`], or an alias that was dropped.
    LateAlias,
    /// [`super::Doubts::UNLINKED_LEAF`].
    UnlinkedLeaf,
    /// [`super::Doubts::NEGATIVE`].
    Negative,
    /// [`super::Doubts::SAMPLED`]: an absent row may never have been recorded.
    NotRecorded,
    /// Rows that may hold its leaf were lost in its time.
    Lost,
    /// Rows are damaged, or were lost nobody knows when.
    Damaged,
    /// Rows of its time were deleted for their age.
    Expired,
    /// Rows of its time were deleted on request.
    Deleted,
    /// A source has not delivered the root's time, although others have.
    Silent,
}

impl Unknown {
    /// All reasons, in their order.
    pub const ALL: [Self; 10] = [
        Self::FurtherParent,
        Self::LateAlias,
        Self::UnlinkedLeaf,
        Self::Negative,
        Self::NotRecorded,
        Self::Lost,
        Self::Damaged,
        Self::Expired,
        Self::Deleted,
        Self::Silent,
    ];

    /// Name of the reason in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FurtherParent => "further_parent",
            Self::LateAlias => "late_alias",
            Self::UnlinkedLeaf => "unlinked_leaf",
            Self::Negative => "negative",
            Self::NotRecorded => "not_recorded",
            Self::Lost => "lost",
            Self::Damaged => "damaged",
            Self::Expired => "expired",
            Self::Deleted => "deleted",
            Self::Silent => "silent",
        }
    }

    /// Sentence part with the reason; follows a number of roots.
    pub const fn why(self) -> &'static str {
        match self {
            Self::FurtherParent => {
                "are named by links to further parents, which --inputs all follows"
            }
            Self::LateAlias => "were found too late to go on in another chain",
            Self::UnlinkedLeaf => "have a leaf in their chain that a missing row cuts off",
            Self::Negative => "have a leaf that ends before they start: clocks disagree",
            Self::NotRecorded => "are of chains of which their sources record only a sample",
            Self::Lost => "have a time in which rows were lost that may be their leaves",
            Self::Damaged => "may have leaves among damaged rows, or rows lost nobody knows when",
            Self::Expired => "are so old that rows of their time were deleted",
            Self::Deleted => "have a time of which rows were deleted on request",
            Self::Silent => "wait for a source that has not delivered their time",
        }
    }
}

/// State of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootState {
    /// All required leaves are present.
    Arrived,
    /// Its leaves ended as FAILED or ABORTED, or there are more than allowed.
    Failed,
    /// The timeout has not passed, as far as sources have delivered.
    Open,
    /// The timeout has passed, all rows are delivered, and required leaves are absent.
    Missing,
    /// The rows do not determine the state.
    Unknown(Unknown),
}

impl RootState {
    /// Name of the state in JSON; the reason for an unknown root is a separate field.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrived => "arrived",
            Self::Failed => "failed",
            Self::Open => "open",
            Self::Missing => "missing",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// Verdict on one root: its state and the bounds of its duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootVerdict {
    /// State of the root.
    pub state: RootState,
    /// Whether the root arrived within the limit; `None` if this is not certain.
    pub in_time: Option<bool>,
    /// Lower bound of its duration, in nanoseconds; `None`: it never arrives.
    pub at_least_ns: Option<u64>,
    /// Upper bound of its duration, in nanoseconds; `None`: there is none.
    pub at_most_ns: Option<u64>,
}

impl RootVerdict {
    /// A root that certainly does not arrive in time.
    pub(super) const fn never(state: RootState) -> Self {
        Self { state, in_time: Some(false), at_least_ns: None, at_most_ns: None }
    }

    /// A root whose duration may be anything.
    pub(super) const fn unknown(state: RootState) -> Self {
        Self { state, in_time: None, at_least_ns: Some(0), at_most_ns: None }
    }
}
