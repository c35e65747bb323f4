//! Who acknowledged an alarm, as the API gives it.

use crate::rules::Acknowledgement;
use serde::Serialize;
use utoipa::ToSchema;

/// An acknowledgement of an alarm.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(super) struct AcknowledgedBy {
    /// UTC ns since 1970.
    at_ns: i64,
    /// Name of the token that was shown; empty where it has none, or none is needed.
    by: String,
}

impl From<Acknowledgement> for AcknowledgedBy {
    fn from(Acknowledgement { at_ns, by }: Acknowledgement) -> Self {
        Self { at_ns, by }
    }
}
