//! Facts about a packet's source that filters need and the packet does not contain.

use super::name::Name;
use crate::packet::{Packet, Position, Types};
use hashbrown::HashMap;

/// Time for which a station is remembered: an hour, as with aprsc.
const REMEMBERED_NS: u64 = 3_600_000_000_000;

/// Most stations of a kind, some ten times what APRS-IS has in an hour. One more is not taken up.
const STATIONS_MAX: usize = 65_536;

/// Facts about a packet beyond its octets. Looked up once per packet, in the router.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Facts {
    /// Position in the packet, or else the last one of its station or object.
    pub position: Option<Position>,
    /// Whether its source gates packets from radio.
    pub from_igate: bool,
    /// Whether its source sent weather without a position.
    pub from_weather_station: bool,
}

/// Stations recognised as igates or weather stations in the last hour, for all packets of a server.
///
/// Igates, for `q//I`: who brought in a packet with qAR or qAr. Weather stations, for `t/w`, which
/// also passes positions of those whose weather has none. aprsc keeps both lists, yet compares
/// the age the wrong way round, so that there these two filters pass nothing.
#[derive(Debug)]
pub struct Stations {
    igates: HashMap<Name, u64, foldhash::fast::FixedState>,
    weather: HashMap<Name, u64, foldhash::fast::FixedState>,
}

impl Stations {
    /// None yet; `seed` is for the hash tables.
    pub fn new(seed: u64) -> Self {
        let tables = || HashMap::with_hasher(foldhash::fast::FixedState::with_seed(seed));
        Self { igates: tables(), weather: tables() }
    }

    /// Returns the facts about `packet`, and remembers its source. `last` gives the last position
    /// of the packet's station or object and is called only when the packet has none; `now_ns` is
    /// of the monotonic clock.
    pub fn facts(
        &mut self,
        packet: &Packet,
        last: impl FnOnce() -> Option<Position>,
        now_ns: u64,
    ) -> Facts {
        if matches!(packet.q()[2], b'r' | b'R')
            && let Some(igate) = packet.entries().next()
        {
            remember(&mut self.igates, Name::new(igate), now_ns);
        }
        let source = Name::new(packet.source());
        if packet.types.contains(Types::WEATHER) && packet.position.is_none() {
            remember(&mut self.weather, source, now_ns);
        }
        let known = |table: &HashMap<Name, u64, _>| {
            table.get(&source).is_some_and(|until_ns| *until_ns > now_ns)
        };
        Facts {
            position: packet.position.or_else(last),
            from_igate: known(&self.igates),
            from_weather_station: known(&self.weather),
        }
    }

    /// Forgets who was not found for an hour. To be called now and then.
    pub fn expire(&mut self, now_ns: u64) {
        self.igates.retain(|_, until_ns| *until_ns > now_ns);
        self.weather.retain(|_, until_ns| *until_ns > now_ns);
    }
}

fn remember(table: &mut HashMap<Name, u64, foldhash::fast::FixedState>, name: Name, now_ns: u64) {
    if table.len() < STATIONS_MAX || table.contains_key(&name) {
        table.insert(name, now_ns.saturating_add(REMEMBERED_NS));
    }
}
