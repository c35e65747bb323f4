//! The collector's loop.

use crate::ingest::Ingest;
use crate::keeping::Keeping;
use crate::sources::{Pass, PassNotes, Sources};
use crate::status::Status;
use chronoscope_clock as clock;
use chronoscope_model::{Batch, ProcessId};
use chronoscope_store::{Append, Store, StoreError};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often new rings are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Shortest and longest pause between two passes over the rings. A ring of the default size
/// holds what a thread records in 16 ms at a million a second.
const PAUSE: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(20));
/// Rows that the busiest ring should have for us when we come: an eighth of a default ring.
const ROWS_WANTED: f64 = 2048.0;
/// How long to wait before a refused append is tried again.
const RETRY_AFTER: Duration = Duration::from_millis(20);
/// Rows in one append.
const BATCH_ROWS: usize = 65_536;
/// Rows that one ring may give to it while others wait.
const FAIR_ROWS: usize = 32_768;
/// How long a stop may take for reading what programs go on writing, and for a full disk.
const STOP_WITHIN: Duration = Duration::from_secs(5);

/// What a collector is to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder where programs put their rings.
    pub ring_dir: PathBuf,
    /// The store's directory.
    pub data_dir: PathBuf,
    /// How the store behaves.
    pub store: chronoscope_store::Options,
    /// How often rows are made durable. Default: 25 ms.
    pub sync_every: Duration,
    /// How often the status is told and written. Default: 1 s.
    pub tell_every: Duration,
    /// Whether rings of dead processes are removed once their rows are durable. Default: yes.
    pub remove_rings: bool,
}

impl Options {
    /// The defaults, from `ring_dir` to `data_dir`.
    pub fn new(ring_dir: PathBuf, data_dir: PathBuf) -> Self {
        let store = chronoscope_store::Options::default();
        let (sync_every, tell_every) = (Duration::from_millis(25), Duration::from_secs(1));
        Self { ring_dir, data_dir, store, sync_every, tell_every, remove_rings: true }
    }
}

/// Why a collector cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// The store cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reads rings into a store.
#[derive(Debug)]
pub struct Collector {
    options: Options,
    store: Arc<Store>,
}

impl Collector {
    /// Opens the store and recovers what a crash left.
    ///
    /// # Errors
    /// As [`Store::open`]: most often that another collector is at work there.
    pub fn new(options: Options) -> Result<Self, CollectError> {
        let store = Store::open(&options.data_dir, options.store.clone(), clock::utc_now_ns())?;
        Ok(Self { options, store: Arc::new(store) })
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// A door into the same store for rows that come from elsewhere; good while [`Self::run`] does,
    /// which is what keeps the store in order.
    pub fn ingest(&self) -> Ingest {
        Ingest::into_files(self.store.clone())
    }

    /// Collects until `stop` is set; then reads what is in the rings at that moment, syncs, and
    /// returns the last status. `tell` is called about once a second.
    ///
    /// Nothing ends it but `stop`: what goes wrong meanwhile is told in [`Status::error`] and
    /// tried again.
    pub fn run(&self, stop: &AtomicBool, tell: &mut dyn FnMut(&Status)) -> Status {
        let keeping = Keeping::default();
        std::thread::scope(|scope| {
            scope.spawn(|| keeping.sync_loop(&self.store, self.options.sync_every));
            scope.spawn(|| keeping.maintain_loop(&self.store));
            let mut intake = Intake::new(self, &keeping);
            while !stop.load(Ordering::Relaxed) {
                intake.turn(tell);
            }
            intake.finish();
            keeping.stop();
            intake.end(tell)
        })
    }
}

/// The thread that reads rings.
struct Intake<'a> {
    store: &'a Store,
    options: &'a Options,
    keeping: &'a Keeping,
    sources: Sources,
    batch: Batch,
    /// Processes whose rings are gone; said to the store with the next append.
    gone: Vec<ProcessId>,
    pause: Duration,
    next_look_ns: u64,
    next_tell_ns: u64,
    last_pass_ns: u64,
    told: (u64, u64),
    status: Status,
}

impl<'a> Intake<'a> {
    fn new(collector: &'a Collector, keeping: &'a Keeping) -> Self {
        let now_ns = clock::monotonic_ns();
        let mut intake = Self {
            store: &collector.store,
            options: &collector.options,
            keeping,
            sources: Sources::new(collector.options.ring_dir.clone()),
            batch: Batch::default(),
            gone: Vec::new(),
            pause: PAUSE.0,
            next_look_ns: now_ns,
            next_tell_ns: now_ns,
            last_pass_ns: now_ns,
            told: (now_ns, 0),
            status: Status::begin(clock::utc_now_ns()),
        };
        intake.forget_lost_rings();
        intake
    }

    /// Cursors of rings that somebody removed while no collector was at work.
    fn forget_lost_rings(&mut self) {
        self.sources.look(self.store);
        let there = self.sources.processes();
        let known = self.store.ledger().cursors.into_keys();
        self.gone.extend(known.filter(|process| !there.contains(process)));
    }

    /// One pass over the rings, and a pause.
    fn turn(&mut self, tell: &mut dyn FnMut(&Status)) {
        let now_ns = clock::monotonic_ns();
        if now_ns >= self.next_look_ns {
            self.next_look_ns = now_ns + nanos(LOOK_EVERY);
            self.sources.look(self.store);
        }
        // Rows that were refused wait in the batch: nothing more is read before they are taken,
        // so that what cannot be taken is overwritten, and counted, where it is.
        let pass = if self.batch.is_empty() { self.pass() } else { Pass::default() };
        let taken = self.append();
        if self.options.remove_rings {
            self.gone.extend(self.sources.remove_finished(self.store.durable_rows()));
        }
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

    fn pass(&mut self) -> Pass {
        let before = self.batch.len();
        let pass = self.sources.drain(BATCH_ROWS, FAIR_ROWS, &mut self.batch);
        self.status.rows += (self.batch.len() - before) as u64;
        pass
    }

    /// Offers the batch to the store; whether it was taken.
    fn append(&mut self) -> bool {
        let PassNotes { names, cursors, lost } = self.sources.notes();
        let input = Append {
            batch: Some(&self.batch),
            names: names.as_ref(),
            cursors: &cursors,
            lost: &lost,
            forget: &self.gone,
            ..Append::default()
        };
        match self.store.append(&input, clock::utc_now_ns()) {
            Ok(row) => {
                self.sources.stored(row);
                self.batch.clear();
                self.gone.clear();
                self.status.refused = false;
                true
            }
            Err(error) => {
                self.status.refused = true;
                self.keeping.failed(&error);
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
        self.sources.look(self.store);
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
        self.keeping.sync_now(self.store, deadline_ns);
        if self.options.remove_rings {
            self.gone.extend(self.sources.remove_finished(self.store.durable_rows()));
            self.append();
            self.keeping.sync_now(self.store, deadline_ns);
        }
    }

    fn tell(&mut self, tell: &mut dyn FnMut(&Status)) {
        let now_ns = clock::monotonic_ns();
        let (then_ns, then_rows) = self.told;
        let seconds = now_ns.saturating_sub(then_ns) as f64 * 1e-9;
        self.told = (now_ns, self.status.rows);
        let (processes, failed_rings) = self.sources.status();
        let backlog = self.store.backlog();
        let ledger = self.store.ledger();
        let status = &mut self.status;
        status.at_ns = clock::utc_now_ns();
        if seconds > 0.0 {
            status.rows_per_second = (status.rows - then_rows) as f64 / seconds;
        }
        status.stored_rows = backlog.rows;
        status.durable_rows = backlog.durable_rows;
        status.unsealed_rows = backlog.unsealed_rows;
        status.unsealed_bytes = backlog.unsealed_bytes;
        status.log_bytes = backlog.log_bytes;
        status.late_rows = backlog.late_rows;
        status.lost_rows = ledger.lost_rows();
        status.damaged_rows = ledger.damaged_rows;
        status.disk_free_bytes = crate::disk::free_bytes(&self.options.data_dir);
        (status.processes, status.failed_rings) = (processes, failed_rings);
        self.keeping.fill(status);
        if let Err(error) = status.write(&self.options.data_dir) {
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

/// Whole nanoseconds of a duration far below 584 years.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
