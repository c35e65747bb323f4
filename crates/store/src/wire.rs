//! Rows, and what is told with them, as bytes between agent and collector: what a block of the log
//! has, from whom one need not trust. Format: `docs/formats/wal.md`, "On the wire".
//!
//! ```
//! use chronoscope_model::{Batch, Names, Record};
//! use chronoscope_store::wire;
//!
//! let mut batch = Batch::default();
//! batch.push(Record::default(), b"");
//! let bytes = wire::encode(&batch, &Names::default(), &wire::Extras::default());
//! assert_eq!(wire::decode(&bytes)?.batch, batch);
//! # Ok::<(), wire::WireError>(())
//! ```
//!
//! Limits: 2^18 rows and 256 MiB; memory is bounded by the bytes that are there, whatever they
//! claim. Not here: compression and encryption, which are the connection's.

use crate::notes::{self, Note};
use crate::wal::{CONTENT_MAX, ROWS_MAX};
use crate::{ChainAlias, ClockReading, Delivery, Loss};
use bytemuck::Zeroable;
use chronoscope_model::{Batch, Names, PROCESS_CONTEXT_MAX_BYTES, PathId, ProcessId, Record};

/// First bytes of a message; the last of them is the version.
const MAGIC: [u8; 8] = *b"CHRNMSG1";
/// Size of the head, in bytes.
const HEAD_LEN: usize = 32;
/// Most bytes of a name.
pub const NAME_MAX_BYTES: usize = 4096;
/// Most classes of a path.
pub const PATH_MAX_CLASSES: usize = 4096;

/// Content of a message besides rows and names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// Rows that processes have lost in all.
    pub lost: Vec<(ProcessId, u64)>,
    /// When rows of these were lost.
    pub losses: Vec<Loss>,
    /// Up to when processes have delivered: UTC, nanoseconds since 1970, by their hosts' clocks.
    pub delivered: Vec<(ProcessId, i64)>,
    /// Processes that are gone.
    pub gone: Vec<ProcessId>,
    /// Chains that go on in another one's name.
    pub aliases: Vec<ChainAlias>,
    /// Measurements of hosts' clocks.
    pub clocks: Vec<ClockReading>,
}

/// A message as read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The rows.
    pub batch: Batch,
    /// Names that came with them.
    pub names: Names,
    /// Further content.
    pub extras: Extras,
}

/// Position and reason at which bytes are not a valid message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {position} of the message: {what}")]
pub struct WireError {
    /// Offset in the message, in bytes.
    pub position: usize,
    /// Description of the error.
    pub what: &'static str,
}

/// A message as bytes. It is read back if the batch is one that a store takes.
pub fn encode(batch: &Batch, names: &Names, extras: &Extras) -> Vec<u8> {
    let mut told = Vec::new();
    notes::encode_names(names, &mut told);
    extras.encode(&mut told);
    if !is_packed(batch) {
        return assemble(&packed(batch), &told);
    }
    assemble(batch, &told)
}

fn assemble(batch: &Batch, told: &[u8]) -> Vec<u8> {
    let rows: &[u8] = bytemuck::cast_slice(batch.records());
    let parts = [rows, batch.contexts(), told];
    let len = HEAD_LEN + parts.iter().map(|part| part.len()).sum::<usize>();
    let mut bytes = Vec::with_capacity(len);
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&[0; 4]);
    for count in [batch.len(), batch.contexts().len(), told.len()] {
        // A larger count is not a batch of a store; its reader refuses it.
        bytes.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    }
    bytes.extend_from_slice(&[0; 8]);
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
    let crc = crc32fast::hash(&bytes[12..]);
    bytes[8..12].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// Reads a message. Whatever the bytes, what comes back is a batch that a store takes.
///
/// # Errors
/// [`WireError`] with the offset of what is wrong.
pub fn decode(bytes: &[u8]) -> Result<Message, WireError> {
    let refuse = |position, what| Err(WireError { position, what });
    let Some(head) = bytes.first_chunk::<HEAD_LEN>() else {
        return refuse(bytes.len(), "the head is cut off");
    };
    if head[..7] != MAGIC[..7] {
        return refuse(0, "not a message");
    }
    if head[7] != MAGIC[7] {
        return refuse(7, "an unknown version");
    }
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    if word(8) != crc32fast::hash(&bytes[12..]) {
        return refuse(8, "the message does not match its checksum");
    }
    let [row_count, contexts_len, notes_len] = [12, 16, 20].map(|at| word(at) as usize);
    if row_count > ROWS_MAX {
        return refuse(12, "more rows than a batch may have");
    }
    let rows_len = row_count * size_of::<Record>();
    let content_len = rows_len.saturating_add(contexts_len).saturating_add(notes_len);
    if content_len > CONTENT_MAX {
        return refuse(16, "more bytes than a batch may have");
    }
    if content_len != bytes.len() - HEAD_LEN {
        return refuse(12, "the lengths in the head do not match the message");
    }
    let (rows, rest) = bytes[HEAD_LEN..].split_at(rows_len);
    let (contexts, told) = rest.split_at(contexts_len);
    let mut records = vec![Record::zeroed(); row_count];
    bytemuck::cast_slice_mut(&mut records).copy_from_slice(rows);
    check_records(&records, contexts_len)?;
    let batch = Batch::from_parts(records, contexts.to_vec());
    let mut message = Message { batch, ..Message::default() };
    let notes_at = HEAD_LEN + rows_len + contexts_len;
    for (at, note) in notes::notes(told) {
        let position = notes_at + at;
        let Some(note) = note else { return refuse(position, "not a note") };
        message.take(note).map_err(|what| WireError { position, what })?;
    }
    Ok(message)
}

impl Extras {
    fn encode(&self, bytes: &mut Vec<u8>) {
        for (process, rows) in &self.lost {
            notes::encode_lost(*process, *rows, bytes);
        }
        for process in &self.gone {
            notes::encode_forget(*process, bytes);
        }
        for alias in &self.aliases {
            notes::encode_alias(*alias, 0, bytes);
        }
        for reading in &self.clocks {
            notes::encode_reading(reading, bytes);
        }
        self.losses.iter().for_each(|loss| notes::encode_loss(loss, bytes));
        for (process, until_ns) in &self.delivered {
            let delivery = Delivery { until_ns: *until_ns, exports: false };
            notes::encode_delivered(*process, delivery, bytes);
        }
    }

    /// Adds what was told with later rows.
    pub fn merge(&mut self, later: Self) {
        self.lost.extend(later.lost);
        self.losses.extend(later.losses);
        self.delivered.extend(later.delivered);
        self.gone.extend(later.gone);
        self.aliases.extend(later.aliases);
        self.clocks.extend(later.clocks);
    }

    /// Takes in a note when it is one of these; otherwise gives it back.
    pub(crate) fn take(&mut self, note: Note) -> Option<Note> {
        match note {
            Note::Lost(process, rows) => self.lost.push((process, rows)),
            Note::Forget(process) => self.gone.push(process),
            Note::Alias(alias, _) => self.aliases.push(alias),
            Note::Reading(reading) => self.clocks.push(reading),
            Note::Loss(loss) => self.losses.push(loss),
            Note::Delivered(process, delivery) if !delivery.exports => {
                self.delivered.push((process, delivery.until_ns));
            }
            other => return Some(other),
        }
        None
    }
}

impl Message {
    fn take(&mut self, note: Note) -> Result<(), &'static str> {
        let is_long = |text: &str| text.len() > NAME_MAX_BYTES;
        match note {
            Note::Class(name) if is_long(&name.application) || is_long(&name.class) => {
                return Err("a class with too long a name");
            }
            Note::Class(name) => {
                self.names.add_class(name);
            }
            Note::Process(name) if is_long(&name.application) || is_long(&name.host) => {
                return Err("a process with too long a name");
            }
            Note::Process(name) => {
                self.names.add_process(name);
            }
            Note::ProcessContext(_, context) if context.len() > PROCESS_CONTEXT_MAX_BYTES => {
                return Err("a process with too long a context");
            }
            Note::ProcessContext(process, context) => {
                self.names.add_process_context(process, &context);
            }
            Note::Path(_, classes) if classes.len() > PATH_MAX_CLASSES => {
                return Err("a path with too many classes");
            }
            // Names are for ever: one that is wrong would be wrong for everybody.
            Note::Path(id, classes)
                if classes.iter().all(|class| !class.is_none()) && PathId::of(&classes) != id =>
            {
                return Err("the id of a path is already used by another path");
            }
            Note::Path(id, classes) => {
                self.names.add_path(id, classes);
            }
            Note::Reading(reading) if is_long(&reading.host) => {
                return Err("a host with too long a name");
            }
            other => {
                if self.extras.take(other).is_some() {
                    return Err("a note that must not be sent to another host");
                }
            }
        }
        Ok(())
    }
}

/// Whether every context is where the one before ended, as [`Batch::push`] puts them.
fn is_packed(batch: &Batch) -> bool {
    check_records(batch.records(), batch.contexts().len()).is_ok()
}

fn packed(batch: &Batch) -> Batch {
    let mut packed = Batch::default();
    batch.records().iter().for_each(|record| packed.push(*record, batch.context(record)));
    packed
}

/// Contexts may not overlap: many rows that share one would grow to any size when they are taken
/// apart.
fn check_records(records: &[Record], contexts_len: usize) -> Result<(), WireError> {
    let mut end = 0;
    for (index, record) in records.iter().enumerate() {
        let len = usize::from(record.context_len);
        let what = if len > 0 && record.context_offset as usize != end {
            "a row whose context does not follow the context of the row before"
        } else if record.reserved != 0 {
            "a row with a value in a reserved field"
        } else {
            end += len;
            continue;
        };
        let position = HEAD_LEN + index * size_of::<Record>();
        return Err(WireError { position, what });
    }
    if end != contexts_len {
        let position = HEAD_LEN + size_of_val(records) + end.min(contexts_len);
        return Err(WireError {
            position,
            what: "the length of the contexts does not match the rows",
        });
    }
    Ok(())
}
