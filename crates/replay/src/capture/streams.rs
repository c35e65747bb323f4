//! TCP segments in order, in bounded memory.

use super::packet::Tcp;
use crate::wire::Endpoint;
use std::collections::BTreeMap;

/// Directions of streams followed at a time.
const STREAMS_MAX: usize = 65_536;
/// Limit of octets that arrived out of order, for one direction.
const EARLY_BYTES_MAX: usize = 1 << 20;
/// Limit of segments that arrived out of order, for one direction.
const EARLY_COUNT_MAX: usize = 1024;

/// Effect of a segment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) opened: bool,
    pub(super) octets: Vec<u8>,
    /// Gaps among `octets`.
    pub(super) gaps: Vec<StreamGap>,
    /// Whether the last of `octets` is the last octet of urgent data.
    pub(super) ends_urgent: bool,
    pub(super) ended: bool,
}

/// Octets that the capture lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamGap {
    /// Number of the arrival's octets before the gap.
    pub at: usize,
    /// Octets that are missing.
    pub missing: u32,
}

#[derive(Debug, Default)]
pub(super) struct Streams {
    known: BTreeMap<(Endpoint, Endpoint), Stream>,
    /// Octets that the capture does not have.
    pub(super) lost_bytes: u64,
    /// Segments of more streams than are followed.
    pub(super) refused_count: u64,
}

#[derive(Debug)]
struct Stream {
    next: u32,
    /// By distance from the first sequence number, which makes wrapping irrelevant.
    early: BTreeMap<u32, Vec<u8>>,
    early_bytes: usize,
    fin: Option<u32>,
}

impl Streams {
    pub(super) fn take(&mut self, link: (Endpoint, Endpoint), tcp: Tcp, payload: &[u8]) -> Segment {
        let mut segment = Segment::default();
        if tcp.reset {
            segment.ended = self.known.remove(&link).is_some();
            return segment;
        }
        let known = self.known.contains_key(&link);
        if tcp.syn || !known {
            if !known && self.known.len() == STREAMS_MAX {
                self.refused_count += 1;
                return segment;
            }
            // Without its beginning, a stream begins with the first octets that are seen.
            let next = tcp.sequence.wrapping_add(u32::from(tcp.syn));
            if !tcp.syn && payload.is_empty() {
                return segment;
            }
            let again = self.known.get(&link).is_some_and(|stream| stream.next == next);
            if !again {
                segment.opened = !(tcp.syn && tcp.ack);
                let stream = Stream { next, early: BTreeMap::new(), early_bytes: 0, fin: None };
                self.known.insert(link, stream);
            }
        }
        let Some(stream) = self.known.get_mut(&link) else { return segment };
        let sequence = tcp.sequence.wrapping_add(u32::from(tcp.syn));
        stream.keep(sequence, payload);
        if tcp.fin {
            stream.fin = Some(sequence.wrapping_add(u32::try_from(payload.len()).unwrap_or(0)));
        }
        self.lost_bytes += stream.release(&mut segment, false);
        // Urgent data that ends with the segment, which has arrived in order.
        let end = sequence.wrapping_add(u32::try_from(payload.len()).unwrap_or(0));
        segment.ends_urgent = !segment.octets.is_empty()
            && stream.next == end
            && tcp.urgent.is_some_and(|length| usize::from(length) == payload.len());
        if stream.fin.is_some_and(|fin| distance(stream.next, fin) <= 0) {
            segment.ended = true;
            self.known.remove(&link);
        }
        segment
    }

    /// What still waits behind gaps, when no more segments will come.
    pub(super) fn rest(&mut self) -> Vec<((Endpoint, Endpoint), Segment)> {
        let mut rest = Vec::new();
        for (link, stream) in &mut self.known {
            let mut segment = Segment::default();
            self.lost_bytes += stream.release(&mut segment, true);
            if !segment.octets.is_empty() {
                rest.push((*link, segment));
            }
        }
        rest
    }
}

/// Distance from `a` to `b` in sequence space, negative when `b` is before.
fn distance(a: u32, b: u32) -> i32 {
    b.wrapping_sub(a).cast_signed()
}

impl Stream {
    fn keep(&mut self, sequence: u32, payload: &[u8]) {
        let ahead = distance(self.next, sequence);
        let known = usize::try_from(-i64::from(ahead)).unwrap_or(0);
        let Some(new) = payload.get(known..).filter(|new| !new.is_empty()) else { return };
        let at = if ahead > 0 { sequence } else { self.next };
        let longer = self.early.get(&at).is_none_or(|had| had.len() < new.len());
        if longer {
            self.early_bytes += new.len();
            if let Some(had) = self.early.insert(at, new.to_vec()) {
                self.early_bytes -= had.len();
            }
        }
    }

    /// Moves octets that are in order into `out`; passes over a gap only when too much waits behind
    /// it, or if `is_last`. Returns the octets lost in gaps.
    fn release(&mut self, out: &mut Segment, is_last: bool) -> u64 {
        let mut lost = 0;
        loop {
            let next = self.next;
            let first = self.early.keys().copied().min_by_key(|at| distance(next, *at));
            let Some(at) = first else { return lost };
            let ahead = distance(next, at);
            if ahead > 0 {
                let is_little =
                    self.early_bytes <= EARLY_BYTES_MAX && self.early.len() <= EARLY_COUNT_MAX;
                if is_little && !is_last {
                    return lost;
                }
                let missing = ahead.unsigned_abs();
                lost += u64::from(missing);
                out.gaps.push(StreamGap { at: out.octets.len(), missing });
                self.next = at;
            }
            let part = self.early.remove(&at).unwrap_or_default();
            self.early_bytes -= part.len();
            let known = usize::try_from(distance(at, self.next)).unwrap_or(0);
            let new = part.get(known..).unwrap_or_default();
            self.next = self.next.wrapping_add(u32::try_from(new.len()).unwrap_or(0));
            out.octets.extend(new);
        }
    }
}
