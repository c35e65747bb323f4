//! The door for rows that come from elsewhere than rings of this host.
//!
//! Whoever has them calls [`Ingest::take`] from a thread that may wait; when it returns, the rows
//! are durable, or nothing was taken and the error says whether coming again helps.

use chronoscope_clock as clock;
use chronoscope_model::{Batch, ChainId, Names};
use chronoscope_store::{Append, Store, StoreError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long rows may be in the log without being durable before the sender is told to come again.
const DURABLE_WITHIN: Duration = Duration::from_secs(10);
/// How often it is looked whether a failed log was put right.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Rows of `chain` belong to the chain that they continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainAlias {
    /// The chain as rows name it.
    pub chain: ChainId,
    /// The chain that they belong to.
    pub continues: ChainId,
}

/// Where rows come from: what can be promised when they come twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Anybody: rows that come twice are there twice.
    Once,
    /// Somebody who gives the same key when the same rows come again: they are taken once where
    /// the store can tell. Files cannot; there it is [`Self::Once`].
    Keyed(u128),
}

/// Why rows were not taken.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// Not now: disk full, sealing behind, log failed. Nothing of it was taken; come again.
    #[error("not now: {0}")]
    Busy(StoreError),
    /// They are in the log, and could not be made durable in time. The rows may be there or not
    /// after a crash; a sender that comes again may double them unless its [`Source`] prevents it.
    #[error("taken, but not durable within {} s: {reason}", DURABLE_WITHIN.as_secs())]
    NotDurable {
        /// What stood in the way last.
        reason: String,
    },
    /// Coming again does not help.
    #[error(transparent)]
    Refused(StoreError),
}

impl IngestError {
    /// Whether the same rows may be offered again later.
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Busy(_) | Self::NotDurable { .. })
    }
}

/// Where rows go. Cheap to clone; all clones are the same door.
#[derive(Clone, Debug)]
pub struct Ingest(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    backend: Backend,
}

/// What is behind the door.
#[derive(Debug)]
enum Backend {
    /// A store of files, and who is syncing it: those who wait meanwhile share the next sync.
    Files { store: Arc<Store>, syncing: Mutex<()> },
}

impl Ingest {
    /// A door into a store that somebody maintains, as a [`crate::Collector`] does.
    pub fn into_files(store: Arc<Store>) -> Self {
        Self(Arc::new(Inner { backend: Backend::Files { store, syncing: Mutex::new(()) } }))
    }

    /// Takes rows, with names and aliases; all or nothing. Waits until they are durable: not to be
    /// called from a thread that others wait for. Rows that were told together are cut into
    /// several appends only where a store's limit demands it.
    ///
    /// # Errors
    /// [`IngestError`]; [`IngestError::is_passing`] says whether to come again.
    pub fn take(
        &self,
        source: Source,
        batch: &Batch,
        names: &Names,
        aliases: &[ChainAlias],
    ) -> Result<(), IngestError> {
        let (Source::Once | Source::Keyed(_)) = source;
        let _ = aliases;
        match &self.0.backend {
            Backend::Files { store, syncing } => {
                let append = Append { batch: Some(batch), names: Some(names), ..Append::default() };
                let row = store.append(&append, clock::utc_now_ns()).map_err(refused)?;
                make_durable(store, syncing, row)
            }
        }
    }
}

fn refused(error: StoreError) -> IngestError {
    if error.is_passing() { IngestError::Busy(error) } else { IngestError::Refused(error) }
}

/// Returns when all that was appended before this call is durable.
fn make_durable(store: &Store, syncing: &Mutex<()>, row: u64) -> Result<(), IngestError> {
    let deadline_ns = clock::monotonic_ns() + crate::collector::nanos(DURABLE_WITHIN);
    loop {
        let reason = {
            let _turn = syncing.lock().unwrap_or_else(PoisonError::into_inner);
            // Another's sync, while we waited for the turn, may have been ours too.
            if store.durable_rows() >= row {
                return Ok(());
            }
            match store.sync() {
                Ok(durable) if durable >= row => return Ok(()),
                Ok(durable) => format!("{durable} of {row} rows are durable"),
                // Maintenance saves the rows as segments; then they are durable.
                Err(error) => error.to_string(),
            }
        };
        if clock::monotonic_ns() > deadline_ns {
            return Err(IngestError::NotDurable { reason });
        }
        clock::sleep(LOOK_EVERY);
    }
}
