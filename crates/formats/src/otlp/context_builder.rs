//! Writing a row's context: properties and metrics, within a bound.

use super::keys;
use super::value::{self, Any};
use chronoscope_model::context::{self, ContextEntry};

/// Largest context of a span's row, in bytes. A span of a batch of spans takes no more, whatever it
/// has of attributes, links and events.
pub(super) const CONTEXT_MAX: usize = 16_384;

/// Integers up to here are exact as doubles.
const EXACT: u64 = 1 << 53;

/// Builder of a row's context. Entries that do not fit are left out and recorded as cut.
#[derive(Debug, Default)]
pub(super) struct ContextBuilder {
    bytes: Vec<u8>,
    cut: bool,
    key: String,
    json: String,
    /// Keys of properties that hold JSON, and of doubles that look like integers; both as a JSON
    /// list without its brackets.
    json_keys: String,
    double_keys: String,
}

/// A context that several rows begin or end with.
#[derive(Debug, Default)]
pub(super) struct Inherited {
    bytes: Vec<u8>,
    cut: bool,
}

impl ContextBuilder {
    /// Forgets everything and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.cut = false;
        self.json_keys.clear();
        self.double_keys.clear();
    }

    /// The context so far.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Leaves out what came after the first `len` bytes.
    pub(super) fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
        self.cut = true;
    }

    /// Whether something did not fit.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Marks the context as incomplete.
    pub(super) fn leave_out(&mut self) {
        self.cut = true;
    }

    /// Adds a property; whether it fitted.
    pub(super) fn property(&mut self, key: &str, value: &str) -> bool {
        self.entry(ContextEntry::Property(key, value))
    }

    /// Adds a property unless its value is empty.
    pub(super) fn property_if(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.property(key, value);
        }
    }

    /// Adds a metric unless it is 0.
    pub(super) fn count_if(&mut self, key: &str, count: u32) {
        if count != 0 {
            self.entry(ContextEntry::Metric(key, f64::from(count)));
        }
    }

    /// Adds an entry; whether it fitted.
    pub(super) fn entry(&mut self, entry: ContextEntry<'_>) -> bool {
        let len = self.bytes.len();
        self.bytes.resize((len + entry.size()).min(CONTEXT_MAX), 0);
        let end = context::append(&mut self.bytes, len, entry);
        self.bytes.truncate(end.unwrap_or(len));
        self.cut |= end.is_none();
        end.is_some()
    }

    /// Adds an attribute under `prefix` and its key: numbers as metrics, texts as properties, other
    /// types as JSON.
    ///
    /// # Errors
    /// The error of an invalid value.
    pub(super) fn attribute(
        &mut self,
        prefix: &str,
        key: &str,
        any: Any<'_>,
    ) -> Result<(), value::Refusal> {
        let mut name = std::mem::take(&mut self.key);
        name.clear();
        name.push_str(prefix);
        name.push_str(key);
        let outcome = self.named(&name, any);
        self.key = name;
        outcome
    }

    #[allow(clippy::cast_precision_loss)] // bounded by EXACT
    fn named(&mut self, name: &str, any: Any<'_>) -> Result<(), value::Refusal> {
        match any {
            Any::Text(text) => {
                self.property(name, text.text()?);
            }
            Any::Int(number) if number.unsigned_abs() <= EXACT => {
                self.entry(ContextEntry::Metric(name, number as f64));
            }
            Any::Double(number) => {
                // -0.0 is no integer either.
                let whole = number.fract() == 0.0 && number.abs() <= EXACT as f64;
                if self.entry(ContextEntry::Metric(name, number)) && whole {
                    list(&mut self.double_keys, name);
                }
            }
            other => {
                let mut json = std::mem::take(&mut self.json);
                json.clear();
                let room = CONTEXT_MAX;
                let outcome = value::json(other, room, &mut json);
                if matches!(outcome, Ok(true)) && self.property(name, &json) {
                    list(&mut self.json_keys, name);
                } else {
                    self.cut = true;
                }
                self.json = json;
                outcome?;
            }
        }
        Ok(())
    }

    /// Adds a property whose value is JSON from `write`; left out when `write` reports that it
    /// became too long. Such keys need no type mark: their names imply the type.
    ///
    /// # Errors
    /// Those of `write`.
    pub(super) fn json_property(
        &mut self,
        prefix: &str,
        number: usize,
        write: impl FnOnce(&mut String) -> Result<bool, value::Refusal>,
    ) -> Result<(), value::Refusal> {
        let mut json = std::mem::take(&mut self.json);
        json.clear();
        let outcome = write(&mut json);
        if matches!(outcome, Ok(true)) {
            self.property(&format!("{prefix}{number}"), &json);
        } else {
            self.cut = true;
        }
        self.json = json;
        outcome.map(|_| ())
    }

    /// Ends one level (0 span, 1 resource, 2 scope) with the marks of its attributes' types.
    pub(super) fn end_level(&mut self, level: usize) {
        if self.json_keys.is_empty() && self.double_keys.is_empty() {
            return;
        }
        let marks = format!("{{\"json\":[{}],\"double\":[{}]}}", self.json_keys, self.double_keys);
        self.property(keys::TYPES[level], &marks);
        self.json_keys.clear();
        self.double_keys.clear();
    }

    /// The entries so far, for other rows to inherit.
    pub(super) fn inherited(&self) -> Inherited {
        Inherited { bytes: self.bytes.clone(), cut: self.cut }
    }

    /// Adds inherited entries, as many as fit.
    pub(super) fn inherit(&mut self, from: &Inherited) {
        self.cut |= from.cut;
        if self.bytes.len() + from.bytes.len() <= CONTEXT_MAX {
            self.bytes.extend_from_slice(&from.bytes);
        } else {
            context::entries(&from.bytes).for_each(|entry| {
                self.entry(entry);
            });
        }
    }
}

/// Adds a JSON text to a list without brackets.
fn list(list: &mut String, text: &str) {
    if !list.is_empty() {
        list.push(',');
    }
    value::quote(text, list);
}
