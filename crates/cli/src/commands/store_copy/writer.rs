//! Rows into the store that is the copy.

use super::rows::LostRows;
use crate::interrupt::Interrupt;
use anyhow::{Context, Result};
use chronoscope_clickhouse::{ClickHouseError, ClusterWriter, TableOptions};
use chronoscope_clock as clock;
use chronoscope_collect::Ingest;
use chronoscope_formats::rows::Builder;
use chronoscope_model::{Batch, Names, Transaction};
use chronoscope_query::StoreLocation;
use chronoscope_store::{Append, Options, RemoteNotes, Store, StreamId};
use std::sync::Arc;
use std::time::Duration;

/// Rows of one piece, which is durable as a whole.
const PIECE_ROWS: usize = 65_536;
/// Bytes of contexts at which a piece ends before that.
const PIECE_CONTEXT_BYTES: usize = 64 << 20;
/// Number of attempts for a piece, a second apart, while a server is away or has too much to do.
const TRIES: u32 = 60;

/// Puts rows into a store, in pieces.
pub(super) struct Writer {
    target: Target,
    names: Names,
    piece: Builder,
    /// Tells the pieces of this run from those of all others.
    run: u64,
    rows: u64,
}

enum Target {
    Files { store: Arc<Store>, ingest: Ingest },
    Cluster(Box<ClusterWriter>),
}

impl Writer {
    /// Opens the copy, and makes it where it is not there yet. `names` are those of the source.
    ///
    /// # Errors
    /// When it cannot be written; for files, also when another program writes them.
    pub(super) fn open(to: &StoreLocation, names: Names) -> Result<Self> {
        let target = match to {
            StoreLocation::Files(dir) => {
                // Old minutes wait for nobody.
                let options = Options { wait: Duration::ZERO, ..Options::default() };
                let store = Store::open(dir, options, clock::utc_now_ns());
                let store = Arc::new(store.with_context(|| {
                    format!("cannot copy into {} (stop chronoscope serve first)", dir.display())
                })?);
                Target::Files { ingest: Ingest::into_files(store.clone()), store }
            }
            StoreLocation::Cluster(view) => {
                let cluster = view.cluster();
                cluster.prepare(&TableOptions::default())?;
                Target::Cluster(Box::new(ClusterWriter::new(cluster.clone())))
            }
        };
        let run = clock::utc_now_ns().cast_unsigned();
        Ok(Self { target, piece: Builder::of_store(names.clone()), names, run, rows: 0 })
    }

    /// Notes what the source has lost; the same again changes nothing.
    ///
    /// # Errors
    /// When the copy cannot be written.
    pub(super) fn note(&self, LostRows { names, lost, losses }: &LostRows) -> Result<()> {
        match &self.target {
            Target::Files { store, .. } => {
                let names = Some(names);
                let append = Append { names, lost, losses, ..Append::default() };
                store.append(&append, clock::utc_now_ns())?;
                store.sync()?;
            }
            Target::Cluster(writer) => {
                let (delivered, clocks) = (&[][..], &[][..]);
                writer.note(&RemoteNotes { names, lost, losses, delivered, clocks })?;
            }
        }
        Ok(())
    }

    /// Adds a row; it is in the copy after [`Self::finish`] at the latest.
    ///
    /// # Errors
    /// When the copy cannot be written.
    pub(super) fn push(&mut self, row: &Transaction, interrupt: &Interrupt) -> Result<()> {
        self.piece.push(row);
        if self.piece.len() >= PIECE_ROWS || self.piece.context_bytes() >= PIECE_CONTEXT_BYTES {
            self.write(interrupt)?;
        }
        Ok(())
    }

    /// Writes what is left, and tidies up.
    ///
    /// # Errors
    /// When the copy cannot be written.
    pub(super) fn finish(&mut self, interrupt: &Interrupt) -> Result<()> {
        self.write(interrupt)?;
        if let Target::Files { store, .. } = &self.target {
            store.seal_all(clock::utc_now_ns())?;
            while !interrupt.is_set() && store.maintain(clock::utc_now_ns())?.again {}
        }
        Ok(())
    }

    fn write(&mut self, interrupt: &Interrupt) -> Result<()> {
        let next = Builder::of_store(self.names.clone());
        let (batch, names) = std::mem::replace(&mut self.piece, next).into_parts();
        if batch.is_empty() {
            return Ok(());
        }
        let first_row = self.rows;
        self.rows += batch.len() as u64;
        match &self.target {
            Target::Files { store, ingest } => {
                ingest.import(StreamId(self.run.into()), first_row, &batch, &names)?;
                while store.maintain(clock::utc_now_ns())?.again {}
            }
            Target::Cluster(writer) => {
                let key = u128::from(self.run) << 64 | u128::from(first_row);
                insert(writer, &batch, &names, key, interrupt)?;
            }
        }
        Ok(())
    }
}

/// Inserts a piece, again under the same key as long as a server is away.
fn insert(
    writer: &ClusterWriter,
    batch: &Batch,
    names: &Names,
    key: u128,
    interrupt: &Interrupt,
) -> Result<(), ClickHouseError> {
    let mut tries = 1;
    loop {
        match writer.insert(batch, names, key) {
            Err(error) if error.is_passing() && tries < TRIES && !interrupt.is_set() => {
                say!("{error}; trying again");
                tries += 1;
                clock::sleep(Duration::from_secs(1));
            }
            done => return done,
        }
    }
}
