//! Values by which durations and transactions are grouped, as the API gives them.

use chronoscope_query::GroupValue;
use serde::Serialize;
use utoipa::ToSchema;

/// The value of a group for each attribute.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct GroupValues {
    /// Null where the attribute is not there, and where values are not told apart.
    values: Vec<Option<String>>,
    /// True where values of one of the attributes are not told apart.
    others: bool,
}

impl GroupValues {
    /// The values of a group.
    pub(in crate::api) fn of(values: &[GroupValue]) -> Self {
        let text = |value: &GroupValue| match value {
            GroupValue::Text(text) => Some(text.to_string()),
            GroupValue::None | GroupValue::Others => None,
        };
        Self {
            values: values.iter().map(text).collect(),
            others: values.contains(&GroupValue::Others),
        }
    }
}
