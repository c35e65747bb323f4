//! The rings that are being read.

use crate::sink::Sink;
use crate::status::{FailedRing, ProcessStatus};
use chronoscope_clock as clock;
use chronoscope_model::{Batch, Names, ProcessId};
use chronoscope_record::read::{Cursors, Ring, RingError, find_rings, remove_if_stale};
use chronoscope_store::{DELIVERED_ALL, Loss, Positions};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// One ring and how far it was read.
#[derive(Debug)]
struct Source {
    ring: Ring,
    /// As of the last append that was taken.
    stored: Cursors,
    /// As of the last drain.
    drained: Cursors,
    lost_stored: u64,
    lost: u64,
    rows: u64,
    /// Set when the process was seen dead and its ring empty after that: the row that must be
    /// durable before the ring may go.
    finished_at: Option<u64>,
    alive: bool,
    /// Names that were read and are not stored yet.
    names_unsaid: bool,
    process: ProcessId,
    /// Rows that the recorder dropped, as of the last drain.
    dropped: u64,
    /// What was lost since the last append that was taken.
    losses: Vec<Loss>,
    /// When the ring was last read to its end: nothing that ended before is still in it.
    delivered_ns: i64,
    delivered_stored_ns: i64,
    /// Why it could not be read to the end, the last time.
    error: Option<String>,
}

/// How long a transaction's end may be stamped before its record is in the ring: the thread reads
/// the clock first, and may be descheduled before it publishes the record.
const PUBLISHED_WITHIN_NS: i64 = 250_000_000;
/// How often it is noted how far rings are read: it costs 25 bytes of the log for each living
/// process.
const DELIVERED_EVERY_NS: i64 = 1_000_000_000;

/// All rings of a folder.
#[derive(Debug)]
pub(crate) struct Sources {
    folder: PathBuf,
    /// Only programs that call themselves so.
    application: Option<String>,
    /// Rings of others.
    passed_over: BTreeSet<PathBuf>,
    sources: BTreeMap<PathBuf, Source>,
    failed: BTreeMap<PathBuf, String>,
    /// When rings were looked for last, and nothing that was there before can be missed: of this
    /// host's programs and of those that start later.
    looked_ns: i64,
    looked_stored_ns: i64,
    /// How often it is noted how far rings are read: at every append when the collector ends.
    deliveries_every_ns: i64,
}

/// What one pass over the rings has brought.
#[derive(Debug, Default)]
pub(crate) struct Pass {
    /// Rows of the ring that gave most.
    pub(crate) most: u64,
    /// Whether a ring overtook us.
    pub(crate) lapped: bool,
    /// Whether the batch was full before all rings were empty.
    pub(crate) more: bool,
}

/// What goes into the store together with the rows of a pass.
#[derive(Debug, Default)]
pub(crate) struct PassNotes {
    pub(crate) names: Option<Names>,
    pub(crate) cursors: Vec<(ProcessId, Positions)>,
    pub(crate) lost: Vec<(ProcessId, u64)>,
    pub(crate) losses: Vec<Loss>,
    pub(crate) delivered: Vec<(ProcessId, i64)>,
}

impl Sources {
    /// Those in `folder`, of programs that call themselves `application`, if one is given.
    pub(crate) fn new(folder: PathBuf, application: Option<String>) -> Self {
        let (sources, failed) = (BTreeMap::new(), BTreeMap::new());
        let passed_over = BTreeSet::new();
        Self {
            folder,
            application,
            passed_over,
            sources,
            failed,
            looked_ns: 0,
            looked_stored_ns: 0,
            deliveries_every_ns: DELIVERED_EVERY_NS,
        }
    }

    /// Looks for rings that are new. One that cannot be opened is tried again at every look: its
    /// program may be just starting.
    pub(crate) fn look(&mut self, sink: &Sink) {
        let begun_ns = clock::utc_now_ns();
        let found: BTreeSet<PathBuf> = find_rings(&self.folder).into_iter().collect();
        self.looked_ns = begun_ns.saturating_sub(PUBLISHED_WITHIN_NS);
        self.failed.retain(|path, _| found.contains(path));
        self.passed_over.retain(|path| found.contains(path));
        for path in found {
            if self.sources.contains_key(&path) || self.passed_over.contains(&path) {
                continue;
            }
            match Source::open(&path, sink) {
                Ok(source) if !source.is_of(self.application.as_deref()) => {
                    self.passed_over.insert(path);
                }
                Ok(source) => {
                    self.failed.remove(&path);
                    self.sources.insert(path, source);
                }
                Err(error) => {
                    self.failed.insert(path, error.to_string());
                }
            }
        }
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
            // What a ring gave before it failed is in the batch, and its cursors stand behind
            // that: it stays, and is tried again.
            let result = source.drain(room.min(fair_rows), begun_ns, batch, &mut pass);
            source.error = result.err().map(|error| error.to_string());
        }
        pass
    }

    /// What must be stored together with the rows drained since the last [`Self::stored`].
    pub(crate) fn notes(&self) -> PassNotes {
        let mut notes = PassNotes::default();
        if self.is_look_due() {
            notes.delivered.push((ProcessId::NONE, self.looked_ns));
        }
        for source in self.sources.values() {
            if source.drained != source.stored {
                let pairs = source.drained.0.iter().map(|(block, next)| (*block, *next));
                notes.cursors.push((source.process, pairs.collect()));
            }
            if source.lost != source.lost_stored {
                notes.lost.push((source.process, source.lost));
            }
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
        for source in self.sources.values_mut() {
            source.stored.clone_from(&source.drained);
            source.lost_stored = source.lost;
            source.losses.clear();
            if source.is_delivery_due(self.deliveries_every_ns) {
                source.delivered_stored_ns = source.delivered_ns;
            }
            source.names_unsaid = false;
            if let Some(at) = &mut source.finished_at {
                *at = (*at).min(row);
            }
        }
    }

    /// Whether it is time to note when rings were looked for.
    const fn is_look_due(&self) -> bool {
        self.looked_ns.saturating_sub(self.looked_stored_ns) >= self.deliveries_every_ns
    }

    /// Has everything noted from now on, because nothing comes after it.
    pub(crate) const fn end(&mut self) {
        self.deliveries_every_ns = 1;
    }

    /// Removes the rings of dead processes whose rows are durable; their processes.
    pub(crate) fn remove_finished(&mut self, durable_row: u64) -> Vec<ProcessId> {
        let is_done = |source: &Source| source.finished_at.is_some_and(|at| at <= durable_row);
        let done: Vec<PathBuf> = self
            .sources
            .iter()
            .filter(|(_, source)| is_done(source))
            .map(|(path, _)| path.clone())
            .collect();
        let mut gone = Vec::new();
        for path in done {
            match remove_if_stale(&path) {
                Ok(true) => {
                    gone.extend(self.sources.remove(&path).map(|source| source.process));
                }
                Ok(false) => {}
                Err(error) => {
                    self.failed.insert(path, error.to_string());
                }
            }
        }
        gone
    }

    /// How the processes are doing.
    pub(crate) fn status(&self) -> (Vec<ProcessStatus>, Vec<FailedRing>) {
        let processes = self.sources.values().map(Source::status).collect();
        let failed = self
            .failed
            .iter()
            .map(|(path, reason)| FailedRing { path: path.clone(), reason: reason.clone() });
        (processes, failed.collect())
    }

    /// Whether a process's ring is here.
    pub(crate) fn processes(&self) -> BTreeSet<ProcessId> {
        self.sources.values().map(|source| source.process).collect()
    }
}

impl Source {
    fn open(path: &Path, sink: &Sink) -> Result<Self, RingError> {
        let ring = Ring::open(path)?;
        let process = ring.process_id();
        let cursors = Cursors(sink.cursors(process).unwrap_or_default().into_iter().collect());
        let ledger = sink.ledger();
        let lost = ledger.lost.get(&process).copied().unwrap_or(0);
        let delivered_ns = ledger.deliveries.of(process).unwrap_or(ring.process().start_ns);
        Ok(Self {
            alive: ring.is_alive(),
            ring,
            stored: cursors.clone(),
            drained: cursors,
            lost_stored: lost,
            lost,
            rows: 0,
            finished_at: None,
            names_unsaid: true,
            process,
            dropped: 0,
            losses: Vec::new(),
            delivered_ns,
            delivered_stored_ns: delivered_ns,
            error: None,
        })
    }

    /// Whether its program is the one that is wanted.
    fn is_of(&self, application: Option<&str>) -> bool {
        application.is_none_or(|wanted| self.ring.process().application == wanted)
    }

    fn drain(
        &mut self,
        rows_max: usize,
        begun_ns: i64,
        batch: &mut Batch,
        pass: &mut Pass,
    ) -> Result<(), RingError> {
        // Asked before reading: what a process wrote before it was seen dead is read after.
        self.alive = self.ring.is_alive();
        let before = batch.len();
        let drained = self.ring.drain(&mut self.drained, rows_max, batch);
        let read = (batch.len() - before) as u64;
        self.rows += read;
        pass.most = pass.most.max(read);
        pass.more |= read >= rows_max as u64;
        // Names come into the ring before the records that need them, so they are read after.
        self.names_unsaid |= self.ring.refresh_names()?;
        let drained = drained?;
        self.lost += drained.lapped;
        let dropped = self.ring.counters().map(|counters| counters.dropped());
        let dropped = dropped.unwrap_or(self.dropped); // a damaged head is told by the next drain
        self.note_loss(drained.lapped + dropped.saturating_sub(self.dropped));
        self.dropped = dropped;
        pass.lapped |= drained.lapped > 0;
        if read < rows_max as u64 {
            self.delivered_ns = self.delivered_ns.max(begun_ns.saturating_sub(PUBLISHED_WITHIN_NS));
        }
        let empty = read == 0 && drained.lapped == 0;
        if self.alive || !empty {
            self.finished_at = None;
        } else if self.finished_at.is_none() {
            self.finished_at = Some(u64::MAX); // until `stored` says the row
        }
        if self.finished_at.is_some() {
            self.delivered_ns = DELIVERED_ALL;
        }
        Ok(())
    }

    /// Notes that rows were lost since the ring was last read to its end.
    fn note_loss(&mut self, rows: u64) {
        if rows > 0 {
            let until_ns = clock::utc_now_ns();
            let from_ns = self.delivered_ns.min(until_ns);
            self.losses.push(Loss { process: self.process, from_ns, until_ns, rows });
        }
    }

    /// Whether it is time to note how far the ring is read.
    const fn is_delivery_due(&self, every_ns: i64) -> bool {
        self.delivered_ns.saturating_sub(self.delivered_stored_ns) >= every_ns
    }

    fn status(&self) -> ProcessStatus {
        let name = self.ring.process();
        let unrecorded = self.ring.counters().map_or(0, |counters| {
            counters.too_deep
                + counters.classes_full
                + counters.started_full
                + counters.no_space
                + counters.thread_ended
        });
        ProcessStatus {
            application: name.application.clone(),
            host: name.host.clone(),
            pid: name.pid,
            alive: self.alive,
            rows: self.rows,
            lost_rows: self.lost,
            unrecorded,
        }
    }
}
