//! Air situation of the message server: every present track, and each track's positions, one a
//! minute, for a day.

use super::query::{Area, DaySpan};
use crate::asterix::{Callsign, cat062};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// An instant on both clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Monotonic time, ns.
    pub monotonic_ns: u64,
    /// Time since the UTC epoch, ns.
    pub utc_ns: i64,
}

/// A track as last reported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heard {
    /// Track number (I062/040).
    pub number: u16,
    /// Latitude in degrees.
    pub lat_deg: f64,
    /// Longitude in degrees.
    pub lon_deg: f64,
    /// Flight level, where it is known.
    pub level: Option<f64>,
    /// Velocity to the east and to the north, in metres a second.
    pub velocity_m_s: Option<(f64, f64)>,
    /// Callsign that the aircraft sends.
    pub callsign: Option<Callsign>,
    /// 24-bit address of the aircraft.
    pub address: Option<u32>,
    /// Index of its flight plan.
    pub plan: Option<usize>,
    /// Time of the report, in ns since the UTC epoch.
    pub at_utc_ns: i64,
    /// Counts up: two tracks with one number, one after the other, differ.
    life: u32,
}

/// Position of a track in a minute, and in the last minute before with a report.
#[derive(Clone, Copy, Debug)]
struct Point {
    life: u32,
    plan: Option<u32>,
    callsign: Option<Callsign>,
    address: Option<u32>,
    at: Place,
    before: Option<Place>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    lat_deg: f32,
    lon_deg: f32,
    level: Option<f32>,
}

impl Place {
    fn is_in(self, area: &Area) -> bool {
        area.contains(self.lat_deg.into(), self.lon_deg.into(), self.level.map(f64::from))
    }
}

/// A flight that was in an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AreaEntry {
    /// Index of its flight plan, where it has one.
    pub plan: Option<usize>,
    /// Callsign that the aircraft sends.
    pub callsign: Option<Callsign>,
    /// 24-bit address of the aircraft.
    pub address: Option<u32>,
    /// The minute in which it was first seen inside, of the UTC epoch.
    pub minute: i64,
    /// Whether it appeared inside, without an earlier position outside.
    pub appeared: bool,
}

/// An area in one hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HourLoad {
    /// Flights that were inside.
    pub flights: usize,
    /// Number of flights that entered.
    pub entries: usize,
    /// Flights inside in the minute that had most.
    pub most_at_once: usize,
}

/// Every track now, and where they were.
#[derive(Debug, Default)]
pub struct Situation {
    /// Tracks by number.
    tracks: BTreeMap<u16, Live>,
    lives: u32,
    /// The oldest first.
    minutes: VecDeque<Minute>,
    points: usize,
    /// Positions that were given up because there were too many in a day.
    pub dropped_points: u64,
}

#[derive(Clone, Copy, Debug)]
struct Live {
    heard: Heard,
    noted: Option<(i64, Place)>,
}

/// Positions of all tracks in a minute.
#[derive(Debug)]
struct Minute {
    /// Minutes since the UTC epoch.
    number: i64,
    /// Latitude and longitude of each of `points`, again: a query about an area scans hours of
    /// them, and this is an eighth of the octets.
    at: Vec<[f32; 2]>,
    points: Vec<Point>,
}

impl Minute {
    fn keep(&mut self, point: Point) {
        self.at.push([point.at.lat_deg, point.at.lon_deg]);
        self.points.push(point);
    }

    /// Points in an area, in the order in which they were heard. `bounds`: [`bounds_of`] it.
    fn inside<'a>(&'a self, area: &'a Area, bounds: Bounds) -> impl Iterator<Item = &'a Point> {
        let [south, west, north, east] = bounds;
        let near = move |&[lat, lon]: &[f32; 2]| {
            // All four, without a jump for each.
            (lat >= south) & (lat <= north) & (lon >= west) & (lon <= east)
        };
        let points = self.at.iter().zip(&self.points).filter(move |(at, _)| near(at));
        points.map(|(_, point)| point).filter(|point| point.at.is_in(area))
    }
}

/// South, west, north and east, in degrees.
type Bounds = [f32; 4];

/// A box that holds all of an area, rounded outwards.
fn bounds_of(area: &Area) -> Bounds {
    let [south, west, north, east] = area.shape.bounds();
    #[allow(clippy::cast_possible_truncation, reason = "rounded outwards next")]
    let [south, west, north, east] = [south as f32, west as f32, north as f32, east as f32];
    [south.next_down(), west.next_down(), north.next_up(), east.next_up()]
}

/// Flights, each once.
#[derive(Debug, Default)]
struct Flights {
    /// A bit for each plan: their indexes are dense.
    plans: Vec<u64>,
    /// Lives of tracks without one.
    lives: HashSet<u32>,
    count: usize,
}

impl Flights {
    /// Whether the flight of `point` is a new one.
    fn insert(&mut self, point: &Point) -> bool {
        let new = match point.plan {
            // A plan is one flight even when its track broke off in between.
            Some(plan) => {
                let (word, bit) = (plan as usize / 64, 1 << (plan % 64));
                if word >= self.plans.len() {
                    self.plans.resize(word + 1, 0);
                }
                let known = self.plans[word] & bit != 0;
                self.plans[word] |= bit;
                !known
            }
            None => self.lives.insert(point.life),
        };
        self.count += usize::from(new);
        new
    }
}

const MINUTE_NS: i64 = 60_000_000_000;
/// Time for which positions are kept, in minutes.
const KEPT_MINUTES: i64 = 24 * 60;
/// Most positions that are kept: 1400 aircraft all day long.
const POINTS_MAX: usize = 2_000_000;
/// A track not heard of for so long is over, ns.
const SILENT_NS: i64 = 120_000_000_000;

impl Situation {
    /// Takes in a track message whose track has the flight plan with index `plan`.
    pub fn update(&mut self, track: &cat062::Track, plan: Option<usize>, utc_ns: i64) {
        let (Some(number), Some(position)) = (track.track_number, track.position) else { return };
        let begins = track.status.is_some_and(|status| status.begins);
        let live = match self.tracks.get_mut(&number) {
            Some(live) if !begins => live,
            _ => {
                self.lives = self.lives.wrapping_add(1);
                let heard = Heard { number, life: self.lives, ..Heard::NOTHING };
                self.tracks.insert(number, Live { heard, noted: None });
                let Some(live) = self.tracks.get_mut(&number) else { return };
                live
            }
        };
        live.heard = Heard {
            number,
            lat_deg: position.lat_deg,
            lon_deg: position.lon_deg,
            level: track.measured_flight_level,
            velocity_m_s: track.velocity.map(|v| (v.x_m_s, v.y_m_s)),
            callsign: track.target_identification.map(|t| t.callsign),
            address: track.derived.as_ref().and_then(|derived| derived.address),
            plan,
            at_utc_ns: utc_ns,
            life: live.heard.life,
        };
        let minute = utc_ns.div_euclid(MINUTE_NS);
        if live.noted.is_none_or(|(noted, _)| noted != minute) {
            let point = live.note(minute);
            self.keep(minute, point);
        }
    }

    /// The track has ended.
    pub fn end(&mut self, number: u16) {
        self.tracks.remove(&number);
    }

    /// Removes ended tracks and old positions. To be called from time to time.
    pub fn expire(&mut self, utc_ns: i64) {
        self.tracks.retain(|_, live| utc_ns - live.heard.at_utc_ns <= SILENT_NS);
        let oldest = utc_ns.div_euclid(MINUTE_NS) - KEPT_MINUTES;
        while self.minutes.front().is_some_and(|minute| minute.number < oldest) {
            self.drop_oldest();
        }
    }

    /// The track with a number, if it is there now.
    #[must_use]
    pub fn track(&self, number: u16) -> Option<&Heard> {
        self.tracks.get(&number).map(|live| &live.heard)
    }

    /// All tracks, by number.
    pub fn tracks(&self) -> impl Iterator<Item = &Heard> {
        self.tracks.values().map(|live| &live.heard)
    }

    /// Number of stored positions.
    #[must_use]
    pub fn point_count(&self) -> usize {
        self.points
    }

    /// Flights that entered `area` within `span` of the day that contains `now_utc_ns`, each once,
    /// in the order in which they entered.
    #[must_use]
    pub fn entering(&self, area: &Area, span: DaySpan, now_utc_ns: i64) -> Vec<AreaEntry> {
        let (mut known, bounds) = (Flights::default(), bounds_of(area));
        let mut entries = Vec::new();
        for minute in self.minutes_of(span, now_utc_ns) {
            let inside = minute.inside(area, bounds);
            for point in inside.filter(|point| point.enters(area)) {
                if known.insert(point) {
                    entries.push(AreaEntry {
                        plan: point.plan.map(|plan| plan as usize),
                        callsign: point.callsign,
                        address: point.address,
                        minute: minute.number,
                        appeared: point.before.is_none(),
                    });
                }
            }
        }
        entries
    }

    /// The load of `area` in every hour of `span` of the day that contains `now_utc_ns`, by the
    /// hour's number.
    #[must_use]
    pub fn load(&self, area: &Area, span: DaySpan, now_utc_ns: i64) -> BTreeMap<u16, HourLoad> {
        let mut hours: BTreeMap<u16, (HourLoad, Flights)> = BTreeMap::new();
        let bounds = bounds_of(area);
        let mut first = span.from_minute / 60;
        while first * 60 < span.to_minute {
            hours.insert(first, <_>::default());
            first += 1;
        }
        for minute in self.minutes_of(span, now_utc_ns) {
            let hour = u16::try_from(minute.number.rem_euclid(1440) / 60).unwrap_or(0);
            let (load, flights) = hours.entry(hour).or_default();
            let mut at_once = 0;
            for point in minute.inside(area, bounds) {
                at_once += 1;
                load.entries += usize::from(point.enters(area));
                flights.insert(point);
            }
            load.most_at_once = load.most_at_once.max(at_once);
        }
        let counted = |(hour, (load, flights)): (u16, (HourLoad, Flights))| {
            (hour, HourLoad { flights: flights.count, ..load })
        };
        hours.into_iter().map(counted).collect()
    }

    fn minutes_of(&self, span: DaySpan, now_utc_ns: i64) -> impl Iterator<Item = &Minute> {
        let midnight = now_utc_ns.div_euclid(1440 * MINUTE_NS) * 1440;
        let from = midnight + i64::from(span.from_minute);
        let to = midnight + i64::from(span.to_minute);
        let first = self.minutes.partition_point(|minute| minute.number < from);
        self.minutes.range(first..).take_while(move |minute| minute.number < to)
    }

    fn keep(&mut self, minute: i64, point: Point) {
        match self.minutes.back_mut() {
            // A clock that was set back: what comes then belongs to the last minute known.
            Some(last) if last.number >= minute => last.keep(point),
            _ => {
                let mut next = Minute { number: minute, at: Vec::new(), points: Vec::new() };
                next.keep(point);
                self.minutes.push_back(next);
            }
        }
        self.points += 1;
        while self.points > POINTS_MAX {
            self.dropped_points += self.drop_oldest() as u64;
        }
    }

    fn drop_oldest(&mut self) -> usize {
        let gone = self.minutes.pop_front().map_or(0, |minute| minute.points.len());
        self.points -= gone;
        gone
    }
}

impl Heard {
    const NOTHING: Self = Self {
        number: 0,
        lat_deg: 0.0,
        lon_deg: 0.0,
        level: None,
        velocity_m_s: None,
        callsign: None,
        address: None,
        plan: None,
        at_utc_ns: 0,
        life: 0,
    };
}

impl Live {
    fn note(&mut self, minute: i64) -> Point {
        let heard = &self.heard;
        #[allow(clippy::cast_possible_truncation)] // a metre, and a hundredth of a level
        let at = Place {
            lat_deg: heard.lat_deg as f32,
            lon_deg: heard.lon_deg as f32,
            level: heard.level.map(|level| level as f32),
        };
        let before = self.noted.replace((minute, at)).map(|(_, place)| place);
        Point {
            life: heard.life,
            plan: heard.plan.and_then(|plan| u32::try_from(plan).ok()),
            callsign: heard.callsign,
            address: heard.address,
            at,
            before,
        }
    }
}

impl Point {
    fn enters(&self, area: &Area) -> bool {
        self.before.is_none_or(|before| !before.is_in(area))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::query::Shape;

    /// 10:00 of some day.
    const TEN: i64 = (20_000 * 1440 + 600) * MINUTE_NS;
    const AREA: Area = Area {
        shape: Shape::Box { south: 48.0, west: 9.0, north: 50.0, east: 11.0 },
        levels: Some((300.0, 400.0)),
    };

    fn span(from_minute: u16, to_minute: u16) -> DaySpan {
        DaySpan { from_minute, to_minute }
    }

    /// A track flying east at FL350 by a tenth of a degree a minute, from 8.55° E at 10:00.
    fn fly(situation: &mut Situation, number: u16, plan: Option<usize>, minutes: i64) {
        for minute in 0..minutes {
            let mut track = cat062::Track {
                track_number: Some(number),
                position: Some(cat062::Position {
                    lat_deg: 49.0,
                    lon_deg: 8.55 + 0.1 * minute as f64,
                }),
                measured_flight_level: Some(350.0),
                status: Some(cat062::Status { begins: minute == 0, ..Default::default() }),
                ..cat062::Track::default()
            };
            // Heard three times a minute, noted once.
            for third in 0..3 {
                situation.update(&track, plan, TEN + minute * MINUTE_NS + third * 20_000_000_000);
                track.status = None;
            }
        }
    }

    #[test]
    fn a_flight_enters_once_and_is_counted_in_every_hour_that_it_is_inside() {
        let mut situation = Situation::default();
        fly(&mut situation, 7, Some(3), 90);
        assert_eq!(situation.point_count(), 90);
        let now = TEN + 90 * MINUTE_NS;
        // 9.0° is passed between minutes 4 and 5, 11.0° between 24 and 25.
        let entries = situation.entering(&AREA, span(600, 720), now);
        assert_eq!(entries.len(), 1);
        assert_eq!((entries[0].minute * MINUTE_NS - TEN) / MINUTE_NS, 5);
        assert!(!entries[0].appeared && entries[0].plan == Some(3));
        assert!(situation.entering(&AREA, span(606, 720), now).is_empty(), "it was inside before");
        assert!(situation.entering(&AREA, span(540, 605), now).is_empty());
        let load = situation.load(&AREA, span(540, 720), now);
        assert_eq!(load.keys().copied().collect::<Vec<_>>(), [9, 10, 11]);
        assert_eq!(load[&10], HourLoad { flights: 1, entries: 1, most_at_once: 1 });
        assert_eq!(load[&11], HourLoad::default());
        // The same plan on a new track is the same flight.
        fly(&mut situation, 8, Some(3), 10);
        assert_eq!(situation.entering(&AREA, span(600, 720), now).len(), 1);
    }

    #[test]
    fn flights_with_and_without_a_plan_count_once_each() {
        let mut situation = Situation::default();
        // The last two have no plan, and are two although one has the other's number later.
        for (number, plan) in [(1, Some(0)), (2, Some(64)), (3, Some(0)), (4, None), (4, None)] {
            fly(&mut situation, number, plan, 10);
        }
        let load = situation.load(&AREA, span(600, 660), TEN + 10 * MINUTE_NS);
        assert_eq!(load[&10].flights, 4);
        // A corner of the area goes through where they were: the edge is within.
        let edge = Shape::Box { south: 49.0, west: 8.0, north: 49.0, east: 12.0 };
        let load = |levels| situation.load(&Area { shape: edge, levels }, span(600, 660), TEN);
        assert_eq!(load(None)[&10].flights, 4);
        assert_eq!(load(Some((360.0, 400.0)))[&10].flights, 0);
    }

    #[test]
    fn what_is_silent_or_old_is_forgotten() {
        let mut situation = Situation::default();
        fly(&mut situation, 7, None, 3);
        assert_eq!(situation.track(7).unwrap().lat_deg, 49.0);
        situation.expire(TEN + 3 * MINUTE_NS);
        assert_eq!(situation.tracks().count(), 1);
        situation.expire(TEN + 6 * MINUTE_NS);
        assert_eq!((situation.tracks().count(), situation.point_count()), (0, 3));
        situation.expire(TEN + 1442 * MINUTE_NS);
        assert_eq!(situation.point_count(), 1);
        fly(&mut situation, 9, None, 1);
        situation.end(9);
        assert!(situation.track(9).is_none());
    }
}
