//! Keys of appends that may come twice.
//!
//! A sender that does not hear that its rows were taken sends them again, under the same key. The
//! keys of the last [`KEYS_MAX`] keyed appends are remembered, durable with their rows: what comes
//! again is not taken again.

use std::collections::{HashSet, VecDeque};

/// Most keys that are remembered; beyond, the oldest is forgotten. Senders repeat within seconds
/// or minutes: at fifty requests a second this is nearly three minutes, and a sender that waits
/// longer between its tries is slower than that by itself.
pub const KEYS_MAX: usize = 1 << 13;

/// The keys of the last keyed appends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    known: HashSet<u128>,
    /// In the order of their coming.
    order: VecDeque<u128>,
}

impl Keys {
    /// Whether rows with this key are here.
    pub fn contains(&self, key: u128) -> bool {
        self.known.contains(&key)
    }

    /// Remembers a key, and forgets the oldest where there are too many.
    pub(crate) fn insert(&mut self, key: u128) {
        if !self.known.insert(key) {
            return;
        }
        self.order.push_back(key);
        if self.order.len() > KEYS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    /// All keys, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u128> {
        self.order.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_key_is_forgotten() {
        let mut keys = Keys::default();
        for key in 0..=KEYS_MAX as u128 {
            keys.insert(key);
            keys.insert(key);
        }
        assert!(!keys.contains(0) && keys.contains(1) && keys.contains(KEYS_MAX as u128));
        assert_eq!(keys.iter().count(), KEYS_MAX);
    }
}
