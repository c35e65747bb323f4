//! Whether the picture is current: how old its newest track state is, by the time of track.
//!
//! A track state is as old as its time of track (I062/070) says, not as the time since it arrived: a
//! message that was held up on its way shows where an aircraft was. The newest state of all tracks
//! tells the age of the picture. It is stale when that age exceeds twice the time in which a track is
//! usually updated, or twice the second longest pause of the last minute where updates come less regularly
//! than that (one hiccup is no habit); not before [`LIMIT_NS_MIN`], which sectors of an antenna and a busy
//! machine take.
//!
//! The tracker says twice a second that it is there (category 065). Where it has, and neither that nor an
//! update came for [`SILENT_NS`], the picture is stale, too; so is one without any track of which no tracker
//! says that there is none.
//!
//! A recording that is played back has stamps of another day. Stamps more than [`OTHER_CLOCK_NS`]
//! from the receiver's clock are judged against the least delay seen so far, and the picture is
//! marked as one of another clock.
//!
//! Not here: a single track without updates, which the air situation marks by its own limit.

use crate::asterix::TimeOfDay;
use chronoscope_statistics::{Quantile, nearest_rank};
use std::collections::{BTreeMap, VecDeque};

/// A picture younger than this is current, ns.
const LIMIT_NS_MIN: u64 = 3_000_000_000;
/// The limit until the tracks' period is known, ns.
const LIMIT_NS_FIRST: u64 = 10_000_000_000;
/// The largest limit, ns: a slow radar's two turns and a half.
const LIMIT_NS_MAX: u64 = 30_000_000_000;
/// Stamps that differ from the clock by more than this are of another clock, ns.
const OTHER_CLOCK_NS: i64 = 300_000_000_000;
/// Intervals between updates of one track that are kept for their median.
const INTERVALS: usize = 255;
/// Longest pauses are kept for each of so many spans …
const SPANS: usize = 6;
/// … of this length, ns: a minute in all.
const SPAN_NS: u64 = 10_000_000_000;
/// A tracker that says nothing for so long is lost, ns: twice the interval in which the message server passes
/// its status on.
const SILENT_NS: u64 = 3_000_000_000;
/// A track not updated for this long is forgotten while others are updated, ns.
const FORGOTTEN_NS: u64 = 90_000_000_000;

/// State of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PictureState {
    /// There are no tracks, and the tracker says that it is there.
    Empty,
    /// The newest state is as old as usual.
    Current,
    /// Updates are missing: what is shown is where aircraft were.
    Stale,
}

/// Age of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PictureAge {
    /// Whether it is current.
    pub state: PictureState,
    /// Age of the newest track state, ms; none before the first.
    pub age_ms: Option<u64>,
    /// Above this age the picture is stale, ms.
    pub limit_ms: u64,
    /// Middle time between two updates of a track, ms, once it is known.
    pub period_ms: Option<u64>,
    /// Whether the stamps are of another clock than this host's: a recording, or a wrong clock.
    pub other_clock: bool,
}

/// Learns how often tracks are updated and judges the picture. Times are monotonic, ns.
#[derive(Debug, Default)]
pub struct Freshness {
    /// UTC less monotonic time, ns, once the clock was read.
    utc_offset_ns: Option<i64>,
    /// When the clock was first read.
    begun_ns: Option<u64>,
    /// When the tracker last said that it is there.
    status_ns: Option<u64>,
    /// Least delay of stamps of another clock, ns.
    other_delay_ns: Option<i64>,
    /// Time of the newest state of each track.
    tracks: BTreeMap<u16, u64>,
    intervals: VecDeque<u64>,
    newest_ns: Option<u64>,
    heard_ns: Option<u64>,
    /// Begin of the present span, and the longest pauses, the latest span first.
    span_ns: u64,
    pauses: VecDeque<u64>,
}

impl Freshness {
    /// Reads the clock: call once a second.
    pub fn clock(&mut self, utc_ns: i64, now_ns: u64) {
        self.utc_offset_ns = Some(utc_ns.saturating_sub_unsigned(now_ns));
        self.begun_ns.get_or_insert(now_ns);
    }

    /// A status of the tracker (category 065) arrives.
    pub fn status(&mut self, now_ns: u64) {
        self.status_ns = Some(now_ns);
    }

    /// Whether the tracker has said lately that it is there.
    #[must_use]
    pub fn has_status(&self, now_ns: u64) -> bool {
        self.status_ns.is_some_and(|status| now_ns.saturating_sub(status) <= SILENT_NS)
    }

    /// Whether nothing at all came from a tracker that used to say that it is there, or, where there are no
    /// tracks, from any.
    fn is_silent(&self, now_ns: u64) -> bool {
        let expected = if self.tracks.is_empty() { self.begun_ns } else { None };
        let word_ns = self.status_ns.max(expected);
        word_ns.is_some_and(|word| {
            now_ns.saturating_sub(word.max(self.heard_ns.unwrap_or(0))) > SILENT_NS
        })
    }

    /// An update of a track arrives. Returns the time at which its state held.
    pub fn heard(&mut self, number: u16, stamp: Option<TimeOfDay>, now_ns: u64) -> u64 {
        let valid_ns = now_ns.saturating_sub(self.delay_ns(stamp, now_ns));
        if let Some(before_ns) = self.tracks.insert(number, valid_ns)
            && valid_ns > before_ns
        {
            self.intervals.truncate(INTERVALS - 1);
            self.intervals.push_front(valid_ns - before_ns);
        }
        self.note_pause(now_ns);
        self.heard_ns = Some(now_ns);
        self.newest_ns = self.newest_ns.max(Some(valid_ns));
        valid_ns
    }

    /// A track has ended by a message.
    pub fn ended(&mut self, number: u16, now_ns: u64) {
        self.tracks.remove(&number);
        // The end is word from the tracker, too.
        self.heard_ns = Some(now_ns);
        self.newest_ns = self.newest_ns.max(Some(now_ns));
    }

    /// Judges the picture.
    #[must_use]
    pub fn picture(&mut self, now_ns: u64) -> PictureAge {
        let age_ns = self.newest_ns.map(|newest| now_ns.saturating_sub(newest));
        let (period_ns, limit_ns) = self.limit_ns();
        let is_old = age_ns.is_some_and(|age| age > limit_ns) && !self.tracks.is_empty();
        let is_stale = is_old || self.is_silent(now_ns);
        if !is_stale {
            self.tracks.retain(|_, valid| now_ns.saturating_sub(*valid) <= FORGOTTEN_NS);
        }
        let state = match (is_stale, self.tracks.is_empty()) {
            (true, _) => PictureState::Stale,
            (false, true) => PictureState::Empty,
            (false, false) => PictureState::Current,
        };
        let ms = |ns: u64| ns / 1_000_000;
        PictureAge {
            state,
            age_ms: age_ns.map(ms),
            limit_ms: ms(limit_ns),
            period_ms: period_ns.map(ms),
            other_clock: self.other_delay_ns.is_some(),
        }
    }

    /// Middle time between two updates of a track, and the age above which the picture is stale.
    fn limit_ns(&self) -> (Option<u64>, u64) {
        let mut sorted: Vec<_> = self.intervals.iter().copied().collect();
        sorted.sort_unstable();
        let Some(period_ns) = nearest_rank(&sorted, Quantile::P50) else {
            return (None, LIMIT_NS_FIRST);
        };
        let mut pauses: Vec<_> = self.pauses.iter().copied().collect();
        pauses.sort_unstable();
        let pause_ns = pauses.iter().rev().nth(1).copied().unwrap_or(0);
        let limit_ns = (2 * period_ns.max(pause_ns)).clamp(LIMIT_NS_MIN, LIMIT_NS_MAX);
        (Some(period_ns), limit_ns)
    }

    /// Notes the pause that ends now, unless the picture was stale in it: an outage is no habit.
    fn note_pause(&mut self, now_ns: u64) {
        if now_ns.saturating_sub(self.span_ns) >= SPAN_NS {
            self.span_ns = now_ns;
            self.pauses.truncate(SPANS - 1);
            self.pauses.push_front(0);
        }
        let Some(heard_ns) = self.heard_ns else { return };
        let pause_ns = now_ns.saturating_sub(heard_ns);
        let is_longest = self.pauses.front().is_some_and(|longest| pause_ns > *longest);
        if is_longest && pause_ns <= self.limit_ns().1 {
            self.pauses[0] = pause_ns;
        }
    }

    /// For how long a state with this stamp has been under way.
    fn delay_ns(&mut self, stamp: Option<TimeOfDay>, now_ns: u64) -> u64 {
        let (Some(offset_ns), Some(stamp)) = (self.utc_offset_ns, stamp) else { return 0 };
        let utc_ns = offset_ns.saturating_add_unsigned(now_ns);
        let delay_ns = utc_ns - stamp.to_utc_ns(utc_ns);
        if delay_ns.abs() <= OTHER_CLOCK_NS {
            self.other_delay_ns = None;
            return u64::try_from(delay_ns).unwrap_or(0);
        }
        let least_ns = match self.other_delay_ns {
            // Within the same recording, which may be played faster than it was made.
            Some(least) if delay_ns - least <= OTHER_CLOCK_NS => least.min(delay_ns),
            _ => delay_ns,
        };
        self.other_delay_ns = Some(least_ns);
        u64::try_from(delay_ns - least_ns).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    /// Noon of a day.
    const NOON_NS: i64 = 12 * 3600 * 1_000_000_000;

    /// Reads the clock, whose monotonic time began at noon.
    fn at_noon() -> Freshness {
        let mut freshness = Freshness::default();
        freshness.clock(NOON_NS, 0);
        freshness
    }

    fn stamp(seconds: f64) -> Option<TimeOfDay> {
        #[allow(clippy::cast_possible_truncation)]
        Some(TimeOfDay::from_utc_ns(NOON_NS + (seconds * 1e9) as i64))
    }

    #[test]
    fn a_dead_tracker_is_told_within_two_update_periods() {
        let mut freshness = at_noon();
        // 40 tracks, each every 4 s, one after the other; the last update at 60 s.
        for tenth in 0..=600_u64 {
            let at = tenth as f64 / 10.0;
            let number = u16::try_from(tenth % 40).unwrap();
            freshness.heard(number, stamp(at), tenth * SECOND / 10);
        }
        let last = freshness.picture(60 * SECOND);
        assert_eq!((last.state, last.period_ms), (PictureState::Current, Some(4000)));
        assert_eq!(last.limit_ms, 8000);
        assert_eq!(freshness.picture(68 * SECOND).state, PictureState::Current);
        let stale = freshness.picture(68 * SECOND + SECOND / 100);
        assert_eq!((stale.state, stale.age_ms), (PictureState::Stale, Some(8010)));
        // Its tracks stay missing however long it takes.
        assert_eq!(freshness.picture(600 * SECOND).state, PictureState::Stale);
        // The outage is no habit.
        freshness.heard(3, stamp(600.0), 600 * SECOND);
        assert_eq!(freshness.picture(600 * SECOND).limit_ms, 8000);
        assert_eq!(freshness.picture(600 * SECOND).state, PictureState::Current);
    }

    #[test]
    fn messages_that_are_held_up_make_a_stale_picture_although_they_arrive() {
        let mut freshness = at_noon();
        for second in 0..60_u64 {
            // From the 30th second on, updates arrive but describe an ever earlier time.
            let described = second.min(30);
            let valid = freshness.heard(1, stamp(described as f64), second * SECOND);
            assert!(valid.abs_diff(described * SECOND) < SECOND / 64, "{second}");
        }
        let age = freshness.picture(59 * SECOND);
        assert_eq!((age.state, age.other_clock), (PictureState::Stale, false));
        assert!(age.age_ms.is_some_and(|age| (28_900..29_100).contains(&age)), "{age:?}");
    }

    #[test]
    fn a_single_slow_track_and_an_empty_sky_are_no_alarm() {
        let mut freshness = at_noon();
        assert_eq!(freshness.picture(0).state, PictureState::Empty);
        for turn in 0..10_u64 {
            freshness.heard(1, stamp(12.0 * turn as f64), 12 * turn * SECOND);
            assert_eq!(freshness.picture((12 * turn + 9) * SECOND).state, PictureState::Current);
        }
        // One turn that is missed is let pass; two are not.
        assert_eq!(freshness.picture((108 + 23) * SECOND).state, PictureState::Current);
        assert_eq!(freshness.picture((108 + 25) * SECOND).state, PictureState::Stale);
        freshness.ended(1, 140 * SECOND);
        freshness.status(499 * SECOND);
        assert_eq!(freshness.picture(500 * SECOND).state, PictureState::Empty);
    }

    #[test]
    fn no_tracks_are_no_empty_sky_unless_a_tracker_says_so() {
        let mut freshness = at_noon();
        assert_eq!(freshness.picture(3 * SECOND).state, PictureState::Empty);
        let dead = freshness.picture(4 * SECOND);
        assert_eq!((dead.state, dead.age_ms), (PictureState::Stale, None));
        freshness.status(5 * SECOND);
        assert_eq!(freshness.picture(8 * SECOND).state, PictureState::Empty);
        assert!(freshness.has_status(8 * SECOND) && !freshness.has_status(9 * SECOND));
        assert_eq!(freshness.picture(9 * SECOND).state, PictureState::Stale);
    }

    /// Also where its tracks are updated every 12 s.
    #[test]
    fn a_tracker_that_said_that_it_is_there_is_missed_within_two_of_its_intervals() {
        let mut freshness = at_noon();
        for second in 0..120_u64 {
            if second.is_multiple_of(12) {
                freshness.heard(1, stamp(second as f64), second * SECOND);
            }
            freshness.status(second * SECOND);
        }
        assert_eq!(freshness.picture(119 * SECOND).limit_ms, 24_000);
        assert_eq!(freshness.picture(122 * SECOND).state, PictureState::Current);
        assert_eq!(freshness.picture(123 * SECOND).state, PictureState::Stale);
        // Updates are word from it as well.
        freshness.heard(1, stamp(124.0), 124 * SECOND);
        assert_eq!(freshness.picture(126 * SECOND).state, PictureState::Current);
    }

    #[test]
    fn one_hiccup_does_not_make_the_next_outage_longer() {
        let mut freshness = at_noon();
        let mut at_ns = 0;
        for update in 0..400_u64 {
            // Ten tracks, one of them every 0.8 s; once nothing for 15 s.
            at_ns += if update == 300 { 15 * SECOND } else { 4 * SECOND / 5 };
            let number = u16::try_from(update % 10).unwrap();
            freshness.heard(number, stamp(at_ns as f64 / 1e9), at_ns);
        }
        assert_eq!(freshness.picture(at_ns).limit_ms, 16_000, "two updates of a track");
        let mut freshness = at_noon();
        for tenth in 0..1_000_u64 {
            // The same with 4 s, and a pause that was just not stale.
            let at_ns = tenth * SECOND / 10 + if tenth > 900 { 7 * SECOND } else { 0 };
            let number = u16::try_from(tenth % 40).unwrap();
            freshness.heard(number, stamp(at_ns as f64 / 1e9), at_ns);
        }
        assert_eq!(freshness.picture(107 * SECOND).limit_ms, 8_000);
    }

    #[test]
    fn a_recording_is_marked_and_judged_by_its_own_clock() {
        let mut freshness = at_noon();
        for second in 0..20_u64 {
            // Five hours old, played at twice its speed.
            let at = 2.0 * second as f64 - 5.0 * 3600.0;
            let valid = freshness.heard(1, stamp(at), second * SECOND);
            assert_eq!(valid, second * SECOND);
        }
        let age = freshness.picture(20 * SECOND);
        assert_eq!((age.state, age.other_clock), (PictureState::Current, true));
        assert_eq!(freshness.picture(40 * SECOND).state, PictureState::Stale);
    }
}
