//! Why packets were dropped: the answer to the question that users ask most.
//!
//! The last drops are kept with their lines, and counts per source and reason for longer. Both are
//! bounded for any input: [`RECENT_MAX`] drops of at most [`LINE_LEN_MAX`] octets, and counts of at
//! least the [`SOURCES_MAX`] sources that were last dropped.

use crate::callsign::Callsign;
use hashbrown::HashMap;
use std::collections::VecDeque;

/// Most drops that are kept with their lines.
pub const RECENT_MAX: usize = 4096;

/// Most octets of a dropped line that are kept.
pub const LINE_LEN_MAX: usize = 160;

/// Sources that are counted in each of the two generations.
pub const SOURCES_MAX: usize = 4096;

/// A packet that was dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drop {
    /// UTC nanoseconds since 1970.
    pub utc_ns: i64,
    /// The reason's name.
    pub reason: &'static str,
    /// Login of the sending client; `None` before login.
    pub client: Option<Callsign>,
    /// Source callsign, where the line has one.
    pub source: Option<Callsign>,
    /// The line's first octets, without CR LF.
    pub line: Box<[u8]>,
}

/// Drops of one source, or from one client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Reason and number of packets, in the order in which the reasons first occurred.
    pub by_reason: Vec<(&'static str, u64)>,
}

impl Counts {
    fn count(&mut self, reason: &'static str, packets: u64) {
        match self.by_reason.iter_mut().find(|(name, _)| *name == reason) {
            Some((_, sum)) => *sum += packets,
            None => self.by_reason.push((reason, packets)),
        }
    }
}

/// The answer about one callsign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Drops of packets whose source it is.
    pub as_source: Counts,
    /// Drops of packets that this callsign sent as a client.
    pub as_client: Counts,
    /// The last drops of both kinds, the newest first.
    pub recent: Vec<Drop>,
}

/// Subject of counting: a callsign as a source, or as a client.
type Key = (Callsign, bool);

/// Record of drops.
#[derive(Debug, Default)]
pub struct DropLog {
    recent: VecDeque<Drop>,
    // When the newer generation is full it becomes the older one: forgetting costs nothing per
    // packet, and a flood of made-up sources cannot grow the map.
    newer: HashMap<Key, Counts, foldhash::fast::FixedState>,
    older: HashMap<Key, Counts, foldhash::fast::FixedState>,
}

impl DropLog {
    /// An empty one; `seed` makes its hashes unguessable.
    pub fn new(seed: u64) -> Self {
        let state = foldhash::fast::FixedState::with_seed(seed);
        Self {
            recent: VecDeque::new(),
            newer: HashMap::with_hasher(state.clone()),
            older: HashMap::with_hasher(state),
        }
    }

    /// Records a dropped packet. `line` is the received line without CR LF.
    pub fn note(
        &mut self,
        utc_ns: i64,
        reason: &'static str,
        client: Option<Callsign>,
        line: &[u8],
    ) {
        let source = source_of(line);
        self.count(source, client, reason);
        if self.recent.len() >= RECENT_MAX {
            self.recent.pop_front();
        }
        let line = line[..line.len().min(LINE_LEN_MAX)].into();
        self.recent.push_back(Drop { utc_ns, reason, client, source, line });
    }

    /// A packet was dropped as a duplicate: counted, and not kept, because there are many.
    pub fn note_duplicate(&mut self, client: Option<Callsign>, source: &[u8]) {
        self.count(Callsign::new(source), client, DUPLICATE);
    }

    /// Drops of a callsign; without an SSID, of all its SSIDs. Without a callsign, the last drops
    /// of all.
    pub fn about(&self, call: &[u8], recent_max: usize) -> Answer {
        if call.is_empty() {
            let recent = self.recent.iter().rev().take(recent_max).cloned().collect();
            return Answer { recent, ..Answer::default() };
        }
        let is_asked = |known: &Callsign| known.as_bytes() == call || known.base() == call;
        let mut answer = Answer::default();
        for ((known, as_source), counts) in self.older.iter().chain(&self.newer) {
            if is_asked(known) {
                let sums = if *as_source { &mut answer.as_source } else { &mut answer.as_client };
                for (reason, packets) in &counts.by_reason {
                    sums.count(reason, *packets);
                }
            }
        }
        let of_it = |drop: &&Drop| {
            drop.source.as_ref().is_some_and(is_asked) || drop.client.as_ref().is_some_and(is_asked)
        };
        answer.recent = self.recent.iter().rev().filter(of_it).take(recent_max).cloned().collect();
        answer
    }

    fn count(&mut self, source: Option<Callsign>, client: Option<Callsign>, reason: &'static str) {
        for key in [source.map(|call| (call, true)), client.map(|call| (call, false))] {
            let Some(key) = key else { continue };
            if self.newer.len() >= SOURCES_MAX && !self.newer.contains_key(&key) {
                std::mem::swap(&mut self.newer, &mut self.older);
                self.newer.clear();
            }
            self.newer.entry(key).or_default().count(reason, 1);
        }
    }
}

/// Name of duplicates among the reasons.
pub const DUPLICATE: &str = "duplicate";

/// The text before the first `>`, if it can be a callsign.
fn source_of(line: &[u8]) -> Option<Callsign> {
    let end = line.iter().take(crate::callsign::CALLSIGN_LEN_MAX + 1).position(|o| *o == b'>')?;
    Callsign::new(&line[..end])
}

#[cfg(test)]
mod tests {
    use super::{DUPLICATE, DropLog, LINE_LEN_MAX, RECENT_MAX, SOURCES_MAX};
    use crate::callsign::Callsign;

    fn call(text: &str) -> Option<Callsign> {
        Callsign::new(text.as_bytes())
    }

    #[test]
    fn a_source_and_a_client_learn_why() {
        let mut log = DropLog::new(1);
        log.note(10, "no_colon", call("N0GATE-1"), b"OH7LZB-9>APRS");
        log.note(20, "path_nogate", call("OTHER"), b"OH7LZB>APRS,NOGATE:x");
        log.note_duplicate(call("N0GATE-1"), b"OH7LZB-9");

        let lzb = log.about(b"OH7LZB", 10);
        let mut reasons = lzb.as_source.by_reason;
        reasons.sort_unstable();
        assert_eq!(reasons, [(DUPLICATE, 1), ("no_colon", 1), ("path_nogate", 1)]);
        assert_eq!(lzb.recent.iter().map(|drop| drop.utc_ns).collect::<Vec<_>>(), [20, 10]);
        assert!(lzb.as_client.by_reason.is_empty());

        let gate = log.about(b"N0GATE-1", 10);
        assert_eq!(gate.as_client.by_reason, [("no_colon", 1), (DUPLICATE, 1)]);
        assert_eq!(log.about(b"OH7LZB-9", 1).recent.len(), 1);
        assert_eq!(log.about(b"OH7L", 10), super::Answer::default());
        assert_eq!(log.about(b"", 1).recent[0].reason, "path_nogate");
    }

    #[test]
    fn what_has_no_source_is_told_to_its_client() {
        let mut log = DropLog::new(1);
        log.note(1, "no_dst", call("N0GATE"), b"nothing that is a packet");
        assert_eq!(log.about(b"N0GATE", 9).recent[0].source, None);
    }

    #[test]
    fn a_flood_is_bounded_and_the_newest_stay() {
        let mut log = DropLog::new(1);
        for number in 0..3 * SOURCES_MAX + RECENT_MAX {
            let line = format!("F{number}>APRS{}", " ".repeat(500));
            log.note(0, "no_colon", None, line.as_bytes());
        }
        assert_eq!(log.recent.len(), RECENT_MAX);
        assert!(log.newer.len() <= SOURCES_MAX && log.older.len() <= SOURCES_MAX);
        let last = format!("F{}", 3 * SOURCES_MAX + RECENT_MAX - 1);
        let answer = log.about(last.as_bytes(), 10);
        assert_eq!(answer.as_source.by_reason, [("no_colon", 1)]);
        assert_eq!(answer.recent[0].line.len(), LINE_LEN_MAX);
    }
}
