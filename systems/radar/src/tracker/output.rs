//! A track as subscribers get it: one record of category 062.

use super::imm::MotionModel;
use super::kinematic::Kinematic;
use super::radars::Radars;
use super::track::Track;
use crate::asterix::cat062::{
    self, Accuracy, AircraftDerived, BarometricAltitude, Cartesian, ModeA, ModeOfMovement,
    Position, Status, TargetIdentification, UpdateAges, Velocity,
};
use crate::asterix::{DataSource, TimeOfDay};
use crate::geodesy::Plane;

/// Above this probability of a manoeuvre the course counts as not constant.
const TURN_PROBABILITY: f64 = 0.6;
/// Below this rate, ft/min, an aircraft is taken to be level: Mode C steps make as much.
const LEVEL_FT_MIN: f64 = 250.0;

/// Values that are known only when a record is sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Time of the state, tracker's seconds.
    pub time_s: f64,
    /// Position and velocity then.
    pub state: Kinematic,
    /// The first message for this track.
    pub begins: bool,
    /// The last message for this track.
    pub ends: bool,
    /// No plot arrived when one was due: the state is extrapolated (CST).
    pub coasting: bool,
}

impl Moment {
    /// The moment of a track's latest plot; the record is the first if subscribers do not know it.
    pub fn of_plot(track: &Track) -> Self {
        Self {
            time_s: track.time_s,
            state: published(track, track.estimate()),
            begins: !track.announced,
            ends: false,
            coasting: false,
        }
    }

    /// `time_s`, for which a track is extrapolated. Never before its latest plot.
    pub fn extrapolated(track: &Track, time_s: f64, motion: &MotionModel) -> Self {
        let time_s = time_s.max(track.time_s);
        let state = published(track, track.estimate_at(time_s, motion));
        Self { time_s, state, begins: false, ends: false, coasting: true }
    }
}

/// `state` with all of its uncertainty: also with what its plots have in common.
fn published(track: &Track, state: Kinematic) -> Kinematic {
    Kinematic { pp: state.pp + track.lasting(), ..state }
}

/// The record that describes `track` at a moment, with `special_purpose` (at most 254 octets) in
/// its SP field. `source` is the tracker's own SAC/SIC.
///
/// I062/136 is the last measured level, however old; the barometric altitude is that of the moment.
/// The missing kind of detection (PSR, SSR, MDS beside CST) is not reported: the tracker does not
/// tell the kinds apart.
pub fn record(
    track: &Track,
    radars: &Radars,
    source: DataSource,
    moment: Moment,
    special_purpose: Vec<u8>,
) -> cat062::Track {
    let Moment { time_s, state, .. } = moment;
    let (x_m, y_m) = (state.position.x, state.position.y);
    let at = radars.plane().unproject(Plane { x_m, y_m }, 0.0);
    let level_at = |at_s| track.vertical.map(|v| quarter(v.level_at(at_s)).clamp(-1000.0, 4000.0));
    let climb = track.vertical.map(|v| v.climb_ft_min().clamp(-100_000.0, 100_000.0));
    let identity = &track.identity;
    cat062::Track {
        source,
        service_id: Some(1),
        time_of_day: Some(time_of_day(radars.stamp_s(time_s))),
        position: Some(Position { lat_deg: at.lat_deg, lon_deg: at.lon_deg }),
        cartesian: Some(Cartesian { x_m, y_m }),
        velocity: Some(Velocity {
            x_m_s: state.velocity.x.clamp(-8000.0, 8000.0),
            y_m_s: state.velocity.y.clamp(-8000.0, 8000.0),
        }),
        mode_a: identity.mode_3a.map(|code| ModeA { code, ..ModeA::default() }),
        target_identification: identity
            .callsign
            .map(|callsign| TargetIdentification { origin: 0, callsign }),
        derived: identity.address.map(|address| AircraftDerived {
            address: Some(address),
            callsign: identity.callsign,
            ..AircraftDerived::default()
        }),
        track_number: Some(track.number),
        status: Some(Status {
            monosensor: track.sightings.len() < 2,
            begins: moment.begins,
            ends: moment.ends,
            coasting: moment.coasting,
            ..Status::default()
        }),
        update_ages: Some(UpdateAges {
            track_s: Some((time_s - track.born_s).clamp(0.0, 63.0)),
            ..UpdateAges::default()
        }),
        mode_of_movement: Some(ModeOfMovement {
            transversal: if track.filter.manoeuvring() > TURN_PROBABILITY { 3 } else { 0 },
            longitudinal: 0,
            vertical: match climb {
                None => 3,
                Some(rate) if rate > LEVEL_FT_MIN => 1,
                Some(rate) if rate < -LEVEL_FT_MIN => 2,
                Some(_) => 0,
            },
            altitude_discrepancy: false,
        }),
        measured_flight_level: level_at(track.time_s),
        barometric_altitude: level_at(time_s)
            .map(|level| BarometricAltitude { qnh_corrected: false, level }),
        rate_of_climb_ft_min: climb,
        accuracy: Some(Accuracy {
            cartesian_m: Some((sigma(state.pp.xx, 32_000.0), sigma(state.pp.yy, 32_000.0))),
            covariance_m: Some(sigma(state.pp.xy.abs(), 16_000.0).copysign(state.pp.xy)),
            velocity_m_s: Some((sigma(state.vv.xx, 63.0), sigma(state.vv.yy, 63.0))),
            ..Accuracy::default()
        }),
        special_purpose,
        ..cat062::Track::default()
    }
}

/// Standard deviation of a variance, within what the item can carry.
fn sigma(variance: f64, max: f64) -> f64 {
    variance.max(0.0).sqrt().min(max)
}

fn quarter(level: f64) -> f64 {
    (level * 4.0).round() / 4.0
}

fn time_of_day(time_s: f64) -> TimeOfDay {
    // Times are cut to 1/128 s, and a stamp that is one has to stay it: an f64 may be a little less.
    #[allow(clippy::cast_possible_truncation)] // seconds of UTC: in range for 290 years
    TimeOfDay::from_utc_ns((time_s * 1e9) as i64 + 1_000)
}
