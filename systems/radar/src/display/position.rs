//! The working position without its socket: messages in, picture out, transactions measured.

use super::browser::Health;
use super::classes::{RECALCULATE, UPDATE_TRACK, UPDATE_TRACK_MPA};
use super::freshness::Freshness;
use super::load::{FLUSH_NS, LoadControl, Policy, UpdateMode};
use super::picture::Picture;
use super::surface::Surface;
use crate::asterix::{AsterixError, Record, cat062, decode_block};
use crate::link::{NewChains, begin_under};
use chronoscope_clock as clock;
use chronoscope_record::{Correlator, Status as Stop};
use tiny_skia::{IntSize, Pixmap};

/// Updates collected at most; more are drawn before their time.
const PENDING_MAX: usize = 20_000;
/// Updates drawn one by one to measure what they cost.
const PROBE_UPDATES: usize = 64;

/// Counts of the working position. All counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct PositionCounts {
    /// Updates drawn at once.
    pub standard: u64,
    /// Updates collected and drawn together.
    pub averaged: u64,
    /// Ends of tracks.
    pub ends: u64,
    /// Messages without a correlator: their chains begin here.
    pub without_correlator: u64,
    /// Messages whose Special Purpose field is not a correlator we know.
    pub bad_correlator: u64,
    /// Blocks or records that are not category 062 as specified.
    pub malformed: u64,
    /// Records of other categories, and tracks without a number.
    pub other: u64,
    /// The tracker in operation, of a pair: its unit number, 0 where there is one alone.
    pub tracker_in_operation: u8,
}

/// An update that waits for its drawing, and the transaction that collected it.
struct Pending {
    track: cat062::Track,
    /// Time at which the track was as reported, monotonic, ns.
    valid_ns: u64,
    parent: Correlator,
}

impl Pending {
    fn number(&self) -> u16 {
        self.track.track_number.unwrap_or_default()
    }
}

/// A working position.
pub struct WorkingPosition {
    surface: Surface,
    load: LoadControl,
    freshness: Freshness,
    pending: Vec<Pending>,
    flush_ns: u64,
    counts: PositionCounts,
    /// Updates until the last status line, for the rate.
    shown: u64,
}

impl std::fmt::Debug for WorkingPosition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkingPosition")
            .field("targets", &self.target_count())
            .field("mode", &self.load.mode())
            .field("pending", &self.pending.len())
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

impl WorkingPosition {
    /// A position that shows targets on `surface`. `now_ns` is monotonic, as everywhere here.
    pub fn new(surface: impl Into<Surface>, policy: Policy, now_ns: u64) -> Self {
        Self {
            surface: surface.into(),
            load: LoadControl::new(policy, now_ns),
            freshness: Freshness::default(),
            pending: Vec::new(),
            flush_ns: now_ns + FLUSH_NS,
            counts: PositionCounts::default(),
            shown: 0,
        }
    }

    /// The counts so far.
    pub fn counts(&self) -> PositionCounts {
        self.counts
    }

    /// The picture, if it is drawn here.
    pub fn picture(&self) -> Option<&Picture> {
        match &self.surface {
            Surface::Picture(picture) => Some(picture),
            Surface::Browsers(_) => None,
        }
    }

    /// Number of targets shown.
    pub fn target_count(&self) -> usize {
        self.surface.target_count()
    }

    /// Ends the processing of received updates: call it before waiting again.
    pub fn hand_over(&self) {
        self.surface.hand_over();
    }

    /// Mode and measure of load.
    pub fn load(&self) -> &LoadControl {
        &self.load
    }

    /// Tells for how long the process was at work and had the processor, and for how long its
    /// input was not drained.
    pub fn worked(&mut self, busy_ns: u64, cpu_ns: u64, backlog_ns: u64) {
        self.load.worked(busy_ns, cpu_ns, backlog_ns);
    }

    /// The input has not been drained for `backlog_ns`: returns whether updates are collected from now on
    /// because of that. Those that are collected first have waited already, so they are drawn soon.
    pub fn behind(&mut self, backlog_ns: u64, now_ns: u64) -> bool {
        let begins = self.load.behind(backlog_ns, now_ns);
        if begins {
            self.flush_ns = now_ns + self.load.first_flush_ns();
        }
        begins
    }

    /// Time when [`WorkingPosition::draw_pending`] is due, if updates wait.
    pub fn deadline_ns(&self) -> Option<u64> {
        (!self.pending.is_empty()).then_some(self.flush_ns)
    }

    /// Takes in one block.
    pub fn block(&mut self, octets: &[u8], now_ns: u64) {
        for record in decode_block(octets) {
            match record {
                Ok(Record::Track(track)) if track.track_number.is_some() => {
                    self.track(track, now_ns);
                }
                Ok(Record::SystemStatus(message)) => {
                    self.freshness.status(now_ns);
                    self.tracker(message.status.map_or(0, |status| status.selected));
                }
                Ok(_) => self.counts.other += 1,
                Err(e) => self.count_malformed(&e),
            }
        }
    }

    /// Draws the collected updates, if they are due.
    pub fn draw_pending(&mut self, now_ns: u64) {
        // Also while nothing waits: what comes next must not wait longer than to the next drawing.
        if now_ns >= self.flush_ns || self.pending.len() >= PENDING_MAX {
            self.flush_ns = now_ns + FLUSH_NS;
            if !self.pending.is_empty() {
                self.flush(now_ns);
            }
        }
    }

    /// Once a second: what fell silent, the status line, the mode. Returns the mode if it has
    /// changed.
    pub fn tick(&mut self, utc_ns: i64, now_ns: u64, connected: bool) -> Option<UpdateMode> {
        let changed = self.load.evaluate(now_ns);
        match changed {
            Some(UpdateMode::Standard) => self.flush(now_ns),
            Some(UpdateMode::Averaging) => self.flush_ns = now_ns + self.load.first_flush_ns(),
            None => {}
        }
        self.freshness.clock(utc_ns, now_ns);
        let updates = self.counts.standard + self.counts.averaged;
        let health = Health {
            utc_ns,
            connected,
            mode: self.load.mode(),
            updates: updates - self.shown,
            malformed: self.counts.malformed,
            picture: self.freshness.picture(now_ns),
            // Who was in operation when the tracker was last heard is not any more.
            tracker: if self.freshness.has_status(now_ns) {
                self.counts.tracker_in_operation
            } else {
                0
            },
        };
        self.shown = updates;
        self.surface.tick(health, now_ns);
        changed
    }

    /// The picture as a PNG file; `None` if there is none here.
    pub fn png(&self) -> Option<Vec<u8>> {
        let picture = self.picture()?;
        let view = picture.view();
        let size = IntSize::from_wh(view.width().into(), view.height().into())?;
        Pixmap::from_vec(picture.frame().octets().to_vec(), size)?.encode_png().ok()
    }

    fn track(&mut self, track: cat062::Track, now_ns: u64) {
        if track.status.is_some_and(|s| s.ends) {
            self.counts.ends += 1;
            // What was collected before the end must not bring the target back.
            self.pending.retain(|p| p.track.track_number != track.track_number);
            self.freshness.ended(track.track_number.unwrap_or_default(), now_ns);
            self.surface.remove(track.track_number.unwrap_or_default(), now_ns);
            return;
        }
        self.load.arrived(1);
        let number = track.track_number.unwrap_or_default();
        let valid_ns = self.freshness.heard(number, track.time_of_day, now_ns);
        let new_chains = NewChains {
            without_correlator: &mut self.counts.without_correlator,
            bad_correlator: &mut self.counts.bad_correlator,
        };
        let update = begin_under(&UPDATE_TRACK, &track.special_purpose, new_chains);
        match self.load.mode() {
            UpdateMode::Standard => {
                self.counts.standard += 1;
                let recalculate = RECALCULATE.begin();
                self.surface.recalculate(&track, valid_ns);
                recalculate.stop(Stop::Good);
                // A browser shows it when this transaction is long over.
                let elsewhere = self.picture().is_none();
                let parent = update.correlator().with_flags(elsewhere, false);
                self.surface.redraw(number, &parent, now_ns);
            }
            UpdateMode::Averaging => {
                self.counts.averaged += 1;
                let collect = UPDATE_TRACK_MPA.begin();
                // The drawing comes when this transaction is long over.
                let parent = collect.correlator().with_flags(true, false);
                self.pending.push(Pending { track, valid_ns, parent });
                collect.stop(Stop::Good);
            }
        }
        update.stop(Stop::Good);
    }

    /// Draws everything collected. Each update has its own `TargetView_recalculate` and
    /// `TargetView_redraw` under the `TrackStore_updateTrackMPA` that collected it.
    fn flush(&mut self, now_ns: u64) {
        let mut pending = std::mem::take(&mut self.pending);
        let single =
            if self.load.wants_probe(now_ns) { PROBE_UPDATES.min(pending.len()) } else { 0 };
        if single > 0 {
            let begin_ns = clock::monotonic_ns();
            for update in &pending[..single] {
                self.recalculate(update);
                self.surface.redraw(update.number(), &update.parent, now_ns);
            }
            self.load.probed(single as u64, clock::monotonic_ns() - begin_ns);
        }
        let rest = &pending[single..];
        for update in rest {
            self.recalculate(update);
        }
        let moved = rest.iter().map(|update| (update.number(), &update.parent));
        self.surface.redraw_all(moved, now_ns);
        pending.clear();
        self.pending = pending;
    }

    fn recalculate(&mut self, update: &Pending) {
        let recalculate = RECALCULATE.begin_with(&update.parent);
        self.surface.recalculate(&update.track, update.valid_ns);
        recalculate.stop(Stop::Good);
    }

    /// Takes note of which tracker of a pair is in operation (I065/040 PSS), and says another one.
    fn tracker(&mut self, selected: u8) {
        if selected != 0 && selected != self.counts.tracker_in_operation {
            say!("tracker unit {selected} is in operation");
            self.counts.tracker_in_operation = selected;
        }
    }

    fn count_malformed(&mut self, why: &AsterixError) {
        if self.counts.malformed == 0 {
            say!("malformed: {why} (further ones are counted)");
        }
        self.counts.malformed += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asterix::cat062::{Position, Status as TrackStatus, Track};
    use crate::asterix::encode_block;
    use crate::display::View;
    use crate::display::map::{MapLayers, draw};
    use crate::geodesy::Wgs84;

    const MS: u64 = 1_000_000;

    fn position(policy: Policy) -> WorkingPosition {
        let view = View::new(400, 300, Wgs84::new(51.0, 10.0, 0.0), 100.0);
        let map = draw(&view, &MapLayers::default());
        WorkingPosition::new(Picture::new(view, map), policy, 0)
    }

    fn message(number: u16, lat_deg: f64, ends: bool) -> Vec<u8> {
        let track = Track {
            track_number: Some(number),
            position: Some(Position { lat_deg, lon_deg: 10.0 }),
            status: Some(TrackStatus { ends, ..TrackStatus::default() }),
            ..Track::default()
        };
        let mut octets = Vec::new();
        encode_block(&[track], &mut octets).unwrap();
        octets
    }

    #[test]
    fn standard_mode_draws_at_once_and_averaging_at_its_interval() {
        let mut at_once = position(Policy::Never);
        let empty = at_once.picture().unwrap().frame().clone();
        at_once.block(&message(1, 51.0, false), 10 * MS);
        assert!(*at_once.picture().unwrap().frame() != empty);

        let mut collecting = position(Policy::Always);
        collecting.block(&message(1, 51.0, false), 10 * MS);
        collecting.block(&message(1, 51.1, false), 20 * MS);
        collecting.draw_pending(499 * MS);
        assert!(*collecting.picture().unwrap().frame() == empty);
        assert_eq!(collecting.deadline_ns(), Some(500 * MS));
        collecting.draw_pending(500 * MS);
        assert_eq!(collecting.target_count(), 1);
        assert!(
            *collecting.picture().unwrap().frame() == collecting.picture().unwrap().drawn_anew()
        );
        assert!(*collecting.picture().unwrap().frame() != empty);
        assert_eq!(collecting.counts().averaged, 2);
    }

    #[test]
    fn a_track_that_ended_while_collected_does_not_come_back() {
        let mut collecting = position(Policy::Always);
        let empty = collecting.picture().unwrap().frame().clone();
        collecting.block(&message(1, 51.0, false), 10 * MS);
        collecting.block(&message(1, 51.0, true), 20 * MS);
        collecting.draw_pending(600 * MS);
        assert!(*collecting.picture().unwrap().frame() == empty);
    }

    #[test]
    fn garbage_is_counted() {
        let mut at_once = position(Policy::Never);
        at_once.block(&[62, 0, 5, 0xFF, 0xFF], 0);
        at_once.block(&[48, 0, 3], 0);
        let counts = at_once.counts();
        assert_eq!((counts.malformed, counts.standard), (1, 0));
    }
}
