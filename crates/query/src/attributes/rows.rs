//! The attributes that a question asks for, read from rows.

use super::described::{Attributes, RowTable};
use super::entry::{FIELD_RANK, Value};
use super::values::{GroupNumbers, NONE, OTHERS, ValueTable};
use crate::context_columns::ContextColumns;
use chronoscope_chain::{
    AttributeKey, AttributePlace, AttributeSelection, AttributeTest, BY_MAX, Chain, ChainDuration,
    ChainRows, FILTERS_MAX, RowAttributes,
};
use chronoscope_model::attribute::{ATTRIBUTE, RESERVED, RESOURCE, SCOPE};
use chronoscope_model::context::ContextEntry;
use chronoscope_model::schema::column;
use chronoscope_model::{Batch, Names, Record};
use chronoscope_store::segment_file::SegmentColumns;
use chronoscope_store::{Snapshot, StoreError};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Outcome of a filter in [`RowAttributes::tests`]: the row has the attribute, and it passes.
const PASSES: u32 = 1;
/// The row has the attribute, and it does not pass.
const FAILS: u32 = 2;
/// Bits of one outcome.
const TEST_BITS: usize = 2;

/// Values that a reader remembers before it asks what all threads share.
const REMEMBERED_MAX: usize = 4_096;

/// Reads from rows what a question's filters and groups need. All threads share it.
#[derive(Debug)]
pub(crate) struct AttributeReader<'a> {
    selection: &'a AttributeSelection,
    names: &'a Names,
    unsealed: &'a Batch,
    wanted: Vec<WantedKey>,
    /// Lengths of the wanted keys: most others are passed over by their length.
    lengths: Vec<bool>,
    /// Slots of the keys that name a row's application or host.
    fields: Vec<(usize, RowField)>,
    /// The values of the keys to group by.
    values: Vec<Mutex<ValueTable>>,
    /// Set where all attributes of rows are asked for.
    all: Option<RowTable>,
}

/// A key as a row may have it.
#[derive(Debug)]
struct WantedKey {
    text: String,
    /// Number of the filter, or of the key to group by after all filters.
    slot: usize,
    /// Of several the lowest counts.
    rank: u8,
}

/// Slot of a [`WantedKey`], and its rank.
type WantedFor = (usize, u8);

/// A field of a row that counts as an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowField {
    Application,
    Host,
}

impl<'a> AttributeReader<'a> {
    /// The reader for a question; `None` where it asks for no attribute.
    pub(crate) fn of(snapshot: &'a Snapshot, selection: &'a AttributeSelection) -> Option<Self> {
        let keys = selection.filters().iter().map(|filter| &filter.key).chain(selection.by());
        let (mut wanted, mut fields) = (Vec::new(), Vec::new());
        for (slot, AttributeKey { key, .. }) in keys.enumerate() {
            for (prefix, rank) in ["", RESOURCE, SCOPE].into_iter().zip(0..) {
                wanted.push(WantedKey { text: format!("{prefix}{key}"), slot, rank });
            }
            if key.starts_with(RESERVED) {
                wanted.push(WantedKey { text: format!("{ATTRIBUTE}{key}"), slot, rank: 3 });
            }
            match key.as_str() {
                "service.name" => fields.push((slot, RowField::Application)),
                "host.name" => fields.push((slot, RowField::Host)),
                _ => {}
            }
        }
        let mut lengths = vec![false; wanted.iter().map(|key| key.text.len() + 1).max()?];
        wanted.iter().for_each(|key| lengths[key.text.len()] = true);
        Some(Self {
            selection,
            names: snapshot.names(),
            unsealed: snapshot.unsealed(),
            wanted,
            lengths,
            fields,
            values: selection.by().iter().map(|_| Mutex::default()).collect(),
            all: None,
        })
    }

    /// The reader of all attributes of rows, whose numbers [`Self::described`] takes. `nothing`
    /// selects nothing. Memory: the attributes of every row that is read.
    pub(crate) fn of_all(snapshot: &'a Snapshot, nothing: &'a AttributeSelection) -> Self {
        Self {
            selection: nothing,
            names: snapshot.names(),
            unsealed: snapshot.unsealed(),
            wanted: Vec::new(),
            lengths: Vec::new(),
            fields: Vec::new(),
            values: Vec::new(),
            all: Some(RowTable::default()),
        }
    }

    /// The columns that [`RowReader::read`] needs.
    pub(crate) fn columns(&self) -> Vec<&'static str> {
        if self.all.is_some() {
            return ContextColumns::NAMES.into_iter().chain(RowTable::COLUMNS).collect();
        }
        let fields = self.fields.iter().map(|(_, field)| match field {
            RowField::Application => column::APPLICATION,
            RowField::Host => column::HOST,
        });
        ContextColumns::NAMES.into_iter().chain(fields).collect()
    }

    /// Whether a duration is decided by its leaf's row alone.
    pub(crate) fn is_of_leaf(&self) -> bool {
        self.selection.is_of_leaf()
    }

    /// A reader for one thread.
    pub(crate) fn rows(&self) -> RowReader<'_> {
        RowReader {
            shared: self,
            known: vec![HashMap::new(); self.values.len()],
            of_words: vec![Vec::new(); self.values.len()],
            buffer: String::new(),
        }
    }

    /// The group of a duration: the number of its value for each key. `None` where a filter leaves
    /// it out.
    pub(crate) fn group_of(
        &self,
        rows: &ChainRows,
        chain: &Chain<'_>,
        found: &ChainDuration,
    ) -> Option<GroupNumbers> {
        let root = root_of(chain, found);
        self.decide(|place, read| {
            let leaf = || read(rows.attributes(found.leaf));
            let root_row = || root.and_then(|root| read(rows.attributes(root)));
            let between = || between(chain, found, root).find_map(|at| read(rows.attributes(at)));
            match place {
                AttributePlace::Leaf => leaf(),
                AttributePlace::Root => root_row(),
                AttributePlace::Any => leaf().or_else(root_row).or_else(between),
            }
        })
    }

    /// All attributes of a duration, as [`AttributePlace::Any`] finds them; `None` where not all
    /// are asked for.
    pub(crate) fn described(
        &self,
        rows: &ChainRows,
        chain: &Chain<'_>,
        found: &ChainDuration,
    ) -> Option<Attributes> {
        let table = self.all.as_ref()?;
        let root = root_of(chain, found);
        let rows_in_order =
            std::iter::once(found.leaf).chain(root).chain(between(chain, found, root));
        Some(table.of_rows(rows_in_order.map(|at| rows.attributes(at))))
    }

    /// As [`Self::described`], of a transaction by itself.
    pub(crate) fn described_row(&self, row: RowAttributes) -> Option<Attributes> {
        Some(self.all.as_ref()?.of_rows(std::iter::once(row)))
    }

    /// The group of a transaction by itself, which is its own root and leaf.
    pub(crate) fn group_of_row(&self, row: RowAttributes) -> Option<GroupNumbers> {
        self.decide(|_, read| read(row))
    }

    /// Decides by what `find` finds: the first row of a place of which a number is known.
    fn decide(
        &self,
        find: impl Fn(AttributePlace, &dyn Fn(RowAttributes) -> Option<u32>) -> Option<u32>,
    ) -> Option<GroupNumbers> {
        let known = |number: u32| Some(number).filter(|number| *number != NONE);
        for (slot, filter) in self.selection.filters().iter().enumerate() {
            let outcome = find(filter.key.place, &|row| known(test(row, slot)));
            let passes = match &filter.test {
                AttributeTest::Exists | AttributeTest::Is(_) => outcome == Some(PASSES),
                AttributeTest::IsNot(_) => outcome != Some(FAILS),
            };
            if !passes {
                return None;
            }
        }
        let mut group = GroupNumbers::default();
        for (slot, key) in self.selection.by().iter().enumerate() {
            group[slot] = find(key.place, &|row| known(row.values[slot])).unwrap_or(NONE);
        }
        Some(group)
    }

    /// Whether anything is filtered.
    pub(crate) fn has_filters(&self) -> bool {
        !self.selection.filters().is_empty()
    }

    /// The values of a key to group by.
    pub(crate) fn values(&self, slot: usize) -> MutexGuard<'_, ValueTable> {
        self.values[slot].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is filtered and grouped.
    pub(crate) fn selection(&self) -> &'a AttributeSelection {
        self.selection
    }
}

/// The row of the root that a duration is measured from, where it is there.
fn root_of(chain: &Chain<'_>, found: &ChainDuration) -> Option<usize> {
    let above = found.steps.and_then(|steps| chain.ancestor(found.leaf, steps));
    // Rows between may be missing: the chain's only root is it where its start says so.
    let is_it = |root: &usize| chain.hops[*root].start_ns == found.start_ns;
    above.or_else(|| chain.only_root().filter(is_it))
}

/// The rows between a duration's leaf and its root, the nearest to the leaf first.
fn between<'c>(
    chain: &'c Chain<'_>,
    found: &ChainDuration,
    root: Option<usize>,
) -> impl Iterator<Item = usize> + 'c {
    let parent = |at: usize| chain.places[at].parent();
    std::iter::successors(parent(found.leaf), move |at| parent(*at))
        .take_while(move |at| Some(*at) != root)
}

/// The outcome of a filter for a row.
fn test(row: RowAttributes, slot: usize) -> u32 {
    row.tests >> (slot * TEST_BITS) & 3
}

/// The word of a row, where its column was read.
fn word_of<'w>(words: Option<&(&[i32], Vec<&'w str>)>, row: usize) -> Option<&'w str> {
    let (keys, words) = words?;
    words.get(usize::try_from(keys[row]).ok()?).copied()
}

/// Reads rows on one thread.
pub(crate) struct RowReader<'r> {
    shared: &'r AttributeReader<'r>,
    /// Numbers of values that came lately.
    known: Vec<HashMap<Box<str>, u32>>,
    /// Numbers of the values of the batch, by the word's; [`NONE`] where not asked for yet.
    of_words: Vec<Vec<u32>>,
    buffer: String,
}

/// What was found in a row so far, by slot: of each key the best, and its rank.
struct Found<'v> {
    best: [(u8, Value<'v>); SLOTS],
}

const SLOTS: usize = FILTERS_MAX + BY_MAX;

impl<'v> Found<'v> {
    fn nothing() -> Self {
        Self { best: [(u8::MAX, Value::Text("")); SLOTS] }
    }

    /// Offers the value of a key to all that it is wanted for.
    fn offer_all(&mut self, wanted: Option<&Vec<WantedFor>>, value: Value<'v>) {
        for (slot, rank) in wanted.into_iter().flatten() {
            self.offer(*slot, *rank, value);
        }
    }

    fn offer(&mut self, slot: usize, rank: u8, value: Value<'v>) {
        if let Some(best) = self.best.get_mut(slot).filter(|best| rank < best.0) {
            *best = (rank, value);
        }
    }

    fn value(&self, slot: usize) -> Option<Value<'v>> {
        self.best.get(slot).filter(|best| best.0 != u8::MAX).map(|best| best.1)
    }
}

impl RowReader<'_> {
    /// The attributes of a batch's rows, into `rows`, which is emptied before.
    pub(crate) fn read(
        &mut self,
        columns: &SegmentColumns<'_>,
        rows: &mut Vec<RowAttributes>,
    ) -> Result<(), StoreError> {
        rows.clear();
        if let Some(table) = &self.shared.all {
            return table.read(columns, rows);
        }
        let said = ContextColumns::of(columns)?;
        let words = |field: RowField, name: &str| {
            let asked = self.shared.fields.iter().any(|(_, asked)| *asked == field);
            asked.then(|| columns.words(name)).transpose()
        };
        let applications = words(RowField::Application, column::APPLICATION)?;
        let hosts = words(RowField::Host, column::HOST)?;
        let of_properties: Vec<_> = said.property_keys().map(|key| self.wanted(key)).collect();
        let of_metrics: Vec<_> = said.metric_keys().map(|key| self.wanted(key)).collect();
        for numbers in &mut self.of_words {
            numbers.clear();
            numbers.resize(said.text_count(), NONE);
        }
        for row in 0..columns.batch.num_rows() {
            let mut found = Found::nothing();
            for (key, at) in said.properties_of(row) {
                let wanted = of_properties.get(key).filter(|wanted| !wanted.is_empty());
                if wanted.is_some() {
                    let (text, number) = said.text(at);
                    found.offer_all(wanted, Value::Word(text, number));
                }
            }
            for (key, number) in said.metrics_of(row) {
                found.offer_all(of_metrics.get(key), Value::Number(number));
            }
            let fields = [word_of(applications.as_ref(), row), word_of(hosts.as_ref(), row)];
            rows.push(self.row(found, fields));
        }
        Ok(())
    }

    /// The attributes of a row of the log.
    pub(crate) fn record(&mut self, record: &Record) -> RowAttributes {
        let AttributeReader { names, unsealed, all, .. } = self.shared;
        if let Some(table) = all {
            return table.record(record, names, unsealed.context(record));
        }
        let mut found = Found::nothing();
        // As the columns have them: a property before a metric, whatever their order here.
        let (mut metrics, unsealed) = (Vec::new(), unsealed.context(record));
        for entry in names.entries(record, unsealed) {
            match entry {
                ContextEntry::Property(key, text) => {
                    found.offer_all(Some(&self.wanted(key)), Value::Text(text));
                }
                ContextEntry::Metric(key, number) => metrics.push((key, number)),
                ContextEntry::Parent(_) | ContextEntry::Field(..) => {}
            }
        }
        for (key, number) in metrics {
            found.offer_all(Some(&self.wanted(key)), Value::Number(number));
        }
        let application = names.class(record.class).map(|class| class.application.as_str());
        let host = names.process(record.process).map(|process| process.host.as_str());
        self.row(found, [application, host])
    }

    /// What a key of a row is wanted for.
    fn wanted(&self, key: &str) -> Vec<WantedFor> {
        let shared = self.shared;
        if shared.lengths.get(key.len()) != Some(&true) {
            return Vec::new();
        }
        let wanted = shared.wanted.iter().filter(|wanted| wanted.text == key);
        wanted.map(|wanted| (wanted.slot, wanted.rank)).collect()
    }

    /// The attributes of a row by what was found in its context, its application and its host.
    fn row<'v>(
        &mut self,
        mut found: Found<'v>,
        [application, host]: [Option<&'v str>; 2],
    ) -> RowAttributes {
        let shared = self.shared;
        for (slot, field) in &shared.fields {
            let text = match field {
                RowField::Application => application,
                RowField::Host => host,
            };
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                found.offer(*slot, FIELD_RANK, Value::Text(text));
            }
        }
        let mut row = RowAttributes::default();
        let filters = shared.selection.filters();
        for (slot, filter) in filters.iter().enumerate() {
            let outcome = match found.value(slot) {
                None => NONE,
                Some(value) if value.passes(&filter.test) => PASSES,
                Some(_) => FAILS,
            };
            row.tests |= outcome << (slot * TEST_BITS);
        }
        for key in 0..shared.values.len() {
            if let Some(value) = found.value(filters.len() + key) {
                row.values[key] = self.number(key, value);
            }
        }
        row
    }

    /// The number of a value of a key to group by.
    fn number(&mut self, key: usize, value: Value<'_>) -> u32 {
        let Value::Word(_, word) = value else { return self.number_of_text(key, value) };
        let numbers = &self.of_words[key];
        if let Some(number) = numbers.get(word).filter(|number| **number != NONE) {
            return *number;
        }
        let number = self.number_of_text(key, value);
        if let Some(known) = self.of_words[key].get_mut(word) {
            *known = number;
        }
        number
    }

    /// As [`Self::number`], by the text alone.
    fn number_of_text(&mut self, key: usize, value: Value<'_>) -> u32 {
        let text = value.text(&mut self.buffer);
        let known = &mut self.known[key];
        if let Some(number) = known.get(text) {
            return *number;
        }
        let number = self.shared.values(key).number(text);
        if number != OTHERS {
            if known.len() >= REMEMBERED_MAX {
                known.clear();
            }
            known.insert(text.into(), number);
        }
        number
    }
}
