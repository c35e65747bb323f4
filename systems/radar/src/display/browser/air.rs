//! Air situation of the process, and the browsers that receive it.
//!
//! Shared by the thread that processes updates and the one that serves browsers; each holds the
//! lock for a moment only.

use super::super::freshness::PictureAge;
use super::super::load::UpdateMode;
use super::super::map_file::MapFile;
use super::super::zones::TooManyInhibited;
use super::alerting::{Alerted, Alerting};
use super::outbox::{Outbox, OutboxCounts};
use super::wire::{self, WirePosition};
use crate::asterix::cat062;
use crate::geodesy::Wgs84;
use chronoscope_record::Correlator;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Past positions that are kept.
const HISTORY: usize = 10;
/// Least time between two of them, ns, …
const HISTORY_NS: u64 = 8_000_000_000;
/// … and least distance, 10⁻⁷ degrees of latitude and longitude together: about 300 m.
const HISTORY_STEP: u32 = 30_000;
/// Time without update after which a track is marked silent, ns.
const SILENT_NS: u64 = 20_000_000_000;
/// A track not updated for this long is gone, ns.
const GONE_NS: u64 = 90_000_000_000;
/// Browsers at a time.
pub(super) const BROWSERS_MAX: usize = 16;
/// Conflicts that are listed; further ones are counted, and marked in their labels.
const LISTED_MAX: usize = 100;

/// State of one browser that both threads share.
#[derive(Debug, Default)]
pub(super) struct Desk {
    outbox: Mutex<Outbox>,
    /// The latest status, until it is sent.
    words: Mutex<Option<Arc<str>>>,
    /// Signals that there is something to send.
    pub(super) changed: Notify,
}

impl Desk {
    pub(super) fn outbox(&self) -> MutexGuard<'_, Outbox> {
        lock(&self.outbox)
    }

    pub(super) fn take_words(&self) -> Option<Arc<str>> {
        lock(&self.words).take()
    }
}

/// Locks a mutex. Poisoning is ignored: every update here is a single step, so a panic of the other
/// thread leaves no half-done change.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A track as last reported.
#[derive(Debug)]
struct Known {
    track: cat062::Track,
    record: Arc<[u8]>,
    history: VecDeque<WirePosition>,
    /// Time of the last position in the history, or of the track's begin.
    noted_ns: u64,
    noted: WirePosition,
    updated_ns: u64,
    silent: bool,
}

/// Counts of browsers and their connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct BrowserCounts {
    /// Browsers that connected.
    pub connected: u64,
    /// Browsers turned away because there were too many.
    pub refused: u64,
    /// Browsers cut because they showed, or took, nothing for too long.
    pub cut_slow: u64,
    /// Browsers cut because of a protocol error.
    pub cut_protocol: u64,
    /// Counts of states and frames sent to browsers.
    #[serde(flatten)]
    pub sent: OutboxCounts,
    /// The middle round trip of the last browser that left or is there, µs. The way back of an
    /// acknowledgement, by which every `TargetView_redraw` is too long, is half of it, ± half of it.
    pub round_trip_us: Option<f64>,
    /// By how much that browser presented frames after the acknowledgement, µs, where it tells:
    /// by this every `TargetView_redraw` is too short.
    pub presented_later_us: Option<f64>,
}

impl BrowserCounts {
    /// Adds the counts of one browser.
    fn add(&mut self, outbox: &Outbox) {
        self.sent.add(outbox.counts());
        self.round_trip_us = micros(outbox.round_trip_ns()).or(self.round_trip_us);
        self.presented_later_us = micros(outbox.presented_later_ns()).or(self.presented_later_us);
    }
}

/// State of health of the process, sent once a second.
#[derive(Clone, Copy, Debug)]
pub struct Health {
    /// UTC now, ns.
    pub utc_ns: i64,
    /// Whether the message server is there.
    pub connected: bool,
    /// Mode in which updates are passed to browsers.
    pub mode: UpdateMode,
    /// Updates in the last second.
    pub updates: u64,
    /// Blocks or records that were not category 062 as specified, since the start.
    pub malformed: u64,
    /// Whether the picture is current.
    pub picture: PictureAge,
    /// The tracker in operation, of a pair: its unit number, 0 where there is one alone.
    pub tracker: u8,
}

/// All tracks and all browsers.
#[derive(Debug)]
pub struct Air {
    alerting: Alerting,
    tracks: BTreeMap<u16, Known>,
    desks: Vec<Arc<Desk>>,
    words: Arc<str>,
    pub(super) counts: BrowserCounts,
}

/// The air situation as both threads have it.
pub type SharedAir = Arc<Mutex<Air>>;

impl Air {
    /// An empty air situation. `centre` is the centre of the plane in which conflicts are computed.
    #[must_use]
    pub fn new(centre: Wgs84) -> Self {
        Self {
            alerting: Alerting::new(centre),
            tracks: BTreeMap::new(),
            desks: Vec::new(),
            words: Arc::from("{}"),
            counts: BrowserCounts::default(),
        }
    }

    /// Takes the areas of a map that matter to alerts.
    ///
    /// # Errors
    /// When there are too many of them.
    pub fn with_map(mut self, map: &MapFile) -> Result<Self, TooManyInhibited> {
        self.alerting = self.alerting.with_map(map)?;
        Ok(self)
    }

    /// Number of known tracks.
    #[must_use]
    pub fn target_count(&self) -> usize {
        self.tracks.len()
    }

    /// The counts so far, of all browsers.
    #[must_use]
    pub fn counts(&self) -> BrowserCounts {
        let mut counts = self.counts;
        for desk in &self.desks {
            counts.add(&desk.outbox());
        }
        counts
    }

    /// Processes an update: its state for browsers, and its history. `now_ns`: when the track was as
    /// reported.
    pub fn recalculate(&mut self, track: &cat062::Track, now_ns: u64) {
        let Some(number) = track.track_number else { return };
        let position = track.position.unwrap_or_default();
        let at = wire::wire_position(position.lat_deg, position.lon_deg);
        let known = self.tracks.entry(number).or_insert_with(|| Known {
            track: cat062::Track::default(),
            record: Arc::from([]),
            history: VecDeque::with_capacity(HISTORY),
            noted_ns: now_ns,
            noted: at,
            updated_ns: now_ns,
            silent: false,
        });
        let moved = at.0.abs_diff(known.noted.0) + at.1.abs_diff(known.noted.1);
        if now_ns.saturating_sub(known.noted_ns) >= HISTORY_NS && moved >= HISTORY_STEP {
            known.history.truncate(HISTORY - 1);
            known.history.push_front(known.noted);
            (known.noted, known.noted_ns) = (at, now_ns);
        }
        known.track.clone_from(track);
        known.updated_ns = now_ns;
        known.silent = false;
        known.encode(number);
    }

    /// Hands the state of a track to every browser that is seen: for each of them a redraw begins,
    /// child of `parent`.
    pub fn redraw(&mut self, number: u16, parent: &Correlator, now_ns: u64) {
        let Some(known) = self.tracks.get(&number) else { return };
        for desk in &self.desks {
            desk.outbox().put(number, Arc::clone(&known.record), Some(parent), now_ns);
        }
    }

    /// Wakes the senders: call when all received updates are processed.
    pub fn hand_over(&self) {
        for desk in &self.desks {
            desk.changed.notify_one();
        }
    }

    /// A track has ended.
    pub fn remove(&mut self, number: u16, now_ns: u64) {
        if self.tracks.remove(&number).is_none() {
            return;
        }
        self.alerting.forget(number);
        let record: Arc<[u8]> = wire::gone(number).into();
        for desk in &self.desks {
            desk.outbox().put(number, Arc::clone(&record), None, now_ns);
        }
    }

    /// Once a second: what fell silent, conflicts, and how the process is.
    pub fn tick(&mut self, health: Health, now_ns: u64) {
        self.sweep(now_ns);
        let heard = self.tracks.values().filter(|known| !known.silent);
        let heard = heard.map(|known| {
            let age_s = now_ns.saturating_sub(known.updated_ns) as f64 / 1e9;
            (&known.track, age_s)
        });
        let alerted = self.alerting.cycle(heard);
        self.words = self.status(health, &alerted).into();
        for desk in &self.desks {
            *lock(&desk.words) = Some(Arc::clone(&self.words));
            desk.changed.notify_one();
        }
    }

    fn sweep(&mut self, now_ns: u64) {
        let silent_ns = |known: &Known| now_ns.saturating_sub(known.updated_ns);
        let gone: Vec<u16> =
            self.tracks.iter().filter(|(_, k)| silent_ns(k) > GONE_NS).map(|(n, _)| *n).collect();
        for number in gone {
            self.remove(number, now_ns);
        }
        for (&number, known) in &mut self.tracks {
            if !known.silent && silent_ns(known) > SILENT_NS {
                known.silent = true;
                known.encode(number);
                for desk in &self.desks {
                    desk.outbox().put(number, Arc::clone(&known.record), None, now_ns);
                }
            }
        }
    }

    fn status(&self, health: Health, alerted: &Alerted) -> String {
        let Alerted { conflicts, areas } = alerted;
        let with = |is: fn(&Known) -> bool| self.tracks.values().filter(|known| is(known)).count();
        let counts = self.counts();
        serde_json::json!({
            "kind": "status",
            "version": 2,
            "utc_ms": health.utc_ns / 1_000_000,
            "connected": health.connected,
            "mode": match health.mode { UpdateMode::Standard => "standard", UpdateMode::Averaging => "averaging" },
            "updates_per_s": health.updates,
            "picture": health.picture,
            "malformed": health.malformed,
            "tracker": health.tracker,
            "tracks": self.tracks.len(),
            "correlated": with(|known| known.track.flight_plan.is_some()),
            "coasting": with(|known| known.silent || known.track.status.is_some_and(|s| s.coasting)),
            "browsers": self.desks.len(),
            "round_trip_us": counts.round_trip_us,
            "presented_later_us": counts.presented_later_us,
            "conflicts": &conflicts[..conflicts.len().min(LISTED_MAX)],
            "conflict_count": conflicts.len(),
            "in_violation": alerted.violating(),
            "in_conflict": alerted.predicted(),
            "conflicts_begun": self.alerting.begun(),
            "areas": &areas[..areas.len().min(LISTED_MAX)],
            "area_count": areas.len(),
        })
        .to_string()
    }

    /// Admits one more browser, which gets all tracks when it reports that it is visible; `None`
    /// when there are too many.
    pub(super) fn admit(&mut self) -> Option<Arc<Desk>> {
        if self.desks.len() >= BROWSERS_MAX {
            self.counts.refused += 1;
            return None;
        }
        self.counts.connected += 1;
        let desk = Arc::new(Desk::default());
        *lock(&desk.words) = Some(Arc::clone(&self.words));
        desk.changed.notify_one();
        self.desks.push(Arc::clone(&desk));
        Some(desk)
    }

    /// A browser's page is seen: it gets all tracks.
    pub(super) fn show(&self, desk: &Desk, now_ns: u64) {
        let records = self.tracks.iter().map(|(&n, known)| (n, Arc::clone(&known.record)));
        desk.outbox().show(records, now_ns);
        desk.changed.notify_one();
    }

    /// A browser has left.
    pub(super) fn leave(&mut self, desk: &Arc<Desk>) {
        self.desks.retain(|other| !Arc::ptr_eq(other, desk));
        let mut outbox = desk.outbox();
        self.counts.add(&outbox);
        outbox.hide();
    }
}

impl Known {
    fn encode(&mut self, number: u16) {
        let history = self.history.make_contiguous();
        self.record = wire::state(number, &self.track, self.silent, history).into();
    }
}

fn micros(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asterix::cat062::{Position, Track, Velocity};
    use crate::display::PictureState;
    use serde_json::Value;

    static ROOT: chronoscope_record::Class = chronoscope_record::class!("air_test");
    const SECOND: u64 = 1_000_000_000;
    const HEALTH: Health = Health {
        utc_ns: 0,
        connected: true,
        mode: UpdateMode::Standard,
        updates: 3,
        malformed: 0,
        picture: PictureAge {
            state: PictureState::Current,
            age_ms: Some(0),
            limit_ms: 3000,
            period_ms: None,
            other_clock: false,
        },
        tracker: 0,
    };

    fn air() -> Air {
        Air::new(Wgs84::new(51.0, 10.0, 0.0))
    }

    fn track(number: u16, lon_deg: f64, east_m_s: f64) -> Track {
        Track {
            track_number: Some(number),
            position: Some(Position { lat_deg: 51.0, lon_deg }),
            velocity: Some(Velocity { x_m_s: east_m_s, y_m_s: 0.0 }),
            measured_flight_level: Some(350.0),
            ..Track::default()
        }
    }

    fn said(air: &mut Air, now_ns: u64) -> Value {
        air.tick(HEALTH, now_ns);
        serde_json::from_str(&air.words).unwrap()
    }

    #[test]
    fn two_that_meet_are_said_to_and_where_they_are_now_counts() {
        let mut air = air();
        // 0.5 degrees of longitude at 51° N are 35.07 km; closing at 463 m/s, 9260 m to go to.
        air.recalculate(&track(1, 9.75, 231.5), SECOND);
        air.recalculate(&track(2, 10.25, -231.5), SECOND);
        // It is confirmed by three cycles, being less than a minute away.
        assert_eq!(said(&mut air, SECOND)["conflict_count"], 0);
        assert_eq!(said(&mut air, SECOND)["conflict_count"], 0);
        let status = said(&mut air, SECOND);
        let first = status["conflicts"][0]["in_s"].as_f64().unwrap();
        assert!((first - (35_070.0 - 9260.0) / 463.0).abs() < 0.5, "{status}");
        assert_eq!(status["in_conflict"], serde_json::json!([1, 2]));
        assert_eq!(status["in_violation"], serde_json::json!([]));
        // Ten seconds later without an update it is ten seconds nearer.
        let later = said(&mut air, 11 * SECOND)["conflicts"][0]["in_s"].as_f64().unwrap();
        assert!((first - later - 10.0).abs() < 1e-6);
        // Who is silent is not reckoned with any more: the alert ends after five cycles.
        for _ in 0..4 {
            assert_eq!(said(&mut air, 40 * SECOND)["conflict_count"], 1);
        }
        assert_eq!(said(&mut air, 40 * SECOND)["conflict_count"], 0);
    }

    #[test]
    fn what_is_too_close_now_is_no_prediction_and_ends_with_its_track() {
        let mut air = air();
        air.recalculate(&track(1, 10.0, 100.0), SECOND);
        air.recalculate(&track(2, 10.04, 100.0), SECOND);
        said(&mut air, SECOND);
        let status = said(&mut air, SECOND);
        assert_eq!(status["in_violation"], serde_json::json!([1, 2]));
        assert_eq!(status["in_conflict"], serde_json::json!([]));
        assert_eq!(status["conflicts"][0]["in_s"], 0.0);
        air.remove(2, SECOND);
        assert_eq!(said(&mut air, SECOND)["conflict_count"], 0);
    }

    #[test]
    fn alerts_hold_anywhere_on_earth_and_areas_alert() {
        let map = crate::display::map_file::read(
            r#"{"type":"Feature","properties":{"layer":"proximity","name":"R5"},"geometry":
            {"type":"Polygon","coordinates":[[[150,-35],[152,-35],[152,-33],[150,-33],[150,-35]]]}}"#,
        )
        .unwrap();
        let mut air = air().with_map(&map).unwrap();
        let at = |number, lon_deg| Track {
            position: Some(Position { lat_deg: -33.5, lon_deg }),
            ..track(number, lon_deg, 0.0)
        };
        // 5.2 NM apart at 33.5° S: in a plane around Germany they would be many times that.
        air.recalculate(&at(1, 151.0), SECOND);
        air.recalculate(&at(2, 151.0 + 5.2 / 60.0 / 33.5_f64.to_radians().cos()), SECOND);
        air.recalculate(&at(3, 151.0 + 9.9 / 60.0 / 33.5_f64.to_radians().cos()), SECOND);
        said(&mut air, SECOND);
        let status = said(&mut air, SECOND);
        assert_eq!(status["in_violation"], serde_json::json!([2, 3]), "{status}");
        assert_eq!(status["area_count"], 3);
        assert_eq!(status["areas"][0]["area"], "R5");
        assert_eq!(status["areas"][0]["kind"], "proximity");
    }

    #[test]
    fn silence_is_shown_and_then_the_track_is_gone() {
        let mut air = air();
        let desk = air.admit().unwrap();
        air.show(&desk, 0);
        air.recalculate(&track(7, 10.0, 0.0), 0);
        air.redraw(7, &ROOT.start().correlator(), 0);
        desk.outbox().take(0, 0).unwrap();
        assert_eq!(said(&mut air, SILENT_NS + 1)["coasting"], 1);
        let frame = desk.outbox().take(0, 0).unwrap();
        assert_ne!(u16::from_le_bytes([frame[23], frame[24]]) & wire::flags::SILENT, 0);
        assert_eq!(said(&mut air, GONE_NS + 1)["tracks"], 0);
        let frame = desk.outbox().take(0, 0).unwrap();
        assert_eq!(frame[wire::HEAD_OCTETS..], wire::gone(7)[..]);
    }

    #[test]
    fn the_history_follows_at_its_interval_and_is_bounded() {
        let mut air = air();
        for second in 0..200_u64 {
            air.recalculate(&track(7, 9.0 + 0.003 * second as f64, 200.0), second * SECOND);
        }
        let known = &air.tracks[&7];
        assert_eq!(known.history.len(), HISTORY);
        assert!(known.history[0].1 > known.history[9].1, "the latest first");
        // Standing still leaves no dots.
        for second in 0..100 {
            air.recalculate(&track(8, 10.0, 0.0), second * SECOND);
        }
        assert!(air.tracks[&8].history.is_empty());
    }

    #[test]
    fn a_seventeenth_browser_is_turned_away() {
        let mut air = air();
        let desks: Vec<_> = (0..BROWSERS_MAX).map(|_| air.admit().unwrap()).collect();
        assert!(air.admit().is_none());
        air.leave(&desks[3]);
        assert!(air.admit().is_some());
        let counts = air.counts();
        assert_eq!((counts.connected, counts.refused), (17, 1));
    }
}
