//! One ring that is being read, and how far.

use crate::ring_destination::RingDestination;
use crate::status::ProcessStatus;
use chronoscope_clock as clock;
use chronoscope_model::{Batch, ProcessId};
use chronoscope_record::read::{Cursors, Ring, RingError};
use chronoscope_store::{DELIVERED_ALL, Loss};
use std::path::Path;

/// Longest time between a transaction's end stamp and its record in the ring: the thread reads
/// the clock first, and may be descheduled before it publishes the record.
pub(crate) const PUBLISHED_WITHIN_NS: i64 = 250_000_000;
/// Interval at which the read positions of rings are noted: a note costs 25 bytes of the log for
/// each living
/// process.
pub(crate) const DELIVERED_EVERY_NS: i64 = 1_000_000_000;

/// Result of one pass over the rings.
#[derive(Debug, Default)]
pub(crate) struct Pass {
    /// Rows of the ring that gave most.
    pub(crate) most: u64,
    /// Whether a ring overtook us.
    pub(crate) lapped: bool,
    /// Whether the batch was full before all rings were empty.
    pub(crate) more: bool,
}

/// One ring and how far it was read.
#[derive(Debug)]
pub(crate) struct RingSource {
    pub(crate) ring: Ring,
    pub(crate) process: ProcessId,
    alive: bool,
    /// Read positions as of the last append that was taken.
    pub(crate) stored: Cursors,
    /// Read positions as of the last drain.
    pub(crate) drained: Cursors,
    lost_stored: u64,
    lost: u64,
    rows: u64,
    /// Set when the process was seen dead and nothing more can be read: the row that must be
    /// durable before the ring may go.
    finished_at: Option<u64>,
    /// Names that were read and are not stored yet.
    pub(crate) names_unsaid: bool,
    /// Rows that the recorder dropped, as of the last drain.
    dropped: u64,
    /// Losses since the last append that was taken.
    pub(crate) losses: Vec<Loss>,
    /// When the ring was last read to its end: what ended before is not in it any more, or known
    /// to be lost.
    pub(crate) delivered_ns: i64,
    delivered_stored_ns: i64,
    /// The last damage that was found: it is told for as long as the ring is here.
    damage: Option<String>,
    /// Whether damage has lost an unknown number of rows.
    is_broken: bool,
}

impl RingSource {
    pub(crate) fn open(path: &Path, destination: &RingDestination) -> Result<Self, RingError> {
        let ring = Ring::open(path)?;
        let process = ring.process_id();
        let cursors =
            Cursors(destination.cursors(process).unwrap_or_default().into_iter().collect());
        let ledger = destination.ledger();
        let lost = ledger.lost.get(&process).copied().unwrap_or(0);
        let delivered_ns = ledger.deliveries.of(process).unwrap_or(ring.process().start_ns);
        Ok(Self {
            alive: ring.is_alive(),
            ring,
            process,
            stored: cursors.clone(),
            drained: cursors,
            lost_stored: lost,
            lost,
            rows: 0,
            finished_at: None,
            names_unsaid: true,
            // The ring counts since its process began; a collector before this one has noted that.
            dropped: ledger.losses.rows(process).saturating_sub(lost),
            losses: Vec::new(),
            delivered_ns,
            delivered_stored_ns: delivered_ns,
            damage: None,
            is_broken: false,
        })
    }

    /// Whether its program is the one that is wanted.
    pub(crate) fn is_of(&self, application: Option<&str>) -> bool {
        application.is_none_or(|wanted| self.ring.process().application == wanted)
    }

    /// Reads at most `rows_max` rows into `batch`. `begun_ns` is before the pass began.
    pub(crate) fn drain(
        &mut self,
        rows_max: usize,
        begun_ns: i64,
        batch: &mut Batch,
        pass: &mut Pass,
    ) {
        // Asked before reading: what a process wrote before it was seen dead is read after.
        self.alive = self.ring.is_alive();
        let (rows, advance) = (batch.len(), position(&self.drained));
        let drained = self.ring.drain(&mut self.drained, rows_max, batch).map(drop);
        let read = (batch.len() - rows) as u64;
        // Overwritten before they were read, or in a slot that was refused.
        let lost = position(&self.drained).saturating_sub(advance).saturating_sub(read);
        // Names come into the ring before the records that need them, so they are read after.
        let names = self.ring.refresh_names();
        self.names_unsaid |= matches!(names, Ok(true));
        self.rows += read;
        self.lost += lost;
        pass.most = pass.most.max(read);
        pass.more |= read >= rows_max as u64;
        pass.lapped |= lost > 0;
        // A damaged head is told by the drain.
        let dropped = self.ring.counters().map_or(self.dropped, |counters| counters.dropped());
        self.note_loss(lost + dropped.saturating_sub(self.dropped));
        self.dropped = self.dropped.max(dropped);
        let damage = drained.and(names.map(drop)).err();
        let is_unknown = damage.as_ref().is_some_and(|error| !is_counted(error));
        self.damage = damage.map(|error| error.to_string()).or_else(|| self.damage.take());
        let is_at_end = !self.alive && read == 0 && lost == 0;
        if is_unknown {
            // The rest of an ended process's ring is read first, so that its losses make one entry.
            if self.alive || is_at_end {
                self.note_unknown_loss(begun_ns);
            }
            self.is_broken = true;
        } else if read < rows_max as u64 {
            self.delivered_ns = self.delivered_ns.max(begun_ns.saturating_sub(PUBLISHED_WITHIN_NS));
        }
        // A damaged ring that nobody writes and that gives nothing more is at its end.
        if !is_at_end {
            self.finished_at = None;
        } else if self.finished_at.is_none() {
            self.finished_at = Some(u64::MAX); // until `stored` says the row
        }
        if self.finished_at.is_some() {
            self.delivered_ns = DELIVERED_ALL;
        }
    }

    /// Notes that rows were lost since the ring was last read to its end.
    fn note_loss(&mut self, rows: u64) {
        if rows > 0 {
            let until_ns = clock::utc_now_ns();
            let from_ns = self.delivered_ns.min(until_ns);
            self.losses.push(Loss { process: self.process, from_ns, until_ns, rows });
        }
    }

    /// Notes that rows of unknown number were lost until now in a ring that cannot be read: what
    /// ended before now is known to be lost. Of a living process at once, and then once a second.
    fn note_unknown_loss(&mut self, begun_ns: i64) {
        let from_ns = self.delivered_ns;
        let until_ns = if self.alive { begun_ns } else { clock::utc_now_ns() };
        let is_again = self.alive && self.is_broken;
        let due_ns = from_ns.saturating_add(if is_again { DELIVERED_EVERY_NS } else { 0 });
        if until_ns >= due_ns {
            self.losses.push(Loss { process: self.process, from_ns, until_ns, rows: 0 });
            self.delivered_ns = until_ns;
        }
    }

    /// Gives the ring up: whatever it has and will have is lost, and how much is not known.
    pub(crate) fn abandon(&mut self) -> Loss {
        let from_ns = self.delivered_ns;
        self.delivered_ns = DELIVERED_ALL;
        Loss { process: self.process, from_ns, until_ns: i64::MAX, rows: 0 }
    }

    /// Whether the position up to which the ring was read is due to be noted.
    pub(crate) const fn is_delivery_due(&self, every_ns: i64) -> bool {
        self.delivered_ns.saturating_sub(self.delivered_stored_ns) >= every_ns
    }

    /// Total number of its lost rows, where the store does not have it yet.
    pub(crate) fn unsaid_lost(&self) -> Option<u64> {
        (self.lost != self.lost_stored).then_some(self.lost)
    }

    /// Notes that all drained rows were taken by the store, which now goes up to `row`.
    pub(crate) fn stored(&mut self, row: u64, deliveries_every_ns: i64) {
        self.stored.clone_from(&self.drained);
        self.lost_stored = self.lost;
        self.losses.clear();
        if self.is_delivery_due(deliveries_every_ns) {
            self.delivered_stored_ns = self.delivered_ns;
        }
        self.names_unsaid = false;
        if let Some(at) = &mut self.finished_at {
            *at = (*at).min(row);
        }
    }

    /// Whether the process has ended and all that can be read of its ring is durable.
    pub(crate) fn is_finished(&self, durable_row: u64) -> bool {
        self.finished_at.is_some_and(|at| at <= durable_row)
    }

    /// Whether parts of the ring cannot be read; its file is then kept for inspection.
    pub(crate) const fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// The last damage that was found.
    pub(crate) fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    pub(crate) fn status(&self) -> ProcessStatus {
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
            damage: self.damage.clone(),
        }
    }
}

/// Number of records read from all threads of a ring.
fn position(cursors: &Cursors) -> u64 {
    cursors.0.values().fold(0, |sum, next| sum.saturating_add(*next))
}

/// Whether the number of records lost by an error is known.
const fn is_counted(error: &RingError) -> bool {
    matches!(error, RingError::Slot { .. })
}
