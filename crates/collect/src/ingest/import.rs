//! Rows of a file into a store of files.

use super::error::{IngestError, refused};
use super::files::Files;
use crate::gaps::Sender;
use chronoscope_clock as clock;
use chronoscope_model::{Batch, Names};
use chronoscope_store::{Append, DELIVERED_ALL, StreamId};
use std::time::Duration;

/// Attempts while the store takes nothing for another reason than minutes that wait.
const TRIES: u32 = 100;
/// Pause between two of them.
const RETRY_AFTER: Duration = Duration::from_millis(50);

/// Takes rows, and returns when they are durable.
pub(super) fn into_files(
    files: &Files,
    id: StreamId,
    first_row: u64,
    (batch, names): (&Batch, &Names),
) -> Result<(), IngestError> {
    let delivered: Vec<_> = names.processes().map(|(id, _)| (id, DELIVERED_ALL)).collect();
    let append = Append {
        batch: Some(batch),
        names: Some(names),
        delivered: &delivered,
        ..Append::default()
    };
    let mut tries = 1;
    let receipt = loop {
        match files.deliver(id, first_row, &append, (&Sender::default(), 0)) {
            Ok(receipt) => break receipt,
            // A day has more minutes than may wait: they need not, because the file is complete.
            Err(IngestError::Minutes) => {}
            Err(IngestError::Busy(error)) if !error.is_full() && tries < TRIES => {
                tries += 1;
                clock::sleep(RETRY_AFTER);
            }
            Err(error) => return Err(error),
        }
        files.store.seal_all(clock::utc_now_ns()).map_err(refused)?;
    };
    files.make_durable(receipt.store_row)
}
