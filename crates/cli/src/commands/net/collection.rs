//! Makes the measurements of a command durable, with or without a collector on this host.
//!
//! Where `serve` or an agent runs, it collects these rows like all others. Where none runs, the
//! command collects them itself, and only rows of commands like it: other programs' rings wait for
//! a collector.

use crate::args::StoreArgs;
use crate::environment;
use anyhow::{Context, Result, anyhow, bail};
use chronoscope_clickhouse::{Cluster, ClusterWriter, TableOptions};
use chronoscope_clock as clock;
use chronoscope_collect::{CollectError, Collector, Options, Status};
use chronoscope_model::{Batch, ProcessId};
use chronoscope_net::rows::APPLICATION;
use chronoscope_query::StoreLocation;
use chronoscope_record::read::{self, Cursors, Ring};
use chronoscope_store::{Append, Snapshot, StoreError, writer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time that the collector of this host may take to store the rows.
const COLLECTED_WITHIN: Duration = Duration::from_secs(5);
/// Interval at which this is checked.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Interval of inserts into a cluster.
const INSERT_EVERY: Duration = Duration::from_millis(500);
/// Rows in one insert.
const INSERT_ROWS: usize = 65_536;

/// Stores the rows that this command records; start it before the first one.
///
/// ```ignore
/// let collection = Collection::begin(&args.data)?;
/// // …measure, and record rows…
/// collection.end()?; // from here on they are durable
/// ```
#[derive(Debug)]
pub(crate) struct Collection {
    way: CollectingProcess,
    stop: Arc<AtomicBool>,
}

/// The process that collects.
#[derive(Debug)]
enum CollectingProcess {
    /// None: recording is switched off.
    Off,
    /// The agent of this host.
    Agent,
    /// The process that writes the store in this directory, by its own description.
    Other { dir: PathBuf, holder: String },
    /// This process.
    Own(JoinHandle<Result<()>>),
    /// Collection has ended.
    Ended,
}

impl Collection {
    /// Makes sure that rows recorded from now on get into the store that `data` names.
    ///
    /// # Errors
    /// When that store cannot be written.
    pub(crate) fn begin(data: &StoreArgs) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        chronoscope_record::init(APPLICATION);
        let Some(ring) = chronoscope_record::ring_path() else {
            say!("recording is off (CHRONOSCOPE_RECORD): results are printed and not kept");
            return Ok(Self { way: CollectingProcess::Off, stop });
        };
        let said = data.data.is_some() || data.store.is_some();
        let agent = writer(&environment::data_dir().join("spool")).is_some();
        let way = match data.source()? {
            StoreLocation::Cluster(_) if agent => CollectingProcess::Agent,
            StoreLocation::Cluster(view) => {
                insert(view.cluster().clone(), ring, agent, stop.clone())?
            }
            StoreLocation::Files(_) if agent && !said => CollectingProcess::Agent,
            StoreLocation::Files(dir) => collect(dir, ring, agent, stop.clone())?,
        };
        Ok(Self { way, stop })
    }

    /// Waits until all that was recorded is durable, or is with the agent.
    ///
    /// # Errors
    /// When it could not be made so: why, and where the rows are meanwhile.
    pub(crate) fn end(mut self) -> Result<()> {
        self.finish()
    }

    fn finish(&mut self) -> Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        match std::mem::replace(&mut self.way, CollectingProcess::Ended) {
            CollectingProcess::Off | CollectingProcess::Agent | CollectingProcess::Ended => Ok(()),
            CollectingProcess::Other { dir, holder } => await_other(&dir, &holder),
            CollectingProcess::Own(thread) => match thread.join() {
                Ok(kept) => kept,
                Err(_) => bail!("collecting the results ended early; see the message before"),
            },
        }
    }
}

impl Drop for Collection {
    /// A command that ends with an error stores its rows too.
    fn drop(&mut self) {
        if let Err(error) = self.finish() {
            say!("chronoscope: {}", crate::usage::joined(&error));
        }
    }
}

/// Collects into files, unless somebody does.
fn collect(
    dir: PathBuf,
    ring: PathBuf,
    agent: bool,
    stop: Arc<AtomicBool>,
) -> Result<CollectingProcess> {
    let ring_dir = ring.parent().map_or_else(read::default_folder, Path::to_owned);
    let options = Options {
        application: Some(APPLICATION.to_owned()),
        ..Options::new(ring_dir, dir.clone())
    };
    let collector = match Collector::new(options) {
        Ok(collector) => collector,
        Err(CollectError::Store(StoreError::Locked { holder, .. })) => {
            return Ok(CollectingProcess::Other { dir, holder });
        }
        Err(error) => {
            let cannot = || format!("results cannot be stored into {}", dir.display());
            return Err(error).with_context(cannot);
        }
    };
    let work = move || {
        let status = collector.run(&stop, &mut |_| ());
        say_losses(&status);
        if let Some(error) = status.error {
            let (dir, ring) = (dir.display(), ring.display());
            bail!(
                "results were not stored into {dir}: {error}; they are in {ring} until the next \
                 `chronoscope serve` takes them"
            );
        }
        // An agent that owns this folder reads the ring to its end, and removes it.
        if !agent {
            forget(&collector, &ring)?;
        }
        Ok(())
    };
    spawn(work).map(CollectingProcess::Own)
}

fn spawn(work: impl FnOnce() -> Result<()> + Send + 'static) -> Result<JoinHandle<Result<()>>> {
    let thread = std::thread::Builder::new().name("keep".to_owned());
    thread.spawn(work).context("no thread could be started")
}

fn say_losses(status: &Status) {
    let own = |pid: &&chronoscope_collect::ProcessStatus| pid.pid == std::process::id();
    let lost = status.processes.iter().find(own).map_or(0, |own| own.lost_rows + own.unrecorded);
    if lost > 0 {
        say!("{lost} results are not in the store: they came faster than they were collected");
    }
}

/// Removes the ring of this process, whose rows are all stored, and its entry in the store.
fn forget(collector: &Collector, path: &Path) -> Result<()> {
    let process = own_process(path)?;
    std::fs::remove_file(path).with_context(|| path.display().to_string())?;
    let forget = Append { forget: &[process], ..Append::default() };
    collector.store().append(&forget, clock::utc_now_ns())?;
    collector.store().sync()?;
    Ok(())
}

fn own_process(ring: &Path) -> Result<ProcessId> {
    let cannot = || format!("cannot read {}", ring.display());
    Ok(Ring::open(ring).with_context(cannot)?.process_id())
}

/// Waits until another collector has all that this process recorded.
fn await_other(dir: &Path, holder: &str) -> Result<()> {
    let Some(path) = chronoscope_record::ring_path() else { return Ok(()) };
    let begin_ns = clock::monotonic_ns();
    loop {
        if is_collected(dir, &path)? {
            return Ok(());
        }
        if u128::from(clock::monotonic_ns() - begin_ns) > COLLECTED_WITHIN.as_nanos() {
            break;
        }
        clock::sleep(LOOK_EVERY);
    }
    let (dir, ring) = (dir.display(), path.display());
    Err(anyhow!(
        "{dir} is written by {holder}, which does not collect {ring}: the results stay there until \
         the next `chronoscope serve` of that folder or the next command of `chronoscope net` takes them"
    ))
}

/// Whether the store has everything in a ring.
fn is_collected(dir: &Path, path: &Path) -> Result<bool> {
    let mut ring = match Ring::open(path) {
        Ok(ring) => ring,
        // The collector removes a ring only after its rows are stored.
        Err(_) if !path.exists() => return Ok(true),
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    let snapshot = Snapshot::open(dir)?;
    let positions = snapshot.ledger().cursors.get(&ring.process_id()).into_iter().flatten();
    let mut cursors = Cursors(positions.map(|(block, next)| (*block, *next)).collect());
    Ok(ring.drain(&mut cursors, 1, &mut Batch::default())?.read == 0)
}

/// Inserts into a cluster.
fn insert(
    cluster: Cluster,
    ring: PathBuf,
    agent: bool,
    stop: Arc<AtomicBool>,
) -> Result<CollectingProcess> {
    let cannot = format!("results cannot be stored into {cluster}");
    cluster.prepare(&TableOptions::default()).context(cannot)?;
    let mut rows = Inserts::new(ClusterWriter::new(cluster), &ring)?;
    let work = move || {
        while !stop.load(Ordering::Relaxed) {
            // A failed insert is repeated; the last one reports its error.
            let _ = rows.insert();
            clock::sleep(INSERT_EVERY);
        }
        rows.insert_all().with_context(|| {
            format!(
                "results were not stored into {}; they are in {}",
                rows.sink.cluster(),
                ring.display()
            )
        })?;
        if !agent {
            std::fs::remove_file(&ring).with_context(|| ring.display().to_string())?;
        }
        Ok(())
    };
    spawn(work).map(CollectingProcess::Own)
}

/// Rows of a ring on their way to a cluster.
struct Inserts {
    sink: ClusterWriter,
    ring: Ring,
    cursors: Cursors,
    /// Rows that are on their way; under one key until they have arrived.
    batch: Batch,
    /// Number of inserts that have succeeded.
    arrived: u64,
    lost: u64,
}

impl Inserts {
    fn new(sink: ClusterWriter, ring: &Path) -> Result<Self> {
        let ring = Ring::open(ring).with_context(|| ring.display().to_string())?;
        let (cursors, batch) = (Cursors::default(), Batch::default());
        Ok(Self { sink, ring, cursors, batch, arrived: 0, lost: 0 })
    }

    /// Inserts waiting rows, else new ones; returns whether there were any.
    fn insert(&mut self) -> Result<bool> {
        if self.batch.is_empty() {
            let drained = self.ring.drain(&mut self.cursors, INSERT_ROWS, &mut self.batch)?;
            self.lost += drained.lapped;
            self.ring.refresh_names()?;
        }
        if self.batch.is_empty() {
            return Ok(false);
        }
        let key = u128::from(self.ring.process_id().0) << 64 | u128::from(self.arrived);
        self.sink.insert(&self.batch, self.ring.names(), key)?;
        self.batch.clear();
        self.arrived += 1;
        Ok(true)
    }

    /// Inserts all rows; repeats for as long as a collector of this host may take.
    fn insert_all(&mut self) -> Result<()> {
        let begin_ns = clock::monotonic_ns();
        loop {
            match self.insert() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error)
                    if u128::from(clock::monotonic_ns() - begin_ns)
                        > COLLECTED_WITHIN.as_nanos() =>
                {
                    return Err(error);
                }
                Err(_) => clock::sleep(LOOK_EVERY),
            }
        }
        if self.lost > 0 {
            let lost = self.lost;
            say!("{lost} results are not in the store: they came faster than they were taken");
        }
        Ok(())
    }
}
