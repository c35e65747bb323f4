//! The manifest: which segments are the store, and up to which row of the log they hold the rows.
//!
//! It is replaced whole, by renaming, after everything it names is durable: at every instant there
//! is one valid manifest. Format: `docs/formats/segment.md`.

use crate::checked::EndChecksum;
use crate::disk::{Disk, files};
use crate::notes::Ledger;
use crate::segment::Written;
use crate::{Minute, RowKind, Slot, StoreError, layout};
use std::collections::BTreeMap;
use std::path::Path;

const MAGIC: [u8; 8] = *b"CHRNOMAN";
/// Each version may have notes with tags that the one before did not know.
const VERSION: u32 = 5;
/// Version of a manifest without contexts of processes, so that a program of before reads it.
const VERSION_WITHOUT_CONTEXTS: u32 = 4;
/// Version of a manifest without deletions on request either.
const VERSION_WITHOUT_DELETIONS: u32 = 3;
const HEAD_LEN: usize = 24;

/// A segment as the manifest names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentEntry {
    pub(crate) id: u64,
    pub(crate) slot: Slot,
    pub(crate) rows: u64,
    /// Bytes of its file and of its sketch file.
    pub(crate) size_bytes: u64,
    /// UTC, nanoseconds since 1970.
    pub(crate) sealed_ns: i64,
    /// When another segment took its place (UTC, nanoseconds since 1970): readers that know the
    /// older manifest may still be reading it.
    pub(crate) retired_ns: Option<i64>,
    /// The checksums of the ends of both files; `None` where they have none. From version 3 on.
    pub(crate) tail: Option<EndChecksum>,
    pub(crate) sketch_tail: Option<EndChecksum>,
}

impl SegmentEntry {
    /// The entry of a segment and its sketches that were just written.
    pub(crate) fn sealed(
        id: u64,
        slot: Slot,
        rows: u64,
        [segment, sketch]: [Written; 2],
        sealed_ns: i64,
    ) -> Self {
        Self {
            id,
            slot,
            rows,
            size_bytes: segment.size_bytes + sketch.size_bytes,
            sealed_ns,
            retired_ns: None,
            tail: Some(segment.tail),
            sketch_tail: Some(sketch.tail),
        }
    }
}

/// All that is in the store besides the rows of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// Grows with every manifest.
    pub(crate) generation: u64,
    pub(crate) next_segment: u64,
    /// Rows below it are known to the ledger; the next row's number is not below it.
    pub(crate) next_row: u64,
    /// The log goes on in this file; files before it are not needed any more.
    pub(crate) first_log: u64,
    /// Rows below it are all in segments, though that file may begin with some of them.
    pub(crate) first_row: u64,
    /// Rows in minutes that were deleted for their age or for space.
    pub(crate) expired_rows: u64,
    /// Segments in ascending order of their ids.
    pub(crate) segments: Vec<SegmentEntry>,
    /// Rows of a slot below the number are in segments, although the log may still have them.
    pub(crate) sealed_through: BTreeMap<Slot, u64>,
    /// The ledger as of row `next_row`.
    pub(crate) ledger: Ledger,
}

impl Manifest {
    /// Reads the manifest of the store in `dir`; `None` when there is none yet.
    pub(crate) fn read(dir: &Path) -> Result<Option<Self>, StoreError> {
        let path = layout::manifest(dir);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io("read", &path)(error)),
        };
        Self::decode(&bytes, &path).map(Some)
    }

    /// Reads the manifest of the store in `dir`; `None` where the store is new.
    ///
    /// # Errors
    /// As [`Self::read`]; [`StoreError::NoManifest`] where there is none although there are files
    /// that only a manifest can explain; [`StoreError::ForeignManifest`] where it is that of
    /// another store.
    pub(crate) fn of_store(dir: &Path) -> Result<Option<Self>, StoreError> {
        let mut manifest = Self::read(dir)?;
        loop {
            let refused = match &manifest {
                Some(manifest) => manifest.contradicted(dir)?,
                None => unexplained_without(dir)?,
            };
            let Some(error) = refused else { return Ok(manifest) };
            // A server may have replaced the manifest, or written the first one, while files were
            // looked at.
            let again = Self::read(dir)?;
            if again == manifest {
                return Err(error);
            }
            manifest = again;
        }
    }

    /// The refusal of a manifest that names segments of which the store has none, while the store
    /// has segments or log files that the manifest would give up.
    fn contradicted(&self, dir: &Path) -> Result<Option<StoreError>, StoreError> {
        if self.segments.is_empty() || self.is_attested(dir)? {
            return Ok(None);
        }
        let segments = count(&layout::segment_dir(dir), |path| layout::segment_id(path).is_some())?;
        let given_up = |path: &Path| {
            layout::log_sequence(path).is_some_and(|sequence| sequence < self.first_log)
        };
        let files = segments + count(&layout::log_dir(dir), given_up)?;
        let foreign = || StoreError::ForeignManifest { dir: dir.to_owned(), files };
        Ok((files > 0).then(foreign))
    }

    /// Whether a segment or a sketch that the manifest names is in `dir` and ends as the manifest
    /// says. One is enough: no other store has a file of that name and that end. Files that were
    /// sealed without checksums attest by their name. A sketch has counts and neither ids nor
    /// instants: that of foreign rows can be equal in two stores, and attests nothing.
    pub(crate) fn is_attested(&self, dir: &Path) -> Result<bool, StoreError> {
        // The newest first: it is there in every store that is whole, so that one file is read.
        for entry in self.segments.iter().rev() {
            let segment = (layout::segment(dir, entry.slot, entry.id), entry.tail);
            let sketch = (layout::sketch(dir, entry.slot, entry.id), entry.sketch_tail);
            let is_native = entry.slot.kind == RowKind::Native;
            if ends_as(&segment.0, segment.1)? || (is_native && ends_as(&sketch.0, sketch.1)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Replaces the manifest on disk, durably.
    pub(crate) fn write(&self, disk: &Disk, dir: &Path) -> Result<(), StoreError> {
        disk.replace(&layout::manifest(dir), &self.encode())
    }

    /// The segments that are the store.
    pub(crate) fn live(&self) -> impl Iterator<Item = &SegmentEntry> {
        self.segments.iter().filter(|segment| segment.retired_ns.is_none())
    }

    /// Whether a row of the log is in a segment already.
    pub(crate) fn is_sealed(&self, slot: Slot, row: u64) -> bool {
        row < self.first_row || self.sealed_through.get(&slot).is_some_and(|through| row < *through)
    }

    fn encode(&self) -> Vec<u8> {
        let mut body = Body(Vec::new());
        for number in [
            self.generation,
            self.next_segment,
            self.next_row,
            self.first_log,
            self.first_row,
            self.expired_rows,
            self.segments.len() as u64,
            self.sealed_through.len() as u64,
        ] {
            body.put(number);
        }
        for segment in &self.segments {
            body.put(segment.id);
            body.slot(segment.slot);
            body.put(segment.rows);
            body.put(segment.size_bytes);
            body.put(segment.sealed_ns.cast_unsigned());
            body.put(segment.retired_ns.unwrap_or(0).cast_unsigned());
            body.tail(segment.tail);
            body.tail(segment.sketch_tail);
        }
        for (slot, through) in &self.sealed_through {
            body.slot(*slot);
            body.put(*through);
        }
        let mut body = body.0;
        self.ledger.encode(&mut body);
        let mut bytes = Vec::with_capacity(HEAD_LEN + body.len());
        bytes.extend_from_slice(&MAGIC);
        let version = if self.ledger.names.process_contexts().next().is_some() {
            VERSION
        } else if !self.ledger.deletions.is_empty() {
            VERSION_WITHOUT_CONTEXTS
        } else {
            VERSION_WITHOUT_DELETIONS
        };
        bytes.extend_from_slice(&version.to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&body);
        bytes
    }

    fn decode(bytes: &[u8], path: &Path) -> Result<Self, StoreError> {
        let damaged = |position: usize, reason: &str| {
            let advice = format!(
                "{reason}; the log and the segments are unchanged: restore the manifest from a \
                 copy, or see what `chronoscope store repair --dry-run` can recover"
            );
            StoreError::damaged(path, position as u64, advice)
        };
        let Some((head, body)) = bytes.split_first_chunk::<HEAD_LEN>() else {
            return Err(damaged(bytes.len(), "the manifest is cut off"));
        };
        if head[..8] != MAGIC {
            return Err(damaged(0, "not a manifest"));
        }
        let version = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
        if !(1..=VERSION).contains(&version) {
            return Err(StoreError::Newer { path: path.to_owned(), version, known: VERSION });
        }
        if head[12..16] != crc32fast::hash(body).to_le_bytes() {
            return Err(damaged(HEAD_LEN, "the manifest does not match its checksum"));
        }
        let mut rest = body;
        let manifest = Self::decode_body(&mut rest, version);
        manifest.ok_or_else(|| {
            damaged(bytes.len() - rest.len(), "the manifest ends too early or has an invalid entry")
        })
    }

    fn decode_body(rest: &mut &[u8], version: u32) -> Option<Self> {
        let mut manifest = Self {
            generation: number(rest)?,
            next_segment: number(rest)?,
            next_row: number(rest)?,
            first_log: number(rest)?,
            first_row: number(rest)?,
            expired_rows: number(rest)?,
            ..Self::default()
        };
        let (segments, sealed) = (number(rest)?, number(rest)?);
        for _ in 0..segments {
            manifest.segments.push(SegmentEntry {
                id: number(rest)?,
                slot: slot(rest)?,
                rows: number(rest)?,
                size_bytes: number(rest)?,
                sealed_ns: number(rest)?.cast_signed(),
                retired_ns: Some(number(rest)?.cast_signed()).filter(|at| *at != 0),
                tail: if version < 3 { None } else { tail(rest)? },
                sketch_tail: if version < 3 { None } else { tail(rest)? },
            });
        }
        for _ in 0..sealed {
            manifest.sealed_through.insert(slot(rest)?, number(rest)?);
        }
        manifest.ledger.decode(rest).ok()?;
        Some(manifest)
    }
}

/// The refusal of a store without a manifest that has files only a manifest can explain.
fn unexplained_without(dir: &Path) -> Result<Option<StoreError>, StoreError> {
    let segments = count(&layout::segment_dir(dir), |path| layout::segment_id(path).is_some())?;
    let logs = count(&layout::log_dir(dir), |path| layout::log_sequence(path).is_some())?;
    // All rows of a store that was never sealed are in its log, from the first file on: programs
    // before version 3 wrote the first manifest with the first segments.
    let is_refused = segments > 0 || (logs > 0 && !layout::log_file(dir, 0).exists());
    let files = segments + logs;
    Ok(is_refused.then(|| StoreError::NoManifest { dir: dir.to_owned(), files }))
}

/// The number of files in a directory that are counted; 0 where there is no such directory.
fn count(dir: &Path, counts: impl Fn(&Path) -> bool) -> Result<usize, StoreError> {
    Ok(files(dir)?.iter().filter(|path| counts(path)).count())
}

/// Whether a file is there and its end has the checksum; one without a checksum needs only be
/// there.
fn ends_as(path: &Path, tail: Option<EndChecksum>) -> Result<bool, StoreError> {
    use std::os::unix::fs::FileExt;
    // Before it is opened: opening a pipe waits until somebody writes.
    let len = match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => metadata.len(),
        Ok(_) => return Ok(false),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(StoreError::io("open", path)(error)),
    };
    let Some(tail) = tail else { return Ok(true) };
    let Some(begin) = len.checked_sub(u64::from(tail.bytes)) else { return Ok(false) };
    let file = std::fs::File::open(path).map_err(StoreError::io("open", path))?;
    let mut end = vec![0; tail.bytes as usize];
    file.read_exact_at(&mut end, begin).map_err(StoreError::io("read", path))?;
    Ok(crc32fast::hash(&end) == tail.crc)
}

/// Writes numbers.
struct Body(Vec<u8>);

impl Body {
    fn put(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn tail(&mut self, tail: Option<EndChecksum>) {
        let EndChecksum { bytes, crc } = tail.unwrap_or(EndChecksum { bytes: 0, crc: 0 });
        self.put(u64::from(bytes) | u64::from(crc) << 32);
    }

    fn slot(&mut self, slot: Slot) {
        self.put(slot.minute.0.cast_unsigned());
        self.put(slot.kind as u64);
    }
}

/// The checksum of a file's end, `Some(None)` where it has none.
#[allow(clippy::option_option)] // "none" and "no entry" are different
fn tail(rest: &mut &[u8]) -> Option<Option<EndChecksum>> {
    let number = number(rest)?;
    // No file has an end without bytes.
    let [a, b, c, d, crc @ ..] = number.to_le_bytes();
    let tail =
        EndChecksum { bytes: u32::from_le_bytes([a, b, c, d]), crc: u32::from_le_bytes(crc) };
    Some((tail.bytes > 0).then_some(tail))
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let (head, tail) = rest.split_first_chunk()?;
    *rest = tail;
    Some(u64::from_le_bytes(*head))
}

fn slot(rest: &mut &[u8]) -> Option<Slot> {
    let minute = Minute(number(rest)?.cast_signed());
    let kind = match number(rest)? {
        0 => RowKind::Native,
        1 => RowKind::Foreign,
        _ => return None,
    };
    Some(Slot { minute, kind })
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::ProcessId;

    fn manifest() -> Manifest {
        let slot = Slot { minute: Minute(-3), kind: RowKind::Foreign };
        let mut manifest = Manifest { generation: 4, next_row: 9, ..Manifest::default() };
        let tail = Some(EndChecksum { bytes: 7, crc: u32::MAX });
        for (id, retired_ns, sketch_tail) in [(1, None, tail), (7, Some(5), None)] {
            let entry = SegmentEntry {
                id,
                slot,
                rows: 3,
                size_bytes: 99,
                sealed_ns: -1,
                retired_ns,
                tail,
                sketch_tail,
            };
            manifest.segments.push(entry);
        }
        manifest.sealed_through.insert(slot, 8);
        manifest.ledger.cursors.insert(ProcessId(4), vec![(1, 2)]);
        manifest
    }

    #[test]
    fn a_manifest_reads_back() {
        let bytes = manifest().encode();
        assert_eq!(Manifest::decode(&bytes, Path::new("m")).unwrap(), manifest());
        assert_eq!(manifest().live().count(), 1);
    }

    #[test]
    fn damage_anywhere_is_refused_with_its_position() {
        let bytes = manifest().encode();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            // The length in the head is for people who read dumps; nothing depends on it.
            if !(16..24).contains(&at) {
                assert!(Manifest::decode(&damaged, Path::new("m")).is_err(), "byte {at}");
            }
            assert!(Manifest::decode(&bytes[..at], Path::new("m")).is_err(), "cut at {at}");
        }
        let error = Manifest::decode(&bytes[..9], Path::new("/d/manifest")).unwrap_err();
        let text =
            "/d/manifest: byte 9: the manifest is cut off; the log and the segments are unchanged";
        assert!(error.to_string().starts_with(text), "{error}");
    }
}
