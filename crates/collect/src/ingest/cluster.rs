//! Rows from outside into a cluster.

use super::batches::{exported_with, first_rows, renamed, without_first};
use super::cluster_notes::ClusterNotes;
use super::error::{IngestError, refused_by_cluster};
use super::limits::DURABLE_WITHIN;
use super::row_source::{Receipt, RowSource};
use super::share::ClusterMinutes;
use crate::duration::nanos;
use crate::gaps::{self, Sender};
use crate::vocabulary::{Admitted, Vocabulary};
use chronoscope_clock as clock;
use chronoscope_model::{Batch, Names};
use chronoscope_store::{ChainAlias, DELIVERED_ALL, Delivery, RemoteStore, StreamId, wire};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Pause before an unreachable cluster is asked again.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Whoever looks at rows that come into a cluster.
pub type Observer = Box<dyn Fn(&Batch, &Names) + Send + Sync>;

/// The observer of a cluster's rows, where there is one.
#[derive(Default)]
struct Observed(OnceLock<Observer>);

impl std::fmt::Debug for Observed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Observed").field(&self.0.get().is_some()).finish()
    }
}

/// A cluster, and what the network may bring into it: the bounds are each collector's own.
#[derive(Debug)]
pub(super) struct ClusterIngest {
    rows: Box<dyn RemoteStore>,
    vocabulary: Vocabulary,
    minutes: ClusterMinutes,
    notes: ClusterNotes,
    /// Whether spans of OpenTelemetry have come.
    has_spans: AtomicBool,
    observed: Observed,
}

impl ClusterIngest {
    /// A cluster into which nothing was brought yet.
    pub(super) fn new(rows: Box<dyn RemoteStore>) -> Self {
        Self {
            rows,
            vocabulary: Vocabulary::default(),
            minutes: ClusterMinutes::default(),
            notes: ClusterNotes::default(),
            has_spans: AtomicBool::new(false),
            observed: Observed::default(),
        }
    }

    /// End of a sender's rows on the shards; `None` when it is unknown.
    pub(super) fn next_row(&self, id: StreamId) -> Result<Option<u64>, IngestError> {
        self.rows.next_row(id.0).map_err(refused_by_cluster)
    }

    /// Whether spans of OpenTelemetry have come since the start.
    pub(super) fn has_spans(&self) -> bool {
        self.has_spans.load(Ordering::Relaxed)
    }

    /// Sets the observer; the first one counts.
    pub(super) fn observe(&self, observer: Observer) {
        let _ = self.observed.0.set(observer);
    }

    /// Shows stored rows to the observer.
    fn show(&self, batch: &Batch) {
        if let Some(observer) = self.observed.0.get().filter(|_| !batch.is_empty()) {
            self.rows.with_names(&mut |names| observer(batch, names));
        }
    }

    /// Writes notes that wait to be written together.
    pub(super) fn flush_notes(&self) -> Result<(), IngestError> {
        self.notes.flush(&*self.rows)
    }

    /// Takes rows, all or nothing.
    pub(super) fn take(
        &self,
        source: RowSource,
        batch: &Batch,
        names: &Names,
        aliases: &[ChainAlias],
    ) -> Result<(), IngestError> {
        let renamed = renamed(batch, aliases);
        let batch = renamed.as_ref().unwrap_or(batch);
        if self.rows_that_fit(batch) < batch.len() {
            return Err(IngestError::Minutes);
        }
        // Before the rows: who reads them finds where they belong.
        self.rows.add_aliases(aliases).map_err(refused_by_cluster)?;
        self.take_rows(source, batch, names)?;
        self.show(batch);
        let exported = exported_with(batch);
        self.has_spans.fetch_or(!exported.is_empty(), Ordering::Relaxed);
        let delivery = |until_ns| Delivery { until_ns, exports: true };
        self.notes.delivered(exported.into_iter().map(|(id, at)| (id, delivery(at))));
        Ok(())
    }

    /// Takes rows of a file, as [`Ingest::import`] does. How many past minutes they have is of no
    /// account: a shard takes a minute whenever it comes.
    ///
    /// [`Ingest::import`]: super::Ingest::import
    pub(super) fn import(
        &self,
        id: StreamId,
        first_row: u64,
        (batch, names): (&Batch, &Names),
    ) -> Result<(), IngestError> {
        self.rows.insert_stream(id.0, first_row, batch, names).map_err(refused_by_cluster)?;
        self.show(batch);
        let ended = Delivery { until_ns: DELIVERED_ALL, exports: false };
        self.notes.named(names);
        self.notes.delivered(names.processes().map(|(id, _)| (id, ended)));
        self.flush_notes()
    }

    fn take_rows(
        &self,
        source: RowSource,
        batch: &Batch,
        names: &Names,
    ) -> Result<(), IngestError> {
        match source {
            RowSource::Keyed(key) => {
                self.rows.insert(batch, names, key).map_err(refused_by_cluster)
            }
            RowSource::Stream { id, first_row, end_row } => {
                let rows = batch.len();
                if first_row.checked_add(rows as u64) != Some(end_row) {
                    return Err(IngestError::Numbers { rows, first_row, end_row });
                }
                let taken = self.rows.insert_stream(id.0, first_row, batch, names);
                taken.map(drop).map_err(refused_by_cluster)
            }
            // Whoever has no key gets one from us, so that at least we can try again.
            RowSource::Once => {
                let key = random_key();
                let within_ns = nanos(DURABLE_WITHIN);
                let deadline_ns = clock::monotonic_ns().saturating_add(within_ns);
                loop {
                    match self.rows.insert(batch, names, key) {
                        Err(error) if error.is_passing() => {
                            if clock::monotonic_ns() > deadline_ns {
                                return Err(IngestError::NotDurable { reason: error.to_string() });
                            }
                            clock::sleep(LOOK_AGAIN);
                        }
                        done => return done.map_err(refused_by_cluster),
                    }
                }
            }
        }
    }

    /// Takes what an agent sends, once; and how many of its rows have another name now. A gap is
    /// counted unless its message declares rows as dropped: there is no ledger of what was declared.
    pub(super) fn deliver(
        &self,
        id: StreamId,
        first_row: u64,
        message: &wire::Message,
        sender: &Sender,
    ) -> Result<(Receipt, u64), IngestError> {
        let known = |look: &mut dyn FnMut(&Names)| self.rows.with_names(look);
        let Admitted { renamed: others, new } = self.vocabulary.admit(&known, id, message);
        let (batch, names) = match &others {
            Some(others) => (&others.batch, &others.names),
            None => (&message.batch, &message.names),
        };
        let continued = renamed(batch, &message.extras.aliases);
        let batch = continued.as_ref().unwrap_or(batch);
        let wanted = self.rows.wanted_row(id.0).map_err(refused_by_cluster)?;
        let is_declared = gaps::declares_drops(message);
        // Without rows a message only says something, and may do so ahead of rows that are under way;
        // but where all rows up to its number were dropped, it is what moves on behind them.
        let has_rows = !batch.is_empty() || is_declared;
        let gap_rows = match wanted {
            Some(wanted) if has_rows && !is_declared => first_row.saturating_sub(wanted),
            _ => 0,
        };
        let gap = (gap_rows > 0).then_some((id, sender, gap_rows));
        self.notes.write_losses(&*self.rows, message, gap)?;
        // Before the rows: who reads them finds where they belong.
        self.rows.add_aliases(&message.extras.aliases).map_err(refused_by_cluster)?;
        if !has_rows {
            self.vocabulary.count(id, new);
            self.notes.keep(message, names);
            let next_row = wanted.unwrap_or(first_row);
            return Ok((Receipt { next_row, gap_rows, store_row: 0 }, 0));
        }
        // Rows that are there have had their minutes.
        let known_rows = wanted.unwrap_or(0).saturating_sub(first_row).min(batch.len() as u64);
        let rest = (known_rows > 0).then(|| without_first(batch, known_rows));
        let batch = rest.as_ref().unwrap_or(batch);
        let first_row = first_row + known_rows;
        let fits = self.rows_that_fit(batch);
        if fits < batch.len() {
            if fits > 0 {
                let first = first_rows(batch, fits);
                self.rows
                    .insert_stream(id.0, first_row, &first, names)
                    .map_err(refused_by_cluster)?;
                self.vocabulary.count(id, new);
                self.show(&first);
            }
            return Err(IngestError::Minutes);
        }
        let next_row = self.rows.insert_stream(id.0, first_row, batch, names);
        let next_row = next_row.map_err(refused_by_cluster)?;
        self.vocabulary.count(id, new);
        self.notes.keep(message, names);
        self.show(batch);
        let other_rows = others.as_ref().map_or(0, |others| others.rows);
        Ok((Receipt { next_row, gap_rows, store_row: 0 }, other_rows))
    }

    fn rows_that_fit(&self, batch: &Batch) -> usize {
        self.minutes.rows_that_fit(batch, clock::utc_now_ns(), clock::monotonic_ns())
    }
}

/// A key that nobody else has: the standard library seeds its hashers at random.
fn random_key() -> u128 {
    use std::hash::{BuildHasher, RandomState};
    let half = || u128::from(RandomState::new().hash_one(clock::monotonic_ns()));
    half() << 64 | half()
}
