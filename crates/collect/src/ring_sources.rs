//! The rings that are being read.

use crate::descriptors;
use crate::ring_destination::RingDestination;
use crate::ring_source::{DELIVERED_EVERY_NS, PUBLISHED_WITHIN_NS, Pass, RingSource};
use crate::status::{FailedRing, ProcessStatus, Status};
use chronoscope_clock as clock;
use chronoscope_model::{Batch, Names, ProcessId};
use chronoscope_record::read::{MEMORY_BYTES_MAX, RingError, remove_if_stale, rings_of};
use chronoscope_store::{DELIVERED_ALL, Loss, Positions};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// All rings of a folder.
#[derive(Debug)]
pub(crate) struct RingSources {
    folder: PathBuf,
    /// Only programs that call themselves so.
    application: Option<String>,
    /// Rings of others.
    passed_over: BTreeSet<PathBuf>,
    sources: BTreeMap<PathBuf, RingSource>,
    /// Rings that were read as far as they can be and whose files stay: they are not opened again.
    closed: BTreeMap<PathBuf, (ProcessId, ProcessStatus)>,
    /// Ring files, or the folder, that cannot be read, with the reason.
    failed: BTreeMap<PathBuf, String>,
    /// Number of rings that may be open at once, and of those that wait for that.
    open_max: usize,
    waiting: usize,
    memory_bytes_max: u64,
    /// Rings in which damage was found since the start.
    damaged: u64,
    /// Losses with rings that were given up, kept until the store has taken them.
    given_up: Vec<Loss>,
    /// When rings were looked for last, and nothing that was there before can be missed: of this
    /// host's programs and of those that start later.
    looked_ns: i64,
    looked_stored_ns: i64,
    /// Interval at which the read positions of rings are noted; they are noted at every append when
    /// the collector ends.
    deliveries_every_ns: i64,
}

/// Notes that are stored together with the rows of a pass.
#[derive(Debug, Default)]
pub(crate) struct PassNotes {
    pub(crate) names: Option<Names>,
    pub(crate) cursors: Vec<(ProcessId, Positions)>,
    pub(crate) lost: Vec<(ProcessId, u64)>,
    pub(crate) losses: Vec<Loss>,
    pub(crate) delivered: Vec<(ProcessId, i64)>,
}

impl RingSources {
    /// Sources of the rings in `folder`, limited to programs named `application` if one is given.
    pub(crate) fn new(folder: PathBuf, application: Option<String>) -> Self {
        Self {
            folder,
            application,
            passed_over: BTreeSet::new(),
            sources: BTreeMap::new(),
            closed: BTreeMap::new(),
            failed: BTreeMap::new(),
            open_max: descriptors::rings_open_max(),
            waiting: 0,
            memory_bytes_max: MEMORY_BYTES_MAX,
            damaged: 0,
            given_up: Vec::new(),
            looked_ns: 0,
            looked_stored_ns: 0,
            deliveries_every_ns: DELIVERED_EVERY_NS,
        }
    }

    /// Looks for rings that are new. One that cannot be opened is tried again at every look: its
    /// program may be just starting. As many are opened as may be open at once; the others follow
    /// as those are read to their ends whose processes have ended.
    pub(crate) fn look(&mut self, destination: &RingDestination) {
        let begun_ns = clock::utc_now_ns();
        let found: BTreeSet<PathBuf> = match rings_of(&self.folder) {
            Ok(found) => found.into_iter().collect(),
            Err(error) => {
                self.failed.insert(self.folder.clone(), reason(&error));
                return;
            }
        };
        self.failed.retain(|path, _| found.contains(path));
        self.passed_over.retain(|path| found.contains(path));
        self.closed.retain(|path, _| found.contains(path));
        let mut new: Vec<PathBuf> = found.into_iter().filter(|path| !self.knows(path)).collect();
        // The youngest first: their processes may still overwrite unread rows.
        new.sort_by_cached_key(|path| Reverse(start_of(path)));
        self.waiting = 0;
        for path in new {
            if self.sources.len() < self.open_max {
                self.open(path, destination);
            } else {
                self.waiting += 1;
            }
        }
        if self.waiting == 0 {
            self.looked_ns = begun_ns.saturating_sub(PUBLISHED_WITHIN_NS);
        }
    }

    /// Whether a ring is read, or not meant to be.
    fn knows(&self, path: &Path) -> bool {
        self.sources.contains_key(path)
            || self.passed_over.contains(path)
            || self.closed.contains_key(path)
    }

    fn open(&mut self, path: PathBuf, destination: &RingDestination) {
        match RingSource::open(&path, destination) {
            Ok(source) if !source.is_of(self.application.as_deref()) => {
                self.passed_over.insert(path);
            }
            Ok(source) => {
                self.failed.remove(&path);
                self.sources.insert(path, source);
                self.bound_memory();
            }
            Err(error) => {
                self.failed.insert(path, reason(&error));
            }
        }
    }

    /// Whether all rings that are there were opened once, or cannot be.
    pub(crate) fn has_seen_all(&self) -> bool {
        self.waiting == 0 && !self.failed.contains_key(&self.folder)
    }

    /// Reads what is new in all rings into `batch`, which is to hold at most `rows_max` rows.
    /// `fair_rows` is the most that one ring may give before the others have had their turn.
    pub(crate) fn drain(&mut self, rows_max: usize, fair_rows: usize, batch: &mut Batch) -> Pass {
        let mut pass = Pass::default();
        // Asked before any ring is read: what ends later may be missed by this pass.
        let begun_ns = clock::utc_now_ns();
        for source in self.sources.values_mut() {
            let room = rows_max.saturating_sub(batch.len());
            if room == 0 {
                pass.more = true;
                break;
            }
            let was_whole = source.damage().is_none();
            source.drain(room.min(fair_rows), begun_ns, batch, &mut pass);
            self.damaged += u64::from(was_whole && source.damage().is_some());
        }
        self.bound_memory();
        pass
    }

    /// Gives up the rings that take most memory while all together take too much.
    fn bound_memory(&mut self) {
        let bytes = |source: &RingSource| source.ring.memory_bytes();
        let mut sum: u64 = self.sources.values().map(bytes).sum();
        while sum > self.memory_bytes_max {
            let largest = self.sources.iter().max_by_key(|(_, source)| bytes(source));
            let Some(path) = largest.map(|(path, _)| path.clone()) else { return };
            let Some(mut source) = self.sources.remove(&path) else { return };
            sum -= bytes(&source);
            self.given_up.push(source.abandon());
            let reason = format!(
                "not read: its names and threads take {} bytes of memory, and all rings together \
                 may take {}; is it a ring of one of your programs?",
                bytes(&source),
                self.memory_bytes_max
            );
            self.close(path, &source, reason);
        }
    }

    /// Closes a ring whose file stays.
    fn close(&mut self, path: PathBuf, source: &RingSource, reason: String) {
        self.closed.insert(path.clone(), (source.process, source.status()));
        self.failed.insert(path, reason);
    }

    /// The notes to store together with the rows drained since the last [`Self::stored`].
    pub(crate) fn notes(&self) -> PassNotes {
        let mut notes = PassNotes::default();
        if self.is_look_due() {
            notes.delivered.push((ProcessId::NONE, self.looked_ns));
        }
        notes.losses.extend(&self.given_up);
        let given_up = self.given_up.iter().map(|loss| (loss.process, DELIVERED_ALL));
        notes.delivered.extend(given_up);
        for source in self.sources.values() {
            if source.drained != source.stored {
                let pairs = source.drained.0.iter().map(|(block, next)| (*block, *next));
                notes.cursors.push((source.process, pairs.collect()));
            }
            notes.lost.extend(source.unsaid_lost().map(|lost| (source.process, lost)));
            notes.losses.extend(&source.losses);
            if source.is_delivery_due(self.deliveries_every_ns) {
                notes.delivered.push((source.process, source.delivered_ns));
            }
            if source.names_unsaid {
                notes.names.get_or_insert_default().merge(source.ring.names());
            }
        }
        notes
    }

    /// Notes that all drained rows were taken by the store, which now goes up to `row`.
    pub(crate) fn stored(&mut self, row: u64) {
        if self.is_look_due() {
            self.looked_stored_ns = self.looked_ns;
        }
        self.given_up.clear();
        for source in self.sources.values_mut() {
            source.stored(row, self.deliveries_every_ns);
        }
    }

    /// Whether the time of the last search for rings is due to be noted.
    const fn is_look_due(&self) -> bool {
        self.looked_ns.saturating_sub(self.looked_stored_ns) >= self.deliveries_every_ns
    }

    /// Has everything noted from now on, because nothing comes after it.
    pub(crate) const fn end(&mut self) {
        self.deliveries_every_ns = 1;
    }

    /// Closes the rings of dead processes whose rows are durable, and removes their files if
    /// `remove` says so and nothing in them was damaged beyond reading. The processes whose files
    /// are gone.
    pub(crate) fn close_finished(&mut self, durable_row: u64, remove: bool) -> Vec<ProcessId> {
        let is_done = |source: &RingSource| source.is_finished(durable_row);
        let done: Vec<PathBuf> = self
            .sources
            .iter()
            .filter(|(_, source)| is_done(source))
            .map(|(path, _)| path.clone())
            .collect();
        let mut gone = Vec::new();
        for path in done {
            let Some(source) = self.sources.remove(&path) else { continue };
            if source.is_broken() {
                let reason = format!(
                    "damaged: {}; rows that could not be read are lost: remove the file when you \
                     have looked into it",
                    source.damage().unwrap_or_default()
                );
                self.close(path, &source, reason);
            } else if !remove {
                self.closed.insert(path, (source.process, source.status()));
            } else {
                match remove_if_stale(&path) {
                    Ok(true) => gone.push(source.process),
                    // Somebody else has removed it.
                    Err(RingError::Io { source: error, .. })
                        if error.kind() == io::ErrorKind::NotFound =>
                    {
                        gone.push(source.process);
                    }
                    Ok(false) => drop(self.sources.insert(path, source)),
                    Err(error) => {
                        self.failed.insert(path.clone(), reason(&error));
                        self.sources.insert(path, source);
                    }
                }
            }
        }
        gone
    }

    /// Writes the state of the processes into the status.
    pub(crate) fn fill(&self, status: &mut Status) {
        let open = self.sources.values().map(RingSource::status);
        let closed = self.closed.values().map(|(_, status)| status.clone());
        status.processes = open.chain(closed).collect();
        let failed = self.failed.iter();
        let failed =
            failed.map(|(path, reason)| FailedRing { path: path.clone(), reason: reason.clone() });
        status.failed_rings = failed.collect();
        status.waiting_rings = self.waiting as u64;
        status.damaged_rings = self.damaged;
    }

    /// The processes whose rings are here.
    pub(crate) fn processes(&self) -> BTreeSet<ProcessId> {
        let open = self.sources.values().map(|source| source.process);
        open.chain(self.closed.values().map(|(process, _)| *process)).collect()
    }
}

/// An error without the file's name where it begins with it: that stands beside it.
fn reason(error: &RingError) -> String {
    match error {
        RingError::Refused { reason, .. } => reason.clone(),
        error => error.to_string(),
    }
}

/// When the process of a ring began, by the ring's name (`APPLICATION.PID.START.ring`, START in
/// hexadecimal nanoseconds since 1970); 0 where the name says nothing.
fn start_of(path: &Path) -> u64 {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let start = stem.and_then(|stem| stem.rsplit_once('.'));
    start.and_then(|(_, start)| u64::from_str_radix(start, 16).ok()).unwrap_or(0)
}
