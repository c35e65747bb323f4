//! Track of one aircraft.

use super::clutter::Spot;
use super::existence::Existence;
use super::grid::Cell;
use super::identity::{CodeDoubt, Identity, Match};
use super::imm::{Imm, MotionModel};
use super::kinematic::{Innovation, Kinematic, Step};
use super::linear::Sym2;
use super::measurement::Measurement;
use super::outliers::Outliers;
use super::traffic_levels::TrafficLevels;
use super::vertical::Vertical;

/// After so many plots the velocity is known, and who leaves a straight line manoeuvres.
const FORMED: u32 = 4;
/// A plot that is the aircraft's with this probability is taken to be.
const TRUSTED: f64 = 0.98;

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
    /// Time of the latest plot with something from its transponder, tracker's seconds.
    pub(super) named_s: f64,
    /// The filter's best estimate.
    best: Kinematic,
    lasting: Sym2,
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
    /// Its plots that are counted as false until it is believed.
    pub(super) counted: Vec<Spot>,
    code_doubt: CodeDoubt,
    /// Itself before its latest plot, and that plot, where this had no identity and the track has one.
    before_bare: Option<Box<(Track, Measurement)>>,
    /// What its latest plot tells of how often steady flight ends ([`Imm::score`]), if it does.
    pub(super) score: Option<f64>,
}

/// Most plots that a track remembers to be counted as false.
const COUNTED_MAX: usize = 16;

impl Track {
    pub(super) fn new(
        number: u16,
        m: &Measurement,
        (model, period_s): (&MotionModel, f64),
        cell: Cell,
        existence: Existence,
    ) -> Self {
        let due_s = m.time_s + period_s;
        let filter = Imm::new(m.position, m.covariance, model);
        Self {
            number,
            phase: Phase::Tentative,
            identity: m.identity,
            filter,
            named_s: m.time_s,
            best: filter.estimate(),
            lasting: m.lean(),
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
            counted: Vec::new(),
            code_doubt: CodeDoubt::default(),
            before_bare: None,
            score: None,
        }
    }

    /// Remembers that a plot of its is counted as false, while there is room.
    pub(super) fn count(&mut self, spot: Spot) {
        if self.counted.len() < COUNTED_MAX {
            self.counted.push(spot);
        }
    }

    /// Best estimate at the time of the latest plot.
    pub fn estimate(&self) -> Kinematic {
        self.best
    }

    /// Best estimate at `time_s`, which is not before that of the latest plot.
    pub fn estimate_at(&self, time_s: f64, model: &MotionModel) -> Kinematic {
        self.filter.predicted(time_s - self.time_s, model).estimate()
    }

    /// Covariance of what is wrong in the same way with plot after plot, and so does not average out:
    /// of the place where the slant range of an aircraft without a level was put, m².
    pub fn lasting(&self) -> Sym2 {
        self.lasting
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
        let estimate = self.best;
        if dt >= 0.0 {
            // Loose enough for a turn that begins right after the last plot.
            let q = model.q(self.filter.manoeuvring().max(0.7));
            return estimate.predicted(&Step::straight(dt, q));
        }
        let mut back = estimate.predicted(&Step::straight(-dt, model.manoeuvre_q));
        back.position = estimate.position + estimate.velocity * dt;
        back
    }

    /// Itself before its latest plot, and that plot, where `m` shows that this was another's: a plot of the
    /// same turn, with the identity that the track has and that plot had not.
    pub(super) fn without_bare(
        &self,
        m: &Measurement,
        period_s: f64,
    ) -> Option<&(Track, Measurement)> {
        let before = self.before_bare.as_deref()?;
        let same_turn =
            m.radar == before.1.radar && (m.time_s - before.1.time_s).abs() < 0.5 * period_s;
        let named = matches!(before.0.identity.compare(&m.identity), Match::Same | Match::Alike);
        (same_turn && named).then_some(before)
    }

    /// Knows nothing of who it is any more.
    pub(super) fn forget_identity(&mut self) {
        (self.identity, self.code_doubt) = (Identity::default(), CodeDoubt::default());
        self.before_bare = None;
    }

    /// Remembers itself before it takes in `m`, where this has no identity and the track has one.
    pub(super) fn remember_before(&mut self, m: &Measurement) {
        self.before_bare = None;
        if self.phase == Phase::Confirmed && m.identity.is_empty() && !self.identity.is_empty() {
            self.before_bare = Some(Box::new((self.clone(), *m)));
        }
    }

    /// Is again as it was before a plot that `m` shows to be another's, and gives that.
    pub(super) fn go_back(&mut self, m: &Measurement, period_s: f64) -> Option<Measurement> {
        let (before, bare) = self.without_bare(m, period_s)?.clone();
        *self = Self { cell: self.cell, announced: self.announced, ..before };
        Some(bare)
    }

    /// `m` at the level of this track, where its own is missing or not to be believed; at the level of
    /// the `traffic` where this tells none.
    pub(super) fn levelled(&self, m: &Measurement, traffic: &TrafficLevels) -> Measurement {
        let instead = match self.vertical {
            Some(vertical) => vertical.instead_of(m.flight_level, m.time_s),
            None => m.flight_level.is_none().then(|| traffic.of(self.speed())),
        };
        instead.and_then(|(level, sigma)| m.at_level(level, sigma)).unwrap_or(*m)
    }

    /// Speed, and its standard deviation, m/s.
    pub(super) fn speed(&self) -> (f64, f64) {
        (self.best.velocity.norm(), (0.5 * self.best.vv.trace()).sqrt())
    }

    /// Level where that is known well, hundreds of feet.
    pub(super) fn known_level(&self) -> Option<f64> {
        self.vertical.filter(Vertical::is_known).map(|v| v.level_at(self.time_s))
    }

    /// Takes in a [levelled](Self::levelled) plot that is the aircraft's with probability `trust`, of a radar that turns in
    /// `period_s`; `None`, and no change, when numbers are broken.
    pub(super) fn update(
        &mut self,
        m: &Measurement,
        (model, outliers): (&MotionModel, &Outliers),
        (trust, period_s): (f64, f64),
    ) -> Option<Innovation> {
        let dt = m.time_s - self.time_s;
        self.score = None;
        let innovation = if dt >= 0.0 {
            let before = self.filter.predicted(dt, model);
            let mut filter = before;
            let innovation = filter.update(m.position, m.covariance, outliers)?;
            self.score = (trust >= TRUSTED && self.hits >= FORMED).then(|| filter.score());
            self.filter = if trust < TRUSTED { filter.trusted(&before, trust) } else { filter };
            self.time_s = m.time_s;
            innovation
        } else {
            // The older plot is brought forward instead of the state back: this loses the
            // correlation with the noise in between, and keeps a state that never jumps in time.
            // `dt` is a fraction of a second up to a few seconds.
            let estimate = self.best;
            let noise =
                estimate.vv * (dt * dt) + Sym2::isotropic(model.manoeuvre_q * (-dt).powi(3) / 3.0);
            let forward = m.position - estimate.velocity * dt;
            let before = self.filter;
            let innovation = self.filter.update(forward, m.covariance + noise, outliers)?;
            if trust < TRUSTED {
                self.filter = self.filter.trusted(&before, trust);
            }
            innovation
        };
        self.best = self.filter.estimate();
        self.lasting = m.lean();
        if !m.identity.is_empty() || m.flight_level.is_some() {
            self.named_s = self.named_s.max(m.time_s);
        }
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
