//! Parents of a transaction in addition to its record's.

use crate::{ChainId, Correlator, PathId, ProcessId, TransactionId};

/// A parent in addition to the record's: a transaction that is merged or batched into this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FurtherParent {
    /// The parent's chain.
    pub chain: ChainId,
    /// The parent's id.
    pub id: TransactionId,
    /// The parent's root as its correlator gives it; `None` for a foreign correlator.
    pub root: Option<ParentRoot>,
}

impl From<&Correlator> for FurtherParent {
    /// The transaction that issued the correlator.
    fn from(issuer: &Correlator) -> Self {
        let root = issuer.root_start_ns().map(|start_ns| ParentRoot {
            start_ns,
            process: issuer.root_process(),
            level: issuer.level(),
            path: issuer.path(),
        });
        Self { chain: issuer.chain(), id: issuer.parent(), root }
    }
}

/// Root of a further parent, as given by its correlator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParentRoot {
    /// Start time of the root: UTC, nanoseconds since 1970, by the root's clock.
    pub start_ns: i64,
    /// The root's process.
    pub process: ProcessId,
    /// Steps from the root to the further parent.
    pub level: u16,
    /// The classes from the root to the further parent.
    pub path: PathId,
}
