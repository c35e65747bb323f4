//! Tracks that are dubious by themselves, whatever the reference: too short, or moving as no aircraft
//! does.
//!
//! The checks and their limits are those of the requirement "Dubious Tracks" of COMPASS
//! (`src/eval/requirement/dubious/dubioustrackconfig.cpp`, commit 00121c7a). One difference: a track that
//! was there when the tracks began, or still was when they ended, may have been longer than it is known
//! to be and is not too short.

use super::{Part, Report};
use crate::geodesy::{METRES_PER_NM, Stereographic};
use std::collections::BTreeMap;

/// Updates farther apart are not compared, s, nor are nearer ones.
const COMPARED_S: (f64, f64) = (1.0, 30.0);
/// A track with fewer updates is too short.
const UPDATES_MIN: u64 = 10;
/// A track that is there for less is too short, s.
const SECONDS_MIN: f64 = 30.0;
/// No aircraft is faster, m/s: 1333 kt.
const SPEED_MAX: f64 = 1333.0 * METRES_PER_NM / 3600.0;
/// No aircraft accelerates or brakes more, m/s²: 3 g.
const ACCELERATION_MAX: f64 = 29.43;
/// None turns faster, degrees a second.
const TURN_MAX: f64 = 30.0;
/// None climbs or descends faster, ft/s.
const CLIMB_MAX: f64 = 1000.0;
/// A track of which more updates move so is dubious.
const SHARE_MAX: f64 = 0.05;
/// A number that comes again after longer is another track, s.
const GONE_S: f64 = 60.0;
/// A track that begins within this of the first report, or ends within it of the last, is not known from
/// its beginning, or to its end, s.
const EDGE_S: f64 = 15.0;
/// So many dubious tracks are listed.
const LISTED: usize = 100;

/// Dubious tracks. Shares are in `[0, 1]`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Dubious {
    /// Tracks, each from its first report to its last.
    pub tracks: u64,
    /// Dubious ones among them, by any of the checks.
    pub dubious_tracks: u64,
    /// Their share.
    pub share: Option<f64>,
    /// Tracks of fewer than 10 updates or 30 s.
    pub short_tracks: u64,
    /// Tracks that never had an address, a code, an identification or a level.
    pub primary_only_tracks: u64,
    /// Tracks with more than one update in twenty that moves as no aircraft does.
    pub moving_tracks: u64,
    /// Updates by measurements.
    pub updates: u64,
    /// Updates that are faster than 1333 kt.
    pub fast_updates: u64,
    /// Updates after which the speed changed by more than 3 g.
    pub accelerating_updates: u64,
    /// Updates after which the course changed by more than 30°/s.
    pub turning_updates: u64,
    /// Updates after which the level changed by more than 1000 ft/s.
    pub climbing_updates: u64,
    /// How long all tracks lasted together, s.
    pub seconds: f64,
    /// How long the dubious ones did.
    pub dubious_seconds: f64,
    /// The first hundred dubious tracks.
    pub list: Vec<DubiousTrack>,
}

/// A dubious track.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct DubiousTrack {
    /// Track number.
    pub number: u16,
    /// Time of its first state, seconds since the UTC epoch.
    pub first_s: f64,
    /// How long it lasted.
    pub seconds: f64,
    /// Its updates.
    pub updates: u64,
    /// Those of them that move as no aircraft does.
    pub moving_updates: u64,
    /// Whether it is too short.
    pub short: bool,
    /// Whether it has nothing but positions.
    pub primary_only: bool,
}

/// Judges the tracks of `reports` in a part of the sky. Extrapolated reports are no updates.
#[must_use]
pub fn dubious(reports: &[Report], (part, plane): (&Part, &Stereographic)) -> Dubious {
    let mut by_number: BTreeMap<u16, Vec<&Report>> = BTreeMap::new();
    for report in reports.iter().filter(|r| part.has(plane, r.position, r.level)) {
        by_number.entry(report.number).or_default().push(report);
    }
    let times = reports.iter().map(|report| report.utc_s);
    let known_s = (
        times.clone().fold(f64::INFINITY, f64::min) + EDGE_S,
        times.fold(f64::NEG_INFINITY, f64::max) - EDGE_S,
    );
    let mut found = Dubious::default();
    for mut track in by_number.into_values() {
        track.sort_by(|a, b| a.utc_s.total_cmp(&b.utc_s));
        for life in
            track.chunk_by(|before, after| !before.ends && after.utc_s - before.utc_s <= GONE_S)
        {
            let updates: Vec<&Report> =
                life.iter().copied().filter(|report| !report.ends && !report.coasting).collect();
            found.judge(&updates, known_s);
        }
    }
    found.share = (found.tracks > 0).then(|| found.dubious_tracks as f64 / found.tracks as f64);
    found
}

impl Dubious {
    fn judge(&mut self, updates: &[&Report], known_s: (f64, f64)) {
        let (Some(first), Some(last)) = (updates.first(), updates.last()) else { return };
        let count = updates.len() as u64;
        let seconds = last.utc_s - first.utc_s;
        let is_whole = first.utc_s > known_s.0 && last.utc_s < known_s.1;
        let short = is_whole && (count < UPDATES_MIN || seconds < SECONDS_MIN);
        let primary_only = updates.iter().all(|r| {
            r.address.is_none() && r.mode_a.is_none() && r.callsign.is_none() && r.level.is_none()
        });
        let moving_updates = self.moving(updates);
        let is_moving = moving_updates as f64 > SHARE_MAX * count as f64;
        self.tracks += 1;
        self.updates += count;
        self.seconds += seconds;
        self.short_tracks += u64::from(short);
        self.primary_only_tracks += u64::from(primary_only);
        self.moving_tracks += u64::from(is_moving);
        if !(short || primary_only || is_moving) {
            return;
        }
        self.dubious_tracks += 1;
        self.dubious_seconds += seconds;
        if self.list.len() < LISTED {
            self.list.push(DubiousTrack {
                number: first.number,
                first_s: first.utc_s,
                seconds,
                updates: count,
                moving_updates,
                short,
                primary_only,
            });
        }
    }

    /// Counts the updates that move as no aircraft does, each once in the result.
    fn moving(&mut self, updates: &[&Report]) -> u64 {
        let mut count = 0;
        for (index, update) in updates.iter().enumerate() {
            let mut is_moving = update.velocity.norm() > SPEED_MAX;
            self.fast_updates += u64::from(is_moving);
            let before = index.checked_sub(1).map(|before| updates[before]);
            if let Some([accelerates, turns, climbs]) = before.and_then(|b| changes(b, update)) {
                self.accelerating_updates += u64::from(accelerates);
                self.turning_updates += u64::from(turns);
                self.climbing_updates += u64::from(climbs);
                is_moving |= accelerates || turns || climbs;
            }
            count += u64::from(is_moving);
        }
        count
    }
}

/// Whether speed, course and level change faster than an aircraft's; `None` where the updates are not
/// compared.
fn changes(before: &Report, after: &Report) -> Option<[bool; 3]> {
    let step_s = after.utc_s - before.utc_s;
    if !(COMPARED_S.0..=COMPARED_S.1).contains(&step_s) {
        return None;
    }
    let (from, to) = (before.velocity, after.velocity);
    let cross = from.x * to.y - from.y * to.x;
    let turned_deg = cross.atan2(from.dot(to)).to_degrees().abs();
    let climbed_ft = before.level.zip(after.level).map_or(0.0, |(a, b)| 100.0 * (b - a).abs());
    Some([
        (to.norm() - from.norm()).abs() > ACCELERATION_MAX * step_s,
        turned_deg > TURN_MAX * step_s,
        climbed_ft > CLIMB_MAX * step_s,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geodesy::Wgs84;
    use crate::tracker::linear::Vec2;

    /// A track that flies east, an update every 4 s from `from_s` on.
    fn track(number: u16, from_s: f64, updates: u32) -> Vec<Report> {
        let report = |step: u32| {
            let utc_s = from_s + 4.0 * f64::from(step);
            Report {
                utc_s,
                arrived_s: utc_s,
                number,
                position: Vec2::new(200.0 * utc_s, 0.0),
                velocity: Vec2::new(200.0, 0.0),
                level: Some(330.0),
                climb_ft_min: None,
                address: Some(number.into()),
                mode_a: None,
                callsign: None,
                ends: false,
                coasting: false,
            }
        };
        (0..updates).map(report).collect()
    }

    fn judged(tracks: Vec<Vec<Report>>) -> Dubious {
        let plane = Stereographic::new(Wgs84::new(51.0, 10.0, 0.0));
        dubious(&tracks.concat(), (&Part::default(), &plane))
    }

    #[test]
    fn who_lives_shortly_in_the_middle_is_dubious_and_at_the_edges_is_not() {
        let whole = track(1, 1_000.0, 100);
        let found = judged(vec![
            whole.clone(),
            track(2, 1_000.0, 5),
            track(3, 1_380.0, 5),
            track(4, 1_100.0, 9),
        ]);
        assert_eq!((found.tracks, found.short_tracks, found.dubious_tracks), (4, 1, 1));
        assert_eq!((found.list[0].number, found.list[0].seconds), (4, 32.0));
        assert_eq!(found.share, Some(0.25));
        // The same number after a minute, and after an end, is another track.
        let mut ended = track(4, 1_100.0, 30);
        ended[14].ends = true;
        let found = judged(vec![whole, ended, track(5, 1_100.0, 12), track(5, 1_250.0, 12)]);
        assert_eq!((found.tracks, found.dubious_tracks), (5, 0));
    }

    #[test]
    fn who_moves_as_no_aircraft_does_is_dubious() {
        let change = |change: fn(&mut Report)| {
            let mut changed = track(1, 1_000.0, 40);
            changed[20..23].iter_mut().for_each(change);
            judged(vec![changed])
        };
        assert_eq!(judged(vec![track(1, 1_000.0, 40)]).dubious_tracks, 0);
        let fast = change(|report| report.velocity.x = 700.0);
        // Faster by 500 m/s within 4 s, three times too fast, and slower again.
        assert_eq!((fast.fast_updates, fast.accelerating_updates), (3, 2));
        assert_eq!((fast.moving_tracks, fast.list[0].moving_updates), (1, 4));
        let turning = change(|report| report.velocity = Vec2::new(-200.0, 1.0));
        assert_eq!((turning.turning_updates, turning.moving_tracks), (2, 0), "two of forty");
        let climbing = change(|report| report.level = Some(280.0));
        assert_eq!(climbing.climbing_updates, 2);
    }

    #[test]
    fn who_has_positions_alone_is_dubious_and_coasts_without_updates() {
        let mut bare = track(1, 1_000.0, 40);
        for report in &mut bare {
            (report.address, report.level) = (None, None);
        }
        bare[10..20].iter_mut().for_each(|report| report.coasting = true);
        let found = judged(vec![bare]);
        assert_eq!((found.primary_only_tracks, found.updates, found.tracks), (1, 30, 1));
    }
}
