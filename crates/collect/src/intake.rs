//! The loop that reads rings, whatever they go into.

use crate::duration::nanos;
use crate::maintenance::Maintenance;
use crate::ring_destination::RingDestination;
use crate::ring_source::Pass;
use crate::ring_sources::{PassNotes, RingSources};
use crate::status::Status;
use chronoscope_clock as clock;
use chronoscope_model::{Batch, ProcessId, ProcessName};
use chronoscope_record::read::is_running;
use chronoscope_store::{Append, DELIVERED_ALL, Loss, SPANS_WITHIN_NS};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Interval at which new rings are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Shortest and longest pause between two passes over the rings. A ring of the default size
/// holds what a thread records in 16 ms at a million a second.
const PAUSE: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(20));
/// Rows that the busiest ring should have for us when we come: an eighth of a default ring.
const ROWS_WANTED: f64 = 2048.0;
/// Pause before a refused append is tried again.
const RETRY_AFTER: Duration = Duration::from_millis(20);
/// Rows in one append.
const BATCH_ROWS: usize = 65_536;
/// Rows that one ring may give to it while others wait.
const FAIR_ROWS: usize = 32_768;
/// Time limit of a stop: programs may go on writing, and the disk may be full.
const STOP_WITHIN: Duration = Duration::from_secs(5);

/// Rings to read, and intervals.
#[derive(Clone, Debug)]
pub(crate) struct Rings {
    /// The folder where programs put their rings.
    pub(crate) ring_dir: PathBuf,
    /// Directory of the destination and of the status.
    pub(crate) dir: PathBuf,
    /// Interval at which rows are made durable.
    pub(crate) sync_every: Duration,
    /// Interval at which the status is reported and written.
    pub(crate) tell_every: Duration,
    /// Whether rings of dead processes are removed once their rows are durable.
    pub(crate) remove_rings: bool,
    /// Only programs that call themselves so.
    pub(crate) application: Option<String>,
}

/// Reads rings into `destination` until `stop` is set; then to their end, and syncs. `add`
/// completes a status before it is told. `finished` is called when all that will be in the
/// destination is, and before the last status is told.
pub(crate) fn run(
    destination: &RingDestination,
    options: &Rings,
    stop: &AtomicBool,
    add: &dyn Fn(&mut Status),
    tell: &mut dyn FnMut(&Status),
    finished: impl FnOnce(),
) -> Status {
    let maintenance = Maintenance::default();
    std::thread::scope(|scope| {
        scope.spawn(|| maintenance.sync_loop(destination, options.sync_every));
        scope.spawn(|| maintenance.maintain_loop(destination));
        let mut intake = Intake::new(destination, options, add, &maintenance);
        while !stop.load(Ordering::Relaxed) {
            intake.turn(tell);
        }
        intake.finish();
        finished();
        maintenance.stop();
        intake.end(tell)
    })
}

/// The thread that reads rings.
struct Intake<'a> {
    destination: &'a RingDestination,
    options: &'a Rings,
    add: &'a dyn Fn(&mut Status),
    maintenance: &'a Maintenance,
    sources: RingSources,
    batch: Batch,
    /// Processes whose rings are gone; said to the store with the next append.
    gone: Vec<ProcessId>,
    /// Whether rings that were removed while no collector ran are still to be found.
    is_new: bool,
    /// Processes that are known and whose rings are not here, and how far they have delivered.
    elsewhere: Vec<(ProcessId, Option<ProcessName>, i64)>,
    /// Possible losses in rings that somebody removed before they were read to their ends.
    unread: Vec<Loss>,
    pause: Duration,
    next_look_ns: u64,
    next_tell_ns: u64,
    last_pass_ns: u64,
    told: (u64, u64),
    status: Status,
}

impl<'a> Intake<'a> {
    fn new(
        destination: &'a RingDestination,
        options: &'a Rings,
        add: &'a dyn Fn(&mut Status),
        maintenance: &'a Maintenance,
    ) -> Self {
        let now_ns = clock::monotonic_ns();
        let mut intake = Self {
            destination,
            options,
            add,
            maintenance,
            sources: RingSources::new(options.ring_dir.clone(), options.application.clone()),
            batch: Batch::default(),
            gone: Vec::new(),
            is_new: true,
            elsewhere: Vec::new(),
            unread: Vec::new(),
            pause: PAUSE.0,
            next_look_ns: now_ns,
            next_tell_ns: now_ns,
            last_pass_ns: now_ns,
            told: (now_ns, 0),
            status: Status::begin(clock::utc_now_ns()),
        };
        intake.note_lost_spans();
        intake.look();
        intake
    }

    /// Looks for rings; once all that are there were seen, for those that are not there any more.
    fn look(&mut self) {
        self.sources.look(self.destination);
        if self.is_new && self.sources.has_seen_all() {
            self.is_new = false;
            self.elsewhere = self.not_here();
        }
        self.forget_ended();
    }

    /// Processes of which the store has cursors, and whose rings are not here: with the instants
    /// up to which they have delivered.
    fn not_here(&self) -> Vec<(ProcessId, Option<ProcessName>, i64)> {
        if self.options.application.is_some() {
            return Vec::new(); // the others may be there all the same
        }
        let there = self.sources.processes();
        let is_here = |process: &ProcessId| there.contains(process) || self.gone.contains(process);
        let ledger = self.destination.ledger();
        let missing = ledger.cursors.keys().filter(|process| !is_here(process));
        let missing = missing.map(|process| {
            let name = ledger.names.process(*process).cloned();
            (*process, name, ledger.deliveries.of(*process).unwrap_or(i64::MIN))
        });
        missing.collect()
    }

    /// Forgets the cursors of processes that have ended and whose rings somebody removed. What was
    /// in them and not read is lost; how much, nobody knows. While a process runs its ring is
    /// somewhere: the store is a copy, or another folder was read before. Nothing of that is known
    /// to be lost, and the store says of itself up to when the process has delivered.
    fn forget_ended(&mut self) {
        if self.elsewhere.is_empty() {
            return;
        }
        let (there, now_ns) = (self.sources.processes(), clock::utc_now_ns());
        let unread = &mut self.unread;
        let gone = &mut self.gone;
        self.elsewhere.retain(|(process, name, from_ns)| {
            let (process, from_ns) = (*process, *from_ns);
            if there.contains(&process) {
                return false;
            }
            if name.as_ref().is_some_and(is_running) {
                return true;
            }
            // What was read to its end before has lost nothing.
            if from_ns != DELIVERED_ALL {
                unread.push(Loss { process, from_ns, until_ns: now_ns, rows: 0 });
            }
            gone.push(process);
            false
        });
    }

    /// Spans that ended while nobody was here may have been dropped by their exporters, and those
    /// before that may never have left them.
    fn note_lost_spans(&mut self) {
        let (ledger, now_ns) = (self.destination.ledger(), clock::utc_now_ns());
        if let Some(seen_ns) =
            ledger.deliveries.collector_ns().filter(|_| self.destination.is_store())
        {
            let from_ns = seen_ns.saturating_sub(SPANS_WITHIN_NS);
            self.unread.push(Loss { process: ProcessId::NONE, from_ns, until_ns: now_ns, rows: 0 });
        }
    }

    /// One pass over the rings, and a pause.
    fn turn(&mut self, tell: &mut dyn FnMut(&Status)) {
        let now_ns = clock::monotonic_ns();
        if now_ns >= self.next_look_ns {
            self.next_look_ns = now_ns + nanos(LOOK_EVERY);
            self.look();
        }
        // Rows that were refused wait in the batch: nothing more is read before they are taken,
        // so that what cannot be taken is overwritten, and counted, where it is.
        let pass = if self.batch.is_empty() { self.pass() } else { Pass::default() };
        let taken = self.append();
        self.close_finished();
        if now_ns >= self.next_tell_ns {
            self.next_tell_ns = now_ns + nanos(self.options.tell_every);
            self.tell(tell);
        }
        if !taken {
            clock::sleep(RETRY_AFTER);
        } else if !pass.more {
            self.adapt(&pass, now_ns);
            clock::sleep(self.pause);
        }
    }

    /// Closes rings that are done with.
    fn close_finished(&mut self) {
        let durable_row = self.destination.durable_rows();
        self.gone.extend(self.sources.close_finished(durable_row, self.options.remove_rings));
    }

    fn pass(&mut self) -> Pass {
        let before = self.batch.len();
        let pass = self.sources.drain(BATCH_ROWS, FAIR_ROWS, &mut self.batch);
        self.status.rows += (self.batch.len() - before) as u64;
        pass
    }

    /// Offers the batch to the store; whether it was taken.
    fn append(&mut self) -> bool {
        let PassNotes { names, cursors, lost, mut losses, mut delivered } = self.sources.notes();
        losses.extend(&self.unread);
        let gone = self.unread.iter().filter(|loss| !loss.process.is_none());
        delivered.extend(gone.map(|loss| (loss.process, DELIVERED_ALL)));
        let input = Append {
            batch: Some(&self.batch),
            names: names.as_ref(),
            cursors: &cursors,
            lost: &lost,
            losses: &losses,
            delivered: &delivered,
            forget: &self.gone,
            ..Append::default()
        };
        match self.destination.append(&input, clock::utc_now_ns()) {
            Ok(row) => {
                self.sources.stored(row);
                self.batch.clear();
                self.gone.clear();
                self.unread.clear();
                self.status.refused = false;
                true
            }
            Err(error) => {
                self.status.refused = true;
                self.maintenance.failed(&error);
                false
            }
        }
    }

    /// The pause after which the busiest ring will have the rows that we want to find.
    fn adapt(&mut self, pass: &Pass, now_ns: u64) {
        let since_ns = now_ns.saturating_sub(self.last_pass_ns).max(1);
        self.last_pass_ns = now_ns;
        let wanted_s = since_ns as f64 * 1e-9 * ROWS_WANTED / (pass.most.max(1) as f64);
        let wanted = Duration::from_secs_f64(wanted_s.min(1.0));
        // Quick to become short, slow to become long.
        let next = if pass.lapped { PAUSE.0 } else { wanted.min(self.pause * 2) };
        self.pause = next.clamp(PAUSE.0, PAUSE.1);
    }

    /// Reads what is in the rings now, to the end, and makes it durable.
    fn finish(&mut self) {
        let deadline_ns = clock::monotonic_ns() + nanos(STOP_WITHIN);
        self.look();
        self.sources.end();
        loop {
            let pass = if self.batch.is_empty() { self.pass() } else { Pass::default() };
            let taken = self.append();
            if (taken && !pass.more) || clock::monotonic_ns() > deadline_ns {
                break;
            }
            if !taken {
                clock::sleep(RETRY_AFTER);
            }
        }
        // Rows of a refused batch are not lost: the cursors in the store say they were not read,
        // and the next collector reads them again, if the ring still has them.
        self.maintenance.sync_now(self.destination, deadline_ns);
        self.close_finished();
        if !self.gone.is_empty() {
            self.append();
            self.maintenance.sync_now(self.destination, deadline_ns);
        }
    }

    fn tell(&mut self, tell: &mut dyn FnMut(&Status)) {
        let now_ns = clock::monotonic_ns();
        let (then_ns, then_rows) = self.told;
        let seconds = now_ns.saturating_sub(then_ns) as f64 * 1e-9;
        self.told = (now_ns, self.status.rows);
        let status = &mut self.status;
        status.at_ns = clock::utc_now_ns();
        if seconds > 0.0 {
            status.rows_per_second = (status.rows - then_rows) as f64 / seconds;
        }
        self.destination.fill(status);
        status.disk_free_bytes = crate::disk::free_bytes(&self.options.dir);
        self.sources.fill(status);
        self.maintenance.fill(status);
        (self.add)(status);
        if let Err(error) = status.write(&self.options.dir) {
            status.error.get_or_insert(format!("status.json: {error}"));
        }
        tell(status);
    }

    fn end(mut self, tell: &mut dyn FnMut(&Status)) -> Status {
        self.status.running = false;
        self.tell(tell);
        self.status
    }
}
