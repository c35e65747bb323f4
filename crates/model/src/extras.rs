//! Fields that few rows have: further parents, and values that not every source measures.

use crate::context::{self, ContextEntry};
use crate::field::Field;
use crate::further_parent::FurtherParent;

/// Optional fields of a row. `None` means that the source did not report the value, which is not 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// [`Field::Arrival`].
    pub arrival_ns: Option<i64>,
    /// [`Field::RunQueue`].
    pub run_queue_ns: Option<u64>,
    /// [`Field::Blocked`].
    pub blocked_ns: Option<u64>,
    /// [`Field::SamplingThreshold`].
    pub sampling_threshold: Option<u64>,
    /// Parents in addition to the record's.
    pub further_parents: Vec<FurtherParent>,
}

impl Extras {
    /// Reads the optional fields from a context.
    pub fn of(context: &[u8]) -> Self {
        let mut extras = Self::default();
        context::entries(context).for_each(|entry| extras.take(entry));
        extras
    }

    /// Takes in an entry of a context; properties and metrics are others' to take.
    pub(crate) fn take(&mut self, entry: ContextEntry<'_>) {
        match entry {
            ContextEntry::Property(..) | ContextEntry::Metric(..) => {}
            ContextEntry::Parent(parent) => self.further_parents.push(parent),
            ContextEntry::Field(Field::Arrival, bits) => self.arrival_ns = Some(bits.cast_signed()),
            ContextEntry::Field(Field::RunQueue, ns) => self.run_queue_ns = Some(ns),
            ContextEntry::Field(Field::Blocked, ns) => self.blocked_ns = Some(ns),
            ContextEntry::Field(Field::SamplingThreshold, threshold) => {
                self.sampling_threshold = Some(threshold);
            }
        }
    }

    /// The entries that say it in a context.
    pub fn entries(&self) -> impl Iterator<Item = ContextEntry<'_>> {
        let fields = [
            (Field::Arrival, self.arrival_ns.map(i64::cast_unsigned)),
            (Field::RunQueue, self.run_queue_ns),
            (Field::Blocked, self.blocked_ns),
            (Field::SamplingThreshold, self.sampling_threshold),
        ];
        let fields = fields.into_iter();
        let fields = fields.filter_map(|(field, number)| Some(ContextEntry::Field(field, number?)));
        fields.chain(self.further_parents.iter().map(|parent| ContextEntry::Parent(*parent)))
    }
}
