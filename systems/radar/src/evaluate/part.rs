//! The part of the sky that counts.

use crate::geodesy::{Plane, Stereographic};
use crate::tracker::linear::Vec2;

/// An area and levels; everything where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Part {
    /// South, west, north, east, degrees.
    pub area_deg: Option<[f64; 4]>,
    /// Flight levels, both ends included. Who has no level is in.
    pub levels: Option<(f64, f64)>,
}

impl Part {
    /// Whether a place in `plane` is in the area.
    #[must_use]
    pub fn is_in_area(&self, plane: &Stereographic, position: Vec2) -> bool {
        self.area_deg.is_none_or(|[south, west, north, east]| {
            let at = plane.unproject(Plane { x_m: position.x, y_m: position.y }, 0.0);
            (south..=north).contains(&at.lat_deg) && (west..=east).contains(&at.lon_deg)
        })
    }

    /// Whether a place and level is in the part.
    #[must_use]
    pub fn has(&self, plane: &Stereographic, position: Vec2, level: Option<f64>) -> bool {
        let at_level =
            |(low, high): (f64, f64)| level.is_none_or(|level| (low..=high).contains(&level));
        self.is_in_area(plane, position) && self.levels.is_none_or(at_level)
    }
}
