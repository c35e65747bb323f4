//! Durations that were found are kept for the next question, within a bound.

use crate::cache_key::Key;
use crate::chunk::Chunk;
use crate::kept_attributes::KeptAttributes;
use chronoscope_store::StoreError;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval at which a waiting thread calls `check`.
const CHECK_EVERY: Duration = Duration::from_millis(20);
/// Attributes have one part in so many of the bound, on top of it.
const ATTRIBUTES_SHARE: u64 = 8;

/// Durations of sealed minutes, decoded: who looks at chains asks again and again about the same
/// ones. A duration takes 21 bytes, 29 where hosts' clocks were read; beyond the bound those that
/// were not asked for longest go. Segments never change, so that what is kept is never wrong.
///
/// Two questions at a time about the same durations share the reading of them: what one reads, the
/// other waits for. One question at a time may be larger than the bound: what does not fit is read
/// again. The attributes of durations that were drawn are kept beside, within an eighth of the
/// bound.
#[derive(Debug)]
pub struct DurationCache {
    bytes_max: u64,
    kept: Mutex<Kept>,
    attributes: KeptAttributes,
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

impl Default for DurationCache {
    /// 384 MiB: some 19 million durations of hosts whose clocks were not read.
    fn default() -> Self {
        Self::new(384 << 20)
    }
}

impl DurationCache {
    /// An empty one, of at most so many bytes.
    pub fn new(bytes_max: u64) -> Self {
        let attributes = KeptAttributes::new(bytes_max / ATTRIBUTES_SHARE);
        Self { bytes_max, kept: Mutex::default(), attributes, done: Condvar::new() }
    }

    /// Attributes of drawn durations, within a bound of their own.
    pub(crate) const fn attributes(&self) -> &KeptAttributes {
        &self.attributes
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Current size of the durations in bytes.
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
