//! One aircraft as the tracker knows it.

use super::grid::Cell;
use super::identity::{CodeDoubt, Identity};
use super::imm::{Imm, MotionModel};
use super::kinematic::{Innovation, Kinematic};
use super::linear::{Sym2, Vec2};
use super::vertical::Vertical;

/// A plot in the tracker's plane, ready to be correlated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    /// The radar, as an index of [`Radars`](super::Radars).
    pub radar: u8,
    /// When the radar saw it: seconds on the tracker's continuous scale.
    pub time_s: f64,
    /// Where, m.
    pub position: Vec2,
    /// How precisely, m².
    pub covariance: Sym2,
    /// What its transponder said.
    pub identity: Identity,
    /// Mode C, hundreds of feet.
    pub flight_level: Option<f64>,
}

/// When a radar last saw an aircraft.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sighting {
    /// The radar, as an index of [`Radars`](super::Radars).
    pub radar: u8,
    /// When, tracker's seconds.
    pub time_s: f64,
}

/// Whether a track is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Too few plots yet: known to the tracker only.
    Tentative,
    /// Sent to subscribers.
    Confirmed,
}

/// A track.
#[derive(Clone, Debug)]
pub struct Track {
    /// I062/040, unique among the living.
    pub number: u16,
    /// Whether it is believed.
    pub phase: Phase,
    /// What is known of its identity.
    pub identity: Identity,
    /// The filter's state, valid at `time_s`.
    pub filter: Imm,
    /// Time of the state: that of the latest plot taken in, tracker's seconds.
    pub time_s: f64,
    /// Flight level and climb, once Mode C was received.
    pub vertical: Option<Vertical>,
    /// When the first plot came, tracker's seconds.
    pub born_s: f64,
    /// Plots taken in.
    pub hits: u32,
    /// Whether subscribers were told about it.
    pub announced: bool,
    /// The latest sighting by each radar that ever saw it.
    pub sightings: Vec<Sighting>,
    /// For when it was last extrapolated for subscribers, tracker's seconds; `None` since a plot.
    pub extrapolated_s: Option<f64>,
    /// How often in a row it looked like a twin of an older track.
    pub twin_votes: u8,
    pub(super) cell: Cell,
    code_doubt: CodeDoubt,
}

impl Track {
    pub(super) fn new(number: u16, m: &Measurement, model: &MotionModel, cell: Cell) -> Self {
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
            sightings: vec![Sighting { radar: m.radar, time_s: m.time_s }],
            twin_votes: 0,
            cell,
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

    /// When `radar` last saw it, tracker's seconds.
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

    /// Takes a plot in; `None`, and no change, when numbers are broken.
    pub(super) fn update(&mut self, m: &Measurement, model: &MotionModel) -> Option<Innovation> {
        let dt = m.time_s - self.time_s;
        let innovation = if dt >= 0.0 {
            let mut filter = self.filter.predicted(dt, model);
            let innovation = filter.update(m.position, m.covariance)?;
            self.filter = filter;
            self.time_s = m.time_s;
            innovation
        } else {
            // The older plot is brought forward instead of the state back: what is lost is the
            // correlation with the noise in between, what is kept is a state that never jumps
            // in time. `dt` is a fraction of a second up to a few seconds.
            let estimate = self.filter.estimate();
            let noise =
                estimate.vv * (dt * dt) + Sym2::isotropic(model.manoeuvre_q * (-dt).powi(3) / 3.0);
            let forward = m.position - estimate.velocity * dt;
            self.filter.update(forward, m.covariance + noise)?
        };
        self.identity.absorb(&m.identity, &mut self.code_doubt);
        if let Some(level) = m.flight_level {
            match &mut self.vertical {
                Some(vertical) => vertical.update(level, m.time_s),
                none => *none = Some(Vertical::new(level, m.time_s)),
            }
        }
        self.hits += 1;
        self.extrapolated_s = None;
        match self.sightings.iter_mut().find(|s| s.radar == m.radar) {
            Some(sighting) => sighting.time_s = sighting.time_s.max(m.time_s),
            None => self.sightings.push(Sighting { radar: m.radar, time_s: m.time_s }),
        }
        Some(innovation)
    }
}
