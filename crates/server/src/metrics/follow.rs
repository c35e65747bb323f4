//! The thread that counts rows as they come into the store.

use super::live::LiveLimits;
use super::tally::Tally;
use crate::limits::Limit;
use crate::log::LogLine;
use chronoscope_chain::live::{KnownRoot, LiveChains, LiveEvent, Reached};
use chronoscope_clock as clock;
use chronoscope_collect::Ingest;
use chronoscope_model::{Batch, ChainId, Extras, Flags, Names, Record};
use chronoscope_store::{Aliases, Tail};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Largest age of a count.
const EVERY: Duration = Duration::from_secs(1);

/// Counts while it lives.
#[derive(Debug)]
pub(crate) struct Follower {
    seen: Mutex<FollowState>,
}

#[derive(Debug, Default)]
pub(super) struct FollowState {
    pub(super) tally: Tally,
    /// Spans whose chains are being put together.
    pub(super) chains: LiveChains,
    /// Limits on chains of spans.
    pub(super) limits: LiveLimits,
    /// Times that the log could not be read.
    pub(super) errors: u64,
    /// Whether the last attempt to read the log succeeded.
    pub(super) following: bool,
}

impl Follower {
    /// Begins to count the rows that come into the store in `data_dir` from now on.
    pub(crate) fn start(data_dir: PathBuf, limits: Arc<[Limit]>) -> Arc<Self> {
        let seen = FollowState { limits: LiveLimits::new(limits), ..FollowState::default() };
        let follower = Arc::new(Self { seen: Mutex::new(seen) });
        let counted = Arc::downgrade(&follower);
        let thread = std::thread::Builder::new().name("metrics".to_owned());
        if let Err(error) = thread.spawn(move || count(&data_dir, &counted)) {
            LogLine::error("no_metrics_by_class").with("error", error).say();
            follower.seen().errors += 1;
        }
        follower
    }

    /// Begins to count the rows that come into a cluster by this collector.
    pub(crate) fn of_ingest(ingest: &Ingest, limits: Arc<[Limit]>) -> Arc<Self> {
        let limits = LiveLimits::new(limits);
        let seen = FollowState { limits, following: true, ..FollowState::default() };
        let follower = Arc::new(Self { seen: Mutex::new(seen) });
        let counted = Arc::downgrade(&follower);
        let aliases = Aliases::default();
        ingest.observe(Box::new(move |batch, names| {
            let Some(follower) = counted.upgrade() else { return };
            let mut seen = follower.seen();
            seen.add(batch, names, &aliases);
            seen.leave(names);
        }));
        follower
    }

    /// A follower that receives no rows.
    #[cfg(test)]
    pub(super) fn idle() -> Self {
        Self { seen: Mutex::default() }
    }

    /// Whether the store's log could be read last, at most some seconds ago.
    pub(crate) fn is_following(&self) -> bool {
        self.seen().following
    }

    /// The counts of limits on chains of spans.
    pub(crate) fn live_limits(&self) -> LiveLimits {
        self.seen().limits.clone()
    }

    /// Whether spans of OpenTelemetry have come.
    pub(crate) fn has_spans(&self) -> bool {
        let seen = self.seen();
        seen.tally.foreign_rows > 0
    }

    pub(super) fn seen(&self) -> MutexGuard<'_, FollowState> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts until nobody wants to know.
fn count(data_dir: &Path, follower: &Weak<Follower>) {
    let mut tail = None;
    loop {
        let Some(follower) = follower.upgrade() else { return };
        let read = match &mut tail {
            None => Tail::at_end(data_dir).map(|begun| {
                tail = Some(begun);
                follower.seen().limits.begin(clock::utc_now_ns());
            }),
            Some(tail) => {
                // The lock is held for a block at a time.
                let read =
                    tail.read(|batch, names, aliases| follower.seen().add(batch, names, aliases));
                read.map(|followed| follower.seen().missed(followed.missed))
            }
        };
        {
            let mut seen = follower.seen();
            if let Some(tail) = &tail {
                seen.leave(tail.names());
            }
            seen.following = read.is_ok();
            seen.errors += u64::from(read.is_err());
        }
        drop(follower);
        clock::sleep(EVERY);
    }
}

impl FollowState {
    /// Counts rows.
    pub(super) fn add(&mut self, batch: &Batch, names: &Names, aliases: &Aliases) {
        let utc_ns = clock::utc_now_ns();
        self.tally.add(batch, names, aliases, utc_ns);
        self.add_links(batch, names, utc_ns);
        let is_foreign = |record: &Record| record.flags().contains(Flags::FOREIGN);
        // Where no spans come, rows of our recorder need nobody to tell their root.
        if self.chains.counts().kept == 0 && !batch.records().iter().any(is_foreign) {
            return;
        }
        let now_ns = i64::try_from(clock::monotonic_ns()).unwrap_or(i64::MAX);
        let Self { tally, chains, limits, .. } = self;
        let mut steps = Vec::new();
        for record in batch.records() {
            let known = if is_foreign(record) { None } else { known_root(record, names) };
            if known.is_none() && !is_foreign(record) {
                continue; // its path is not named: it is no row of a chain that could be told
            }
            aliases.steps(record.chain(), &mut steps);
            // Only spans are told, and those that a row lets be told are of its chain.
            let chain = (steps.last().copied().unwrap_or_default(), true);
            chains.add(record, &steps, known, now_ns, |event| {
                tell(event, chain, tally, limits, names, utc_ns);
            });
        }
    }

    /// Counts the inputs of our recorder's rows besides their parents. A link carries its root, so
    /// the duration to the row that takes it is known at once. To what is below that row it is not.
    fn add_links(&mut self, batch: &Batch, names: &Names, utc_ns: i64) {
        let has_links = |record: &&Record| {
            record.flags().contains(Flags::FURTHER_PARENTS)
                && !record.flags().contains(Flags::FOREIGN)
        };
        let Self { tally, limits, .. } = self;
        for record in batch.records().iter().filter(has_links) {
            let links = Extras::of(batch.context(record)).further_parents;
            if links.is_empty() {
                limits.links_unknown(record.end_ns(), utc_ns);
            }
            // One duration for each root, however many of its transactions are linked.
            let mut seen = HashSet::from([(record.chain(), record.root_start_ns)]);
            for link in links {
                let class = link.root.and_then(|root| Some(*names.path(root.path)?.first()?));
                let (Some(root), Some(class)) = (link.root, class) else {
                    limits.links_unknown(record.end_ns(), utc_ns);
                    continue;
                };
                if !seen.insert((link.chain, root.start_ns)) {
                    continue;
                }
                let reached = Reached {
                    root: class,
                    class: record.class,
                    level: root.level.saturating_add(1),
                    root_start_ns: root.start_ns,
                    duration_ns: record.end_ns().saturating_sub(root.start_ns),
                };
                limits.linked(&reached, names, utc_ns);
                let event = LiveEvent::Reached(reached);
                tell(event, (link.chain, false), tally, limits, names, utc_ns);
            }
        }
    }

    /// Lets spans go whose window has ended.
    fn leave(&mut self, names: &Names) {
        let now_ns = i64::try_from(clock::monotonic_ns()).unwrap_or(i64::MAX);
        let utc_ns = clock::utc_now_ns();
        let Self { tally, chains, limits, .. } = self;
        // A row that leaves is in no histogram.
        let chain = (ChainId::NONE, false);
        chains.leave(now_ns, |event| tell(event, chain, tally, limits, names, utc_ns));
    }

    /// Counts rows that came and were not seen: limits are counted anew.
    fn missed(&mut self, rows: u64) {
        self.tally.missed_rows += rows;
        if rows > 0 {
            self.limits.begin(clock::utc_now_ns());
        }
    }
}

/// Counts an event of a row of `chain`.
fn tell(
    event: LiveEvent,
    chain: (ChainId, bool),
    tally: &mut Tally,
    limits: &mut LiveLimits,
    names: &Names,
    utc_ns: i64,
) {
    if let LiveEvent::Reached(row) = &event {
        tally.add_reached(row, names, chain, utc_ns);
    }
    limits.add(event, names, utc_ns);
}

/// The root of a row that carries it.
fn known_root(record: &Record, names: &Names) -> Option<KnownRoot> {
    let class = *names.path(record.path)?.first()?;
    Some(KnownRoot { class, start_ns: record.root_start_ns, level: record.level })
}
