//! Rows of the spool as messages.

use super::link::LinkError;
use crate::protocol::{ROWS_MAX, Rows};
use chronoscope_model::{Batch, ProcessName};
use chronoscope_store::wire::Message;
use chronoscope_store::{Spool, StreamId};

/// A message, and the row after it.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) rows: Rows,
    pub(super) end_row: u64,
}

/// The durable rows from `from_row` on, about as many as one message holds; none when there are
/// none. Small blocks are put together, large ones cut. `dropped` is what the spool has dropped in
/// all, where the collector does not know it.
pub(super) fn read(
    spool: &Spool,
    from_row: u64,
    dropped: Option<u64>,
    host: &str,
) -> Result<Vec<Outgoing>, LinkError> {
    let Some(first) = spool.read(from_row)? else { return Ok(Vec::new()) };
    let (first_row, mut end_row) = (first.first_row, first.end_row());
    let mut message = Message { batch: first.batch, names: first.names, extras: first.extras };
    while message.batch.len() < ROWS_MAX
        && let Some(next) = spool.read(end_row)?
        // Where rows were dropped a new message begins, by the next call.
        && next.first_row == end_row
    {
        end_row = next.end_row();
        append(&mut message.batch, &next.batch);
        message.names.merge(&next.names);
        message.extras.lost.extend(next.extras.lost);
    }
    if let Some(rows) = dropped {
        let process = spool_process(spool.id(), host);
        message.extras.lost.push((process.id(), rows));
        message.names.add_process(process);
    }
    cut(first_row, message)
}

/// The process under which the collector counts what a spool has dropped.
fn spool_process(id: StreamId, host: &str) -> ProcessName {
    let application = format!("chronoscope agent {:032x}", id.0);
    ProcessName { application, host: host.to_owned(), pid: 0, start_ns: start_ns(id) }
}

/// Stands for the start in the process's id, which the application does not enter: two spools of
/// one host must not be one process.
#[allow(clippy::cast_possible_truncation)] // any bits do
const fn start_ns(id: StreamId) -> i64 {
    (id.0 as u64 >> 1).cast_signed()
}

/// Messages of at most [`ROWS_MAX`] rows; what is told besides goes with the first.
fn cut(mut first_row: u64, message: Message) -> Result<Vec<Outgoing>, LinkError> {
    let mut messages = Vec::new();
    let mut push = |message: &Message| {
        let rows = Rows::pack(first_row, message)?;
        first_row += message.batch.len() as u64;
        messages.push(Outgoing { rows, end_row: first_row });
        Ok::<(), LinkError>(())
    };
    if message.batch.len() <= ROWS_MAX {
        push(&message)?;
        return Ok(messages);
    }
    let Message { batch, names, extras } = message;
    let mut told = Message { names, extras, ..Message::default() };
    for records in batch.records().chunks(ROWS_MAX) {
        let mut part = Batch::default();
        records.iter().for_each(|record| part.push(*record, batch.context(record)));
        push(&Message { batch: part, ..std::mem::take(&mut told) })?;
    }
    Ok(messages)
}

fn append(batch: &mut Batch, more: &Batch) {
    more.records().iter().for_each(|record| batch.push(*record, more.context(record)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::{Record, TransactionId};
    use chronoscope_store::{Append, SpoolOptions};
    use std::ops::Range;

    fn batch(ids: Range<u64>) -> Batch {
        let mut batch = Batch::default();
        for id in ids {
            let record = Record { id: TransactionId(id), ..Record::default() };
            batch.push(record, &id.to_le_bytes());
        }
        batch
    }

    fn ids(messages: &[Outgoing]) -> Vec<Vec<u64>> {
        let unpacked = messages.iter().map(|message| message.rows.unpack().unwrap());
        let ids = unpacked.map(|message| message.batch.records().iter().map(|r| r.id.0).collect());
        ids.collect()
    }

    #[test]
    fn small_blocks_go_together_and_large_ones_apart() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::open(dir.path(), SpoolOptions::default(), 0).unwrap();
        let big = ROWS_MAX as u64 * 2 + 20;
        for rows in [0..5, 5..9, 9..20, 20..big] {
            let batch = batch(rows);
            spool.append(&Append { batch: Some(&batch), ..Append::default() }, 0).unwrap();
        }
        assert!(read(&spool, 0, None, "h").unwrap().is_empty(), "nothing is durable");
        spool.sync().unwrap();
        let messages = read(&spool, 3, None, "h").unwrap();
        let ends: Vec<u64> = messages.iter().map(|message| message.end_row).collect();
        assert_eq!(ends, [3 + ROWS_MAX as u64, 3 + 2 * ROWS_MAX as u64, big]);
        assert_eq!(ids(&messages).concat(), (3..big).collect::<Vec<_>>());
        let again = read(&spool, 7, Some(11), "h").unwrap();
        assert_eq!(ids(&again)[0][0], 7, "going back is possible");
        let lost = again[0].rows.unpack().unwrap().extras.lost;
        assert_eq!(lost, [(spool_process(spool.id(), "h").id(), 11)]);
        assert_ne!(lost[0].0, spool_process(StreamId(spool.id().0 ^ 2), "h").id());
    }
}
