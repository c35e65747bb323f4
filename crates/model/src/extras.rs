//! Fields that few rows have: further parents, and values that not every source measures.

use crate::context::{self, Entry};
use crate::{ChainId, PathId, ProcessId, TransactionId};

/// A number of a transaction that not every source knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Field {
    /// Arrival time of its input: UTC, nanoseconds since 1970, as the bits of an `i64`.
    Arrival = 1,
    /// Run-queue delay: time that its thread was runnable without a processor, in nanoseconds.
    RunQueue = 2,
    /// Time that its thread was blocked in the kernel, in nanoseconds.
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

/// A parent in addition to the record's: a transaction that is merged or batched into this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FurtherParent {
    /// The parent's chain.
    pub chain: ChainId,
    /// The parent's id.
    pub id: TransactionId,
    /// The parent's root as its correlator gives it; `None` for a foreign correlator.
    pub root: Option<ParentRoot>,
}

/// Root of a further parent, as given by its correlator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParentRoot {
    /// Start time of the root: UTC, nanoseconds since 1970, by the root's clock.
    pub start_ns: i64,
    /// The root's process.
    pub process: ProcessId,
    /// Steps from the root to the further parent.
    pub level: u16,
    /// The classes from the root to the further parent.
    pub path: PathId,
}

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
