//! What one ring has at this moment.

use super::list::{RingSummary, whole};
use chronoscope_model::{Batch, Names, ProcessId};
use chronoscope_record::CpuMethod;
use chronoscope_record::read::{ClassStatistics, Ring, RingError, rings_of};
use std::path::Path;

/// Most last transactions of a report.
pub const LAST_MAX: usize = 10_000;
/// Most open transactions of a report; beyond, the youngest are left out.
pub const OPEN_MAX: usize = 10_000;
/// Most classes of a report; beyond, those with the fewest transactions are left out.
pub const CLASSES_MAX: usize = 256;

/// What one ring has at this moment. A part that is damaged is empty, and named in `damage`.
#[derive(Clone, Debug)]
pub struct RingReport {
    /// The process, and its ring in a few numbers.
    pub summary: RingSummary,
    /// Whether the process measures thread CPU time; else it is 0 in every record.
    pub measures_cpu: bool,
    /// Statistics of the classes that were used, most transactions first.
    pub classes: Vec<ClassStatistics>,
    /// Further classes.
    pub classes_left_out: u64,
    /// The last transactions by their ends, oldest first.
    pub last: Batch,
    /// Open transactions, oldest first: elapsed is until now, CPU time 0.
    pub open: Batch,
    /// Names of the classes.
    pub names: Names,
    /// Parts that cannot be read, and why: in words, with the byte.
    pub damage: Vec<String>,
}

impl RingReport {
    /// Reads the ring of a process, with its last `last` transactions, at most [`LAST_MAX`];
    /// `None` where no readable ring in the folder is of that process.
    ///
    /// # Errors
    /// When the folder is not read, or the ring was truncated or damaged so much that not even its
    /// numbers can be read.
    pub fn find(folder: &Path, process: ProcessId, last: usize) -> Result<Option<Self>, RingError> {
        let rings = rings_of(folder)?.into_iter().filter_map(|path| Ring::open(&path).ok());
        let ring = { rings }.find(|ring| ring.process_id() == process);
        ring.map(|mut ring| Self::read(&mut ring, last)).transpose()
    }

    /// Reads a ring, as [`Self::find`].
    ///
    /// # Errors
    /// When not even the ring's numbers can be read.
    pub fn read(ring: &mut Ring, last: usize) -> Result<Self, RingError> {
        let mut damage = Vec::new();
        let classes = whole("statistics", ring.statistics(), &mut damage);
        let last = whole("last transactions", ring.last(last.min(LAST_MAX)), &mut damage);
        let open = whole("open transactions", ring.open_transactions(), &mut damage);
        // A class may have come with the last transactions.
        whole("names", ring.refresh_names(), &mut damage);
        let mut opened: Vec<_> = open.iter().collect();
        opened.sort_by_key(|open| open.record.start_ns);
        let mut open = Batch::default();
        opened.iter().take(OPEN_MAX).for_each(|one| open.push(one.record, &one.context));
        let mut report = Self {
            summary: RingSummary::with_open(ring, opened.len())?,
            measures_cpu: ring.cpu_method() != CpuMethod::Off,
            classes,
            classes_left_out: 0,
            last,
            open,
            names: ring.names().clone(),
            damage,
        };
        report.classes.sort_by_key(|class| std::cmp::Reverse(class.count));
        report.bound_classes(CLASSES_MAX);
        Ok(report)
    }

    /// Leaves out the classes beyond `classes_max`, and counts them.
    pub(super) fn bound_classes(&mut self, classes_max: usize) {
        self.classes_left_out += self.classes.len().saturating_sub(classes_max) as u64;
        self.classes.truncate(classes_max);
    }
}
