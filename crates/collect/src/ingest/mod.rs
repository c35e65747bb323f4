//! The door for rows that come from elsewhere than rings of this host.
//!
//! Whoever has them calls [`Ingest::take`] from a thread that may wait; when it returns, the rows
//! are durable, or nothing was taken and the error says whether coming again helps.

mod batches;
mod cluster;
mod cluster_notes;
mod error;
mod files;
mod import;
mod limits;
mod row_source;
mod share;

pub use error::IngestError;
pub use row_source::{Receipt, RowSource};

use crate::agents::Agents;
use crate::gaps::{self, Sender};
use crate::protocol::Hello;
use crate::status::AgentStatus;
use crate::vocabulary::Admitted;
use batches::exported_with;
use chronoscope_clock as clock;
use chronoscope_model::{Batch, Names};
use chronoscope_store::{Append, ChainAlias, RemoteStore, Store, StreamId, wire};
use cluster::ClusterIngest;
pub use cluster::Observer;
use files::Files;
use std::sync::Arc;

/// Entry for rows from outside. Cheap to clone; all clones share one state.
#[derive(Clone, Debug)]
pub struct Ingest(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    destination: IngestDestination,
    agents: Agents,
}

/// Destination of the rows. The rings of this host have another type (`RingDestination`): each of
/// the two has a destination that the other can never have.
#[derive(Debug)]
enum IngestDestination {
    /// A store of files.
    Files(Files),
    /// A cluster. Nothing is kept here: any number of collectors may share it.
    Cluster(Box<ClusterIngest>),
}

impl Ingest {
    /// A door into a store that somebody maintains, as a [`crate::Collector`] does.
    pub fn into_files(store: Arc<Store>) -> Self {
        let files = Files::new(store);
        Self(Arc::new(Inner {
            destination: IngestDestination::Files(files),
            agents: Agents::default(),
        }))
    }

    /// A door into a cluster. Aliases are stored there and hold for all rows. Deliveries and readings
    /// of clocks are written by [`Self::flush_notes`].
    pub fn into_cluster(rows: impl RemoteStore + 'static) -> Self {
        let cluster = ClusterIngest::new(Box::new(rows));
        let destination = IngestDestination::Cluster(Box::new(cluster));
        Self(Arc::new(Inner { destination, agents: Agents::default() }))
    }

    /// Takes rows, with names and aliases; all or nothing. Waits until they are durable: not to be
    /// called from a thread that others wait for.
    ///
    /// # Errors
    /// [`IngestError`]; [`IngestError::is_passing`] says whether to come again.
    pub fn take(
        &self,
        source: RowSource,
        batch: &Batch,
        names: &Names,
        aliases: &[ChainAlias],
    ) -> Result<(), IngestError> {
        let files = match &self.0.destination {
            IngestDestination::Files(files) => files,
            IngestDestination::Cluster(cluster) => {
                return cluster.take(source, batch, names, aliases);
            }
        };
        let exported = exported_with(batch);
        let append = Append {
            batch: Some(batch),
            names: Some(names),
            aliases,
            exported: &exported,
            ..Append::default()
        };
        if share::rows_that_fit(&files.store, batch, clock::utc_now_ns())? < batch.len() {
            return Err(IngestError::Minutes);
        }
        let store_row = match source {
            RowSource::Once => files.append(&append)?,
            RowSource::Keyed(key) => files.append(&Append { key: Some(key), ..append })?,
            RowSource::Stream { id, first_row, end_row } => {
                let rows = batch.len();
                if first_row.checked_add(rows as u64) != Some(end_row) {
                    return Err(IngestError::Numbers { rows, first_row, end_row });
                }
                let sender = Sender::default();
                files.deliver(id, first_row, &append, (&sender, 0))?.store_row
            }
        };
        files.make_durable(store_row)
    }

    /// Takes rows of a file, numbered by their places in it: those that are here already are passed
    /// over. Waits until they are durable. A file is all that its programs will ever deliver. Where
    /// too many minutes wait for being sealed, they are sealed early.
    ///
    /// # Errors
    /// [`IngestError`]; the first of the rows may be in then, and importing the same file again goes
    /// on behind them.
    pub fn import(
        &self,
        id: StreamId,
        first_row: u64,
        batch: &Batch,
        names: &Names,
    ) -> Result<(), IngestError> {
        match &self.0.destination {
            IngestDestination::Files(files) => {
                import::into_files(files, id, first_row, (batch, names))
            }
            IngestDestination::Cluster(cluster) => cluster.import(id, first_row, (batch, names)),
        }
    }

    /// Writes what senders said of deliveries and clocks since the last call into a cluster; to be
    /// called about once a second. A store of files has them with the rows.
    ///
    /// # Errors
    /// [`IngestError`]; the next call writes them.
    pub fn flush_notes(&self) -> Result<(), IngestError> {
        match &self.0.destination {
            IngestDestination::Files(_) => Ok(()),
            IngestDestination::Cluster(cluster) => cluster.flush_notes(),
        }
    }

    /// Gives `observer` the rows that come into a cluster by this collector from now on, with all
    /// names that are known, after they are stored; rows that came twice perhaps twice. There is one
    /// observer; of a store of files, the log is followed instead.
    pub fn observe(&self, observer: Observer) {
        if let IngestDestination::Cluster(cluster) = &self.0.destination {
            cluster.observe(observer);
        }
    }

    /// Whether spans of OpenTelemetry have come into a cluster by this collector.
    pub fn has_spans(&self) -> bool {
        match &self.0.destination {
            IngestDestination::Files(_) => false,
            IngestDestination::Cluster(cluster) => cluster.has_spans(),
        }
    }

    /// The store behind the door; `None` of a cluster.
    pub fn store(&self) -> Option<&Store> {
        match &self.0.destination {
            IngestDestination::Files(files) => Some(&files.store),
            IngestDestination::Cluster(_) => None,
        }
    }

    /// Takes what an agent sends, once; not durable before [`Self::settle`]. Rows that are here
    /// already are passed over by their numbers, also where only some of them are.
    ///
    /// # Errors
    /// [`IngestError`]; [`IngestError::is_passing`] says whether to come again. After
    /// [`IngestError::Minutes`] the first of the rows may be in: [`Self::next_row`] says how many.
    pub fn deliver(
        &self,
        id: StreamId,
        first_row: u64,
        message: &wire::Message,
    ) -> Result<Receipt, IngestError> {
        let files = match &self.0.destination {
            IngestDestination::Files(files) => files,
            IngestDestination::Cluster(cluster) => {
                let sender = self.0.agents.sender(id);
                let (receipt, other_rows) = cluster.deliver(id, first_row, message, &sender)?;
                self.0.agents.delivered(id, message, receipt.next_row);
                self.0.agents.left_out(id, receipt.gap_rows);
                self.0.agents.renamed(id, other_rows);
                return Ok(receipt);
            }
        };
        let Admitted { renamed, new } = {
            let known = |look: &mut dyn FnMut(&Names)| files.store.with_names(|names| look(names));
            files.vocabulary.admit(&known, id, message)
        };
        let (batch, names) = match &renamed {
            Some(renamed) => (&renamed.batch, &renamed.names),
            None => (&message.batch, &message.names),
        };
        let append = Append {
            batch: Some(batch),
            names: Some(names),
            lost: &message.extras.lost,
            losses: &message.extras.losses,
            delivered: &message.extras.delivered,
            aliases: &message.extras.aliases,
            clocks: &message.extras.clocks,
            // A process that is gone there has no ring here: `extras.gone` must not touch our own
            // cursors.
            ..Append::default()
        };
        let sender = self.0.agents.sender(id);
        let declared_rows = match message.extras.lost.as_slice() {
            [] => 0,
            _ => files.store.with_ledger(|known| gaps::newly_declared(message, known)),
        };
        let receipt = files.deliver(id, first_row, &append, (&sender, declared_rows));
        if matches!(receipt, Ok(_) | Err(IngestError::Minutes)) {
            files.vocabulary.count(id, new);
        }
        let receipt = receipt?;
        self.0.agents.delivered(id, message, receipt.next_row);
        self.0.agents.left_out(id, receipt.gap_rows);
        self.0.agents.renamed(id, renamed.map_or(0, |renamed| renamed.rows));
        Ok(receipt)
    }

    /// Waits until rows are durable.
    ///
    /// # Errors
    /// [`IngestError::NotDurable`].
    pub fn settle(&self, receipt: Receipt) -> Result<(), IngestError> {
        match &self.0.destination {
            IngestDestination::Files(files) => files.make_durable(receipt.store_row),
            // A receipt exists only after the shards have the rows.
            IngestDestination::Cluster(_) => Ok(()),
        }
    }

    /// End of a sender's durable rows; `None` when it is unknown.
    ///
    /// # Errors
    /// [`IngestError::NotDurable`].
    pub fn next_row(&self, id: StreamId) -> Result<Option<u64>, IngestError> {
        match &self.0.destination {
            IngestDestination::Files(files) => files.next_row(id),
            IngestDestination::Cluster(cluster) => cluster.next_row(id),
        }
    }

    /// Notes that an agent is here, or gone with the value that this returned.
    pub fn agent_came(&self, id: StreamId, hello: &Hello) -> u64 {
        self.0.agents.came(id, hello)
    }

    /// Notes that a connection of an agent has ended.
    pub fn agent_went(&self, id: StreamId, connection: u64) {
        self.0.agents.went(id, connection);
    }

    /// The agents that have been here since the start, by host.
    pub fn agents(&self) -> Vec<AgentStatus> {
        self.0.agents.status()
    }
}

#[cfg(test)]
mod tests;
