//! What a kept profile is of.

use chronoscope_track::run::ProfileKind as Kind;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a kept profile is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ProfileKind {
    /// Calls, counted exactly by Callgrind.
    Calls,
    /// Stacks, sampled by perf.
    Stacks,
}

impl From<ProfileKind> for Kind {
    fn from(kind: ProfileKind) -> Self {
        match kind {
            ProfileKind::Calls => Self::Calls,
            ProfileKind::Stacks => Self::Stacks,
        }
    }
}

impl From<Kind> for ProfileKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Calls => Self::Calls,
            Kind::Stacks => Self::Stacks,
        }
    }
}
