//! What a log says besides rows: names, cursors of rings, losses.
//!
//! As bytes: one entry after the other, each a tag and its fields, numbers little-endian, texts
//! with their length (`u32`) before them. See `docs/formats/wal.md`.

use chronoscope_model::{ClassId, ClassName, Names, PathId, ProcessId, ProcessName};
use std::collections::BTreeMap;

const CLASS: u8 = 1;
const PATH: u8 = 2;
const PROCESS: u8 = 3;
const CURSORS: u8 = 4;
const FORGET: u8 = 5;
const LOST: u8 = 6;
const LATE: u8 = 7;
const DAMAGED: u8 = 8;

/// How far the ring of one process was read: pairs of thread block and next sequence number.
pub type Positions = Vec<(u32, u64)>;

/// What is known besides rows, as of one row number: the sum of all notes before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// What the numbers in rows mean.
    pub names: Names,
    /// How far every process's ring was read.
    pub cursors: BTreeMap<ProcessId, Positions>,
    /// Rows that processes overwrote in their rings before they were read, or dropped.
    pub lost: BTreeMap<ProcessId, u64>,
    /// Rows that came when their minute had been sealed already; they are kept.
    pub late_rows: u64,
    /// Rows of the log that were durable once and could not be read back.
    pub damaged_rows: u64,
}

impl Ledger {
    /// All that was lost, in rows.
    pub fn lost_rows(&self) -> u64 {
        self.lost.values().sum()
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
    }

    /// Takes in notes. A later note about the same thing replaces an earlier one.
    ///
    /// # Errors
    /// The offset in `bytes` at which they cease to be notes; what came before is taken in.
    pub(crate) fn decode(&mut self, bytes: &[u8]) -> Result<(), usize> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let at = bytes.len() - rest.len();
            self.decode_entry(&mut rest).ok_or(at)?;
        }
        Ok(())
    }

    fn decode_entry(&mut self, rest: &mut &[u8]) -> Option<()> {
        match take::<1>(rest)?[0] {
            CLASS => {
                self.names.add_class(ClassName { application: text(rest)?, class: text(rest)? });
            }
            PATH => {
                let id = PathId(number(rest)?);
                let classes = list(rest, |rest| number(rest).map(ClassId))?;
                self.names.add_path(id, classes);
            }
            PROCESS => {
                let (application, host) = (text(rest)?, text(rest)?);
                let pid = u32::from_le_bytes(take(rest)?);
                let start_ns = i64::from_le_bytes(take(rest)?);
                self.names.add_process(ProcessName { application, host, pid, start_ns });
            }
            CURSORS => {
                let process = ProcessId(number(rest)?);
                let pair =
                    |rest: &mut &[u8]| Some((u32::from_le_bytes(take(rest)?), number(rest)?));
                self.cursors.insert(process, list(rest, pair)?);
            }
            FORGET => {
                self.cursors.remove(&ProcessId(number(rest)?));
            }
            LOST => {
                self.lost.insert(ProcessId(number(rest)?), number(rest)?);
            }
            LATE => self.late_rows = number(rest)?,
            DAMAGED => self.damaged_rows = number(rest)?,
            _ => return None,
        }
        Some(())
    }
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
        ledger.cursors.insert(ProcessId(3), vec![(0, 10), (4, u64::MAX)]);
        ledger.lost.insert(ProcessId(3), 99);
        ledger.late_rows = 4;
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
        fn damage_is_survived(at in 0usize..200, byte: u8, cut in 0usize..200) {
            let mut bytes = Vec::new();
            ledger().encode(&mut bytes);
            let at = at % bytes.len();
            bytes[at] = byte;
            bytes.truncate(cut);
            if let Err(position) = Ledger::default().decode(&bytes) {
                prop_assert!(position < bytes.len());
            }
        }
    }
}
