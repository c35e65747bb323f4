//! Collects the rows of a replay's processes into a store: their rings are read while they run.

use crate::usage::Usage;
use anyhow::{Context, Result, bail};
use chronoscope_clock as clock;
use chronoscope_collect::{Collector, Options};
use chronoscope_model::Batch;
use chronoscope_record::read::{Cursors, Ring, RingError, find_rings};
use chronoscope_replay::scenario::{Report, StoredReport};
use chronoscope_store::{Store, StoreError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs `replay`, which leaves its rings in `out`, and collects them into a new store in `data`.
/// The result of the collection is in the report, also in the file in `out`.
///
/// # Errors
/// When `data` cannot be the store, before anything runs; else those of `replay`. Errors of storing
/// are in the report.
pub(super) fn collected(
    data: &Path,
    out: &Path,
    replay: impl FnOnce() -> Result<Report>,
) -> Result<Report> {
    let place = |path: &Path| std::path::absolute(path).with_context(|| path.display().to_string());
    if place(data)?.starts_with(place(out)?) {
        let data = data.display();
        bail!(Usage::new(format!(
            "--data {data}: the store is inside the folder of --out, which must be empty: name \
             another folder"
        )));
    }
    let rings = out.join(Report::RINGS);
    // Processes of a replay have numbers of their own: from here they look as if they were dead.
    let options = Options { remove_rings: false, ..Options::new(rings.clone(), data.to_owned()) };
    let settled_ns = i64::try_from(options.store.wait.as_nanos()).unwrap_or(i64::MAX);
    let collector = begin(data, options)?;
    let stop = AtomicBool::new(false);
    let mut report = std::thread::scope(|scope| {
        scope.spawn(|| collector.run(&stop, &mut |_| ()));
        let _over = Over(&stop);
        replay()
    })?;
    let mut stored = end(&collector, settled_ns);
    stored.data = data.to_owned();
    stored.unreadable =
        find_rings(&rings).iter().filter_map(|ring| unread(ring, collector.store())).collect();
    if stored.error.is_none() && stored.unreadable.is_empty() {
        remove(&rings, &mut report.remarks);
    }
    report.stored = Some(stored);
    report.write(out).with_context(|| out.join(Report::FILE).display().to_string())?;
    Ok(report)
}

/// Ends the collector, even where the replay panics: its scope waits for it.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A collector into a store that holds nothing.
fn begin(data: &Path, options: Options) -> Result<Collector> {
    let collector =
        Collector::new(options).with_context(|| format!("cannot store into {}", data.display()))?;
    let rows = collector.store().backlog().rows;
    if rows > 0 {
        bail!(
            "{} holds {rows} transactions: a replay needs an empty store: name another folder with \
             --data",
            data.display()
        );
    }
    Ok(collector)
}

/// Reads the rings to their end, now that nobody writes them, and puts the store in order.
fn end(collector: &Collector, settled_ns: i64) -> StoredReport {
    // A collector that is stopped reads for a bounded time; one that finds nothing is at the end.
    let stopped = AtomicBool::new(true);
    let last = loop {
        let last = collector.run(&stopped, &mut |_| ());
        if last.rows == 0 {
            break last;
        }
    };
    let sealed = seal(collector, settled_ns);
    let backlog = collector.store().backlog();
    let not_durable = (backlog.durable_rows < backlog.rows || last.refused)
        .then(|| "not all rows are durable".to_owned());
    let error = last.error.or(sealed.err().map(|error| error.to_string())).or(not_durable);
    StoredReport {
        data: PathBuf::new(),
        rows: backlog.durable_rows,
        lost_rows: last.lost_rows,
        unrecorded: last.processes.iter().map(|process| process.unrecorded).sum(),
        rings: last.processes.len(),
        unreadable: Vec::new(),
        error,
    }
}

/// Seals all minutes, each into one file: no more rows will arrive.
fn seal(collector: &Collector, settled_ns: i64) -> Result<(), StoreError> {
    let store = collector.store();
    let now_ns = clock::utc_now_ns();
    store.seal_all(now_ns)?;
    // Parts are merged when they have been left alone for as long as a minute waits.
    while store.maintain(now_ns.saturating_add(settled_ns))?.again {}
    Ok(())
}

/// Reason why a ring is not fully stored, if there is one.
fn unread(path: &Path, store: &Store) -> Option<String> {
    let rest = || -> Result<String, RingError> {
        let mut ring = Ring::open(path)?;
        let read = store.cursors(ring.process_id()).unwrap_or_default();
        let rest =
            ring.drain(&mut Cursors(read.into_iter().collect()), 1, &mut Batch::default())?;
        Ok(match ring.counters()?.private_chunks {
            0 if rest.read == 0 => String::new(),
            0 => "it was not read to its end".to_owned(),
            parts => format!("it had no room: {parts} parts of it were in the program's memory"),
        })
    };
    let why = rest().unwrap_or_else(|error| error.to_string());
    (!why.is_empty()).then(|| format!("{}: {why}", path.display()))
}

/// Removes stored rings, which take megabytes for each thread.
fn remove(rings: &Path, remarks: &mut Vec<String>) {
    for ring in find_rings(rings) {
        if let Err(error) = std::fs::remove_file(&ring) {
            remarks.push(format!("{}: {error}", ring.display()));
        }
    }
}
