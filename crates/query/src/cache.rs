//! Durations that were found are kept for the next question, within a bound.

use crate::chunk::Chunk;
use crate::question::{Clocks, DurationKind, Question};
use chronoscope_chain::{AttributeSelection, LeafLevel};
use chronoscope_store::{ClockTable, Segment, StoreError};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval at which a waiting thread calls `check`.
const CHECK_EVERY: Duration = Duration::from_millis(20);

/// Durations of sealed minutes, decoded: who looks at chains asks again and again about the same
/// ones. A duration takes 21 bytes, 29 where hosts' clocks were read; beyond the bound those that
/// were not asked for longest go. Segments never change, so that what is kept is never wrong.
///
/// Two questions at a time about the same durations share the reading of them: what one reads, the
/// other waits for. One question at a time may be larger than the bound: what does not fit is read
/// again.
#[derive(Debug)]
pub struct DurationCache {
    bytes_max: u64,
    kept: Mutex<Kept>,
    /// Signalled when a reading has ended.
    done: Condvar,
}

#[derive(Debug, Default)]
struct Kept {
    chunks: HashMap<Key, Entry>,
    /// Keys that a thread is reading.
    underway: HashSet<Key>,
    bytes: u64,
    /// Number of questions so far.
    questions: u64,
}

#[derive(Debug)]
struct Entry {
    chunk: Arc<Chunk>,
    bytes: u64,
    /// The question that asked for it last.
    asked: u64,
}

/// Key of an entry: the durations, and the segments they were read from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    base: Arc<QuestionKey>,
    segments: Vec<(PathBuf, u64, u64)>,
}

/// The parts of a question that determine its durations, before filters are applied.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct QuestionKey {
    kind: DurationKind,
    root: String,
    leaf: Option<String>,
    level: Option<u16>,
    corrected: bool,
    attributes: AttributeSelection,
    /// Hash of the clock readings.
    clocks: u64,
    /// Time range of the question, where the durations found depend on it.
    window_ns: Option<(i64, i64)>,
}

impl QuestionKey {
    pub(crate) fn of(
        question: &Question,
        clocks: &ClockTable,
        window_ns: Option<(i64, i64)>,
    ) -> Arc<Self> {
        let mut hasher = DefaultHasher::new();
        for (host, track) in clocks.hosts().filter(|_| question.kind != DurationKind::Sync) {
            host.hash(&mut hasher);
            for knot in track.knots() {
                format!("{knot:?}").hash(&mut hasher);
            }
        }
        Arc::new(Self {
            kind: question.kind,
            root: question.root.0.clone(),
            leaf: question.leaf.as_ref().map(|leaf| leaf.0.clone()),
            level: match question.level {
                LeafLevel::Any => None,
                LeafLevel::Exactly(level) => Some(level),
            },
            corrected: question.clocks == Clocks::Corrected,
            attributes: question.attributes.clone(),
            clocks: hasher.finish(),
            window_ns,
        })
    }
}

impl Key {
    pub(crate) fn of(base: &Arc<QuestionKey>, segments: &[&Segment]) -> Self {
        let segment = |segment: &&Segment| {
            // A store that was made anew in the same place may use the same names again.
            (segment.path.clone(), segment.row_count, segment.size_bytes)
        };
        Self { base: base.clone(), segments: segments.iter().map(segment).collect() }
    }
}

impl Default for DurationCache {
    /// 384 MiB: some 19 million durations of hosts whose clocks were not read.
    fn default() -> Self {
        Self::new(384 << 20)
    }
}

impl DurationCache {
    /// An empty one, of at most so many bytes.
    pub fn new(bytes_max: u64) -> Self {
        Self { bytes_max, kept: Mutex::default(), done: Condvar::new() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Current size in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.kept().bytes
    }

    /// The number of the next question.
    pub(crate) fn begin(&self) -> u64 {
        let mut kept = self.kept();
        kept.questions += 1;
        kept.questions
    }

    /// Returns the kept durations, or tells who is to read them.
    pub(crate) fn get(&self, key: &Key, question: u64) -> CacheLookup<'_> {
        self.kept().get(self, key, question)
    }

    /// As [`Self::get`], after waiting until no other thread reads the durations. `check` is called
    /// at intervals; its error ends the wait.
    pub(crate) fn wait(
        &self,
        key: &Key,
        question: u64,
        check: impl Fn() -> Result<(), StoreError>,
    ) -> Result<CacheLookup<'_>, StoreError> {
        let mut kept = self.kept();
        loop {
            check()?;
            if !kept.underway.contains(key) {
                return Ok(kept.get(self, key, question));
            }
            let woken = self.done.wait_timeout(kept, CHECK_EVERY);
            kept = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Keeps a chunk; whether there was room beside what the same question asked for.
    pub(crate) fn keep(&self, key: Key, chunk: &Arc<Chunk>, question: u64) -> bool {
        let bytes = chunk.size_bytes();
        let mut kept = self.kept();
        if bytes > self.bytes_max {
            return false;
        }
        if kept.bytes + bytes > self.bytes_max {
            kept.make_room(self.bytes_max - bytes, question);
        }
        if kept.bytes + bytes > self.bytes_max {
            return false;
        }
        let entry = Entry { chunk: chunk.clone(), bytes, asked: question };
        kept.bytes += bytes;
        if let Some(before) = kept.chunks.insert(key, entry) {
            kept.bytes -= before.bytes;
        }
        true
    }
}

/// Result of a cache lookup.
pub(crate) enum CacheLookup<'a> {
    Kept(Arc<Chunk>),
    /// Not in the cache: the caller reads the rows, and others wait until this is dropped.
    Missing(PendingRead<'a>),
    /// Another question is reading them.
    Underway,
}

/// Announcement that a question is reading the rows of a key. Dropping it wakes those who wait.
pub(crate) struct PendingRead<'a> {
    cache: &'a DurationCache,
    key: Key,
}

impl Drop for PendingRead<'_> {
    fn drop(&mut self) {
        self.cache.kept().underway.remove(&self.key);
        self.cache.done.notify_all();
    }
}

impl Kept {
    fn get<'a>(&mut self, cache: &'a DurationCache, key: &Key, question: u64) -> CacheLookup<'a> {
        if let Some(entry) = self.chunks.get_mut(key) {
            entry.asked = entry.asked.max(question);
            return CacheLookup::Kept(entry.chunk.clone());
        }
        if !self.underway.insert(key.clone()) {
            return CacheLookup::Underway;
        }
        CacheLookup::Missing(PendingRead { cache, key: key.clone() })
    }

    /// Lets the oldest go until at most so many bytes are left, and some more so that it is not to
    /// be done for every chunk; never what a question asks for itself.
    fn make_room(&mut self, bytes_max: u64, question: u64) {
        let mut oldest: Vec<(u64, Key)> = self
            .chunks
            .iter()
            .filter(|(_, entry)| entry.asked < question)
            .map(|(key, entry)| (entry.asked, key.clone()))
            .collect();
        oldest.sort_by_key(|(asked, _)| *asked);
        let enough = bytes_max - bytes_max / 16;
        for (_, key) in oldest {
            if self.bytes <= enough {
                break;
            }
            if let Some(entry) = self.chunks.remove(&key) {
                self.bytes -= entry.bytes;
            }
        }
    }
}
