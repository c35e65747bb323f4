//! Decisions made once for all workers: whether a packet is new, and what is known of its source.

use super::block::{Block, Routed};
use super::state::ServerState;
use crate::callsign::Callsign;
use crate::config::Config;
use crate::dupes::{DupeKind, Dupes};
use crate::filter::Stations;
use crate::history::{History, NAMES_MAX};
use crate::packet::Position;
use crate::recording;
use crate::status::{DupeStatus, HistoryStatus, MemoryUse};
use crate::why::DropLog;

/// Time for which a packet is remembered: APRS-IS's window.
const WINDOW_NS: u64 = 30_000_000_000;
/// About what one name of the history takes, in octets, with its place in the hash table.
const HISTORY_BYTES: usize = 48;
/// Names that are forgotten with one batch, at most.
const FORGOTTEN_MAX: usize = 16;

/// Behind one lock, taken once for each batch of packets.
#[derive(Debug)]
pub(super) struct Router {
    dupes: Dupes,
    history: History,
    stations: Stations,
    counted: HistoryStatus,
    /// Record of dropped packets and their reasons.
    pub(super) why: DropLog,
}

impl Router {
    pub(super) fn new(config: &Config, seed: u64) -> Self {
        Self {
            dupes: Dupes::new(seed, WINDOW_NS),
            history: History::new(seed, keep_ns(config), NAMES_MAX),
            stations: Stations::new(seed),
            counted: HistoryStatus::default(),
            why: DropLog::new(seed),
        }
    }

    pub(super) fn configure(&mut self, config: &Config) {
        self.history.keep_for(keep_ns(config));
    }

    /// Finds duplicates in a batch, and learns from the rest.
    pub(super) fn check(&mut self, mut packets: Vec<Routed>, now_ns: u64) -> Block {
        let mut forgotten: Vec<Callsign> = Vec::new();
        self.history.expire(now_ns, FORGOTTEN_MAX, |name| forgotten.push(name));
        self.counted.expired += forgotten.len() as u64;
        for routed in &mut packets {
            let _doing = recording::dupe_check(&routed.trace);
            // A packet that is a duplicate already (its source is logged in here) is not
            // remembered, else the station's own packet after it would be one. Its reason was
            // recorded on arrival.
            if routed.duplicate {
                continue;
            }
            if self.dupes.check(&routed.packet, now_ns).is_some() {
                routed.duplicate = true;
                self.why.note_duplicate(routed.login, routed.packet.source());
                continue;
            }
            match routed.packet.position {
                Some(_) => self.counted.inserts += 1,
                None => self.counted.no_position += 1,
            }
            routed.moved = self.history.record(&routed.packet, now_ns);
            let (history, counted) = (&self.history, &mut self.counted);
            let last = || {
                let position = history.get(routed.packet.subject());
                counted.lookups += 1;
                counted.hits += u64::from(position.is_some());
                position
            };
            routed.facts = self.stations.facts(&routed.packet, last, now_ns);
        }
        Block { packets, forgotten }
    }

    /// Last position of a station or object.
    pub(super) fn position_of(&self, name: &[u8]) -> Option<Position> {
        self.history.get(name)
    }

    /// Removes expired entries. To be called from time to time.
    pub(super) fn expire(&mut self, now_ns: u64) {
        self.stations.expire(now_ns);
        self.dupes.expire(now_ns, 10_000);
    }

    pub(super) fn dupes_status(&self) -> DupeStatus {
        let found = self.dupes.found();
        DupeStatus {
            uniques: self.dupes.passed(),
            duplicates: found.iter().sum(),
            kinds: DupeKind::ALL.iter().map(|kind| (kind.name(), found[kind.index()])).collect(),
        }
    }

    pub(super) fn forgotten_early(&self) -> u64 {
        self.dupes.forgotten_early()
    }

    pub(super) fn history_status(&self) -> HistoryStatus {
        self.counted.clone()
    }

    pub(super) fn memory(&self) -> Vec<MemoryUse> {
        let use_ = |name, entries: usize, allocated: usize| MemoryUse {
            name,
            entries: entries as u64,
            entries_max: entries as u64,
            entry_bytes: 0,
            allocated_bytes: allocated as u64,
        };
        vec![
            use_("dupecheck", self.dupes.len(), self.dupes.size_bytes()),
            use_("historydb", self.history.len(), self.history.len() * HISTORY_BYTES),
        ]
    }

    pub(super) fn save(&self, now_ns: u64, state: &mut ServerState) {
        state.dupes = Some(self.dupes.save(now_ns));
        state.history = self.history.save(now_ns);
    }

    pub(super) fn restore(&mut self, state: &ServerState, now_ns: u64) {
        if let Some(dupes) = &state.dupes {
            self.dupes = Dupes::restore(dupes, now_ns);
        }
        self.history.restore(&state.history, now_ns);
    }
}

fn keep_ns(config: &Config) -> u64 {
    u64::try_from(config.last_position_cache.as_nanos()).unwrap_or(u64::MAX)
}
