//! Reading rings from outside. Under construction: no ring is found yet.

use chronoscope_model::{
    Batch, ClassId, ClassName, Histogram, Names, ProcessId, ProcessName, Record,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Why a ring cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RingError {
    /// The file cannot be opened or read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The bytes are not those of a ring.
    #[error("byte {position}: {what}")]
    Damaged {
        /// Where.
        position: u64,
        /// What is there and what should be.
        what: String,
    },
}

/// Which method told thread CPU time without a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuMethod {
    /// The thread's restartable sequence area tells switches.
    Rseq,
    /// The page of a perf event tells switches.
    PerfPage,
    /// One exact clock read at begin and at end.
    Exact,
    /// CPU time is not recorded.
    Off,
}

/// What a process did not record, by reason; counts since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Nested deeper than the bound.
    pub too_deep: u64,
    /// No class number was left.
    pub classes_full: u64,
    /// No slot was left for a started transaction.
    pub started_full: u64,
    /// The file could not grow.
    pub no_space: u64,
    /// Begun by a thread that was already ending.
    pub thread_ended: u64,
    /// Guards that were ended out of order.
    pub out_of_order: u64,
    /// Names that did not fit.
    pub names_full: u64,
}

/// Up to where each thread block was drained: block index to the next sequence number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursors(pub BTreeMap<u32, u64>);

/// What a drain did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    /// Records read.
    pub read: u64,
    /// Records that were overwritten before they were read.
    pub lapped: u64,
}

/// What a ring says about one class.
#[derive(Clone, Debug)]
pub struct ClassStatistics {
    /// The class.
    pub class: ClassId,
    /// Its name.
    pub name: ClassName,
    /// Whether it is recorded now.
    pub enabled: bool,
    /// Transactions ended.
    pub count: u64,
    /// Elapsed times, nanoseconds; sum, smallest and largest are exact.
    pub elapsed: Histogram,
    /// Thread CPU times, nanoseconds; sum, smallest and largest are exact.
    pub cpu: Histogram,
    /// Sum of process CPU times, nanoseconds, where the class asks for it.
    pub process_cpu_sum_ns: u64,
    /// The longest ones, longest first.
    pub worst: Batch,
}

/// A transaction that has not ended.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenTransaction {
    /// What is known so far; elapsed is until now, CPU 0.
    pub record: Record,
    /// Its context so far.
    pub context: Vec<u8>,
    /// How deep in its thread, outermost 0; `None` for one that was started with a handle.
    pub depth: Option<u32>,
}

/// The ring of one process.
#[derive(Debug)]
pub struct Ring {
    process: ProcessName,
    names: Names,
}

/// The rings in a folder.
pub fn find_rings(_folder: &Path) -> Vec<PathBuf> {
    Vec::new()
}

/// The folder where programs of this user put their rings.
pub fn default_folder() -> PathBuf {
    PathBuf::from("/dev/shm")
}

/// Removes the ring of a process that is no more; whether it did.
///
/// # Errors
/// When the file cannot be read or removed.
pub fn remove_if_stale(_path: &Path) -> Result<bool, RingError> {
    Ok(false)
}

impl Ring {
    /// Opens a ring file.
    ///
    /// # Errors
    /// When it is not a ring.
    pub fn open(path: &Path) -> Result<Self, RingError> {
        Err(RingError::Io { path: path.to_owned(), source: std::io::ErrorKind::Unsupported.into() })
    }

    /// The rings in a core file.
    ///
    /// # Errors
    /// When the file cannot be read or is no core file.
    pub fn open_core(path: &Path) -> Result<Vec<Self>, RingError> {
        Self::open(path).map(|ring| vec![ring])
    }

    /// The process.
    pub fn process(&self) -> &ProcessName {
        &self.process
    }

    /// The process's id.
    pub fn process_id(&self) -> ProcessId {
        self.process.id()
    }

    /// Whether the process lives.
    pub fn is_alive(&self) -> bool {
        false
    }

    /// How CPU time is measured.
    pub fn cpu_method(&self) -> CpuMethod {
        CpuMethod::Off
    }

    /// What was not recorded.
    ///
    /// # Errors
    /// When the ring is damaged.
    pub fn counters(&self) -> Result<Counters, RingError> {
        Ok(Counters::default())
    }

    /// The names as of the last refresh.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Reads names that were added; whether there were any.
    ///
    /// # Errors
    /// When the ring is damaged.
    pub fn refresh_names(&mut self) -> Result<bool, RingError> {
        Ok(false)
    }

    /// Appends at most `max_records` records that are new since `cursors` to `batch`.
    ///
    /// # Errors
    /// When the ring is damaged.
    pub fn drain(
        &mut self,
        _cursors: &mut Cursors,
        _max_records: usize,
        _batch: &mut Batch,
    ) -> Result<Drained, RingError> {
        Ok(Drained::default())
    }

    /// The statistics of all classes, all threads together.
    ///
    /// # Errors
    /// When the ring is damaged.
    pub fn statistics(&self) -> Result<Vec<ClassStatistics>, RingError> {
        Ok(Vec::new())
    }

    /// The last `count` records by end, oldest first.
    ///
    /// # Errors
    /// When the ring is damaged.
    pub fn last(&self, _count: usize) -> Result<Batch, RingError> {
        Ok(Batch::default())
    }

    /// What is open now.
    ///
    /// # Errors
    /// When the ring is damaged.
    pub fn open_transactions(&self) -> Result<Vec<OpenTransaction>, RingError> {
        Ok(Vec::new())
    }

    /// Switches a class on or off in the running process; whether the ring knows it.
    ///
    /// # Errors
    /// When the ring is damaged or may not be written.
    pub fn set_enabled(&self, _class: ClassId, _enabled: bool) -> Result<bool, RingError> {
        Ok(false)
    }
}
