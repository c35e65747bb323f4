//! Geodesy: WGS-84, the local frame of a radar, the plane of a tracker.
//!
//! Three frames and the ways between them:
//! * [`Wgs84`]: latitude, longitude and height over the ellipsoid; what files and I062/105 carry;
//! * [`Enu`], through a [`LocalFrame`]: east, north, up in metres at an origin, an exact rotation of
//!   earth-centred coordinates. A radar measures in it ([`LocalFrame::to_polar`]), and a plot with
//!   a height goes back to the ground through [`LocalFrame::polar_to_wgs84`];
//! * [`Plane`], through a [`Stereographic`]: the conformal plane in which several radars are
//!   brought together (I062/100).
//!
//! Heights: an aircraft reports pressure altitude; [`flight_level_to_m`] takes it as the height
//! over the ellipsoid. The true difference (pressure, temperature, geoid) reaches some hundred
//! metres and moves a plot on the ground by that times the tangent of its elevation.
//! Not here: refraction (a radar's own processing removes it), datum changes, map projections.

mod local;
mod stereographic;
mod wgs84;

pub use local::{Enu, LocalFrame, Polar};
pub use stereographic::{Plane, Stereographic};
pub use wgs84::{Ecef, PlaceError, Wgs84, middle};

/// Metres in an international nautical mile.
pub const METRES_PER_NM: f64 = 1852.0;

/// Metres in an international foot.
pub const METRES_PER_FOOT: f64 = 0.3048;

/// The height in metres that a flight level (hundreds of feet) is taken for.
#[must_use]
pub fn flight_level_to_m(flight_level: f64) -> f64 {
    flight_level * 100.0 * METRES_PER_FOOT
}

/// The flight level (hundreds of feet) that a height in metres is taken for.
#[must_use]
pub fn m_to_flight_level(height_m: f64) -> f64 {
    height_m / (100.0 * METRES_PER_FOOT)
}
