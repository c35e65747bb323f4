//! Track of one aircraft.

use super::existence::Existence;
use super::grid::Cell;
use super::identity::{CodeDoubt, Identity};
use super::imm::{Imm, MotionModel};
use super::kinematic::{Innovation, Kinematic};
use super::linear::{Sym2, Vec2};
use super::vertical::Vertical;
use crate::geodesy::flight_level_to_m;

/// A plot in the tracker's plane, ready to be correlated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    /// The radar, as an index of [`Radars`](super::Radars).
    pub radar: u8,
    /// Time of detection: seconds on the tracker's continuous scale.
    pub time_s: f64,
    /// Position in the plane, m.
    pub position: Vec2,
    /// Covariance of the position, m².
    pub covariance: Sym2,
    /// Identity from the transponder.
    pub identity: Identity,
    /// Mode C, hundreds of feet.
    pub flight_level: Option<f64>,
    /// Slant measurement behind the position; `None` where it is not known, and the position cannot
    /// be improved.
    pub slant: Option<Slant>,
}

/// Slant measurement of an aircraft: what the position in the plane was computed from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slant {
    /// The radar, in the plane, m.
    pub from: Vec2,
    /// The radar's height over the ellipsoid, m.
    pub from_m: f64,
    /// Slant range, m.
    pub range_m: f64,
    /// Height over the ellipsoid that the aircraft was taken to have, m, …
    pub height_m: f64,
    /// … and its standard deviation, m: 0 with Mode C.
    pub height_sigma_m: f64,
}

impl Slant {
    /// Ground distance of a height, m, by a sphere; `None` where the slant range is less.
    fn ground_m(&self, height_m: f64, about_m: f64) -> Option<f64> {
        let up_m = height_m - self.from_m - about_m * about_m / (2.0 * EARTH_M);
        let squared = self.range_m * self.range_m - up_m * up_m;
        (squared > 0.0).then(|| squared.sqrt())
    }
}

/// A plot that is the aircraft's with this probability is taken to be.
const TRUSTED: f64 = 0.98;
/// Mean radius of the earth, m.
const EARTH_M: f64 = 6_371_000.0;

impl Measurement {
    /// The same plot for an aircraft at `level` with standard deviation `sigma`, hundreds of feet;
    /// `None` where that is impossible, or the slant measurement is not known.
    ///
    /// The slant range stays, which moves the position along the beam: between FL230 and FL330 by
    /// 340 m at 40 NM, and by more the nearer it is.
    #[must_use]
    pub fn at_level(&self, level: f64, sigma: f64) -> Option<Self> {
        let slant = self.slant?;
        let offset = self.position - slant.from;
        let ground_m = offset.norm();
        let unit = offset * (1.0 / ground_m.max(1.0));
        let height_m = flight_level_to_m(level);
        let before_m = slant.ground_m(slant.height_m, ground_m)?;
        let after_m = slant.ground_m(height_m, ground_m)?;
        let lean = |height_m: f64, far_m: f64| (height_m / far_m.max(100.0)).clamp(-10.0, 10.0);
        let guess = lean(slant.height_m, ground_m) * slant.height_sigma_m;
        let (far_m, sigma_m) = (ground_m + after_m - before_m, flight_level_to_m(sigma));
        let known = lean(height_m, far_m) * sigma_m;
        Some(Self {
            position: slant.from + unit * far_m,
            covariance: self.covariance + Sym2::along(unit, known * known - guess * guess, 0.0),
            ..*self
        })
    }
}

/// Last detection of an aircraft by a radar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sighting {
    /// The radar, as an index of [`Radars`](super::Radars).
    pub radar: u8,
    /// Time of the detection, tracker's seconds.
    pub time_s: f64,
    /// When the radar passes it next, tracker's seconds.
    pub(super) due_s: f64,
    /// Turns in a row in which the radar should have seen it.
    pub(super) missed: u8,
}

/// Whether a track is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Too few plots yet: known to the tracker only.
    Tentative,
    /// Sent to subscribers.
    Confirmed,
}

/// Track of an aircraft.
#[derive(Clone, Debug)]
pub struct Track {
    /// I062/040, unique among the living.
    pub number: u16,
    /// Phase of the track: tentative or confirmed.
    pub phase: Phase,
    /// Known identity of the aircraft.
    pub identity: Identity,
    /// The filter's state, valid at `time_s`.
    pub filter: Imm,
    /// Time of the state: that of the latest plot taken in, tracker's seconds.
    pub time_s: f64,
    /// Flight level and climb, once Mode C was received.
    pub vertical: Option<Vertical>,
    /// Time of the first plot, tracker's seconds.
    pub born_s: f64,
    /// Plots taken in.
    pub hits: u32,
    /// Whether subscribers know the track.
    pub announced: bool,
    /// The latest sighting by each radar that ever saw it.
    pub sightings: Vec<Sighting>,
    /// For when it was last extrapolated for subscribers, tracker's seconds; `None` since a plot.
    pub extrapolated_s: Option<f64>,
    /// Number of consecutive times that it looked like a twin of an older track.
    pub twin_votes: u8,
    pub(super) cell: Cell,
    pub(super) existence: Existence,
    /// Time since its latest plot in which no radar saw where it is, s.
    pub(super) unseen_s: f64,
    code_doubt: CodeDoubt,
}

impl Track {
    pub(super) fn new(
        number: u16,
        m: &Measurement,
        (model, period_s): (&MotionModel, f64),
        cell: Cell,
        existence: Existence,
    ) -> Self {
        let due_s = m.time_s + period_s;
        Self {
            number,
            phase: Phase::Tentative,
            identity: m.identity,
            filter: Imm::new(m.position, m.covariance, model),
            time_s: m.time_s,
            vertical: m.flight_level.map(|level| Vertical::new(level, m.time_s)),
            born_s: m.time_s,
            hits: 1,
            announced: false,
            extrapolated_s: None,
            sightings: vec![Sighting { radar: m.radar, time_s: m.time_s, due_s, missed: 0 }],
            twin_votes: 0,
            cell,
            existence,
            unseen_s: 0.0,
            code_doubt: CodeDoubt::default(),
        }
    }

    /// Best estimate at the time of the latest plot.
    pub fn estimate(&self) -> Kinematic {
        self.filter.estimate()
    }

    /// Best estimate at `time_s`, which is not before that of the latest plot.
    pub fn estimate_at(&self, time_s: f64, model: &MotionModel) -> Kinematic {
        self.filter.predicted(time_s - self.time_s, model).estimate()
    }

    /// Position of the best estimate, m; cheaper than the whole of it.
    pub(super) fn estimate_position(&self) -> Vec2 {
        self.filter.position()
    }

    /// The latest sightings by the radars that see it: in the 30 s before its latest plot.
    pub(super) fn seeing(&self) -> impl Iterator<Item = &Sighting> {
        self.sightings.iter().filter(|s| self.time_s - s.time_s < 30.0)
    }

    /// Time of the last detection by `radar`, tracker's seconds.
    pub fn seen_by(&self, radar: u8) -> Option<f64> {
        self.sightings.iter().find(|s| s.radar == radar).map(|s| s.time_s)
    }

    /// Best estimate brought to the time of `m`, for the comparison of both.
    ///
    /// Radars deliver sectors late and out of order, so a plot may be somewhat older than the
    /// state: then the state is taken back along its velocity and its uncertainty grows as it
    /// would going forward.
    pub(super) fn expected_at(&self, time_s: f64, model: &MotionModel) -> Kinematic {
        let dt = time_s - self.time_s;
        let estimate = self.filter.estimate();
        if dt >= 0.0 {
            let mu = self.filter.manoeuvring();
            // Loose enough for a turn that begins right after the last plot.
            let q = model.steady_q + (model.manoeuvre_q - model.steady_q) * mu.max(0.7);
            return estimate.predicted(dt, q);
        }
        let mut back = estimate.predicted(-dt, model.manoeuvre_q);
        back.position = estimate.position + estimate.velocity * dt;
        back
    }

    /// `m` at the level of this track, where its own is missing or not to be believed.
    pub(super) fn levelled(&self, m: &Measurement) -> Measurement {
        let instead = self.vertical.and_then(|v| v.instead_of(m.flight_level, m.time_s));
        instead.and_then(|(level, sigma)| m.at_level(level, sigma)).unwrap_or(*m)
    }

    /// Takes in a plot that is the aircraft's with probability `trust`, of a radar that turns in
    /// `period_s`; `None`, and no change, when numbers are broken.
    pub(super) fn update(
        &mut self,
        m: &Measurement,
        model: &MotionModel,
        (trust, period_s): (f64, f64),
    ) -> Option<Innovation> {
        let m = &self.levelled(m);
        let dt = m.time_s - self.time_s;
        let innovation = if dt >= 0.0 {
            let before = self.filter.predicted(dt, model);
            let mut filter = before;
            let innovation = filter.update(m.position, m.covariance)?;
            self.filter = if trust < TRUSTED { filter.trusted(&before, trust) } else { filter };
            self.time_s = m.time_s;
            innovation
        } else {
            // The older plot is brought forward instead of the state back: this loses the
            // correlation with the noise in between, and keeps a state that never jumps in time.
            // `dt` is a fraction of a second up to a few seconds.
            let estimate = self.filter.estimate();
            let noise =
                estimate.vv * (dt * dt) + Sym2::isotropic(model.manoeuvre_q * (-dt).powi(3) / 3.0);
            let forward = m.position - estimate.velocity * dt;
            let before = self.filter;
            let innovation = self.filter.update(forward, m.covariance + noise)?;
            if trust < TRUSTED {
                self.filter = self.filter.trusted(&before, trust);
            }
            innovation
        };
        self.identity.absorb(&m.identity, &mut self.code_doubt);
        if let Some(level) = m.flight_level {
            match &mut self.vertical {
                Some(vertical) => vertical.update(level, m.time_s),
                none => *none = Some(Vertical::new(level, m.time_s)),
            }
        }
        self.hits += 1;
        (self.extrapolated_s, self.unseen_s) = (None, 0.0);
        match self.sightings.iter_mut().find(|s| s.radar == m.radar) {
            Some(sighting) => {
                sighting.time_s = sighting.time_s.max(m.time_s);
                (sighting.due_s, sighting.missed) = (sighting.time_s + period_s, 0);
            }
            None => {
                let (radar, time_s) = (m.radar, m.time_s);
                self.sightings.push(Sighting {
                    radar,
                    time_s,
                    due_s: time_s + period_s,
                    missed: 0,
                });
            }
        }
        Some(innovation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seen at 74,080 m (40 NM) and taken to be at FL330, 10,058 m: 73,394 m over ground. At FL230,
    /// 7,010 m, it is at 73,748 m; the earth's 422 m of fall make 12 m of the difference.
    #[test]
    fn a_plot_moves_along_the_beam_with_its_level() {
        let slant = Slant {
            from: Vec2::new(1_000.0, 2_000.0),
            from_m: 0.0,
            range_m: 74_080.0,
            height_m: flight_level_to_m(330.0),
            height_sigma_m: 0.0,
        };
        let m = Measurement {
            radar: 0,
            time_s: 0.0,
            position: Vec2::new(1_000.0 + 73_394.0, 2_000.0),
            covariance: Sym2::isotropic(100.0 * 100.0),
            identity: Identity::default(),
            flight_level: Some(330.0),
            slant: Some(slant),
        };
        let moved = m.at_level(230.0, 0.0).unwrap();
        assert!((moved.position.x - m.position.x - 336.0).abs() < 8.0, "{:?}", moved.position);
        assert!((moved.position.y - 2_000.0).abs() < 1e-6);
        assert_eq!(m.at_level(330.0, 0.0).unwrap().position, m.position);
        assert_eq!(m.at_level(2_500.0, 0.0), None, "higher than far");
        assert_eq!(Measurement { slant: None, ..m }.at_level(230.0, 0.0), None);
    }
}
