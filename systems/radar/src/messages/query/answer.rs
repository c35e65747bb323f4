//! Answers queries with lines of JSON.
//!
//! Each answer is a transaction of its question's class, from the line to its answer's last octet.

use super::super::plan_correlation::PlanCorrelation;
use super::super::situation::{AreaEntry, Heard, HourLoad, Situation};
use super::parse::{
    DaySpan, FlightList, FlightName, LINE_OCTETS_MAX, Query, QueryError, QueryKind,
};
use crate::traffic::plans::FlightPlan;
use chronoscope_record::{Class, Status, class};
use serde::Serialize;
use std::collections::HashMap;

static FLIGHT: Class = class!("Query_flight");
static LIST: Class = class!("Query_list");
static TRACKS: Class = class!("Query_tracks");
static ENTERING: Class = class!("Query_entering");
static LOAD: Class = class!("Query_load");
static REFUSED: Class = class!("Query_refused");

/// Answers questions; knows the flight plans by aerodrome and time.
#[derive(Debug, Default)]
pub struct Desk {
    departures: HashMap<String, Vec<Planned>>,
    arrivals: HashMap<String, Vec<Planned>>,
}

/// Time in seconds since the UTC epoch, and the plan's index; plans without times first.
type Planned = (Option<i64>, usize);

#[derive(Serialize)]
struct Refusal {
    version: u32,
    error: String,
    octet: usize,
}

#[derive(Serialize)]
struct Answer<T: Serialize> {
    version: u32,
    kind: &'static str,
    count: usize,
    #[serde(flatten)]
    found: T,
}

#[derive(Serialize)]
struct Flights<'a> {
    flights: Vec<FlightView<'a>>,
}

#[derive(Serialize)]
struct Tracks {
    tracks: Vec<TrackView>,
}

#[derive(Serialize)]
struct Hours {
    hours: Vec<HourView>,
}

#[derive(Serialize)]
struct FlightView<'a> {
    callsign: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(flatten)]
    plan: Option<PlanView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    track: Option<TrackView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entered: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    appeared: Option<bool>,
}

#[derive(Serialize)]
struct PlanView<'a> {
    mode_a: String,
    departure: &'a str,
    destination: &'a str,
    aircraft_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    departure_utc_s: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arrival_utc_s: Option<i64>,
}

#[derive(Serialize)]
struct TrackView {
    number: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    callsign: Option<String>,
    lat_deg: f64,
    lon_deg: f64,
    flight_level: Option<f64>,
    ground_speed_m_s: Option<f64>,
    age_s: f64,
}

#[derive(Serialize)]
struct HourView {
    hour: u16,
    flights: usize,
    entries: usize,
    most_at_once: usize,
}

impl Desk {
    /// A desk for the flights of `correlation`.
    #[must_use]
    pub fn new(correlation: &PlanCorrelation) -> Self {
        let mut desk = Self::default();
        for (index, plan) in correlation.plans().iter().enumerate() {
            let (departure_s, arrival_s) = plan.times_utc_s.unzip();
            desk.departures.entry(plan.departure.clone()).or_default().push((departure_s, index));
            desk.arrivals.entry(plan.destination.clone()).or_default().push((arrival_s, index));
        }
        desk.departures.values_mut().chain(desk.arrivals.values_mut()).for_each(|l| l.sort());
        desk
    }

    /// Appends the answer to one line, with its end. Returns whether the line was understood.
    pub fn answer(
        &self,
        line: &[u8],
        correlation: &PlanCorrelation,
        situation: &Situation,
        utc_ns: i64,
        out: &mut Vec<u8>,
    ) -> bool {
        // Refusals have a class of their own: they must not distort a kind's durations.
        let query = match read(line) {
            Ok(query) => query,
            Err(why) => {
                let refused = REFUSED.begin();
                let error = chronoscope_escape::terminal(&why.to_string()).into_owned();
                let octet = why.octet();
                write(&Refusal { version: 1, error, octet }, out);
                refused.stop(Status::Failed);
                return false;
            }
        };
        let class = match query.kind {
            QueryKind::Flight(_) => &FLIGHT,
            QueryKind::List(_) => &LIST,
            QueryKind::Tracks(_) => &TRACKS,
            QueryKind::Entering(..) => &ENTERING,
            QueryKind::Load(..) => &LOAD,
        };
        let mut transaction = class.begin();
        let asked = Asked { desk: self, correlation, situation, utc_ns, limit: query.limit };
        let count = asked.find(&query.kind, out);
        transaction.metric("found", count as f64);
        transaction.stop(Status::Good);
        true
    }
}

fn read(line: &[u8]) -> Result<Query, QueryError> {
    if line.len() > LINE_OCTETS_MAX {
        return Err(QueryError::TooLong);
    }
    let not_text = |e: std::str::Utf8Error| QueryError::NotText { octet: e.valid_up_to() };
    Query::parse(std::str::from_utf8(line).map_err(not_text)?)
}

fn write(answer: &impl Serialize, out: &mut Vec<u8>) {
    let begin = out.len();
    // Strings and numbers always have a form in JSON, and memory does not refuse octets.
    if serde_json::to_writer(&mut *out, answer).is_err() {
        out.truncate(begin);
        out.extend_from_slice(br#"{"version":1,"error":"the answer has no form","octet":0}"#);
    }
    out.push(b'\n');
}

struct Asked<'a> {
    desk: &'a Desk,
    correlation: &'a PlanCorrelation,
    situation: &'a Situation,
    utc_ns: i64,
    limit: usize,
}

impl Asked<'_> {
    /// Appends the results, and returns their number.
    fn find(&self, kind: &QueryKind, out: &mut Vec<u8>) -> usize {
        match kind {
            QueryKind::Flight(name) => self.flight(name, out),
            QueryKind::List(list) => self.list(list, out),
            QueryKind::Tracks(area) => {
                let inside = |t: &&Heard| area.contains(t.lat_deg, t.lon_deg, t.level);
                let mut tracks = Vec::new();
                let mut count = 0;
                for track in self.situation.tracks().filter(inside) {
                    count += 1;
                    if count <= self.limit {
                        let named = track.callsign.map(|callsign| callsign.to_string());
                        tracks.push(self.track(track, named));
                    }
                }
                write(&answer("tracks", count, Tracks { tracks }), out);
                count
            }
            QueryKind::Entering(area, span) => {
                let entries = self.situation.entering(area, *span, self.utc_ns);
                let view = |entry: &AreaEntry| FlightView {
                    entered: Some(clock(entry.minute)),
                    appeared: Some(entry.appeared),
                    ..self.view(entry.plan, entry.callsign.map(|c| c.to_string()), entry.address)
                };
                let flights = entries.iter().take(self.limit).map(view).collect();
                write(&answer("entering", entries.len(), Flights { flights }), out);
                entries.len()
            }
            QueryKind::Load(area, span) => {
                let hours = self.situation.load(area, *span, self.utc_ns).into_iter();
                let view = |(hour, load): (u16, HourLoad)| HourView {
                    hour,
                    flights: load.flights,
                    entries: load.entries,
                    most_at_once: load.most_at_once,
                };
                let hours: Vec<HourView> = hours.take(self.limit).map(view).collect();
                let count = hours.len();
                write(&answer("load", count, Hours { hours }), out);
                count
            }
        }
    }

    fn flight(&self, name: &FlightName, out: &mut Vec<u8>) -> usize {
        let plan = match name {
            FlightName::Callsign(callsign) => self.correlation.by_callsign(callsign),
            FlightName::Address(address) => self.correlation.by_address(*address),
        };
        // A flight without a plan may be in the air all the same. A name that no transponder can
        // send is no callsign.
        let callsign = match name {
            FlightName::Callsign(callsign) => callsign.parse().ok(),
            FlightName::Address(_) => None,
        };
        let is_it = |track: &&Heard| match name {
            FlightName::Callsign(_) => callsign.is_some() && track.callsign == callsign,
            FlightName::Address(address) => track.address == Some(*address),
        };
        let track = match plan.and_then(|plan| self.correlation.holder(plan)) {
            Some(number) => self.situation.track(number),
            None if plan.is_some() => None,
            None => self.situation.tracks().find(is_it),
        };
        let known = plan.is_some() || track.is_some();
        let view = || FlightView {
            track: track.map(|track| self.track(track, None)),
            ..self.view(
                plan,
                track.and_then(|t| t.callsign).map(|c| c.to_string()),
                track.and_then(|t| t.address),
            )
        };
        let flights: Vec<_> = known.then(view).into_iter().collect();
        write(&answer("flight", flights.len(), Flights { flights }), out);
        usize::from(known)
    }

    fn list(&self, list: &FlightList, out: &mut Vec<u8>) -> usize {
        let (index, name) = match (&list.from, &list.to) {
            (Some(from), _) => (&self.desk.departures, from),
            (None, Some(to)) => (&self.desk.arrivals, to),
            (None, None) => return 0, // the language has no such question
        };
        let planned = index.get(name).map(Vec::as_slice).unwrap_or_default();
        let planned = list.between.map_or(planned, |span| self.within(planned, span));
        let goes_there = |plan: &FlightPlan| {
            list.from.is_none() || list.to.as_ref().is_none_or(|to| plan.destination == *to)
        };
        let mut flights = Vec::new();
        let mut count = 0;
        for (_, plan) in planned {
            if !self.correlation.plan(*plan).is_some_and(goes_there) {
                continue;
            }
            count += 1;
            if count <= self.limit {
                flights.push(self.view(Some(*plan), None, None));
            }
        }
        write(&answer("list", count, Flights { flights }), out);
        count
    }

    /// Entries of `planned`, which is in order of time, within `span` of this day.
    fn within<'p>(&self, planned: &'p [Planned], span: DaySpan) -> &'p [Planned] {
        let midnight_s = self.utc_ns.div_euclid(86_400_000_000_000) * 86_400;
        let second = |minute: u16| midnight_s + 60 * i64::from(minute);
        let (from_s, to_s) = (second(span.from_minute), second(span.to_minute));
        let before = |limit_s: i64| {
            planned.partition_point(|(at_s, _)| at_s.is_none_or(|at_s| at_s < limit_s))
        };
        &planned[before(from_s)..before(to_s)]
    }

    fn view(
        &self,
        plan: Option<usize>,
        callsign: Option<String>,
        address: Option<u32>,
    ) -> FlightView<'_> {
        let plan = plan.and_then(|plan| self.correlation.plan(plan));
        let times = plan.and_then(|plan| plan.times_utc_s);
        FlightView {
            callsign: plan.map(|plan| plan.callsign.clone()).or(callsign).unwrap_or_default(),
            address: plan.map(|plan| plan.address).or(address).map(|a| format!("{a:06x}")),
            plan: plan.map(|plan| PlanView {
                mode_a: format!("{:04o}", plan.mode_a),
                departure: &plan.departure,
                destination: &plan.destination,
                aircraft_type: &plan.aircraft_type,
                departure_utc_s: times.map(|times| times.0),
                arrival_utc_s: times.map(|times| times.1),
            }),
            track: None,
            entered: None,
            appeared: None,
        }
    }

    fn track(&self, track: &Heard, callsign: Option<String>) -> TrackView {
        let rounded = |value: f64, steps: f64| (value * steps).round() / steps;
        TrackView {
            number: track.number,
            callsign,
            lat_deg: rounded(track.lat_deg, 1e4),
            lon_deg: rounded(track.lon_deg, 1e4),
            flight_level: track.level,
            ground_speed_m_s: track.velocity_m_s.map(|(x, y)| rounded(x.hypot(y), 10.0)),
            age_s: rounded((self.utc_ns - track.at_utc_ns).max(0) as f64 / 1e9, 10.0),
        }
    }
}

fn answer<T: Serialize>(kind: &'static str, count: usize, found: T) -> Answer<T> {
    Answer { version: 1, kind, count, found }
}

/// A minute of the UTC epoch as a time of day.
fn clock(minute: i64) -> String {
    let of_day = minute.rem_euclid(1440);
    format!("{:02}:{:02}", of_day / 60, of_day % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asterix::cat062;
    use crate::traffic::plans;

    /// 10:00 of some day.
    const TEN: i64 = (20_000 * 24 + 10) * 3_600_000_000_000;

    fn ask(line: &str) -> serde_json::Value {
        let midnight_s = 20_000 * 86_400;
        let plan = |name: &str, address, to, departs: i64| {
            let (departs, arrives) = (midnight_s + departs, midnight_s + departs + 3600);
            format!("{name},{address},1234,EDDF,{to},A320,,{departs},{arrives}\n")
        };
        let text = [
            format!("{}\n", plans::HEADER_TIMES),
            plan("DLH1", "3c0001", "EDDM", 36_000),
            plan("DLH2", "3c0002", "EDDH", 39_599),
            plan("DLH3", "3c0003", "EDDM", 39_600),
        ];
        let mut correlation = PlanCorrelation::new(plans::read(&text.concat()).unwrap());
        let mut situation = Situation::default();
        let view = super::super::super::TrackView {
            number: 7,
            callsign: Some("DLH1"),
            ..Default::default()
        };
        let plan = correlation.correlate(&view, 1);
        let track = |number: u16, callsign: &str, lon_deg| cat062::Track {
            track_number: Some(number),
            position: Some(cat062::Position { lat_deg: 49.0, lon_deg }),
            velocity: Some(cat062::Velocity { x_m_s: 240.0, y_m_s: -70.0 }),
            target_identification: Some(cat062::TargetIdentification {
                origin: 0,
                callsign: callsign.parse().unwrap(),
            }),
            measured_flight_level: Some(350.0),
            ..cat062::Track::default()
        };
        situation.update(&track(7, "DLH1", 10.0), plan, TEN - 2_000_000_000);
        situation.update(&track(8, "NOPLAN", 12.0), None, TEN - 1_000_000_000);
        let mut out = Vec::new();
        Desk::new(&correlation).answer(line.as_bytes(), &correlation, &situation, TEN, &mut out);
        assert_eq!(out.pop(), Some(b'\n'));
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn a_flight_with_its_plan_and_its_track() {
        let answer = ask("flight DLH1");
        assert_eq!((&answer["version"], &answer["count"]), (&1.into(), &1.into()));
        let flight = &answer["flights"][0];
        assert_eq!(
            (&flight["address"], &flight["destination"]),
            (&"3c0001".into(), &"EDDM".into())
        );
        assert_eq!(flight["track"]["ground_speed_m_s"], 250.0);
        assert_eq!(flight["track"]["age_s"], 2.0);
        assert_eq!(ask("flight @3c0002")["flights"][0]["callsign"], "DLH2");
        assert!(ask("flight DLH2")["flights"][0].get("track").is_none(), "not in the air");
        assert_eq!(ask("flight NOPLAN")["flights"][0]["track"]["number"], 8);
        assert_eq!(ask("flight NOBODY")["count"], 0);
    }

    #[test]
    fn lists_by_aerodrome_and_time() {
        let names = |line: &str| {
            let answer = ask(line);
            let flights = answer["flights"].as_array().unwrap().clone();
            let name = |flight: &serde_json::Value| flight["callsign"].as_str().unwrap().to_owned();
            (answer["count"].as_u64().unwrap(), flights.iter().map(name).collect::<Vec<_>>())
        };
        assert_eq!(names("list from EDDF limit 1"), (3, vec!["DLH1".to_owned()]));
        // The minute at the end is not within: DLH3 departs at 11:00.
        let (count, found) = names("list from EDDF between 10:00 and 11:00");
        assert_eq!((count, found.join(" ")), (2, "DLH1 DLH2".to_owned()));
        assert_eq!(names("list from EDDF to EDDM between 10:01 and 24:00").1, ["DLH3"]);
        // Arrivals are asked for by their times of arrival.
        assert_eq!(names("list to EDDM between 11:00 and 12:00").1, ["DLH1"]);
        assert_eq!(names("list from LSZH").0, 0);
    }

    #[test]
    fn areas_now_and_before() {
        let answer = ask("tracks near 49,10 30");
        assert_eq!(
            (&answer["count"], &answer["tracks"][0]["callsign"]),
            (&1.into(), &"DLH1".into())
        );
        assert_eq!(ask("tracks in 48,9,50,13 levels 340-360 limit 1")["count"], 2);
        let answer = ask("entering in 48,9,50,11 between 09:00 and 11:00");
        assert_eq!(answer["count"], 1);
        let flight = &answer["flights"][0];
        assert_eq!((&flight["entered"], &flight["appeared"]), (&"09:59".into(), &true.into()));
        assert_eq!(flight["aircraft_type"], "A320");
        let hours = &ask("load in 48,9,50,13 between 09:00 and 11:00")["hours"];
        assert_eq!((&hours[0]["hour"], &hours[0]["flights"]), (&9.into(), &2.into()));
        assert_eq!((&hours[0]["most_at_once"], &hours[1]["flights"]), (&2.into(), &0.into()));
    }

    #[test]
    fn a_refusal_says_where() {
        let refusal = ask("flight");
        assert_eq!(refusal["version"], 1);
        assert_eq!(refusal["octet"], 6);
        assert!(refusal["error"].as_str().unwrap().contains("callsign"), "{refusal}");
        let (correlation, situation) = (PlanCorrelation::default(), Situation::default());
        let mut out = Vec::new();
        assert!(!Desk::default().answer(&[0xff, 0xfe], &correlation, &situation, TEN, &mut out));
        assert!(out.starts_with(br#"{"version":1,"error":"octet 0: not printable"#));
    }
}
