//! All attributes of durations, for questions that do not name those they ask for.

use super::entry::{FIELD_RANK, Value, name_of};
use super::values::VALUE_BYTES_MAX;
use crate::classes::word;
use crate::context_columns::ContextColumns;
use chronoscope_chain::RowAttributes;
use chronoscope_model::context::ContextEntry;
use chronoscope_model::schema::column;
use chronoscope_model::{Names, Record};
use chronoscope_store::StoreError;
use chronoscope_store::segment_file::SegmentColumns;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Key of a row's application, where nothing else has it.
const SERVICE_NAME: &str = "service.name";
/// Key of a row's host, where nothing else has it.
const HOST_NAME: &str = "host.name";

/// An attribute of a duration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Attribute {
    /// The key, as a filter names it.
    pub(crate) key: Arc<str>,
    /// The value; `None` where it is too long to be told apart.
    pub(crate) value: Option<Arc<str>>,
}

/// The attributes of a duration, ascending by key.
pub(crate) type Attributes = Arc<[Attribute]>;

/// All attributes of some rows. A row has a number here, which stands in
/// [`RowAttributes::values`]; 0 is a row without attributes.
#[derive(Debug, Default)]
pub(crate) struct RowTable {
    state: Mutex<TableState>,
}

#[derive(Debug, Default)]
struct TableState {
    /// Keys and values, each once.
    words: HashSet<Arc<str>>,
    /// By the row's number less one.
    rows: Vec<Box<[Attribute]>>,
}

/// What was found in a row: name, rank and value. Of a name the lowest rank counts, and of equal
/// ones the first.
type FoundEntry<'v> = (&'v str, u8, Value<'v>);

impl RowTable {
    /// The columns that [`Self::read`] needs.
    pub(super) const COLUMNS: [&'static str; 2] = [column::APPLICATION, column::HOST];

    /// The attributes of a batch's rows, into `rows`.
    pub(super) fn read(
        &self,
        columns: &SegmentColumns<'_>,
        rows: &mut Vec<RowAttributes>,
    ) -> Result<(), StoreError> {
        let said = ContextColumns::of(columns)?;
        let (applications, application_words) = columns.words(column::APPLICATION)?;
        let (hosts, host_words) = columns.words(column::HOST)?;
        let of_properties: Vec<_> = said.property_keys().map(name_of).collect();
        let of_metrics: Vec<_> = said.metric_keys().map(name_of).collect();
        let mut found: Vec<FoundEntry<'_>> = Vec::new();
        for row in 0..columns.batch.num_rows() {
            found.clear();
            for (key, at) in said.properties_of(row) {
                let name = of_properties.get(key).copied().flatten();
                found.extend(name.map(|(name, rank)| (name, rank, Value::Text(said.text(at).0))));
            }
            for (key, number) in said.metrics_of(row) {
                let name = of_metrics.get(key).copied().flatten();
                found.extend(name.map(|(name, rank)| (name, rank, Value::Number(number))));
            }
            let application = word(&application_words, applications[row]);
            found.extend(field(SERVICE_NAME, application));
            found.extend(field(HOST_NAME, word(&host_words, hosts[row])));
            rows.push(self.add(&mut found));
        }
        Ok(())
    }

    /// The attributes of a row of the log.
    pub(super) fn record(&self, record: &Record, names: &Names, context: &[u8]) -> RowAttributes {
        let mut found: Vec<FoundEntry<'_>> = Vec::new();
        // As the columns have them: properties before metrics.
        let mut metrics = Vec::new();
        for entry in names.entries(record, context) {
            let (entries, key, value) = match entry {
                ContextEntry::Property(key, text) => (&mut found, key, Value::Text(text)),
                ContextEntry::Metric(key, number) => (&mut metrics, key, Value::Number(number)),
                ContextEntry::Parent(_) | ContextEntry::Field(..) => continue,
            };
            entries.extend(name_of(key).map(|(name, rank)| (name, rank, value)));
        }
        found.append(&mut metrics);
        let application = names.class(record.class).map(|class| class.application.as_str());
        let host = names.process(record.process).map(|process| process.host.as_str());
        found.extend(field(SERVICE_NAME, application.unwrap_or_default()));
        found.extend(field(HOST_NAME, host.unwrap_or_default()));
        self.add(&mut found)
    }

    fn add(&self, found: &mut Vec<FoundEntry<'_>>) -> RowAttributes {
        found.sort_by_key(|(name, rank, _)| (*name, *rank)); // stable: the first stays first
        found.dedup_by_key(|(name, ..)| *name);
        if found.is_empty() {
            return RowAttributes::default();
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = String::new();
        let row = found.iter().map(|(name, _, value)| {
            let text = value.text(&mut buffer);
            let is_short = text.len() <= VALUE_BYTES_MAX;
            let value = is_short.then(|| state.word(text));
            Attribute { key: state.word(name), value }
        });
        let row: Box<[Attribute]> = row.collect();
        state.rows.push(row);
        let number = u32::try_from(state.rows.len()).unwrap_or(0);
        RowAttributes { values: [number, 0], ..RowAttributes::default() }
    }

    /// The attributes of a duration by its rows, of which the first that has a key counts.
    pub(super) fn of_rows(&self, rows: impl Iterator<Item = RowAttributes>) -> Attributes {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut merged: BTreeMap<&Arc<str>, &Attribute> = BTreeMap::new();
        for row in rows {
            let at = (row.values[0] as usize).checked_sub(1);
            for attribute in at.and_then(|at| state.rows.get(at)).into_iter().flatten() {
                merged.entry(&attribute.key).or_insert(attribute);
            }
        }
        merged.into_values().cloned().collect()
    }
}

impl TableState {
    fn word(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.words.get(text) {
            return known.clone();
        }
        let word: Arc<str> = text.into();
        self.words.insert(word.clone());
        word
    }
}

/// The entry of a row's own field, which counts behind all keys.
fn field<'v>(name: &'static str, text: &'v str) -> Option<FoundEntry<'v>> {
    (!text.is_empty()).then_some((name, FIELD_RANK, Value::Text(text)))
}
