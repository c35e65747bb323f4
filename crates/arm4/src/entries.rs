//! Data of a transaction, encoded before its place in a record is known.

use chronoscope_model::context::{self, ContextEntry, MAX_BYTES};

/// Context entries, as many as a record holds.
#[derive(Clone, Debug)]
pub(crate) struct Entries {
    bytes: [u8; MAX_BYTES],
    len: usize,
    cut: bool,
}

impl Default for Entries {
    fn default() -> Self {
        Self { bytes: [0; MAX_BYTES], len: 0, cut: false }
    }
}

impl Entries {
    /// A word. A value that does not fit is cut.
    pub(crate) fn property(&mut self, key: &str, value: &str) {
        let (key, mut value, cut) = fitting(self.len, key, value);
        if self.append(ContextEntry::Property(key, value)) {
            self.cut |= cut;
            return;
        }
        value = "";
        self.cut = true;
        self.append(ContextEntry::Property(key, value));
    }

    /// Adds a number.
    pub(crate) fn metric(&mut self, key: &str, value: f64) {
        let (key, _, _) = fitting(self.len, key, "");
        if !self.append(ContextEntry::Metric(key, value)) {
            self.cut = true;
        }
    }

    fn append(&mut self, entry: ContextEntry<'_>) -> bool {
        let Some(len) = context::append(&mut self.bytes, self.len, entry) else { return false };
        self.len = len;
        true
    }

    /// The encoded entries.
    pub(crate) fn entries(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Whether something did not fit.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Removes all entries.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.cut = false;
    }
}

/// The part of a property that fits behind `len` bytes, and whether it was cut.
fn fitting<'a>(len: usize, key: &'a str, value: &'a str) -> (&'a str, &'a str, bool) {
    const LONGEST: usize = 255;
    let short_key = &key[..key.floor_char_boundary(LONGEST)];
    let room = MAX_BYTES.saturating_sub(len + 3 + short_key.len()).min(LONGEST);
    let short = &value[..value.floor_char_boundary(room)];
    (short_key, short, short.len() < value.len() || short_key.len() < key.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_is_cut_and_said() {
        let mut said = Entries::default();
        said.property("k", &"ü".repeat(200));
        assert!(said.is_cut() && said.entries().len() > MAX_BYTES - 3);
        let text = "ü".repeat((MAX_BYTES - 4) / 2);
        let all: Vec<_> = context::entries(said.entries()).collect();
        assert_eq!(all, [ContextEntry::Property("k", text.as_str())]);
        said.metric("more", 1.0);
        assert_eq!(context::entries(said.entries()).count(), 1);
    }
}
