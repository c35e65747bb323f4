//! Stations that a client hears: messages for them are sent to it.
//!
//! A gateway that hears a station can give it messages over the air: a message goes to every client
//! of a filtered port that sent something of its addressee within the last 3 hours. After such a
//! message the addressee wants to know where the sender is, so the sender's next position within
//! 30 minutes goes the same way, once (the courtesy position). And what a heard station itself sends
//! by way of the Internet goes there as well, so that the gateway knows that it needs no radio.
//! Source: <http://www.aprs-is.net/IGating.aspx>; the times are aprsc's. Callsigns are compared
//! without regard to case here, as aprsc does.
//!
//! No cost for a client that sends nothing; bounded for one that sends everything.

use crate::callsign::Callsign;
use crate::packet::{Packet, Types};
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// Time for which a station counts as heard, in nanoseconds.
pub const HEARD_NS: u64 = 3 * 3600 * 1_000_000_000;
/// Time after a message within which the sender's position is sent, in nanoseconds.
pub const COURTESY_NS: u64 = 30 * 60 * 1_000_000_000;
/// Most stations in a list; beyond it the half that was heard longer ago is forgotten.
const STATIONS_MAX: usize = 8192;

/// Octets of one station in a list.
pub const STATION_BYTES: usize = size_of::<(Callsign, u64)>();

/// Stations that one client hears, and senders whose courtesy position is due.
#[derive(Clone, Debug)]
pub struct Heard {
    stations: Stations,
    courtesy: Stations,
}

/// A [`Heard`] in a form that another process understands: callsigns and ages in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SavedHeard {
    /// Stations that the client hears.
    pub stations: Vec<(String, u64)>,
    /// Senders of messages that went to the client, whose position was not sent yet.
    pub courtesy: Vec<(String, u64)>,
}

impl Heard {
    /// Makes an empty set. `seed` makes the hashes this server's own.
    pub fn new(seed: u64) -> Self {
        Self { stations: Stations::new(seed, HEARD_NS), courtesy: Stations::new(seed, COURTESY_NS) }
    }

    /// The client sent a packet of `source`, which was not dropped.
    pub fn heard(&mut self, source: &[u8], now_ns: u64) {
        self.stations.add(source, now_ns);
    }

    /// Whether the client hears `call`.
    pub fn hears(&self, call: &[u8], now_ns: u64) -> bool {
        self.stations.contains(call, now_ns)
    }

    /// Whether `packet`, which is not the client's own and which its filters do not match, goes to
    /// the client all the same, whose login is `login`.
    pub fn wants(&mut self, login: &[u8], packet: &Packet, now_ns: u64) -> bool {
        if packet.is_message() {
            let wanted = packet.addressee().is_some_and(|addressee| {
                addressee.eq_ignore_ascii_case(login) || self.hears(addressee, now_ns)
            });
            if wanted {
                self.courtesy.add(packet.source(), now_ns);
            }
            return wanted;
        }
        let is_position = packet.types.contains(Types::POSITION);
        (is_position && self.courtesy.take(packet.source(), now_ns))
            || (came_by_internet(packet) && self.hears(packet.source(), now_ns))
    }

    /// Number of stations that the client hears, and of courtesy positions that are due.
    pub fn len(&self) -> (usize, usize) {
        (self.stations.since_ns.len(), self.courtesy.since_ns.len())
    }

    /// Octets allocated for stations, and for courtesy positions.
    pub fn allocated(&self) -> (usize, usize) {
        let of = |stations: &Stations| stations.since_ns.allocation_size();
        (of(&self.stations), of(&self.courtesy))
    }

    /// Whether both numbers are 0.
    pub fn is_empty(&self) -> bool {
        self.len() == (0, 0)
    }

    /// Removes expired entries. To be called from time to time, to release memory.
    pub fn expire(&mut self, now_ns: u64) {
        self.stations.expire(now_ns);
        self.courtesy.expire(now_ns);
    }

    /// Saves all entries for another process.
    pub fn save(&self, now_ns: u64) -> SavedHeard {
        SavedHeard { stations: self.stations.save(now_ns), courtesy: self.courtesy.save(now_ns) }
    }

    /// Goes on where another process was. What cannot be a callsign is left out.
    pub fn restore(saved: &SavedHeard, seed: u64, now_ns: u64) -> Self {
        let mut heard = Self::new(seed);
        heard.stations.restore(&saved.stations, now_ns);
        heard.courtesy.restore(&saved.courtesy, now_ns);
        heard
    }
}

/// `TCPIP*` is in the path before the q construct: the packet never was on the air.
fn came_by_internet(packet: &Packet) -> bool {
    packet.digis().any(|digi| digi == b"TCPIP*")
}

/// Stations, and when each was last added.
#[derive(Clone, Debug)]
struct Stations {
    keep_ns: u64,
    /// Callsigns in upper case.
    since_ns: HashMap<Callsign, u64, FixedState>,
}

impl Stations {
    fn new(seed: u64, keep_ns: u64) -> Self {
        Self { keep_ns, since_ns: HashMap::with_hasher(FixedState::with_seed(seed)) }
    }

    fn add(&mut self, call: &[u8], now_ns: u64) {
        let Some(call) = upper(call) else { return };
        if self.since_ns.len() >= STATIONS_MAX && !self.since_ns.contains_key(&call) {
            self.make_room(now_ns);
        }
        self.since_ns.insert(call, now_ns);
    }

    fn contains(&self, call: &[u8], now_ns: u64) -> bool {
        if self.since_ns.is_empty() {
            return false;
        }
        let since = upper(call).and_then(|call| self.since_ns.get(&call));
        since.is_some_and(|since_ns| now_ns.saturating_sub(*since_ns) <= self.keep_ns)
    }

    fn take(&mut self, call: &[u8], now_ns: u64) -> bool {
        let found = self.contains(call, now_ns);
        if found && let Some(call) = upper(call) {
            self.since_ns.remove(&call);
        }
        found
    }

    fn expire(&mut self, now_ns: u64) {
        self.since_ns.retain(|_, since_ns| now_ns.saturating_sub(*since_ns) <= self.keep_ns);
        self.since_ns.shrink_to(self.since_ns.len());
    }

    /// Removes expired entries, and the older half if that is not enough.
    fn make_room(&mut self, now_ns: u64) {
        self.since_ns.retain(|_, since_ns| now_ns.saturating_sub(*since_ns) <= self.keep_ns);
        if self.since_ns.len() < STATIONS_MAX {
            return;
        }
        let mut stations: Vec<(u64, Callsign)> =
            self.since_ns.iter().map(|(call, since_ns)| (*since_ns, *call)).collect();
        stations.sort_unstable();
        for (_, call) in &stations[..STATIONS_MAX / 2] {
            self.since_ns.remove(call);
        }
    }

    fn save(&self, now_ns: u64) -> Vec<(String, u64)> {
        let mut stations: Vec<_> = self
            .since_ns
            .iter()
            .map(|(call, since_ns)| (call.to_string(), now_ns.saturating_sub(*since_ns)))
            .filter(|(_, age_ns)| *age_ns <= self.keep_ns)
            .collect();
        stations.sort_unstable();
        stations
    }

    fn restore(&mut self, saved: &[(String, u64)], now_ns: u64) {
        for (call, age_ns) in saved {
            self.add(call.as_bytes(), now_ns.saturating_sub(*age_ns));
        }
    }
}

/// The callsign in upper case; `None` where it cannot be one.
fn upper(call: &[u8]) -> Option<Callsign> {
    let mut octets = [0; crate::callsign::CALLSIGN_LEN_MAX];
    let octets = octets.get_mut(..call.len())?;
    octets.copy_from_slice(call);
    octets.make_ascii_uppercase();
    Callsign::new(octets)
}

#[cfg(test)]
mod tests {
    use super::{COURTESY_NS, HEARD_NS, Heard, STATIONS_MAX};
    use crate::packet::{Packet, parse};

    const START: u64 = 5;

    fn packet(source: &str, path: &str, payload: &str) -> Packet {
        let line = format!("{source}>APRS:{payload}");
        parse(line.as_bytes()).unwrap().build(path.as_bytes()).unwrap()
    }

    fn message(from: &str, to: &str) -> Packet {
        packet(from, "OH2RDG*,qAR,GATE", &format!(":{to:<9}:message{{1"))
    }

    fn position(from: &str) -> Packet {
        packet(from, "OH2RDG*,qAR,GATE", "!5528.51N/00505.68E#")
    }

    /// The story of aprsc's `tests/t/40messaging.t`.
    #[test]
    fn messages_and_courtesy_positions() {
        let mut heard = Heard::new(1);
        let wants = |heard: &mut Heard, packet: &Packet| heard.wants(b"N1GATE", packet, START);
        assert!(!wants(&mut heard, &message("M1SRC", "M1DST")), "nobody heard yet");
        assert!(!wants(&mut heard, &position("M1SRC")));
        assert!(heard.is_empty());

        heard.heard(b"M1DST", START);
        assert!(wants(&mut heard, &message("M1SRC", "M1DST")));
        assert!(!wants(&mut heard, &message("M2SRC", "M1DST-5")), "another SSID is another");
        assert!(!wants(&mut heard, &position("M2SRC")), "whose message did not go there");
        assert!(wants(&mut heard, &position("M1SRC")), "the courtesy position");
        assert!(!wants(&mut heard, &position("M1SRC")), "once");
        assert!(wants(&mut heard, &message("M1SRC", "n1gate")), "to the login itself");
        assert_eq!(heard.len(), (1, 1));
    }

    /// "This is so the IGate can determine if there is a station it is hearing on RF is also
    /// directly connected to APRS-IS."
    #[test]
    fn heard_station_on_the_internet() {
        let mut heard = Heard::new(1);
        heard.heard(b"M1SRC", START);
        for (path, want) in
            [("TCPIP*,qAC,M1SRC", true), ("OH2RDG*,qAR,GATE", false), ("qAC,TCPIP", false)]
        {
            let got = heard.wants(b"N1GATE", &packet("M1SRC", path, ">status"), START);
            assert_eq!(got, want, "{path}");
        }
        assert!(!heard.wants(b"N1GATE", &packet("M2SRC", "TCPIP*,qAC,X", ">status"), START));
    }

    #[test]
    fn both_lists_forget() {
        let mut heard = Heard::new(1);
        heard.heard(b"m1dst", START);
        assert!(heard.hears(b"M1DST", START + HEARD_NS));
        assert!(!heard.hears(b"M1DST", START + HEARD_NS + 1));
        assert!(heard.wants(b"X", &message("M1SRC", "M1DST"), START));
        assert!(!heard.wants(b"X", &position("M1SRC"), START + COURTESY_NS + 1));
        heard.expire(START + COURTESY_NS + 1);
        assert_eq!(heard.len(), (1, 0));
        heard.expire(START + HEARD_NS + 1);
        assert!(heard.is_empty());
    }

    #[test]
    fn whoever_sends_everything_is_bounded() {
        let mut heard = Heard::new(1);
        let count = 3 * STATIONS_MAX as u64;
        for number in 0..count {
            heard.heard(format!("S{number}").as_bytes(), START + number);
        }
        assert!(heard.len().0 <= STATIONS_MAX);
        let hears = |number: u64| heard.hears(format!("S{number}").as_bytes(), START + count);
        assert!(hears(count - 1) && hears(count - STATIONS_MAX as u64 / 2));
        assert!(!hears(0));
    }

    #[test]
    fn no_callsign_is_never_heard() {
        let mut heard = Heard::new(1);
        heard.heard(b"", START);
        heard.heard(b"TOO-LONG-10", START);
        assert!(heard.is_empty());
        assert!(!heard.hears(b"TOO-LONG-10", START));
    }

    #[test]
    fn another_process_goes_on() {
        let mut heard = Heard::new(1);
        heard.heard(b"M1DST", START);
        assert!(heard.wants(b"X", &message("M1SRC", "M1DST"), START + 10));
        let saved = heard.save(START + 20);
        assert_eq!(saved.stations, [("M1DST".to_owned(), 20)]);
        assert_eq!(saved.courtesy, [("M1SRC".to_owned(), 10)]);
        let mut other = Heard::restore(&saved, 9, HEARD_NS);
        assert!(other.hears(b"M1DST", HEARD_NS) && other.wants(b"X", &position("M1SRC"), HEARD_NS));
    }
}
