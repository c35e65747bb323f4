//! Tracks that ended a short time ago: who comes back gets its number again.

use super::identity::{Identity, Match};
use super::imm::{Imm, MotionModel};
use super::linear::Sym2;
use super::track::Track;

/// Squared Mahalanobis distance of a position, and of a velocity, that may be the same aircraft's.
const GATE: f64 = 16.0;
/// Both levels are known and differ by more than this and 6000 ft/min, hundreds of feet: another.
const LEVELS_APART: f64 = 10.0;
/// Most tracks remembered: beyond them the one that ended first is forgotten.
const REMEMBERED_MAX: usize = 4_096;

#[derive(Clone, Debug)]
struct Ended {
    number: u16,
    identity: Identity,
    filter: Imm,
    time_s: f64,
    level: Option<f64>,
}

/// Tracks that ended.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    ended: Vec<Ended>,
}

impl Remembered {
    /// Remembers a track that subscribers know. Gives the number of the one that is forgotten for it.
    pub(super) fn add(&mut self, track: &Track) -> Option<u16> {
        let mut forgotten = None;
        if self.ended.len() >= REMEMBERED_MAX {
            let ends = self.ended.iter().enumerate().map(|(index, ended)| (ended.time_s, index));
            let oldest = ends.min_by(|a, b| a.0.total_cmp(&b.0));
            forgotten = oldest.map(|(_, index)| self.ended.swap_remove(index).number);
        }
        self.ended.push(Ended {
            number: track.number,
            identity: track.identity,
            filter: track.filter,
            time_s: track.time_s,
            level: track.vertical.map(|v| v.level_at(track.time_s)),
        });
        forgotten
    }

    /// Forgets what ended before `since_s`; gives the numbers.
    pub(super) fn forget(&mut self, since_s: f64) -> Vec<u16> {
        let old = self.ended.extract_if(.., |ended| ended.time_s < since_s);
        old.map(|ended| ended.number).collect()
    }

    /// Whether a number is that of a remembered track.
    pub(super) fn has(&self, number: u16) -> bool {
        self.ended.iter().any(|ended| ended.number == number)
    }

    /// Whether an identity is that of a remembered track.
    pub(super) fn knows(&self, identity: &Identity) -> bool {
        let is =
            |ended: &Ended| matches!(ended.identity.compare(identity), Match::Same | Match::Alike);
        !identity.is_empty() && self.ended.iter().any(is)
    }

    /// Forgets the track with a number, which another track gets.
    pub(super) fn drop_number(&mut self, number: u16) {
        self.ended.retain(|ended| ended.number != number);
    }

    /// The number of the track that `track`, just believed, goes on with, if there is exactly one.
    /// Whether its radars `hear` transponders: then who had a code has one.
    pub(super) fn take(&mut self, track: &Track, motion: &MotionModel, hear: bool) -> Option<u16> {
        let mut found = None;
        for (index, ended) in self.ended.iter().enumerate() {
            if hear && ended.identity.is_empty() != track.identity.is_empty() {
                continue;
            }
            match ended.compare(track, motion) {
                Match::Same => {
                    found = Some(index);
                    break;
                }
                Match::Alike | Match::Open if found.is_some() => return None,
                Match::Alike | Match::Open => found = Some(index),
                Match::Unlike | Match::Different => {}
            }
        }
        Some(self.ended.swap_remove(found?).number)
    }
}

impl Ended {
    /// Whether `track` may be this one: [`Match::Different`] where it cannot be.
    fn compare(&self, track: &Track, motion: &MotionModel) -> Match {
        let identity = self.identity.compare(&track.identity);
        let dt = track.born_s - self.time_s;
        if matches!(identity, Match::Different | Match::Unlike) || dt < 0.0 {
            return Match::Different;
        }
        let now = track.estimate();
        let then = self.filter.predicted(track.time_s - self.time_s, motion).estimate();
        if identity == Match::Same {
            // The address says it; it is only not on the other side of the country.
            let far_m = (now.position - then.position).norm();
            return if far_m < 400.0 * (dt + 30.0) { Match::Same } else { Match::Different };
        }
        let levels_apart = self.level.zip(track.vertical).map(|(before, vertical)| {
            (vertical.level_at(track.time_s) - before).abs() - dt.max(0.0)
        });
        let fits = |apart: super::linear::Vec2, covariance: Sym2| {
            covariance.inverse().is_some_and(|inverse| inverse.quadratic(apart) <= GATE)
        };
        // Heading and speed are known: what it did meanwhile, not.
        let same_way =
            fits(now.velocity - then.velocity, now.vv + then.vv + Sym2::isotropic(15.0 * 15.0));
        let there = fits(now.position - then.position, now.pp + then.pp);
        if same_way && there && levels_apart.is_none_or(|apart| apart < LEVELS_APART) {
            identity
        } else {
            Match::Different
        }
    }
}
