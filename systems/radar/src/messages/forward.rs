//! One track message in, one out: correlator, flight plan, own correlator.

use super::plan_correlation::{PlanCorrelation, TrackView};
use super::situation::{Now, Situation};
use crate::asterix::{AsterixError, Record, cat062, cat065, decode_block, encode_block};
use crate::link::{NewChains, begin_under};
use crate::tracker::SPECIAL_PURPOSE_OCTETS_MAX;
use crate::traffic::plans;
use chronoscope_record::{Class, Status, class};

static UPDATE_TRACK: Class = class!("TrackStore_updateTrack");

/// Interval between two messages to the displays about the tracker in operation, ns.
const STATUS_NS: u64 = 1_000_000_000;

/// Counts of the forwarder. All counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ForwarderCounts {
    /// Track messages received.
    pub updates: u64,
    /// Messages that were forwarded with a flight plan.
    pub with_plan: u64,
    /// Messages that ended their track.
    pub ends: u64,
    /// Messages without a correlator: their chains begin here.
    pub without_correlator: u64,
    /// Messages whose Special Purpose field is not a correlator we know.
    pub bad_correlator: u64,
    /// Blocks or records that are not category 062 as specified.
    pub malformed: u64,
    /// Records of other categories.
    pub other: u64,
    /// The tracker in operation, of a pair: its unit number, 0 where there is one alone.
    pub tracker_in_operation: u8,
    /// Times that another tracker of a pair came into operation.
    pub takeovers: u64,
    /// Records that could not be encoded again.
    pub encode_failures: u64,
    /// Ancestors left out of correlators because the Special Purpose field is too short.
    pub ancestors_dropped: u64,
}

/// The message server without its sockets.
#[derive(Debug)]
pub struct Forwarder {
    correlation: PlanCorrelation,
    /// Air situation, where queries are answered.
    situation: Option<Situation>,
    counts: ForwarderCounts,
    message: Vec<u8>,
    /// When a status was last passed on, monotonic.
    status_ns: u64,
}

impl Forwarder {
    /// A forwarder that correlates with the plans of `correlation`.
    pub fn new(correlation: PlanCorrelation) -> Self {
        Self {
            correlation,
            situation: None,
            counts: ForwarderCounts::default(),
            message: Vec::new(),
            status_ns: 0,
        }
    }

    /// Remembers where tracks are and were, for questions.
    #[must_use]
    pub fn remembering(mut self) -> Self {
        self.situation = Some(Situation::default());
        self
    }

    /// The air situation, where queries are answered.
    pub fn situation(&self) -> Option<&Situation> {
        self.situation.as_ref()
    }

    /// The counts so far.
    pub fn counts(&self) -> ForwarderCounts {
        self.counts
    }

    /// The flight plans and who has them.
    pub fn correlation(&self) -> &PlanCorrelation {
        &self.correlation
    }

    /// Removes ended tracks and old positions; call about once a second.
    pub fn tick(&mut self, now: Now) {
        self.correlation.expire(now.monotonic_ns);
        if let Some(situation) = &mut self.situation {
            situation.expire(now.utc_ns);
        }
    }

    /// Takes in one block and gives `send` one block for each track in it.
    pub fn block(&mut self, octets: &[u8], now: Now, mut send: impl FnMut(&[u8])) {
        for record in decode_block(octets) {
            match record {
                Ok(Record::Track(track)) => self.track(track, now, &mut send),
                Ok(Record::SystemStatus(message)) => {
                    self.status(&message, octets, now, &mut send);
                }
                Ok(_) => self.counts.other += 1,
                Err(e) => self.count_malformed(&e),
            }
        }
    }

    /// That the tracker is there, and which one of a pair is in operation: passed on to the displays when it is
    /// another one than before, and once a second. Of a pair, whoever names none is not in operation.
    fn status(
        &mut self,
        message: &cat065::SystemStatus,
        octets: &[u8],
        now: Now,
        send: &mut impl FnMut(&[u8]),
    ) {
        let selected = message.status.map_or(0, |status| status.selected);
        let before = self.counts.tracker_in_operation;
        let due = now.monotonic_ns.saturating_sub(self.status_ns) >= STATUS_NS;
        let is_news = selected != before;
        if (selected == 0 && is_news) || !(is_news || due) {
            return;
        }
        if is_news {
            say!("tracker unit {selected} is in operation");
            self.counts.tracker_in_operation = selected;
            self.counts.takeovers += u64::from(before != 0);
        }
        self.status_ns = now.monotonic_ns;
        send(octets);
    }

    fn track(&mut self, mut track: cat062::Track, now: Now, send: &mut impl FnMut(&[u8])) {
        self.counts.updates += 1;
        let ends = track.status.is_some_and(|s| s.ends);
        if ends {
            // An end is no update of a measurement: it has no chain.
            self.counts.ends += 1;
            if let Some(number) = track.track_number {
                self.correlation.end(number);
                self.situation.iter_mut().for_each(|situation| situation.end(number));
            }
            track.special_purpose.clear();
            self.emit(&track, send);
            return;
        }
        let new_chains = NewChains {
            without_correlator: &mut self.counts.without_correlator,
            bad_correlator: &mut self.counts.bad_correlator,
        };
        let update = begin_under(&UPDATE_TRACK, &track.special_purpose, new_chains);
        let plan = self.add_plan(&mut track, now.monotonic_ns);
        if let Some(situation) = &mut self.situation {
            situation.update(&track, plan, now.utc_ns);
        }
        let token = update.correlator().with_flags(true, true).to_bytes(SPECIAL_PURPOSE_OCTETS_MAX);
        self.counts.ancestors_dropped += u64::from(token.dropped());
        track.special_purpose = token.to_vec();
        let sent = self.emit(&track, send);
        update.stop(if sent { Status::Good } else { Status::Failed });
    }

    /// Returns the plan's index.
    fn add_plan(&mut self, track: &mut cat062::Track, now_ns: u64) -> Option<usize> {
        let number = track.track_number?;
        let callsign = track
            .target_identification
            .map(|t| t.callsign)
            .or(track.derived.as_ref().and_then(|d| d.callsign))
            .map(|c| c.to_string());
        let view = TrackView {
            number,
            address: track.derived.as_ref().and_then(|d| d.address),
            callsign: callsign.as_deref(),
            mode_a: track.mode_a.filter(|m| !m.garbled && !m.not_validated).map(|m| m.code),
        };
        let plan = self.correlation.correlate(&view, now_ns);
        let correlated = plan.is_some();
        self.counts.with_plan += u64::from(correlated);
        track.flight_plan = plan.and_then(|plan| self.correlation.plan(plan)).map(flight_plan);
        track.status.get_or_insert_default().flight_plan_correlated = correlated;
        plan
    }

    fn emit(&mut self, track: &cat062::Track, send: &mut impl FnMut(&[u8])) -> bool {
        self.message.clear();
        match encode_block(std::slice::from_ref(track), &mut self.message) {
            Ok(()) => {
                send(&self.message);
                true
            }
            Err(e) => {
                if self.counts.encode_failures == 0 {
                    say!("a track could not be encoded: {e}");
                }
                self.counts.encode_failures += 1;
                false
            }
        }
    }

    fn count_malformed(&mut self, why: &AsterixError) {
        if self.counts.malformed == 0 {
            say!("malformed: {why} (further ones are counted)");
        }
        self.counts.malformed += 1;
    }
}

/// I062/390 of a plan, each text cut to what its subfield holds.
fn flight_plan(plan: &plans::FlightPlan) -> cat062::FlightPlan {
    let text = |s: &str, octets: usize| {
        let printable: String = s.chars().filter(|c| matches!(c, ' '..='~')).take(octets).collect();
        (!printable.is_empty()).then_some(printable)
    };
    cat062::FlightPlan {
        callsign: text(&plan.callsign, 7),
        aircraft_type: text(&plan.aircraft_type, 4),
        departure: text(&plan.departure, 4),
        destination: text(&plan.destination, 4),
        ..cat062::FlightPlan::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asterix::DataSource;
    use crate::asterix::cat062::{AircraftDerived, Track};
    use chronoscope_record::Correlator;

    fn forwarder() -> Forwarder {
        let text = format!("{}\nDLH4AB,3c6444,1234,EDDF,EDDM,A320,\n", plans::HEADER);
        Forwarder::new(PlanCorrelation::new(plans::read(&text).unwrap()))
    }

    fn track(special_purpose: Vec<u8>) -> Vec<u8> {
        let track = Track {
            source: DataSource { sac: 25, sic: 100 },
            track_number: Some(7),
            derived: Some(AircraftDerived {
                address: Some(0x3C_6444),
                ..AircraftDerived::default()
            }),
            special_purpose,
            ..Track::default()
        };
        let mut octets = Vec::new();
        encode_block(&[track], &mut octets).unwrap();
        octets
    }

    fn forwarded(forwarder: &mut Forwarder, octets: &[u8]) -> Track {
        let mut out = Vec::new();
        forwarder.block(octets, Now::default(), |m| out.extend_from_slice(m));
        match decode_block(&out).next() {
            Some(Ok(Record::Track(track))) => track,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_track_gets_its_plan_and_a_new_correlator() {
        let mut forwarder = forwarder();
        let heard = forwarded(&mut forwarder, &track(Vec::new()));
        let plan = heard.flight_plan.unwrap();
        assert_eq!(plan.callsign.as_deref(), Some("DLH4AB"));
        assert_eq!(plan.destination.as_deref(), Some("EDDM"));
        assert!(heard.status.unwrap().flight_plan_correlated);
        let token = Correlator::decode(&heard.special_purpose).unwrap();
        assert!(token.is_asynchronous() && token.is_independent());
        assert_eq!(forwarder.counts().without_correlator, 1);
    }

    /// Both trackers of a pair say which one is in operation: told once a second, and at once where
    /// it is another.
    #[test]
    fn the_tracker_in_operation_is_told_to_the_displays() {
        let status = |selected| {
            let status = Some(cat065::Status { selected, ..cat065::Status::default() });
            let mut octets = Vec::new();
            encode_block(&[cat065::SystemStatus { status, ..Default::default() }], &mut octets)
                .unwrap();
            octets
        };
        let mut forwarder = forwarder();
        let mut told = Vec::new();
        for (ms, selected) in
            [(5_000, 1), (5_100, 1), (5_200, 0), (6_000, 1), (6_100, 2), (6_200, 2), (7_100, 2)]
        {
            let now = Now { monotonic_ns: ms * 1_000_000, ..Now::default() };
            forwarder.block(&status(selected), now, |_| told.push(ms));
        }
        assert_eq!(told, [5_000, 6_000, 6_100, 7_100]);
        let counts = forwarder.counts();
        assert_eq!((counts.tracker_in_operation, counts.takeovers, counts.other), (2, 1, 0));
        // One alone says that it is there.
        let (mut forwarder, mut told) = (self::forwarder(), Vec::new());
        for ms in [5_000, 5_500, 6_000] {
            let now = Now { monotonic_ns: ms * 1_000_000, ..Now::default() };
            forwarder.block(&status(0), now, |_| told.push(ms));
        }
        assert_eq!((told, forwarder.counts().tracker_in_operation), (vec![5_000, 6_000], 0));
    }

    #[test]
    fn a_foreign_special_purpose_field_does_not_stop_the_track() {
        let mut forwarder = forwarder();
        let heard = forwarded(&mut forwarder, &track(vec![1, 2, 3, 4]));
        assert!(heard.flight_plan.is_some());
        assert_eq!(forwarder.counts().bad_correlator, 1);
        forwarder.block(&[62, 0, 5, 0xFF, 0xFF], Now::default(), |_| panic!("forwarded garbage"));
        assert_eq!(forwarder.counts().malformed, 1);
    }
}
