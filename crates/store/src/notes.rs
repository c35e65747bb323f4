//! Notes in a log beside the rows: names, cursors of rings, losses.
//!
//! Encoding: one entry after the other, each a tag and its fields, numbers little-endian, texts
//! with their length (`u32`) before them. See `docs/formats/wal.md`.

use crate::append::{Positions, StreamId};
use crate::{
    Aliases, Append, ChainAlias, ClockReading, ClockTable, DELIVERED_ALL, Deletion, Deletions,
    Deliveries, Delivery, Keys, Loss, LossTable,
};
use chronoscope_chain::{ClockEstimate, ClockKnot, ClockTrack, Dropped};
use chronoscope_model::{ChainId, ClassId, ClassName, Names, PathId, ProcessId, ProcessName};
use std::collections::{BTreeMap, BTreeSet};

const CLASS: u8 = 1;
const PATH: u8 = 2;
const PROCESS: u8 = 3;
const CURSORS: u8 = 4;
const FORGET: u8 = 5;
const LOST: u8 = 6;
const LATE: u8 = 7;
const DAMAGED: u8 = 8;
// Since version 2.
const STREAM: u8 = 9;
const ALIAS: u8 = 10;
const READING: u8 = 11;
const TRACK: u8 = 12;
const ALIASES_DROPPED: u8 = 13;
const KEY: u8 = 14;
// Since version 3.
const LOSS: u8 = 15;
const DELIVERED: u8 = 16;
const EXPIRED_UNTIL: u8 = 17;
const EXPORTED: u8 = 18;
// Since version 4 of the manifest, and in no log.
const DELETED: u8 = 19;
// Since version 4 of the log, and version 5 of the manifest.
const PROCESS_CONTEXT: u8 = 20;

/// Most senders that are remembered; beyond, the one that was heard longest ago is forgotten.
pub(crate) const STREAMS_MAX: usize = 1 << 16;

/// End of a sender's rows in this store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamEnd {
    /// Number, in the sender's count, of the next row that is wanted.
    pub next_row: u64,
    /// Time of the last received rows: UTC, nanoseconds since 1970.
    pub heard_ns: i64,
}

/// Sum of all notes before one row number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Names of the ids in rows.
    pub names: Names,
    /// Read positions in every process's ring.
    pub cursors: BTreeMap<ProcessId, Positions>,
    /// Rows that processes overwrote in their rings before they were read, or dropped.
    pub lost: BTreeMap<ProcessId, u64>,
    /// Rows that came when their minute had been sealed already; they are kept.
    pub late_rows: u64,
    /// Rows of the log that were durable once and could not be read back.
    pub damaged_rows: u64,
    /// End of every sender's rows in this store.
    pub streams: BTreeMap<StreamId, StreamEnd>,
    /// Chains that go on in another one's name.
    pub aliases: Aliases,
    /// Readings of the hosts' clocks.
    pub clocks: ClockTable,
    /// The keys of the last keyed appends.
    pub keys: Keys,
    /// When rows were lost, as far as that is known; [`Self::lost`] has all of them.
    pub losses: LossTable,
    /// Up to when each process has delivered.
    pub deliveries: Deliveries,
    /// Minutes that ended by then may have been deleted for their age or for space: UTC,
    /// nanoseconds since 1970; `None` when none was.
    pub expired_until_ns: Option<i64>,
    /// Ranges of which rows were deleted on request.
    pub deletions: Deletions,
}

/// One note.
#[derive(Debug, PartialEq)]
pub(crate) enum Note {
    Class(ClassName),
    Path(PathId, Vec<ClassId>),
    Process(ProcessName),
    ProcessContext(ProcessId, Vec<u8>),
    Cursors(ProcessId, Positions),
    Forget(ProcessId),
    Lost(ProcessId, u64),
    Late(u64),
    Damaged(u64),
    Stream(StreamId, StreamEnd),
    Alias(ChainAlias, i64),
    Reading(ClockReading),
    /// A host's whole track.
    Track(String, Vec<ClockKnot>),
    AliasesDropped(u64),
    Key(u128),
    Loss(Loss),
    Delivered(ProcessId, Delivery),
    ExpiredUntil(i64),
    Deleted(Deletion),
}

impl Ledger {
    /// Forgets processes that nothing speaks of any more, neither a cursor nor a row that `used` them;
    /// once at every start is often enough.
    pub(crate) fn prune_processes(&mut self, mut used: BTreeSet<ProcessId>) {
        used.extend(self.cursors.keys());
        used.extend(self.lost.keys());
        // A source of spans that is silent may come again; one that has delivered all has ended.
        let waits = self.deliveries.iter().filter(|(_, known)| known.until_ns < DELIVERED_ALL);
        used.extend(waits.map(|(id, _)| id));
        self.deliveries.retain(|id| used.contains(&id));
        self.names.retain_processes(|id| used.contains(&id));
    }

    /// All that was lost, in rows.
    pub fn lost_rows(&self) -> u64 {
        self.lost.values().fold(0, |sum, rows| sum.saturating_add(*rows))
    }

    /// All of it, as notes that make the same ledger out of an empty one.
    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        encode_names(&self.names, bytes);
        for (process, positions) in &self.cursors {
            encode_cursors(*process, positions, bytes);
        }
        for (process, rows) in &self.lost {
            encode_lost(*process, *rows, bytes);
        }
        encode_total(LATE, self.late_rows, bytes);
        encode_total(DAMAGED, self.damaged_rows, bytes);
        for (stream, end) in &self.streams {
            encode_stream(*stream, *end, bytes);
        }
        for (alias, at_ns) in self.aliases.told() {
            encode_alias(alias, at_ns, bytes);
        }
        if self.aliases.dropped() > 0 {
            encode_total(ALIASES_DROPPED, self.aliases.dropped(), bytes);
        }
        for (host, track) in self.clocks.hosts() {
            encode_track(host, track.knots(), bytes);
        }
        self.keys.iter().for_each(|key| encode_key(key, bytes));
        self.losses.iter().for_each(|loss| encode_loss(loss, bytes));
        for (process, delivery) in self.deliveries.iter() {
            encode_delivered(process, delivery, bytes);
        }
        if let Some(until_ns) = self.expired_until_ns {
            encode_total(EXPIRED_UNTIL, until_ns.cast_unsigned(), bytes);
        }
        self.deletions.iter().for_each(|deletion| encode_deleted(deletion, bytes));
    }

    /// Takes in notes. A later note about the same thing replaces an earlier one.
    ///
    /// # Errors
    /// The offset in `bytes` at which they cease to be notes; what came before is taken in.
    pub(crate) fn decode(&mut self, bytes: &[u8]) -> Result<(), usize> {
        notes(bytes).try_for_each(|(at, note)| note.map(|note| self.take(note)).ok_or(at))
    }

    fn take(&mut self, note: Note) {
        match note {
            Note::Class(name) => {
                self.names.add_class(name);
            }
            Note::Path(id, classes) => {
                self.names.add_path(id, classes);
            }
            Note::Process(name) => {
                self.names.add_process(name);
            }
            Note::ProcessContext(process, context) => {
                self.names.add_process_context(process, &context);
            }
            Note::Cursors(process, positions) => {
                self.cursors.insert(process, positions);
            }
            Note::Forget(process) => {
                self.cursors.remove(&process);
            }
            Note::Lost(process, rows) => {
                self.lost.insert(process, rows);
            }
            Note::Late(rows) => self.late_rows = rows,
            Note::Damaged(rows) => self.damaged_rows = rows,
            Note::Stream(stream, end) => self.take_stream(stream, end),
            Note::Alias(alias, at_ns) => self.aliases.insert(alias, at_ns),
            Note::Reading(reading) => {
                self.clocks.insert(&reading);
            }
            Note::Track(host, knots) => self.clocks.set(&host, ClockTrack::from_knots(knots)),
            Note::AliasesDropped(count) => self.aliases.set_dropped(count),
            Note::Key(key) => self.keys.insert(key),
            Note::Loss(loss) => self.losses.insert(loss),
            Note::Delivered(process, delivery) => self.deliveries.insert(process, delivery),
            Note::ExpiredUntil(until_ns) => self.expire_until(until_ns),
            Note::Deleted(deletion) => self.deletions.insert(deletion),
        }
    }

    /// Notes that minutes that ended by then are deleted.
    pub(crate) fn expire_until(&mut self, until_ns: i64) {
        self.expired_until_ns = self.expired_until_ns.max(Some(until_ns));
    }

    /// Rows that a process lost at times that are not known: all that stores of before version 3
    /// say of losses.
    pub fn lost_at_unknown_times(&self, process: ProcessId) -> u64 {
        let lost = self.lost.get(&process).copied().unwrap_or(0);
        lost.saturating_sub(self.losses.rows(process))
    }

    fn take_stream(&mut self, stream: StreamId, end: StreamEnd) {
        self.streams.insert(stream, end);
        if self.streams.len() > STREAMS_MAX {
            let quietest = self.streams.iter().min_by_key(|(id, end)| (end.heard_ns, **id));
            if let Some(stream) = quietest.map(|(stream, _)| *stream) {
                self.streams.remove(&stream);
            }
        }
    }
}

/// The notes in `bytes` with their offsets, up to the first thing that is none: there `None` comes.
pub(crate) fn notes(bytes: &[u8]) -> impl Iterator<Item = (usize, Option<Note>)> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let at = bytes.len() - rest.len();
        let note = note(&mut rest);
        if note.is_none() {
            rest = &[];
        }
        Some((at, note))
    })
}

fn note(rest: &mut &[u8]) -> Option<Note> {
    let note = match take::<1>(rest)?[0] {
        CLASS => Note::Class(ClassName { application: text(rest)?, class: text(rest)? }),
        PATH => Note::Path(PathId(number(rest)?), list(rest, |rest| number(rest).map(ClassId))?),
        PROCESS => Note::Process(ProcessName {
            application: text(rest)?,
            host: text(rest)?,
            pid: u32::from_le_bytes(take(rest)?),
            start_ns: instant(rest)?,
        }),
        PROCESS_CONTEXT => {
            let (process, len) = (ProcessId(number(rest)?), u32::from_le_bytes(take(rest)?));
            let (context, tail) = rest.split_at_checked(len as usize)?;
            *rest = tail;
            Note::ProcessContext(process, context.to_vec())
        }
        CURSORS => {
            let process = ProcessId(number(rest)?);
            let pair = |rest: &mut &[u8]| Some((u32::from_le_bytes(take(rest)?), number(rest)?));
            Note::Cursors(process, list(rest, pair)?)
        }
        FORGET => Note::Forget(ProcessId(number(rest)?)),
        LOST => Note::Lost(ProcessId(number(rest)?), number(rest)?),
        LATE => Note::Late(number(rest)?),
        DAMAGED => Note::Damaged(number(rest)?),
        STREAM => {
            let stream = StreamId(long(rest)?);
            Note::Stream(stream, StreamEnd { next_row: number(rest)?, heard_ns: instant(rest)? })
        }
        ALIAS => {
            let (chain, continues) = (ChainId(long(rest)?), ChainId(long(rest)?));
            Note::Alias(ChainAlias { chain, continues }, instant(rest)?)
        }
        READING => Note::Reading(ClockReading {
            host: text(rest)?,
            at_ns: instant(rest)?,
            offset_ns: instant(rest)?,
            error_ns: number(rest)?,
        }),
        TRACK => Note::Track(text(rest)?, list(rest, knot)?),
        ALIASES_DROPPED => Note::AliasesDropped(number(rest)?),
        KEY => Note::Key(long(rest)?),
        LOSS => Note::Loss(Loss {
            process: ProcessId(number(rest)?),
            from_ns: instant(rest)?,
            until_ns: instant(rest)?,
            rows: number(rest)?,
        }),
        tag @ (DELIVERED | EXPORTED) => {
            let process = ProcessId(number(rest)?);
            let delivery = Delivery { until_ns: instant(rest)?, exports: tag == EXPORTED };
            Note::Delivered(process, delivery)
        }
        EXPIRED_UNTIL => Note::ExpiredUntil(instant(rest)?),
        DELETED => Note::Deleted(Deletion {
            from_ns: instant(rest)?,
            until_ns: instant(rest)?,
            at_ns: instant(rest)?,
            rows: number(rest)?,
            by: text(rest)?,
        }),
        _ => return None,
    };
    Some(note)
}

fn knot(rest: &mut &[u8]) -> Option<ClockKnot> {
    let at_ns = instant(rest)?;
    let estimate = ClockEstimate { offset_ns: instant(rest)?, error_ns: number(rest)? };
    let (error_ns, gap_ns) = (number(rest)?, number(rest)?);
    // Dropped readings leave a gap in time.
    let dropped = (gap_ns > 0).then_some(Dropped { error_ns, gap_ns });
    Some(ClockKnot { at_ns, estimate, dropped })
}

/// Notes about all that an append says besides rows; of names, what `known` does not know yet.
pub(crate) fn encode_append(known: &Ledger, input: &Append<'_>, now_ns: i64, bytes: &mut Vec<u8>) {
    if let Some(names) = input.names {
        encode_names(&news(&known.names, names), bytes);
    }
    for (process, positions) in input.cursors {
        encode_cursors(*process, positions, bytes);
    }
    for (process, rows) in input.lost {
        encode_lost(*process, *rows, bytes);
    }
    for process in input.forget {
        encode_forget(*process, bytes);
    }
    if let Some((stream, next_row)) = input.stream {
        encode_stream(stream, StreamEnd { next_row, heard_ns: now_ns }, bytes);
    }
    for alias in input.aliases {
        encode_alias(*alias, now_ns, bytes);
    }
    for reading in input.clocks {
        encode_reading(reading, bytes);
    }
    if let Some(key) = input.key {
        encode_key(key, bytes);
    }
    input.losses.iter().for_each(|loss| encode_loss(loss, bytes));
    let delivered = input.delivered.iter().map(|said| (said, false));
    for ((process, until_ns), exports) in delivered.chain(input.exported.iter().map(|s| (s, true)))
    {
        // A note that is known already is not written.
        if known.deliveries.of(*process).is_none_or(|known| known < *until_ns) {
            encode_delivered(*process, Delivery { until_ns: *until_ns, exports }, bytes);
        }
    }
}

/// The names of `heard` that `known` lacks.
fn news(known: &Names, heard: &Names) -> Names {
    let mut news = Names::default();
    for (id, name) in heard.classes() {
        if known.class(id).is_none() {
            news.add_class(name.clone());
        }
    }
    for (id, classes) in heard.paths() {
        let has_gap = |classes: &[ClassId]| classes.iter().any(|class| class.is_none());
        if known.path(id).is_none_or(|known| has_gap(known) && !has_gap(classes)) {
            news.add_path(id, classes.to_vec());
        }
    }
    for (id, name) in heard.processes() {
        if known.process(id).is_none() {
            news.add_process(name.clone());
        }
    }
    for (id, context) in heard.process_contexts() {
        if known.process_context(id).is_empty() {
            news.add_process_context(id, context);
        }
    }
    news
}

/// Notes about names.
pub(crate) fn encode_names(names: &Names, bytes: &mut Vec<u8>) {
    for (_, name) in names.classes() {
        bytes.push(CLASS);
        encode_text(&name.application, bytes);
        encode_text(&name.class, bytes);
    }
    for (id, classes) in names.paths() {
        bytes.push(PATH);
        bytes.extend_from_slice(&id.0.to_le_bytes());
        encode_len(classes.len(), bytes);
        classes.iter().for_each(|class| bytes.extend_from_slice(&class.0.to_le_bytes()));
    }
    for (_, name) in names.processes() {
        bytes.push(PROCESS);
        encode_text(&name.application, bytes);
        encode_text(&name.host, bytes);
        bytes.extend_from_slice(&name.pid.to_le_bytes());
        bytes.extend_from_slice(&name.start_ns.to_le_bytes());
    }
    for (process, context) in names.process_contexts() {
        encode_total(PROCESS_CONTEXT, process.0, bytes);
        encode_len(context.len(), bytes);
        bytes.extend_from_slice(context);
    }
}

/// A note that a process's ring was read up to `positions`.
pub(crate) fn encode_cursors(process: ProcessId, positions: &[(u32, u64)], bytes: &mut Vec<u8>) {
    bytes.push(CURSORS);
    bytes.extend_from_slice(&process.0.to_le_bytes());
    encode_len(positions.len(), bytes);
    for (block, next) in positions {
        bytes.extend_from_slice(&block.to_le_bytes());
        bytes.extend_from_slice(&next.to_le_bytes());
    }
}

/// A note that a process's ring is gone.
pub(crate) fn encode_forget(process: ProcessId, bytes: &mut Vec<u8>) {
    encode_total(FORGET, process.0, bytes);
}

/// A note that a process lost `rows` in all.
pub(crate) fn encode_lost(process: ProcessId, rows: u64, bytes: &mut Vec<u8>) {
    encode_total(LOST, process.0, bytes);
    bytes.extend_from_slice(&rows.to_le_bytes());
}

/// A note that so many rows came late in all.
pub(crate) fn encode_late(rows: u64, bytes: &mut Vec<u8>) {
    encode_total(LATE, rows, bytes);
}

fn encode_stream(stream: StreamId, end: StreamEnd, bytes: &mut Vec<u8>) {
    bytes.push(STREAM);
    bytes.extend_from_slice(&stream.0.to_le_bytes());
    bytes.extend_from_slice(&end.next_row.to_le_bytes());
    bytes.extend_from_slice(&end.heard_ns.to_le_bytes());
}

/// A note that a chain goes on in another one's name, told at `at_ns`.
pub(crate) fn encode_alias(alias: ChainAlias, at_ns: i64, bytes: &mut Vec<u8>) {
    bytes.push(ALIAS);
    bytes.extend_from_slice(&alias.chain.0.to_le_bytes());
    bytes.extend_from_slice(&alias.continues.0.to_le_bytes());
    bytes.extend_from_slice(&at_ns.to_le_bytes());
}

/// A note that a host's clock was read.
pub(crate) fn encode_reading(reading: &ClockReading, bytes: &mut Vec<u8>) {
    bytes.push(READING);
    encode_text(&reading.host, bytes);
    bytes.extend_from_slice(&reading.at_ns.to_le_bytes());
    bytes.extend_from_slice(&reading.offset_ns.to_le_bytes());
    bytes.extend_from_slice(&reading.error_ns.to_le_bytes());
}

/// A note that rows were lost in an interval.
pub(crate) fn encode_loss(loss: &Loss, bytes: &mut Vec<u8>) {
    encode_total(LOSS, loss.process.0, bytes);
    bytes.extend_from_slice(&loss.from_ns.to_le_bytes());
    bytes.extend_from_slice(&loss.until_ns.to_le_bytes());
    bytes.extend_from_slice(&loss.rows.to_le_bytes());
}

/// A note that a process has delivered up to an instant.
pub(crate) fn encode_delivered(process: ProcessId, delivery: Delivery, bytes: &mut Vec<u8>) {
    let tag = if delivery.exports { EXPORTED } else { DELIVERED };
    encode_total(tag, process.0, bytes);
    bytes.extend_from_slice(&delivery.until_ns.to_le_bytes());
}

fn encode_key(key: u128, bytes: &mut Vec<u8>) {
    bytes.push(KEY);
    bytes.extend_from_slice(&key.to_le_bytes());
}

fn encode_track(host: &str, knots: &[ClockKnot], bytes: &mut Vec<u8>) {
    bytes.push(TRACK);
    encode_text(host, bytes);
    encode_len(knots.len(), bytes);
    for knot in knots {
        let dropped = knot.dropped.unwrap_or(Dropped { error_ns: 0, gap_ns: 0 });
        bytes.extend_from_slice(&knot.at_ns.to_le_bytes());
        bytes.extend_from_slice(&knot.estimate.offset_ns.to_le_bytes());
        bytes.extend_from_slice(&knot.estimate.error_ns.to_le_bytes());
        bytes.extend_from_slice(&dropped.error_ns.to_le_bytes());
        bytes.extend_from_slice(&dropped.gap_ns.to_le_bytes());
    }
}

fn encode_deleted(deletion: &Deletion, bytes: &mut Vec<u8>) {
    bytes.push(DELETED);
    for instant in [deletion.from_ns, deletion.until_ns, deletion.at_ns] {
        bytes.extend_from_slice(&instant.to_le_bytes());
    }
    bytes.extend_from_slice(&deletion.rows.to_le_bytes());
    encode_text(&deletion.by, bytes);
}

fn encode_total(tag: u8, total: u64, bytes: &mut Vec<u8>) {
    bytes.push(tag);
    bytes.extend_from_slice(&total.to_le_bytes());
}

fn encode_text(text: &str, bytes: &mut Vec<u8>) {
    encode_len(text.len(), bytes);
    bytes.extend_from_slice(text.as_bytes());
}

/// Lengths are of names, threads of a process and depths of paths: far below 4 G.
fn encode_len(len: usize, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes());
}

/// The next `N` bytes.
fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    take(rest).map(u64::from_le_bytes)
}

fn long(rest: &mut &[u8]) -> Option<u128> {
    take(rest).map(u128::from_le_bytes)
}

fn instant(rest: &mut &[u8]) -> Option<i64> {
    take(rest).map(i64::from_le_bytes)
}

fn text(rest: &mut &[u8]) -> Option<String> {
    let len = u32::from_le_bytes(take(rest)?) as usize;
    let (head, tail) = rest.split_at_checked(len)?;
    *rest = tail;
    std::str::from_utf8(head).ok().map(str::to_owned)
}

/// A list with its length before it. Memory grows with the bytes that are there, whatever the
/// length says.
fn list<T>(rest: &mut &[u8], item: impl Fn(&mut &[u8]) -> Option<T>) -> Option<Vec<T>> {
    let len = u32::from_le_bytes(take(rest)?);
    let mut items = Vec::new();
    for _ in 0..len {
        items.push(item(rest)?);
    }
    Some(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ledger() -> Ledger {
        let mut ledger = Ledger::default();
        let class = ClassName { application: "MRTS".into(), class: "decodePlots".into() };
        let root = ClassId::of(&class.application, &class.class);
        ledger.names.add_class(class);
        ledger.names.add_path(PathId::of(&[root]), vec![root]);
        ledger.names.add_process(ProcessName {
            application: "MRTS".into(),
            host: "radar-1".into(),
            pid: 7,
            start_ns: -5,
        });
        ledger.names.add_process_context(ProcessId(3), b"what it runs in");
        ledger.cursors.insert(ProcessId(3), vec![(0, 10), (4, u64::MAX)]);
        ledger.lost.insert(ProcessId(3), 99);
        ledger.late_rows = 4;
        ledger.streams.insert(StreamId(1 << 100), StreamEnd { next_row: 8, heard_ns: -2 });
        for (chain, continues) in [(1, 2), (2, 3)] {
            let alias = ChainAlias { chain: ChainId(chain), continues: ChainId(continues) };
            ledger.aliases.insert(alias, 5);
        }
        ledger.aliases.set_dropped(3);
        ledger.keys.insert(1 << 99);
        let process = ProcessId(3);
        ledger.losses.insert(Loss { process, from_ns: -9, until_ns: 40, rows: 98 });
        for (process, exports) in [(process, false), (ProcessId(4), true)] {
            ledger.deliveries.insert(process, Delivery { until_ns: 41, exports });
        }
        ledger.expired_until_ns = Some(-60);
        let by = "ops".into();
        ledger.deletions.insert(Deletion { from_ns: -9, until_ns: 7, at_ns: 8, rows: 3, by });
        // Enough readings that some are merged into a line.
        for n in 0..700 {
            let host = String::from("radar-1");
            let reading = ClockReading { host, at_ns: n * 1000, offset_ns: n % 3, error_ns: 9 };
            ledger.clocks.insert(&reading);
        }
        ledger
    }

    #[test]
    fn a_ledger_reads_back() {
        let mut bytes = Vec::new();
        ledger().encode(&mut bytes);
        let mut back = Ledger::default();
        assert_eq!(back.decode(&bytes), Ok(()));
        assert_eq!(back, ledger());
        bytes.clear();
        encode_forget(ProcessId(3), &mut bytes);
        assert_eq!(back.decode(&bytes), Ok(()));
        assert!(back.cursors.is_empty());
    }

    proptest! {
        /// Damage is refused at a position inside, or read as other notes; never a panic.
        #[test]
        fn damage_is_survived(at in 0usize..900, byte: u8, cut in 0usize..900) {
            let mut bytes = Vec::new();
            ledger().encode(&mut bytes);
            bytes.truncate(900);
            let at = at % bytes.len();
            bytes[at] = byte;
            bytes.truncate(cut);
            if let Err(position) = Ledger::default().decode(&bytes) {
                prop_assert!(position < bytes.len());
            }
        }
    }
}
