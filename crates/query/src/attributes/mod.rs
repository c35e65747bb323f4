//! Attributes: filters and groups by what rows say of themselves besides their times.
//!
//! `docs/glossary.md` ("Attributes") has the definitions. Attributes are read from the properties
//! and metrics of rows when a question is asked; a row costs twelve bytes more while it is grouped
//! by chain, a duration 24 where groups are asked for.

mod described;
mod entry;
mod groups;
mod names;
mod rows;
mod values;
mod versions;

pub(crate) use described::Attributes;
pub(crate) use groups::Ranked;
pub use groups::{AttributeGroup, AttributeGroups, GROUPS_MAX, GroupValue};
pub use names::{
    AttributeName, AttributeNames, AttributeRows, AttributeValues, COUNTED_MAX, NAMES_MAX,
    attribute_names, attribute_values,
};
pub(crate) use rows::AttributeReader;
pub(crate) use values::GroupNumbers;
pub use values::{VALUE_BYTES_MAX, VALUES_MAX};
pub use versions::{SERVICE_VERSIONS_MAX, ServiceVersions, VersionChange, service_versions};
