//! Fields of a message: a tree of names and values, each with its octets.

use serde_json::{Value, json};
use std::borrow::Cow;
use std::ops::Range;

/// A field of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpField {
    /// Name in the ASN.1 module of the specification; of an element of a list its number, from 1.
    pub name: Cow<'static, str>,
    /// Value in words; empty for a field that only has others in it.
    pub value: String,
    /// Its octets, with tag and length, from the beginning of the message.
    pub range: Range<usize>,
    /// Fields within it.
    pub fields: Vec<DumpField>,
    /// Deviation from the specification's module.
    pub fault: Option<String>,
}

impl DumpField {
    /// A field without others in it.
    pub(super) fn leaf(
        name: impl Into<Cow<'static, str>>,
        value: impl Into<String>,
        range: Range<usize>,
    ) -> Self {
        Self { name: name.into(), value: value.into(), range, fields: Vec::new(), fault: None }
    }

    /// The field and all in it as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let mut value = json!({
            "name": self.name, "value": self.value,
            "octets": [self.range.start, self.range.end],
        });
        if !self.fields.is_empty() {
            value["fields"] = self.fields.iter().map(Self::json).collect();
        }
        if let Some(fault) = &self.fault {
            value["fault"] = json!(fault);
        }
        value
    }

    /// The first fault in it, the field itself first.
    #[must_use]
    pub fn first_fault(&self) -> Option<&str> {
        self.fault.as_deref().or_else(|| self.fields.iter().find_map(Self::first_fault))
    }
}
