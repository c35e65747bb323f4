//! What few rows have: further parents, and numbers that not every source knows.

use crate::context::{self, Entry};
use crate::{ChainId, PathId, ProcessId, TransactionId};

/// A number of a transaction that not every source knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Field {
    /// When what it works on arrived: UTC, nanoseconds since 1970, as the bits of an `i64`.
    Arrival = 1,
    /// How long its thread could have run and had no processor, in nanoseconds.
    RunQueue = 2,
    /// How long its thread waited in the kernel, in nanoseconds.
    Blocked = 3,
    /// Its sampling threshold T in [0, 2^56): the row stands for 2^56 / (2^56 − T) rows
    /// (OpenTelemetry, "TraceState: Probability Sampling").
    SamplingThreshold = 4,
}

impl Field {
    /// The field with a number; `None` for one that is not known.
    pub const fn of_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Arrival),
            2 => Some(Self::RunQueue),
            3 => Some(Self::Blocked),
            4 => Some(Self::SamplingThreshold),
            _ => None,
        }
    }
}

/// A parent besides the one in the record: a transaction that is merged or batched into this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FurtherParent {
    /// Its chain.
    pub chain: ChainId,
    /// Its id.
    pub id: TransactionId,
    /// What its correlator said of its root; `None` for a foreign one, which says nothing.
    pub root: Option<ParentRoot>,
}

/// What a correlator says of the root of a further parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParentRoot {
    /// When the root started: UTC, nanoseconds since 1970, by the root's clock.
    pub start_ns: i64,
    /// The root's process.
    pub process: ProcessId,
    /// Steps from the root to the further parent.
    pub level: u16,
    /// The classes from the root to the further parent.
    pub path: PathId,
}

/// What few rows have. Where a field is `None` the source did not say: unknown is not 0.
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
    /// Parents besides the one in the record.
    pub further_parents: Vec<FurtherParent>,
}

impl Extras {
    /// What a context says of them.
    pub fn of(context: &[u8]) -> Self {
        let mut extras = Self::default();
        context::entries(context).for_each(|entry| extras.take(entry));
        extras
    }

    /// Takes in an entry of a context; properties and metrics are others' to take.
    pub(crate) fn take(&mut self, entry: Entry<'_>) {
        match entry {
            Entry::Property(..) | Entry::Metric(..) => {}
            Entry::Parent(parent) => self.further_parents.push(parent),
            Entry::Field(Field::Arrival, bits) => self.arrival_ns = Some(bits.cast_signed()),
            Entry::Field(Field::RunQueue, ns) => self.run_queue_ns = Some(ns),
            Entry::Field(Field::Blocked, ns) => self.blocked_ns = Some(ns),
            Entry::Field(Field::SamplingThreshold, threshold) => {
                self.sampling_threshold = Some(threshold);
            }
        }
    }

    /// The entries that say it in a context.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let fields = [
            (Field::Arrival, self.arrival_ns.map(i64::cast_unsigned)),
            (Field::RunQueue, self.run_queue_ns),
            (Field::Blocked, self.blocked_ns),
            (Field::SamplingThreshold, self.sampling_threshold),
        ];
        let fields = fields.into_iter();
        let fields = fields.filter_map(|(field, number)| Some(Entry::Field(field, number?)));
        fields.chain(self.further_parents.iter().map(|parent| Entry::Parent(*parent)))
    }
}
