//! Rows of the spool as messages.

use super::link_error::LinkError;
use crate::protocol::{CONTEXTS_MAX, ROWS_MAX, Rows};
use chronoscope_clock as clock;
use chronoscope_model::{Batch, ProcessName};
use chronoscope_store::wire::Message;
use chronoscope_store::{Loss, Spool, StreamId};
use std::collections::VecDeque;

/// A message, and the row after it.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) rows: Rows,
    pub(super) end_row: u64,
}

/// The rows after messages that were sent and not acknowledged, ascending. Over all connections:
/// what is sent again is cut as it was, so that a collector which goes by pieces and not by rows,
/// one before a cluster, knows a piece again.
#[derive(Debug, Default)]
pub(super) struct Cuts(VecDeque<u64>);

impl Cuts {
    /// Notes that a message that ends before `end_row` was sent.
    pub(super) fn sent(&mut self, end_row: u64) {
        if self.0.back().is_none_or(|last| *last < end_row) {
            self.0.push_back(end_row);
        }
    }

    /// Forgets what is acknowledged.
    pub(super) fn acknowledged(&mut self, row: u64) {
        while self.0.pop_front_if(|end_row| *end_row <= row).is_some() {}
    }

    /// End of the message that begins with `from_row`; `None` when none was sent.
    pub(super) fn after(&self, from_row: u64) -> Option<u64> {
        self.0.iter().copied().find(|end_row| *end_row > from_row)
    }
}

/// Messages read from the spool.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) messages: Vec<Outgoing>,
    /// The row that is to be read next.
    pub(super) next_row: u64,
    /// Number of dropped rows that the messages declare.
    pub(super) dropped: Option<u64>,
}

/// Rows dropped by a spool that the collector was not told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SpoolDrop {
    /// Rows, in all.
    pub(super) rows: u64,
    /// Number of these rows that the collector was not told of.
    pub(super) new_rows: u64,
    /// Everything that ended before was delivered: UTC, nanoseconds since 1970.
    pub(super) from_ns: i64,
}

/// The durable rows from `from_row` on, and before `end_row_max` where that is given, about as
/// many as one message holds; none when there are none. Small blocks are put together, large ones
/// cut. `dropped` is what the spool has dropped in all, where the collector does not know it.
pub(super) fn read(
    spool: &Spool,
    from_row: u64,
    end_row_max: Option<u64>,
    dropped: Option<SpoolDrop>,
    host: &str,
) -> Result<Read, LinkError> {
    // Asked first: rows that become durable meanwhile are none of those that are missing.
    let durable_row = spool.durable_rows();
    let Some(first) = spool.read(from_row)? else {
        return Ok(Read { next_row: from_row.max(durable_row), ..Read::default() });
    };
    let (first_row, mut end_row) = (first.first_row, first.end_row());
    let mut message = Message { batch: first.batch, names: first.names, extras: first.extras };
    let end_row_max = end_row_max.unwrap_or(u64::MAX);
    while has_room(&message.batch)
        && end_row < end_row_max
        && let Some(next) = spool.read(end_row)?
        // A new message begins after dropped rows, by the next call.
        && next.first_row == end_row
    {
        end_row = next.end_row();
        append(&mut message.batch, &next.batch);
        message.names.merge(&next.names);
        message.extras.merge(next.extras);
    }
    // If the rows up to there were dropped, the following ones were never sent.
    if first_row < end_row_max && end_row_max < end_row {
        message.batch = first_rows(&message.batch, end_row_max - first_row);
    }
    if let Some(dropped) = dropped {
        tell_dropped(&mut message, dropped, spool.origin(), host);
    }
    let messages = cut(first_row, message)?;
    let next_row = messages.last().map_or(from_row, |last| last.end_row);
    Ok(Read { messages, next_row, dropped: dropped.map(|dropped| dropped.rows) })
}

/// A message of no rows, which would have number `next_row`, that tells what the spool has dropped
/// in all: where everything was dropped no row comes to tell it with.
pub(super) fn only_dropped(
    spool: StreamId,
    next_row: u64,
    dropped: SpoolDrop,
    host: &str,
) -> Result<Rows, LinkError> {
    let mut message = Message::default();
    tell_dropped(&mut message, dropped, spool, host);
    Ok(Rows::pack(next_row, &message)?)
}

fn tell_dropped(message: &mut Message, dropped: SpoolDrop, spool: StreamId, host: &str) {
    let process = spool_process(spool, host);
    let (until_ns, SpoolDrop { rows, new_rows, from_ns }) = (clock::utc_now_ns(), dropped);
    message.extras.lost.push((process.id(), rows));
    let loss = Loss { process: process.id(), from_ns, until_ns, rows: new_rows };
    message.extras.losses.push(loss);
    message.names.add_process(process);
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

/// Whether a message has room for more rows.
fn has_room(batch: &Batch) -> bool {
    batch.len() < ROWS_MAX && batch.contexts().len() < CONTEXTS_MAX
}

/// Messages of at most [`ROWS_MAX`] rows, and about [`CONTEXTS_MAX`] bytes of contexts; what is told
/// besides goes with the first.
fn cut(mut first_row: u64, message: Message) -> Result<Vec<Outgoing>, LinkError> {
    let mut messages = Vec::new();
    let mut push = |message: &Message| {
        let rows = Rows::pack(first_row, message)?;
        first_row += message.batch.len() as u64;
        messages.push(Outgoing { rows, end_row: first_row });
        Ok::<(), LinkError>(())
    };
    if message.batch.len() <= ROWS_MAX && message.batch.contexts().len() <= CONTEXTS_MAX {
        push(&message)?;
        return Ok(messages);
    }
    let Message { batch, names, extras } = message;
    let mut part = Message { names, extras, ..Message::default() };
    for record in batch.records() {
        if !has_room(&part.batch) {
            push(&std::mem::take(&mut part))?;
        }
        part.batch.push(*record, batch.context(record));
    }
    push(&part)?;
    Ok(messages)
}

/// The first so many rows.
fn first_rows(batch: &Batch, count: u64) -> Batch {
    let count = usize::try_from(count).unwrap_or(usize::MAX).min(batch.len());
    let mut first = Batch::default();
    batch.records()[..count].iter().for_each(|record| first.push(*record, batch.context(record)));
    first
}

fn append(batch: &mut Batch, more: &Batch) {
    more.records().iter().for_each(|record| batch.push(*record, more.context(record)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::{Record, TransactionId};
    use chronoscope_store::wire::Extras;
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
        assert!(
            read(&spool, 0, None, None, "h").unwrap().messages.is_empty(),
            "nothing is durable"
        );
        spool.sync().unwrap();
        let messages = read(&spool, 3, None, None, "h").unwrap().messages;
        let ends: Vec<u64> = messages.iter().map(|message| message.end_row).collect();
        assert_eq!(ends, [3 + ROWS_MAX as u64, 3 + 2 * ROWS_MAX as u64, big]);
        assert_eq!(ids(&messages).concat(), (3..big).collect::<Vec<_>>());
        let dropped = SpoolDrop { rows: 11, new_rows: 4, from_ns: 5 };
        let again = read(&spool, 7, None, Some(dropped), "h").unwrap().messages;
        assert_eq!(ids(&again)[0][0], 7, "going back is possible");
        let Extras { lost, losses, .. } = again[0].rows.unpack().unwrap().extras;
        assert_eq!((losses[0].from_ns, losses[0].rows), (5, 4));
        assert_eq!(lost, [(spool_process(spool.id(), "h").id(), 11)]);
        assert_ne!(lost[0].0, spool_process(StreamId(spool.id().0 ^ 2), "h").id());
    }

    #[test]
    fn rows_with_many_links_go_in_messages_of_bounded_size() {
        let mut batch = Batch::default();
        let context = [7; chronoscope_model::context::STORED_MAX_BYTES];
        (0..1000).for_each(|id| {
            batch.push(Record { id: TransactionId(id), ..Record::default() }, &context);
        });
        let whole = Message { batch, ..Message::default() };
        let messages = cut(5, whole).unwrap();
        assert_eq!(ids(&messages).concat(), (0..1000).collect::<Vec<_>>());
        assert_eq!(messages.last().map(|last| last.end_row), Some(1005));
        let sizes = messages.iter().map(|message| {
            let batch = message.rows.unpack().unwrap().batch;
            batch.contexts().len()
        });
        assert!(sizes.max() <= Some(CONTEXTS_MAX + context.len()));
    }

    #[test]
    fn what_is_sent_again_is_cut_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::open(dir.path(), SpoolOptions::default(), 0).unwrap();
        let mut cuts = Cuts::default();
        let append = |rows| {
            spool.append(&Append { batch: Some(&batch(rows)), ..Append::default() }, 0).unwrap();
            spool.sync().unwrap();
        };
        append(0..5);
        append(5..7);
        cuts.sent(read(&spool, 0, cuts.after(0), None, "h").unwrap().next_row);
        append(7..9);
        cuts.sent(read(&spool, 7, cuts.after(7), None, "h").unwrap().next_row);
        append(9..30);
        let again = |cuts: &Cuts, from| {
            ids(&read(&spool, from, cuts.after(from), None, "h").unwrap().messages)
        };
        assert_eq!(again(&cuts, 0), [(0..7).collect::<Vec<_>>()]);
        assert_eq!(again(&cuts, 3), [vec![3, 4, 5, 6]], "also where a part of it is there");
        assert_eq!(again(&cuts, 7), [vec![7, 8]]);
        assert_eq!(again(&cuts, 9), [(9..30).collect::<Vec<_>>()], "that was never sent");
        cuts.acknowledged(8);
        assert_eq!((cuts.after(0), cuts.after(9)), (Some(9), None));
    }
}
