//! Queue of states for one browser, and its frames that are not acknowledged.
//!
//! Only the newest state of each track waits: a browser that falls behind gets fewer states and
//! never older ones, and the queue is bounded by the number of tracks. A few frames are in flight
//! at a time; later states wait for the acknowledgement of one.
//!
//! Each update's `TargetView_redraw` begins when it enters the queue and ends when the browser
//! acknowledges a frame with this state, or a newer one, of its track. A state that the browser
//! never shows (it leaves, is cut, or is hidden) ends ABORTED.

use super::super::classes::REDRAW;
use super::wire;
use chronoscope_record::{Correlator, Started, Status};
use chronoscope_statistics::{Quantile, nearest_rank};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Frames that may be on the way: half a second of a screen's.
const FRAMES_MAX: usize = 32;
/// Redraws of one browser that are measured at a time: all browsers' together are below what the
/// recorder holds.
const REDRAWS_MAX: usize = 4000;
/// Number of measurements over which the median is taken.
const MEASURED: usize = 15;

/// Counts of states and frames sent to browsers. All counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct OutboxCounts {
    /// Frames sent.
    pub frames: u64,
    /// Frames acknowledged.
    pub acknowledged: u64,
    /// Updates put here, one count for each browser.
    pub updates: u64,
    /// Updates whose state a newer one replaced before it was sent.
    pub superseded: u64,
    /// Updates whose redraw was not measured, because too many were.
    pub unmeasured: u64,
    /// Updates that were shown, each measured from here to the acknowledgement.
    pub shown: u64,
}

impl OutboxCounts {
    /// Adds those of another browser.
    pub fn add(&mut self, other: Self) {
        self.frames += other.frames;
        self.acknowledged += other.acknowledged;
        self.updates += other.updates;
        self.superseded += other.superseded;
        self.unmeasured += other.unmeasured;
        self.shown += other.shown;
    }
}

/// A browser acknowledged a frame that was never sent to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("frame {frame} was acknowledged, but the last one sent is {last}")]
pub struct NeverSent {
    /// Number of the acknowledged frame.
    pub frame: u32,
    /// The last frame.
    pub last: u32,
}

/// The last measurements of a duration, for their median.
#[derive(Debug, Default)]
struct Durations(VecDeque<u64>);

impl Durations {
    fn note(&mut self, ns: u64) {
        self.0.truncate(MEASURED - 1);
        self.0.push_front(ns);
    }

    fn middle_ns(&self) -> Option<u64> {
        let mut sorted: Vec<_> = self.0.iter().copied().collect();
        sorted.sort_unstable();
        nearest_rank(&sorted, Quantile::P50)
    }
}

/// A frame on its way.
struct Flight {
    frame: u32,
    sent_ns: u64,
    redraws: Vec<Started>,
}

/// Queue of one browser. Times are monotonic, ns.
pub struct Outbox {
    waiting: BTreeMap<u16, Arc<[u8]>>,
    /// Redraw transactions of the waiting states.
    redraws: Vec<Started>,
    /// Begin of the present wait.
    waiting_ns: Option<u64>,
    flights: VecDeque<Flight>,
    frame: u32,
    /// The next frame begins with nothing.
    anew: bool,
    visible: bool,
    round_trips: Durations,
    presented_later: Durations,
    counts: OutboxCounts,
}

impl std::fmt::Debug for Outbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbox")
            .field("waiting", &self.waiting.len())
            .field("flights", &self.flights.len())
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

impl Default for Outbox {
    /// The queue of a browser that has no tracks yet, and is hidden until it reports otherwise.
    fn default() -> Self {
        Self {
            waiting: BTreeMap::new(),
            redraws: Vec::new(),
            waiting_ns: None,
            flights: VecDeque::new(),
            frame: 0,
            anew: true,
            visible: false,
            round_trips: Durations::default(),
            presented_later: Durations::default(),
            counts: OutboxCounts::default(),
        }
    }
}

impl Outbox {
    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> OutboxCounts {
        self.counts
    }

    /// Whether somebody can see the page.
    #[must_use]
    pub fn is_visible(&self) -> bool {
        self.visible
    }

    /// The page is seen from now on: `records` are all tracks now.
    pub fn show(&mut self, records: impl Iterator<Item = (u16, Arc<[u8]>)>, now_ns: u64) {
        self.forget();
        self.visible = true;
        self.waiting = records.collect();
        self.waiting_ns = Some(now_ns);
    }

    /// Marks the page as hidden: nothing is sent until [`Outbox::show`].
    pub fn hide(&mut self) {
        self.forget();
        self.visible = false;
    }

    fn forget(&mut self) {
        self.waiting.clear();
        self.waiting_ns = None;
        self.redraws.clear();
        self.flights.clear();
        self.anew = true;
    }

    /// Puts a state or the end of a track here. `parent`: of the redraw, where one is measured.
    pub fn put(
        &mut self,
        number: u16,
        record: Arc<[u8]>,
        parent: Option<&Correlator>,
        now_ns: u64,
    ) {
        if !self.visible {
            return;
        }
        let replaced = self.waiting.insert(number, record).is_some();
        self.waiting_ns.get_or_insert(now_ns);
        let Some(parent) = parent else { return };
        self.counts.updates += 1;
        self.counts.superseded += u64::from(replaced);
        let measured =
            self.redraws.len() + self.flights.iter().map(|f| f.redraws.len()).sum::<usize>();
        if measured < REDRAWS_MAX {
            self.redraws.push(REDRAW.start_with(parent));
        } else {
            self.counts.unmeasured += 1;
        }
    }

    /// The next frame, if one may be sent now and there is anything in it.
    pub fn take(&mut self, now_ns: u64, utc_ns: i64) -> Option<Vec<u8>> {
        let due = !self.waiting.is_empty() || (self.anew && self.visible);
        if !due || self.flights.len() >= FRAMES_MAX {
            return None;
        }
        self.frame = self.frame.wrapping_add(1).max(1);
        let mut octets = wire::head(self.frame, self.waiting.len(), self.anew, utc_ns);
        for record in self.waiting.values() {
            octets.extend_from_slice(record);
        }
        self.waiting.clear();
        self.waiting_ns = None;
        self.anew = false;
        let redraws = std::mem::take(&mut self.redraws);
        self.flights.push_back(Flight { frame: self.frame, sent_ns: now_ns, redraws });
        self.counts.frames += 1;
        Some(octets)
    }

    /// The browser has shown `frame` and, with it, all before.
    ///
    /// # Errors
    /// [`NeverSent`]; nothing has changed then.
    pub fn acknowledge(&mut self, frame: u32) -> Result<(), NeverSent> {
        if frame == 0 || frame > self.frame {
            return Err(NeverSent { frame, last: self.frame });
        }
        let way_back_us = self.round_trip_ns().map(|ns| (ns / 2) as f64 / 1e3);
        let later_us = self.presented_later_ns().map(|ns| ns as f64 / 1e3);
        while let Some(mut flight) = self.flights.pop_front_if(|flight| flight.frame <= frame) {
            self.counts.acknowledged += 1;
            self.counts.shown += flight.redraws.len() as u64;
            for mut redraw in flight.redraws.drain(..) {
                if let Some(way_back_us) = way_back_us {
                    redraw.metric("way_back_us", way_back_us);
                }
                if let Some(later_us) = later_us {
                    redraw.metric("presented_later_us", later_us);
                }
                redraw.stop(Status::Good);
            }
        }
        Ok(())
    }

    /// A question to the page and its answer took so long, there and back.
    pub fn answered(&mut self, round_trip_ns: u64) {
        self.round_trips.note(round_trip_ns);
    }

    /// The browser presented a frame so long after the page had acknowledged it.
    pub fn presented_later(&mut self, later_ns: u64) {
        self.presented_later.note(later_ns);
    }

    /// The middle one of the last round trips. The way back of an acknowledgement took between
    /// nothing and all of it.
    #[must_use]
    pub fn round_trip_ns(&self) -> Option<u64> {
        self.round_trips.middle_ns()
    }

    /// By how much the browser presents frames after the page has acknowledged them, the middle
    /// one of the last measurements; `None` of a browser that does not tell.
    #[must_use]
    pub fn presented_later_ns(&self) -> Option<u64> {
        self.presented_later.middle_ns()
    }

    /// For how long the oldest frame on its way has not been acknowledged.
    #[must_use]
    pub fn unacknowledged_ns(&self, now_ns: u64) -> u64 {
        self.flights.front().map_or(0, |flight| now_ns.saturating_sub(flight.sent_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(number: u16, content: u8) -> Arc<[u8]> {
        let mut octets = wire::gone(number);
        octets.push(content);
        octets.into()
    }

    fn parent() -> Correlator {
        static ROOT: chronoscope_record::Class = chronoscope_record::class!("outbox_test");
        ROOT.start().correlator()
    }

    fn visible() -> Outbox {
        let mut outbox = Outbox::default();
        outbox.show(std::iter::empty(), 0);
        let first = outbox.take(0, 0).unwrap();
        assert_eq!(
            (first.len(), first[2]),
            (wire::HEAD_OCTETS, 1),
            "a new page begins with nothing"
        );
        outbox.acknowledge(1).unwrap();
        outbox
    }

    #[test]
    fn the_newest_state_of_each_track_is_sent() {
        let (mut outbox, parent) = (visible(), parent());
        outbox.put(7, record(7, 1), Some(&parent), 0);
        outbox.put(8, record(8, 1), Some(&parent), 0);
        outbox.put(7, record(7, 2), Some(&parent), 0);
        let frame = outbox.take(1, 0).unwrap();
        assert_eq!(frame[wire::HEAD_OCTETS..], [record(7, 2), record(8, 1)].concat()[..]);
        assert_eq!(frame[2], 0);
        assert_eq!(outbox.take(1, 0), None);
        let counts = outbox.counts();
        assert_eq!((counts.updates, counts.superseded), (3, 1));
        // All three are over when the frame is on the screen.
        assert_eq!(counts.shown, 0);
        outbox.acknowledge(2).unwrap();
        assert_eq!(outbox.counts().shown, 3);
    }

    #[test]
    fn a_browser_that_takes_nothing_costs_a_bounded_amount() {
        let (mut outbox, parent) = (visible(), parent());
        for round in 0..100_u64 {
            for number in 0..100 {
                outbox.put(number, record(number, 0), Some(&parent), round);
            }
            outbox.take(round, 0);
        }
        let counts = outbox.counts();
        assert_eq!(counts.frames, 1 + FRAMES_MAX as u64);
        assert_eq!(counts.unmeasured, 100 * 100 - REDRAWS_MAX as u64);
        assert_eq!(outbox.waiting.len(), 100);
        assert_eq!(outbox.unacknowledged_ns(1000), 1000);
        // One acknowledgement for all, and what waited goes.
        outbox.acknowledge(33).unwrap();
        assert_eq!(outbox.unacknowledged_ns(1000), 0);
        assert_eq!(outbox.counts().shown, 100 * FRAMES_MAX as u64);
        assert!(outbox.take(1000, 0).is_some());
    }

    #[test]
    fn what_was_never_sent_cannot_have_been_shown() {
        let mut outbox = visible();
        for frame in [0, 2, u32::MAX] {
            assert_eq!(outbox.acknowledge(frame), Err(NeverSent { frame, last: 1 }));
        }
        // Twice is once.
        assert_eq!(outbox.acknowledge(1), Ok(()));
        assert_eq!(outbox.counts().acknowledged, 1);
    }

    #[test]
    fn a_hidden_page_gets_nothing_and_then_everything() {
        let (mut outbox, parent) = (visible(), parent());
        outbox.put(1, record(1, 1), Some(&parent), 0);
        outbox.hide();
        outbox.put(2, record(2, 1), Some(&parent), 0);
        assert_eq!(outbox.take(1, 0), None);
        assert_eq!(outbox.unacknowledged_ns(u64::MAX), 0);
        outbox.show([(3, record(3, 1))].into_iter(), 2);
        let frame = outbox.take(2, 0).unwrap();
        assert_eq!((frame[2], &frame[wire::HEAD_OCTETS..]), (1, &record(3, 1)[..]));
    }

    #[test]
    fn the_middle_round_trip_counts() {
        let mut outbox = visible();
        assert_eq!(outbox.round_trip_ns(), None);
        for ns in [900, 100, 200, 300, 50_000] {
            outbox.answered(ns);
        }
        assert_eq!(outbox.round_trip_ns(), Some(300));
        (0..MEASURED).for_each(|_| outbox.answered(7));
        assert_eq!(outbox.round_trip_ns(), Some(7));
        assert_eq!(outbox.presented_later_ns(), None);
        [5, 1, 3].into_iter().for_each(|ns| outbox.presented_later(ns));
        assert_eq!(outbox.presented_later_ns(), Some(3));
    }
}
