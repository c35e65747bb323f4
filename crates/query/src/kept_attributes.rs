//! Attributes of durations that were read are kept for the next question, within a bound.

use crate::attributes::Attributes;
use crate::cache_key::Key;
use crate::series::Point;
use chronoscope_store::Minute;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The attributes of some durations of one minute.
pub(crate) type MinuteAttributes = HashMap<Point, Attributes>;

/// Attributes by the minute of the durations, and the segments that they were read from. Beyond the
/// bound the minutes that were not asked for longest go.
#[derive(Debug)]
pub(crate) struct KeptAttributes {
    bytes_max: u64,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    minutes: HashMap<(Key, Minute), Entry>,
    bytes: u64,
    /// Number of look-ups so far.
    asked: u64,
}

#[derive(Debug)]
struct Entry {
    attributes: Arc<MinuteAttributes>,
    bytes: u64,
    /// The look-up that asked for it last.
    asked: u64,
}

impl KeptAttributes {
    /// An empty one, of at most so many bytes.
    pub(crate) fn new(bytes_max: u64) -> Self {
        Self { bytes_max, kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The attributes that are known of a minute.
    pub(crate) fn get(&self, key: &(Key, Minute)) -> Option<Arc<MinuteAttributes>> {
        let mut kept = self.kept();
        kept.asked += 1;
        let asked = kept.asked;
        let entry = kept.minutes.get_mut(key)?;
        entry.asked = asked;
        Some(entry.attributes.clone())
    }

    /// Keeps what is known of a minute, as far as there is room.
    pub(crate) fn keep(&self, key: (Key, Minute), attributes: MinuteAttributes) {
        let bytes = attributes.values().map(size_bytes).sum();
        let mut kept = self.kept();
        if bytes > self.bytes_max {
            return;
        }
        if let Some(before) = kept.minutes.remove(&key) {
            kept.bytes -= before.bytes;
        }
        while kept.bytes + bytes > self.bytes_max {
            let oldest = kept.minutes.iter().min_by_key(|(_, entry)| entry.asked);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { break };
            let gone = kept.minutes.remove(&oldest);
            kept.bytes -= gone.map_or(0, |entry| entry.bytes);
        }
        let asked = kept.asked;
        kept.bytes += bytes;
        kept.minutes.insert(key, Entry { attributes: Arc::new(attributes), bytes, asked });
    }
}

/// Memory of a duration's attributes, in bytes, as if it shared no text with others.
fn size_bytes(attributes: &Attributes) -> u64 {
    /// The entry in the table, with the slice's header.
    const ENTRY_BYTES: usize = 64;
    /// Counts of an `Arc`, for a key and a value.
    const COUNTS_BYTES: usize = 4 * size_of::<usize>();
    let text = attributes.iter().map(|attribute| {
        let value = attribute.value.as_ref().map_or(0, |value| value.len());
        attribute.key.len() + value + size_of_val(attribute) + COUNTS_BYTES
    });
    (ENTRY_BYTES + text.sum::<usize>()) as u64
}
