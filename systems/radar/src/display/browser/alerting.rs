//! The alerts of an air situation: conflicts, and aircraft in areas.

use super::super::alerts::{Alerts, Finding, needed};
use super::super::cleared::Cleared;
use super::super::map_file::MapFile;
use super::super::stca::{self, Conflict, Motion};
use super::super::zones::{AreaAlert, TooManyInhibited, Zones};
use crate::asterix::cat062;
use crate::geodesy::{self, Plane, Stereographic, Wgs84};
use std::collections::BTreeSet;

/// The plane is laid anew when the tracks' middle is farther from its origin than this, m: lengths far
/// from it are not true.
const PLANE_M: f64 = 400_000.0;

/// A climb below this is level flight, ft/min: Mode C steps make as much, and two minutes of it would bring
/// every two aircraft at neighbouring levels too close.
const LEVEL_FT_MIN: f64 = 300.0;

/// What is alerted now, the most urgent first.
#[derive(Clone, Debug, Default)]
pub(super) struct Alerted {
    /// Pairs that are too close, or will be.
    pub(super) conflicts: Vec<Conflict>,
    /// Aircraft in areas, or on their way into them.
    pub(super) areas: Vec<AreaAlert>,
}

impl Alerted {
    fn pairs(&self, violation: bool) -> BTreeSet<u16> {
        let those = self.conflicts.iter().filter(|one| one.is_violation() == violation);
        those.flat_map(|conflict| [conflict.a, conflict.b]).collect()
    }

    /// Tracks that are too close to another one now.
    pub(super) fn violating(&self) -> BTreeSet<u16> {
        self.pairs(true)
    }

    /// Others that will be.
    pub(super) fn predicted(&self) -> BTreeSet<u16> {
        self.pairs(false).difference(&self.violating()).copied().collect()
    }
}

/// Finds and confirms alerts.
#[derive(Debug)]
pub(super) struct Alerting {
    plane: Stereographic,
    /// Origin of the plane.
    origin: Wgs84,
    zones: Zones,
    conflicts: Alerts<(u16, u16), Conflict>,
    areas: Alerts<(u16, usize), AreaAlert>,
}

impl Alerting {
    /// Without areas; `centre`: of the plane, as long as no tracks are elsewhere.
    pub(super) fn new(centre: Wgs84) -> Self {
        Self {
            plane: Stereographic::new(centre),
            origin: centre,
            zones: Zones::default(),
            conflicts: Alerts::default(),
            areas: Alerts::default(),
        }
    }

    /// With the areas of a map.
    pub(super) fn with_map(mut self, map: &MapFile) -> Result<Self, TooManyInhibited> {
        self.zones = Zones::new(map, &self.plane)?;
        Ok(self)
    }

    /// Alerts that conflicts have raised so far.
    pub(super) fn begun(&self) -> u64 {
        self.conflicts.begun()
    }

    /// A track is gone.
    pub(super) fn forget(&mut self, number: u16) {
        self.conflicts.forget(|(a, b)| *a == number || *b == number);
        self.areas.forget(|(track, _)| *track == number);
    }

    /// One cycle: tracks as they were reported, and how long ago that was, s.
    pub(super) fn cycle<'a>(
        &mut self,
        heard: impl Iterator<Item = (&'a cat062::Track, f64)> + Clone,
    ) -> Alerted {
        self.lay_plane(heard.clone().filter_map(|(track, _)| track.position));
        let mut motions: Vec<Motion> =
            heard.filter_map(|(track, age_s)| self.motion(track, age_s)).collect();
        let areas = self.areas(&motions);
        Alerted { areas, conflicts: self.conflicts(&mut motions) }
    }

    fn lay_plane(&mut self, positions: impl Iterator<Item = cat062::Position>) {
        let places = positions.map(|at| Wgs84::new(at.lat_deg, at.lon_deg, 0.0));
        let Some(middle) = geodesy::middle(places) else { return };
        if middle.ground_distance_m(self.origin) < PLANE_M {
            return;
        }
        self.origin = middle;
        self.plane = Stereographic::new(middle);
        self.zones.project(&self.plane);
    }

    /// Present motion of a track; none without a number, a position or a level.
    fn motion(&self, track: &cat062::Track, age_s: f64) -> Option<Motion> {
        let position = track.position?;
        let velocity = track.velocity.unwrap_or_default();
        let Plane { x_m, y_m } =
            self.plane.project(Wgs84::new(position.lat_deg, position.lon_deg, 0.0));
        let climb_ft_min = track.rate_of_climb_ft_min.filter(|rate| rate.abs() > LEVEL_FT_MIN);
        let now = Motion {
            number: track.track_number?,
            at: Plane { x_m, y_m },
            x_m_s: velocity.x_m_s,
            y_m_s: velocity.y_m_s,
            height_ft: track.measured_flight_level? * 100.0,
            climb_ft_s: climb_ft_min.unwrap_or(0.0) / 60.0,
            cleared_ft: Cleared::of(track).expected().map(|level| level * 100.0),
            inhibited: 0,
        }
        .after(age_s);
        Some(Motion { inhibited: self.zones.inhibited(&now), ..now })
    }

    fn conflicts(&mut self, motions: &mut [Motion]) -> Vec<Conflict> {
        let found = stca::conflicts(motions).into_iter().map(|found| {
            let Conflict { a, b, in_s, .. } = found.conflict;
            let finding =
                if found.is_strict { Finding::Strict(needed(in_s)) } else { Finding::Wide };
            ((a, b), found.conflict, finding)
        });
        let mut alerted = self.conflicts.cycle(found);
        alerted.sort_by(Conflict::urgency);
        alerted
    }

    fn areas(&mut self, motions: &[Motion]) -> Vec<AreaAlert> {
        let found = self.zones.alerts(motions).into_iter().map(|(zone, alert)| {
            let finding = Finding::Strict(needed(alert.in_s));
            ((alert.track, zone), alert, finding)
        });
        let mut alerted = self.areas.cycle(found);
        alerted.sort_by(|a, b| a.in_s.total_cmp(&b.in_s).then(a.track.cmp(&b.track)));
        alerted
    }
}
