//! The radars' clocks, judged against each other and against the receiver's.
//!
//! The lag of a radar is its stamps less their times of arrival: minus some tenths of a second where
//! all clocks are right. The lags that agree with most others tell the right time; the receiver's
//! own clock has half a vote, so that it decides between two radars, and one radar decides alone.
//! A radar ahead of them by more than [`Limits::ahead_s`], or behind by more than
//! [`Limits::behind_s`], has a wrong clock. Its stamps are moved by its whole error where that is
//! steady, and set aside where it is not; the others are never touched.
//!
//! The tracker's own scale is that of arrival: stamps less [`Clocks::origin_s`], which is zero unless
//! most radars agree on another time than the receiver, as in a recording that was stamped anew. It
//! follows the majority where that leaps, never where it moves little by little: then time itself
//! runs faster or slower, as in a recording that is played faster.

use std::fmt;

/// Limits of agreement.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClockLimits {
    /// A clock that is further ahead of the majority is wrong, s.
    pub ahead_s: f64,
    /// One that is further behind is, s: data are late as well.
    pub behind_s: f64,
    /// A wrong clock is corrected while its lag varies by less than this, s.
    pub steady_s: f64,
}

impl Default for ClockLimits {
    fn default() -> Self {
        Self { ahead_s: 2.0, behind_s: 10.0, steady_s: 3.0 }
    }
}

/// Judgement on a radar's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClockVerdict {
    /// It agrees with the majority.
    #[default]
    Agrees,
    /// It is wrong by a steady error, which is taken out of its stamps.
    Retimed,
    /// It is wrong and not steady: the radar's plots are not used.
    SetAside,
}

/// A radar's clock, for people and summaries.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct RadarClock {
    /// System area code.
    pub sac: u8,
    /// System identification code.
    pub sic: u8,
    /// Judgement on it.
    pub verdict: ClockVerdict,
    /// Its stamps less those of the majority, s; positive when it is ahead.
    pub offset_s: f64,
    /// Plots whose stamps were corrected.
    pub retimed: u64,
    /// Plots that were not used because of their time.
    pub refused: u64,
}

/// Another judgement than before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClockNews {
    pub(super) radar: usize,
    verdict: ClockVerdict,
    offset_s: f64,
    /// Radars that agree with each other, and whether the receiver does.
    majority: (usize, bool),
}

impl fmt::Display for ClockNews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size_s = self.offset_s.abs();
        let side = if self.offset_s > 0.0 { "ahead of" } else { "behind" };
        let others = match self.majority {
            (0, _) => "the receiver".to_owned(),
            (radars, true) => format!("{radars} other radars and the receiver"),
            (radars, false) => format!("{radars} other radars"),
        };
        match self.verdict {
            ClockVerdict::Agrees => write!(f, "its clock agrees with {others} again"),
            ClockVerdict::Retimed => write!(
                f,
                "its clock is {size_s:.1} s {side} {others}; its plots are re-timed by that much"
            ),
            ClockVerdict::SetAside => write!(
                f,
                "its clock is {size_s:.1} s {side} {others} and not steady; its plots are set aside"
            ),
        }
    }
}

/// Lags that are kept of a radar.
const LAGS: usize = 31;
/// A plot whose lag differs by more from its radar's latest is wrong by itself, s.
const LEAP_S: f64 = 10.0;
/// So many of them in a row are a new time.
const LEAPS_MAX: usize = 20;
/// A radar that was not heard for so long has no vote, s.
const SILENT_S: f64 = 60.0;
/// An error that moves by less keeps its correction, s: delays vary.
const MOVED_S: f64 = 0.5;
/// The receiver's vote.
const RECEIVER: f64 = 0.5;

#[derive(Clone, Debug, Default)]
struct Clock {
    /// The latest lags, s, the oldest overwritten.
    lags: Vec<f64>,
    next: usize,
    /// Middle of them, and the width of the middle half.
    lag_s: f64,
    spread_s: f64,
    /// Lags that leap out, in a row.
    leaps: Vec<f64>,
    heard_s: f64,
    verdict: ClockVerdict,
    /// Taken from its stamps, beside the base.
    offset_s: f64,
    retimed: u64,
    refused: u64,
}

/// The clocks of all radars.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    limits: ClockLimits,
    radars: Vec<Clock>,
    /// The majority's stamps less the receiver's time, s, where that is more than delays make.
    base_s: f64,
    /// What of it is taken from stamps, s.
    origin_s: f64,
    /// Tracker's time less time of arrival of plots with right clocks, s, smoothed.
    delay_s: Option<f64>,
    news: Vec<ClockNews>,
}

impl Clocks {
    pub(super) fn new(limits: ClockLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// The majority's stamps less the tracker's time, s.
    pub(super) fn origin_s(&self) -> f64 {
        self.origin_s
    }

    /// Tracker's time of plots that arrive now less time of arrival, s.
    pub(super) fn delay_s(&self) -> f64 {
        self.delay_s.unwrap_or(0.0)
    }

    /// Judgements since the last call that differ from those before.
    pub(super) fn take_news(&mut self) -> Vec<ClockNews> {
        std::mem::take(&mut self.news)
    }

    /// Judgement on the clock of `radar`, its error, and plots re-timed and refused.
    pub(super) fn of(&self, radar: usize) -> (ClockVerdict, f64, u64, u64) {
        let clock = self.radars.get(radar).cloned().unwrap_or_default();
        (clock.verdict, clock.offset_s, clock.retimed, clock.refused)
    }

    /// Takes in a stamp of `radar` that arrived at `received_s`; gives the tracker's time for it.
    ///
    /// # Errors
    /// By how much the stamp is off, where it cannot be used.
    pub(super) fn time(&mut self, radar: usize, stamp_s: f64, received_s: f64) -> Result<f64, f64> {
        if self.radars.len() <= radar {
            self.radars.resize_with(radar + 1, Clock::default);
        }
        let lag_s = stamp_s - received_s;
        let clock = &mut self.radars[radar];
        clock.heard_s = received_s;
        if clock.latest_s().is_some_and(|latest_s| (lag_s - latest_s).abs() > LEAP_S) {
            clock.leaps.push(lag_s);
            if clock.leaps.len() < LEAPS_MAX {
                clock.refused += 1;
                return Err(lag_s - clock.lag_s);
            }
            (clock.lags, clock.next) = (std::mem::take(&mut clock.leaps), 0);
            clock.sum_up();
            self.judge(received_s);
        } else {
            clock.leaps.clear();
            if clock.take(lag_s) {
                self.judge(received_s);
            }
        }
        self.moved(radar, stamp_s, received_s)
    }

    /// The tracker's time of a stamp of a judged radar.
    fn moved(&mut self, radar: usize, stamp_s: f64, received_s: f64) -> Result<f64, f64> {
        let clock = &mut self.radars[radar];
        match clock.verdict {
            ClockVerdict::SetAside => {
                clock.refused += 1;
                Err(clock.offset_s)
            }
            ClockVerdict::Retimed => {
                clock.retimed += 1;
                Ok(stamp_s - self.origin_s - clock.offset_s)
            }
            ClockVerdict::Agrees => {
                let time_s = stamp_s - self.origin_s;
                let delay_s = self.delay_s.get_or_insert(time_s - received_s);
                *delay_s += 0.01 * (time_s - received_s - *delay_s);
                Ok(time_s)
            }
        }
    }

    /// Votes for `base_s` being the right time, and the radars among them.
    fn votes(&self, base_s: f64, now_s: f64) -> (f64, usize) {
        let voters = self.radars.iter().filter(|clock| clock.votes(now_s));
        let radars = voters.filter(|clock| self.agrees(clock.lag_s - base_s)).count();
        let receiver = if self.agrees(-base_s) { RECEIVER } else { 0.0 };
        (radars as f64 + receiver, radars)
    }

    fn agrees(&self, apart_s: f64) -> bool {
        (-self.limits.behind_s..=self.limits.ahead_s).contains(&apart_s)
    }

    /// Finds the majority, and who is not of it.
    fn judge(&mut self, now_s: f64) {
        let (mut base_s, mut most) = (self.base_s, self.votes(self.base_s, now_s).0);
        let candidates: Vec<f64> =
            self.radars.iter().filter(|c| c.votes(now_s)).map(|c| c.lag_s).collect();
        for candidate in std::iter::once(0.0).chain(candidates) {
            // What the receiver agrees with is its own time.
            let candidate = if self.agrees(candidate) { 0.0 } else { candidate };
            let (votes, _) = self.votes(candidate, now_s);
            if votes > most {
                (base_s, most) = (candidate, votes);
            }
        }
        let moves = base_s != self.base_s;
        let of_majority = |c: &&Clock| c.votes(now_s) && self.agrees(c.lag_s - base_s);
        let was_right = |c: &Clock| c.lags.iter().any(|lag_s| self.agrees(lag_s - self.base_s));
        if moves && !self.radars.iter().filter(of_majority).any(was_right) {
            self.origin_s = base_s;
        }
        self.base_s = base_s;
        let (_, agreeing) = self.votes(base_s, now_s);
        let receiver = self.agrees(-base_s);
        let delays = self.radars.iter().filter(|c| c.votes(now_s) && self.agrees(c.lag_s - base_s));
        let delay_s = middle(delays.map(|c| c.lag_s - base_s).collect()).0;
        for radar in 0..self.radars.len() {
            let clock = &self.radars[radar];
            if clock.lags.is_empty() {
                continue;
            }
            let apart_s = clock.lag_s - base_s;
            let (verdict, offset_s) = if self.agrees(apart_s) {
                (ClockVerdict::Agrees, 0.0)
            } else if clock.spread_s <= self.limits.steady_s {
                (ClockVerdict::Retimed, apart_s - delay_s)
            } else {
                (ClockVerdict::SetAside, apart_s - delay_s)
            };
            let clock = &mut self.radars[radar];
            if verdict != clock.verdict {
                let majority = (agreeing, receiver);
                self.news.push(ClockNews { radar, verdict, offset_s, majority });
            }
            if verdict != clock.verdict || (offset_s - clock.offset_s).abs() > MOVED_S {
                (clock.verdict, clock.offset_s) = (verdict, offset_s);
            }
        }
    }
}

impl Clock {
    /// The lag that was taken in last.
    fn latest_s(&self) -> Option<f64> {
        self.lags.get((self.next + LAGS - 1) % LAGS).or(self.lags.last()).copied()
    }

    /// Takes a lag in; whether the clock has to be judged anew.
    fn take(&mut self, lag_s: f64) -> bool {
        if self.lags.len() < LAGS {
            self.lags.push(lag_s);
        } else {
            self.lags[self.next] = lag_s;
        }
        self.next = (self.next + 1) % LAGS;
        // The first at once, then when a quarter of them is new: in an accelerated recording the
        // middles of two radars must not differ by what has passed meanwhile.
        let due = self.lags.len() <= 2 || self.next.is_multiple_of(LAGS / 4);
        if due {
            self.sum_up();
        }
        due
    }

    fn sum_up(&mut self) {
        (self.lag_s, self.spread_s) = middle(self.lags.clone());
    }

    fn votes(&self, now_s: f64) -> bool {
        !self.lags.is_empty() && now_s - self.heard_s <= SILENT_S
    }
}

/// Median, and distance of the quartiles; zero of nothing.
fn middle(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |part: usize| values.get(values.len() * part / 4).copied().unwrap_or(0.0);
    (at(2), at(3) - at(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `seconds` of a plot a second of each radar, whose clocks are ahead by `errors`, from `from_s`
    /// on.
    fn run(clocks: &mut Clocks, errors: &[Option<f64>], from_s: f64, seconds: u32) -> Vec<u32> {
        let mut used = vec![0; errors.len()];
        for second in 0..seconds {
            let now_s = from_s + f64::from(second);
            for (radar, error_s) in errors.iter().enumerate() {
                let Some(error_s) = error_s else { continue };
                // Delays of 0.1 to 0.4 s.
                let turn = second + u32::try_from(radar).unwrap();
                let delay_s = 0.1 + 0.1 * f64::from(turn % 4);
                let Ok(time_s) = clocks.time(radar, now_s - delay_s + error_s, now_s) else {
                    continue;
                };
                assert!((time_s - now_s + delay_s).abs() < 0.5, "{radar} {second}: {time_s}");
                used[radar] += 1;
            }
        }
        used
    }

    #[test]
    fn a_radar_an_hour_wrong_that_is_heard_first_harms_nobody() {
        for error_s in [3_600.0, -3_600.0, 20.0, -20.0] {
            let mut clocks = Clocks::default();
            assert_eq!(run(&mut clocks, &[Some(error_s)], 1e6, 60), [60]);
            assert!((clocks.origin_s() - error_s).abs() < 0.5, "alone it tells the time");
            let used = run(&mut clocks, &[Some(error_s), Some(0.0), Some(0.0)], 1e6 + 60.0, 60);
            assert_eq!(used, [60, 60, 60]);
            assert_eq!(clocks.origin_s(), 0.0);
            assert_eq!(clocks.of(0).0, ClockVerdict::Retimed);
            assert!((clocks.of(0).1 - error_s).abs() < 0.5);
            assert_eq!(clocks.of(1).0, ClockVerdict::Agrees);
            let news = clocks.take_news();
            let last = news.last().unwrap();
            assert_eq!(last.radar, 0);
            let side = if error_s > 0.0 { "ahead of" } else { "behind" };
            assert!(last.to_string().contains(side), "{last}");
        }
    }

    #[test]
    fn most_radars_outvote_the_receiver() {
        let mut clocks = Clocks::default();
        let used = run(&mut clocks, &[Some(500.0), Some(500.0), Some(0.0)], 1e6, 40);
        assert_eq!(used, [40, 40, 40]);
        assert!((clocks.origin_s() - 500.0).abs() < 0.5);
        assert_eq!(clocks.of(2).0, ClockVerdict::Retimed);
    }

    #[test]
    fn time_that_runs_faster_is_taken_as_it_is() {
        let mut clocks = Clocks::default();
        for step in 0..2_000u32 {
            // Three radars with 28 plots a second each, five times as fast.
            let now_s = 1e6 + 0.012 * f64::from(step);
            let stamp_s = 1e6 + 0.06 * f64::from(step);
            assert_eq!(
                clocks.time(usize::try_from(step % 3).unwrap(), stamp_s, now_s),
                Ok(stamp_s),
                "{step}"
            );
        }
        assert_eq!(clocks.origin_s(), 0.0);
    }

    #[test]
    fn data_that_are_late_have_no_wrong_clock() {
        let mut clocks = Clocks::default();
        for second in 0..60 {
            let now_s = 1e6 + f64::from(second);
            assert_eq!(clocks.time(0, now_s - 0.2, now_s), Ok(now_s - 0.2));
            assert_eq!(clocks.time(1, now_s - 6.0, now_s), Ok(now_s - 6.0));
        }
        assert_eq!(clocks.of(1).0, ClockVerdict::Agrees);
    }

    #[test]
    fn a_stamp_that_leaps_is_refused_and_a_new_time_is_followed() {
        let mut clocks = Clocks::default();
        run(&mut clocks, &[Some(0.0), Some(0.0)], 1e6, 40);
        assert!(clocks.time(0, 1e6 - 3_600.0, 1e6 + 40.0).is_err());
        assert!(clocks.time(0, 1e6 + 40.0, 1e6 + 40.2).is_ok());
        let used = run(&mut clocks, &[Some(60.0), Some(0.0)], 1e6 + 41.0, 60);
        assert_eq!(used, [41, 60], "the first nineteen are refused");
        assert_eq!(clocks.of(0).0, ClockVerdict::Retimed);
        run(&mut clocks, &[Some(0.0), Some(0.0)], 1e6 + 101.0, 60);
        assert_eq!(clocks.of(0).0, ClockVerdict::Agrees);
    }

    #[test]
    fn a_clock_that_wanders_is_set_aside() {
        let mut clocks = Clocks::default();
        for second in 0..120 {
            let now_s = 1e6 + f64::from(second);
            assert!(clocks.time(1, now_s - 0.2, now_s).is_ok());
            // Between 16 and 24 s ahead.
            let _ = clocks.time(0, now_s + 20.0 + 4.0 * (f64::from(second) * 0.7).sin(), now_s);
        }
        assert_eq!(clocks.of(0).0, ClockVerdict::SetAside);
        assert!(clocks.of(0).3 > 60 && clocks.of(1).3 == 0);
    }
}
