//! Rows from outside into a cluster.

use super::batches::{first_rows, renamed, without_first};
use super::error::{IngestError, refused_by_cluster};
use super::limits::DURABLE_WITHIN;
use super::row_source::{Receipt, RowSource};
use super::share::ClusterMinutes;
use crate::duration::nanos;
use crate::vocabulary::{Admitted, Vocabulary};
use chronoscope_clock as clock;
use chronoscope_model::{Batch, Names};
use chronoscope_store::{ChainAlias, RemoteStore, StreamId, wire};
use std::time::Duration;

/// Pause before an unreachable cluster is asked again.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// A cluster, and what the network may bring into it: the bounds are each collector's own.
#[derive(Debug)]
pub(super) struct ClusterIngest {
    rows: Box<dyn RemoteStore>,
    vocabulary: Vocabulary,
    minutes: ClusterMinutes,
}

impl ClusterIngest {
    /// A cluster into which nothing was brought yet.
    pub(super) fn new(rows: Box<dyn RemoteStore>) -> Self {
        Self { rows, vocabulary: Vocabulary::default(), minutes: ClusterMinutes::default() }
    }

    /// End of a sender's rows on the shards; `None` when it is unknown.
    pub(super) fn next_row(&self, id: StreamId) -> Result<Option<u64>, IngestError> {
        self.rows.next_row(id.0).map_err(refused_by_cluster)
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
        let is_declared = batch.is_empty() || !message.extras.lost.is_empty();
        let gap_rows = match wanted {
            Some(wanted) if !is_declared => first_row.saturating_sub(wanted),
            _ => 0,
        };
        // Before the rows: who reads them finds where they belong.
        self.rows.add_aliases(&message.extras.aliases).map_err(refused_by_cluster)?;
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
            }
            return Err(IngestError::Minutes);
        }
        let next_row = self.rows.insert_stream(id.0, first_row, batch, names);
        let next_row = next_row.map_err(refused_by_cluster)?;
        self.vocabulary.count(id, new);
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
