//! The rings of a folder, each in a few numbers.

use chronoscope_model::{ProcessId, ProcessName};
use chronoscope_record::read::{Ring, RingError, rings_of};
use std::path::Path;

/// Most rings of a list; beyond, those of ended processes are left out first.
pub const RINGS_MAX: usize = 1000;
/// Most reasons why rings are not read; further ones are counted.
const FAILED_MAX: usize = 100;

/// The ring of one process, in a few numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingSummary {
    /// The process's id.
    pub id: ProcessId,
    /// The process.
    pub process: ProcessName,
    /// Whether the process runs.
    pub alive: bool,
    /// Transactions that it recorded since it began.
    pub recorded: u64,
    /// Transactions that it could not record since it began.
    pub lost: u64,
    /// Transactions that have not ended.
    pub open: u64,
}

impl RingSummary {
    /// A ring's numbers, with the number of its open transactions.
    ///
    /// # Errors
    /// When the ring is damaged or was truncated.
    pub(super) fn with_open(ring: &mut Ring, open: usize) -> Result<Self, RingError> {
        Ok(Self {
            id: ring.process_id(),
            alive: ring.is_alive(),
            recorded: ring.recorded()?,
            lost: ring.counters()?.dropped(),
            open: open as u64,
            process: ring.process().clone(),
        })
    }
}

/// A part of a ring that was read; an empty one, with the reason in `damage`, where it was not.
pub(super) fn whole<T: Default>(
    what: &str,
    read: Result<T, RingError>,
    damage: &mut Vec<String>,
) -> T {
    read.unwrap_or_else(|error| {
        damage.push(format!("{what}: {error}"));
        T::default()
    })
}

/// The rings of a folder, by application and process id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RingList {
    /// The readable rings, at most [`RINGS_MAX`].
    pub rings: Vec<RingSummary>,
    /// Why rings, parts of them, or the folder are not read: in words, with the file's name.
    pub failed: Vec<String>,
    /// Further rings, which are in neither list.
    pub left_out: u64,
}

impl RingList {
    /// Reads the rings of a folder. A folder that is not there has none.
    pub fn read(folder: &Path) -> Self {
        let mut list = Self::default();
        let found = rings_of(folder).unwrap_or_else(|error| {
            list.failed.push(error.to_string());
            Vec::new()
        });
        for path in found {
            let mut damage = Vec::new();
            let read = Ring::open(&path).and_then(|mut ring| {
                let open = whole("open transactions", ring.open_transactions(), &mut damage);
                RingSummary::with_open(&mut ring, open.len())
            });
            match read {
                // One of which a part is damaged is shown, and named besides.
                Ok(summary) => list.rings.push(summary),
                Err(error @ (RingError::Refused { .. } | RingError::Io { .. })) => {
                    list.failed.push(error.to_string());
                    continue;
                }
                Err(error) => damage = vec![error.to_string()],
            }
            let named = damage.iter().map(|what| format!("{}: {what}", path.display()));
            list.failed.extend(named);
        }
        list.bound(RINGS_MAX);
        list
    }

    /// Leaves out what is beyond `rings_max`, and counts it.
    pub(super) fn bound(&mut self, rings_max: usize) {
        self.rings.sort_by_key(|ring| !ring.alive); // stable: the running ones first
        let beyond = self.rings.len().saturating_sub(rings_max)
            + self.failed.len().saturating_sub(FAILED_MAX);
        self.rings.truncate(rings_max);
        self.failed.truncate(FAILED_MAX);
        self.left_out = self.left_out.saturating_add(beyond as u64);
        self.rings.sort_by(|a, b| {
            let key = |ring: &RingSummary| (ring.process.application.clone(), ring.process.pid);
            key(a).cmp(&key(b))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(pid: u32, alive: bool) -> RingSummary {
        let (application, host) = ("A".to_owned(), "h".to_owned());
        let process = ProcessName { application, host, pid, start_ns: 1 };
        RingSummary { id: process.id(), process, alive, recorded: 0, lost: 0, open: 0 }
    }

    #[test]
    fn ended_processes_are_left_out_first() {
        let rings = vec![ring(3, false), ring(2, true), ring(1, false), ring(4, true)];
        let mut list = RingList { rings, ..RingList::default() };
        list.bound(3);
        let pids: Vec<u32> = list.rings.iter().map(|ring| ring.process.pid).collect();
        assert_eq!((pids, list.left_out), (vec![2, 3, 4], 1));
    }

    #[test]
    fn a_folder_that_is_not_there_has_no_rings_and_one_that_is_none_is_reported() {
        assert_eq!(RingList::read(Path::new("/nowhere/at/all")), RingList::default());
        let file = tempfile::NamedTempFile::new().unwrap();
        let list = RingList::read(file.path());
        assert!(list.failed[0].ends_with("it is not a folder"), "{list:?}");
    }
}
