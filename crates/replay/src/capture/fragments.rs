//! IP fragments put together, in bounded memory.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

/// Packets that are being put together at a time; the oldest goes.
const PENDING_MAX: usize = 256;
/// Longest IP payload, octets.
const PAYLOAD_BYTES_MAX: usize = 65_535;
/// Fragments of one packet.
const PARTS_MAX: usize = 8192;

type Key = (IpAddr, IpAddr, u8, u32);

#[derive(Debug, Default)]
pub(super) struct Fragments {
    pending: BTreeMap<Key, Pending>,
    order: VecDeque<Key>,
    /// Packets given up.
    pub(super) lost_count: u64,
}

#[derive(Debug, Default)]
struct Pending {
    parts: BTreeMap<usize, Vec<u8>>,
    total: Option<usize>,
}

impl Fragments {
    /// Takes a fragment; the whole payload when it was the last one missing.
    pub(super) fn take(
        &mut self,
        key: Key,
        offset: usize,
        more: bool,
        part: &[u8],
    ) -> Option<Vec<u8>> {
        if offset + part.len() > PAYLOAD_BYTES_MAX {
            self.lost_count += 1;
            return None;
        }
        if !self.pending.contains_key(&key) {
            if self.order.len() == PENDING_MAX
                && let Some(oldest) = self.order.pop_front()
            {
                self.pending.remove(&oldest);
                self.lost_count += 1;
            }
            self.order.push_back(key);
        }
        let pending = self.pending.entry(key).or_default();
        if pending.parts.len() < PARTS_MAX {
            pending.parts.entry(offset).or_insert_with(|| part.to_vec());
        }
        if !more {
            pending.total = Some(offset + part.len());
        }
        let whole = pending.whole()?;
        self.pending.remove(&key);
        self.order.retain(|other| *other != key);
        Some(whole)
    }
}

impl Pending {
    fn whole(&self) -> Option<Vec<u8>> {
        let total = self.total?;
        if self.parts.values().map(Vec::len).sum::<usize>() < total {
            return None;
        }
        let mut whole = Vec::with_capacity(total);
        for (offset, part) in &self.parts {
            let known = whole.len().checked_sub(*offset)?; // a gap before this part
            whole.extend(part.get(known..).unwrap_or_default());
        }
        whole.truncate(total);
        (whole.len() == total).then_some(whole)
    }
}
